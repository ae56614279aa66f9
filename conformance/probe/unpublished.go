package probe

import (
	"slices"
	"strconv"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// unpublishedCases call the list with switches of content management systems that show what is not published. The document describes none of them.
func unpublishedCases() []row {
	plan := in(stageRest, stageAuthorized, stagePages).onlyIf(notQuick).onDemand()
	return []row{
		{Label: evidence.ListOperation.With("unpublished-1"), Words: "with switches that show drafts", Plan: plan, Send: withoutSchemas(choose(withSwitches(drawnSwitches)))},
		{Label: evidence.ListOperation.With("unpublished-2"), Words: "with the state of drafts", Plan: plan, Send: withoutSchemas(choose(withSwitches(draftStates)))},
	}
}

// switchesAtOnce is how many switches one call has.
const switchesAtOnce = 6

func drawnSwitches(s draw.Source) []pair {
	all := []string{"includeDrafts", "drafts", "draft", "preview", "showHidden", "includeHidden", "unpublished", "includeUnpublished", "showAll", "all", "internal", "debug"}
	var out []pair
	for len(out) < switchesAtOnce {
		i := s.Below(len(all))
		out = append(out, pair{all[i], draw.One(s, "true", "true", "1")})
		all = slices.Delete(all, i, i+1)
	}
	return out
}

// draftStates draws two parameters for a state, so that no run can be recognised by them.
func draftStates(s draw.Source) []pair {
	all := []pair{
		{"publicationState", draw.One(s, "preview", "draft")}, {"status", draw.One(s, "draft", "unpublished", "any")}, {"state", draw.One(s, "draft", "preview")},
		{"stage", draw.One(s, "draft", "preview")}, {"published", draw.One(s, "false", "0", "all")}, {"version", "draft"},
	}
	draw.Shuffle(s, all)
	return all[:2]
}

// withSwitches calls the list with those parameters that the document does not describe.
func withSwitches(switches func(s draw.Source) []pair) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		query := slices.DeleteFunc(switches(r.source(res.Name, "switches")), func(p pair) bool {
			return slices.ContainsFunc(o.Parameters, func(known openapi.Parameter) bool { return openapi.Joined(known.Name) == openapi.Joined(p.name) })
		})
		if len(query) == 0 {
			return chosen{}, notApplicable("the document describes these parameters")
		}
		return chosen{r.sized(o, withQuery(res.URL, query...), "", maxWalkSize), map[string]string{"switches": strconv.Itoa(len(query))}}, nil
	}
}
