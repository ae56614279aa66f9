package probe

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// itemLinks is how many items of the list are requested by their own links. One of them may have been removed meanwhile.
const itemLinks = 2

// itemLinkCases follow the links of items to themselves, on the node's origin only, because the token must not be sent elsewhere. The last row calls the list
// as a client that builds URLs itself may do.
func itemLinkCases() []row {
	var out []row
	for n := range itemLinks {
		out = append(out, row{
			Label: evidence.ListOperation.With(evidence.Case("link-item-" + strconv.Itoa(n+1))), Words: "by the link of an item to itself",
			Plan: in(stageRest, stageAuthorized, stagePages).onlyIf(notQuick).onDemand(), Send: withoutSchemas(choose(itemLink(n))),
		})
	}
	return append(out, row{
		Label: evidence.ListOperation.With("other-slash"), Words: "with a slash added to the path or removed there",
		Plan: in(stageRest, stageAuthorized).onlyIf(notQuick).onDemand(), Send: withoutSchemas(choose(inOtherSlash)),
	})
}

// inOtherSlash calls the list with a slash added at the end of its path or removed there: frameworks redirect such calls, often to a host name that only the
// node knows.
func inOtherSlash(_ *run, _ openapi.Operation, res Resource) (chosen, *unsent) {
	text, ok := pathVariant(res.URL, otherSlash)
	if !ok {
		return chosen{}, notApplicable("%s has no such variant", res.Name)
	}
	return chosen{text, nil}, nil
}

// learnItemLinks stores the links of the items of a list to themselves.
func (r *run) learnItemLinks(name evidence.Resource, a recorder.Answer, items [][]byte) {
	from, err := url.Parse(a.Exchange.Request.URL)
	if err != nil {
		return
	}
	links := map[int]*url.URL{} // the first link of each item
	for _, reference := range openapi.References(nil, items) {
		place, _, _ := strings.Cut(strings.TrimPrefix(reference.Path, "$["), "]")
		i, err := strconv.Atoi(place)
		if _, known := links[i]; err != nil || known || reference.Relation != "self" {
			continue
		}
		if to, err := from.Parse(reference.Target); err == nil && evidence.Origin(from) == evidence.Origin(to) {
			to.Fragment = ""
			links[i] = to
		}
	}
	var out []itemLinkTo
	for i := range items[:min(len(items), openapi.MaxLinkedItems)] {
		if to, ok := links[i]; ok {
			out = append(out, itemLinkTo{i, to})
		}
	}
	r.facts.with(func(f *facts) { f.itemLinks[name] = out })
}

// itemLinkTo is the link of an item to itself, and the place of the item in the first answer of its list.
type itemLinkTo struct {
	item int
	to   *url.URL
}

func itemLink(n int) chooser {
	return func(r *run, _ openapi.Operation, res Resource) (chosen, *unsent) {
		var links []itemLinkTo
		r.facts.with(func(f *facts) { links = f.itemLinks[res.Name] })
		if n >= len(links) {
			return chosen{}, notApplicable("too few items link to themselves on this origin")
		}
		at := (r.source(res.Name, "linked item").Below(len(links)) + n*(len(links)+1)/itemLinks) % len(links)
		return chosen{links[at].to.String(), map[string]string{"item": strconv.Itoa(links[at].item)}}, nil
	}
}
