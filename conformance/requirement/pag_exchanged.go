package requirement

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
)

// judgeExchangedRange judges the call with a range whose ends are exchanged, for PAG-07: no item fits both bounds. A refusal, an empty list and items without
// the member are right. PAG-06 judges whether the call breaks the node.
func judgeExchangedRange(e Evidence) []Judgement {
	x, sent := e.Get(e.Roles.List.With("range-exchanged"))
	within := conditionsOf(x)
	if !sent || !success(x) || len(within) != 2 || saysAnyOrder(e, within) {
		return nil
	}
	items, err := e.itemsOf(x)
	if err != nil {
		return nil
	}
	var wrong []Subject
	d := edgeOf(e, within[0].parameter)
	for i, item := range items {
		if itemSide(e, item, within, d) < 0 {
			wrong = append(wrong, Subject{Name: fmt.Sprintf("%s $[%d].%s", callInWords(x), i, clip(within[0].member)), Label: x.Label, Expected: "no item", Got: quote(boundValues(e, item, within[:1]))})
		}
	}
	if len(wrong) == 0 {
		return []Judgement{Passed(x.Label)}
	}
	reason := within[0].String() + " together with " + within[1].String() + ", a range whose ends are exchanged, gives items beyond its bounds: " + evidence.Count(len(wrong), "item")
	if joinsRange(e, items, within) && !saysAnd(e) && joinsByOr(e, x, within, items, isCompleteAnswer(e, x)) {
		return []Judgement{Warned(reason, wrong[0].Expected, wrong[0].Got).
			Hinting("join both bounds by \"and\", as clients of the network expect; or document that they are joined by \"or\"").About(wrong...).bounded()}
	}
	if isSwapped(e, items, within) {
		return []Judgement{Warned("the node exchanges the ends of a range that ends before it begins, and the document does not say so", wrong[0].Expected, wrong[0].Got).About(wrong...).bounded()}
	}
	return []Judgement{Failed(reason, wrong[0].Expected, wrong[0].Got).
		Hinting("apply both bounds also where they leave nothing, or refuse such a range with 400").About(wrong...).bounded()}
}

// isSwapped reports whether all items of the answer lie between the ends in their right order, and some item of the complete list does not.
func isSwapped(e Evidence, items [][]byte, within []condition) bool {
	from, to := within[0], within[1]
	from.value, to.value = to.value, from.value
	beyond := func(item []byte) bool { return itemSide(e, item, []condition{from, to}, edge{}) < 0 }
	whole, complete := wholeList(e)
	return !slices.ContainsFunc(items, beyond) && (!complete || slices.ContainsFunc(whole, beyond))
}

// joinsRange reports whether each item fits one of the bounds, or lacks the member, and each bound is contradicted by some item. If all items fit one bound,
// the node dropped the other one, and did not join them by "or".
func joinsRange(e Evidence, items [][]byte, within []condition) bool {
	misses := make([]int, len(within))
	for _, item := range items {
		missed := 0
		for n, c := range within {
			if _, wrong := c.contradictedBy(e, item); wrong {
				misses[n]++
				missed++
			}
		}
		if missed == len(within) {
			return false
		}
	}
	return !slices.Contains(misses, 0)
}

// saysAnyOrder reports whether the document says that the ends of a range may come in any order, or that such a range is ignored.
func saysAnyOrder(e Evidence, within []condition) bool {
	o, _ := operation(e, e.Roles.List)
	for _, p := range o.QueryParameters() {
		if (p.Name == within[0].parameter || p.Name == within[1].parameter) &&
			regexp.MustCompile(`(?i)\b(any|either) order\b|\b(swap|exchang|revers)\w*|\bignored?\b|\b(beliebige\w*|gleich welche\w*) reihenfolge\b|\b(ver)?tauscht\b|\bignoriert\b`).MatchString(p.Description) {
			return true
		}
	}
	return regexp.MustCompile(`(?i)\b(ranges?|periods?|ends|zeiträum\w*|zeitraum\w*|grenzen)\b[^.]{0,80}\b(any order|either order|swapped|exchanged|reversed|ignored|vertauscht|ignoriert)\b`).MatchString(o.Description)
}
