package requirement

import (
	"maps"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges filters on members that the list shows in another form, as the document says, for PAG-07: their values must not all give the whole list.

// findIgnoredFilters finds filters that give the whole list with each of several values, although the items cannot contradict them: the list shows the member in
// another form. The filter fails if the detail of a record contradicts a value. It gets a warning if no detail shows the member.
func findIgnoredFilters(e Evidence) []Judgement {
	o, known := operation(e, e.Roles.List)
	whole, complete := wholeList(e)
	if !known || !complete || len(whole) < 3 {
		return nil
	}
	calls := map[string][]evidence.Exchange{}
	for _, x := range e.Exchanges {
		parameter := x.Given["parameter"]
		if x.Label.Resource() != e.Roles.List || !isMemberFilter(x) && x.Label.Case() != "filter-seen" || x.Given["or"] != "" || x.Given["page"] != "" || !formInList(e, x.Given["member"]).Differs {
			continue
		}
		if p, declared := queryParameter(o, parameter); declared && !o.SelectsOtherwise(p) && !openapi.MeansAll(x.Given["value"]) {
			calls[parameter] = append(calls[parameter], x)
		}
	}
	var parts []Judgement
	for _, parameter := range slices.Sorted(maps.Keys(calls)) {
		if j, found := judgeIgnoredFilter(e, calls[parameter], whole); found {
			parts = append(parts, j)
		}
	}
	return parts
}

// judgeIgnoredFilter judges the calls with one such filter.
func judgeIgnoredFilter(e Evidence, calls []evidence.Exchange, whole [][]byte) (j Judgement, found bool) {
	var all []condition
	var values []string
	ids := e.identities(whole)
	for _, x := range calls {
		c := condition{parameter: x.Given["parameter"], member: x.Given["member"], value: x.Given["value"]}.asDescribed(e)
		items := itemsOrNone(e, x)
		if !success(x) || c.but != "" || slices.ContainsFunc(items, e.isAnonymous) || len(openapi.Missing(ids, e.identities(items))) > 0 {
			return j, false
		}
		if !slices.Contains(values, clip(c.value)) {
			all, values = append(all, c), append(values, clip(c.value))
		}
	}
	if len(all) < 2 {
		return j, false
	}
	last := calls[len(calls)-1]
	want := expect(last, "a part of the list")
	reason := "the filter " + clip(all[0].parameter) + " has no effect: the whole list comes with " + strings.Join(values, ", and with ")
	shown, comparable := false, false
	var contradicting *Subject
	for _, name := range itemCases() {
		x, sent := e.Get(e.Roles.Detail.With(name))
		id := x.Given["id"]
		text, err := e.jsonText(x)
		if _, edited := e.edits().byID[id]; edited || !sent || !success(x) || err != nil || !slices.Contains(ids, id) {
			continue
		}
		has := e.memberValues(unwrap(text, memberOfID(x)), all[0].member)
		shown = shown || len(has) > 0
		for _, c := range all {
			fits := slices.ContainsFunc(c.values(), func(v string) bool { return containsPart(has, v) })
			comparable = comparable || fits
			if len(has) > 0 && !fits && contradicting == nil {
				contradicting = &Subject{Name: clip(callName(x) + " $." + c.member), Label: x.Label, Expected: c.expected(), Got: quote(strings.Join(has, ", "))}
			}
		}
	}
	switch hint := "apply the filter to the value of the record, whatever the list shows of it"; {
	case comparable && contradicting != nil:
		return want.failed(reason, evidence.Count(len(whole), "item")).About(*contradicting).Hinting(hint).Seen(callLabels(calls)...), true
	case !shown:
		return want.warned(reason, evidence.Count(len(whole), "item")).Hinting(hint).Seen(callLabels(calls)...), true
	}
	return j, false
}
