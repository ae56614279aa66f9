package requirement

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// condition is a filter with the value that it was sent with.
type condition struct{ parameter, member, value string }

func (c condition) String() string { return clip(c.parameter + "=" + c.value) }

// contradictedBy reports an item that has the member and not the value. One without the member is told of by the filter alone.
func (c condition) contradictedBy(item []byte) (has []string, wrong bool) {
	has = document.MemberValues(item, c.member)
	return has, len(has) > 0 && !holds(has, c.value)
}

// filtersTogether judges the call with two filters (PAG-07): a filter that its items contradict was not applied. The published document
// does not say that filters are joined by "and"; a node that joins them by "or" is told so, and no more.
func filtersTogether(e Evidence) []Judgement {
	x, asked := e.Get(e.Roles.List.With(exchange.FilterBoth))
	if !asked {
		return nil
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return []Judgement{j}
	}
	both := [2]condition{{x.Given["parameter"], x.Given["member"], x.Given["value"]}, {x.Given["andParameter"], x.Given["andMember"], x.Given["andValue"]}}
	if !success(x) {
		return []Judgement{Warned(fmt.Sprintf("%s is refused together with %s, although each is declared", both[0], both[1]), "2xx with the items that match both", describe(x)).
			about(x, "2xx", describe(x))}
	}
	items, err := e.itemsOf(x)
	switch {
	case err != nil:
		return []Judgement{Unclear("the items that match two filters can't be read: "+clip(err.Error())).about(x, "a list", describe(x))}
	case len(items) == 0:
		return []Judgement{Failed(fmt.Sprintf("%s together with %s gives nothing although the list has such items", both[0], both[1]), "the items that match both", "an empty list").
			about(x, "items", "none")}
	}
	return []Judgement{joined(x, both, items)}
}

// joined says how two filters were joined.
func joined(x exchange.Exchange, both [2]condition, items [][]byte) Judgement {
	var wrong [2][]Subject
	anyFits := true // each item fits one of them at least
	for i, item := range items {
		misses := 0
		for n, c := range both {
			if has, miss := c.contradictedBy(item); miss {
				misses++
				wrong[n] = append(wrong[n], Subject{Name: fmt.Sprintf("%s $[%d].%s", callInWords(x), i, clip(c.member)), Label: x.Label,
					Expected: quote(c.value), Got: quote(strings.Join(has, ", "))})
			}
		}
		anyFits = anyFits && misses < len(both)
	}
	ignored, other := 0, 1
	if len(wrong[1]) > len(wrong[0]) {
		ignored, other = 1, 0
	}
	c, found := both[ignored], wrong[ignored]
	switch {
	case len(found) == 0:
		return Passed(x.Label)
	case anyFits && len(wrong[other]) > 0:
		return Warned(fmt.Sprintf("%s together with %s gives what fits either of them", both[0], both[1]), "items that match both", found[0].Got).
			Hinting("join filters by \"and\", as clients of the network expect; or say in the document that they are joined by \"or\"").About(found...).bounded()
	}
	return Failed(fmt.Sprintf("%s is not applied together with %s: %d of %d items contradict it", c, both[other], len(found), len(items)),
		clip(c.member)+" "+quote(c.value), found[0].Got).About(found...).bounded()
}
