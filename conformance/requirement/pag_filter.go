package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// filterFilters checks PAG-07 by what the probe chose: parameter, member and value.
func filterFilters(e Evidence) Judgement {
	if j, ok := listJudged(e); !ok {
		return j
	}
	calls := []exchange.Exchange{e.The(exchange.ListOperation.With(exchange.FilterSeen))}
	for _, x := range e.Exchanges {
		if x.Label.Resource() == e.Roles.List && byMember(x) {
			calls = append(calls, x)
		}
	}
	all, err := e.itemsOf(e.The(exchange.ListOperation.With(exchange.OK)))
	var parts []Judgement
	proven := false
	for i, x := range calls {
		j := filterCall(e, x, i == 0 || x.Given["seen"] == "true")
		parts = append(parts, j)
		// Items of one kind are enough when the other value leaves them all out, be it by an empty list or by 404 (the drafts want two kinds).
		proven = proven || (j.Outcome == Pass || i > 0 && x.Status() == 404) && leavesOut(all, x)
	}
	parts = append(append(parts, filtersTogether(e)...), runningCalls(e)...)
	j := gather(distinct(parts)...)
	why, skipped := e.Skipped(e.Roles.List.With(exchange.FilterOther))
	switch {
	case j.Outcome != Pass || proven:
		return j
	case err == nil && skipped && why.Kind == exchange.NotApplicable:
		return Missing("all items have the value that was filtered by, and there is none to leave them out: " + clip(why.Because)).Seen(calls[0].Label)
	case err != nil:
		return Unclear("the list without a filter can't be compared: " + clip(err.Error())).Seen(calls[0].Label)
	}
	member, value := clip(calls[0].Given["member"]), quote(calls[0].Given["value"])
	return Unclear("all items have the value that was filtered by, so nothing shows that the filter works").
		Hinting("put funding calls of more than one kind into the tested system, then repeat the run").
		about(calls[0], "items of more than one kind", member+" is "+value+" in all items")
}

// byMember reports the further calls of filters that a member of the items tells: other values, other filters, with a page.
func byMember(x exchange.Exchange) bool {
	c := x.Label.Case()
	return c != exchange.FilterSeen && c != exchange.FilterBoth && strings.HasPrefix(string(c), "filter-") && x.Given["member"] != ""
}

// leavesOut reports whether the list holds items that the filter has to leave out: only then do the items that came show a filter.
func leavesOut(all [][]byte, x exchange.Exchange) bool {
	return slices.ContainsFunc(all, func(item []byte) bool {
		return !holds(document.MemberValues(item, x.Given["member"]), x.Given["value"])
	})
}

// filterCall judges one filtered list. sought says that items with the value are known to exist.
func filterCall(e Evidence, x exchange.Exchange, sought bool) Judgement {
	parameter, member, value := x.Given["parameter"], x.Given["member"], x.Given["value"]
	filter := clip(parameter + "=" + value)
	if member == "" {
		return Unclear("the recording does not say which member was filtered by").Blaming(Suite).Seen(x.Label)
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	if refused(x) && !sought {
		return Judgement{Outcome: NotApplicable, Reason: filter + " is answered " + describe(x)}.Noting(filter + ", which matches nothing, is answered " + describe(x))
	}
	if !success(x) {
		return Failed(filter+" is refused although the document declares it", "2xx with the items that match", describe(x)).about(x, "2xx", describe(x))
	}
	items, err := e.itemsOf(x)
	if err != nil {
		return Unclear("the filtered items can't be read: "+clip(err.Error())).about(x, "a list", describe(x))
	}
	var wrong []Subject
	lacking := 0
	for i, item := range items {
		values := document.MemberValues(item, member)
		switch {
		case len(values) == 0:
			lacking++
		case !holds(values, value):
			wrong = append(wrong, Subject{Name: fmt.Sprintf("%s $[%d].%s", callInWords(x), i, clip(member)), Label: x.Label, Expected: quote(value), Got: quote(strings.Join(values, ", "))})
		}
	}
	switch {
	case len(wrong) > 0:
		return Failed(fmt.Sprintf("%s gives %d of %d items that contradict it", filter, len(wrong), len(items)), clip(member)+" "+quote(value), wrong[0].Got).About(wrong...).bounded()
	case lacking > 0:
		return Warned(fmt.Sprintf("%s gives %d items without a %s", filter, lacking, clip(member)), clip(member)+" "+quote(value), "no "+clip(member)).about(x, quote(value), "no value")
	case len(items) == 0 && sought:
		return Failed(filter+" gives nothing although the list has such items", "the items that match", "an empty list").about(x, "items", "none")
	case len(items) == document.MaxItems:
		return Passed(x.Label).Noting(fmt.Sprintf("of the answer to %s the first %d items were looked at", filter, len(items)))
	}
	return Passed(x.Label)
}
