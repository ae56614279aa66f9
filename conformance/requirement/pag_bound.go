package requirement

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// judgeBounds judges the calls with a bound: a parameter that limits a number or a date of the items.
func judgeBounds(e Evidence) []Judgement {
	var parts []Judgement
	for _, x := range e.Exchanges {
		name := string(x.Label.Case())
		if x.Label.Resource() == e.Roles.List && (strings.HasPrefix(name, "bound-") || strings.HasPrefix(name, "moment-")) {
			parts = append(parts, judgeBound(e, x))
		}
	}
	return append(parts, findInconsistentBounds(e)...)
}

// sideOfEqual returns the side of a value that equals the bound, see [side].
func (d edge) sideOfEqual() int {
	switch {
	case d.inclusive:
		return 1
	case d.exclusive:
		return -1
	}
	return 0
}

// side returns where a value is: within the bound (1), beyond it (-1), or too near to decide (0). A bound that is a day may be a day in any time zone,
// unless the document names one. direction is "least" or "most".
func side(value, bound, direction string, d edge) int {
	sign := 1
	if direction == "most" {
		sign = -1
	}
	sideOf := func(order int) int {
		if order == 0 {
			return d.sideOfEqual()
		}
		return order * sign
	}
	if a, b, ok := parseNumbers(value, bound); ok {
		return sideOf(cmp.Compare(a, b))
	}
	valueTime, errValue := time.Parse(time.RFC3339, value)
	boundTime, errBound := time.Parse(time.RFC3339, bound)
	valueIsTime, boundIsTime := errValue == nil, errBound == nil
	valueIsDay, boundIsDay := isDay(value), isDay(bound)
	switch {
	case valueIsTime && boundIsTime:
		return sideOf(valueTime.Compare(boundTime))
	case valueIsDay && boundIsDay:
		return sideOf(strings.Compare(value, bound))
	case valueIsTime && boundIsDay && d.written:
		return sideOf(strings.Compare(value[:len(time.DateOnly)], bound))
	case valueIsTime && boundIsDay && (d.utc || d.central):
		return sideOf(strings.Compare(d.dayOf(valueTime), bound))
	case valueIsTime && boundIsDay: // decided if the day is on the same side in the time zones farthest west and farthest east
		west, east := valueTime.UTC().Add(-12*time.Hour).Format(time.DateOnly), valueTime.UTC().Add(14*time.Hour).Format(time.DateOnly)
		if x, y := strings.Compare(west, bound), strings.Compare(east, bound); x == y {
			return sideOf(x)
		}
		return 0
	}
	const margin = 36 * time.Hour // a day, and the offset of any time zone
	a, okA := parseTimeOrDay(value)
	b, okB := parseTimeOrDay(bound)
	switch {
	case !okA || !okB:
		return 0
	case a.Sub(b) > margin:
		return sign
	case b.Sub(a) > margin:
		return -sign
	}
	return 0
}

func parseNumbers(x, y string) (a, b float64, ok bool) {
	a, errA := strconv.ParseFloat(x, 64)
	b, errB := strconv.ParseFloat(y, 64)
	return a, b, errA == nil && errB == nil
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// parseTimeOrDay reads a time, or the date that a text begins with.
func parseTimeOrDay(text string) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, true
	}
	t, err := time.Parse(time.DateOnly, text[:min(len(text), len(time.DateOnly))])
	return t, err == nil
}

// itemSide returns where an item is: within all bounds of a call (1), beyond one of them (-1), or undecided (0).
func itemSide(e Evidence, item []byte, within []condition, d edge) int {
	inside := 1
	for _, c := range within {
		values := e.memberValues(item, c.member)
		allOn := func(where int) bool {
			return len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return side(v, c.value, c.bound, d) != where })
		}
		switch {
		case allOn(-1):
			return -1
		case !allOn(1):
			inside = 0
		}
	}
	return inside
}

// judgeBound judges a call with a bound: its items must not be beyond the bound, and no item within it may be missing.
func judgeBound(e Evidence, x evidence.Exchange) Judgement {
	within := conditionsOf(x)
	if len(within) == 0 {
		return Unclear("the recording does not name the member of the bound").Blaming(Suite).Seen(x.Label)
	}
	var names []string
	for _, c := range within {
		names = append(names, clip(c.member))
	}
	what, member := within[0].String(), strings.Join(names, " and ")
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	if !success(x) {
		return expect(x, "2xx with the items that match").warned(what+" is refused although the document declares it", describe(x))
	}
	items, err := e.itemsOf(x)
	if err != nil {
		return expect(x, "a list").unclear("the filtered items cannot be read: "+clip(err.Error()), describe(x))
	}
	var wrong []Subject
	d := edgeOf(e, within[0].parameter)
	for i, item := range items {
		values := e.memberValues(item, within[0].member)
		if itemSide(e, item, within, d) < 0 || len(within) == 1 && d.leavesOutAbsent && len(values) == 0 {
			wrong = append(wrong, Subject{Name: fmt.Sprintf("%s $[%d].%s", callInWords(x), i, member), Label: x.Label, Expected: expectedBounds(within), Got: quote(boundValues(e, item, within))})
		}
	}
	if len(wrong) > 0 {
		return Failed(fmt.Sprintf("%s gives %d of %d items whose %s is beyond the bound", what, len(wrong), len(items), member), wrong[0].Expected, wrong[0].Got).About(wrong...).bounded()
	}
	if volatile(member) && within[0].bound == "most" {
		return Passed(x.Label) // a record that was modified meanwhile no longer matches
	}
	if !isCompleteAnswer(e, x) {
		return judgeBoundedTotal(e, x, within, d)
	}
	if lost := lostItems(e, x, e.identities(items), func(item []byte) bool { return itemSide(e, item, within, d) > 0 }); len(lost) > 0 {
		return e.blockIfPagesLose(itemLoss(x, what, lost, len(lost)+len(items)))
	}
	return Passed(x.Label)
}

// judgeBoundedTotal judges the total of a call with a bound whose answer is one of several pages: it must not be smaller than the number of items that are
// surely within the bound. The call without a filter shows whether the total counts the items of the list.
func judgeBoundedTotal(e Evidence, x evidence.Exchange, within []condition, d edge) Judgement {
	allItems, complete := wholeList(e)
	total, place, ok := totalOf(e, x)
	all, plainPlace, plainOK := totalOf(e, e.exchange(evidence.ListOperation.With(evidence.OK)))
	if !complete || !ok || !plainOK || place != plainPlace || all != len(allItems) || !describesTotal(e, place) || e.unsteady() || isInexact(e, place) {
		return Passed(x.Label)
	}
	sure := lostItems(e, x, nil, func(item []byte) bool { return itemSide(e, item, within, d) > 0 })
	if total >= len(sure) {
		return Passed(x.Label)
	}
	hint := "apply the bound in the query that counts, and compare numbers as numbers and dates as dates"
	if isDay(within[0].value) {
		hint = "compare days with days: if a bound that is a day is read as the midnight of that day, it leaves out what happens on the day"
	}
	return e.blockIfPagesLose(expect(x, strconv.Itoa(len(sure))+" or more in "+place).
		failed(fmt.Sprintf("the answer to %s says that it has %s, and %d of the list are within the bound", within[0], evidence.Count(total, "item"), len(sure)), strconv.Itoa(total)).
		Hinting(hint))
}

// expectedBounds returns what the bounds expect of an item.
func expectedBounds(within []condition) string {
	if len(within) == 1 {
		return "at " + within[0].bound + " " + quote(within[0].value)
	}
	var out []string
	for _, c := range within {
		out = append(out, clip(c.member)+" at "+c.bound+" "+quote(c.value))
	}
	return strings.Join(out, ", ")
}

// boundValues returns the values of an item in the members of the bounds.
func boundValues(e Evidence, item []byte, within []condition) string {
	var out []string
	for _, c := range within {
		out = append(out, strings.Join(e.memberValues(item, c.member), ", "))
	}
	return strings.Join(out, " to ")
}

// findIneffectiveParameters finds parameters for dates and numbers that have no effect: two values far apart both give the whole list.
func findIneffectiveParameters(e Evidence) []Judgement {
	o, known := operation(e, e.Roles.List)
	allItems, complete := wholeList(e)
	if !known || !complete || len(allItems) < 3 {
		return nil
	}
	var parts []Judgement
	for _, p := range o.QueryParameters() {
		early, sent := e.Get(e.Roles.List.With(evidence.EffectCase(p.Name, 1)))
		late, both := e.Get(e.Roles.List.With(evidence.EffectCase(p.Name, 2)))
		if !sent || !both || !success(early) || !success(late) || p.Description == "" || openapi.RoleOf(p) != "" ||
			o.SelectsOtherwise(p) || isAboutState(p.Description) {
			continue
		}
		first, second := listPageOf(e, early), listPageOf(e, late)
		if !first.Listed || len(first.Items) < 3 || !slices.Equal(first.Items, second.Items) || first.Total != second.Total || e.anyPageChanged("") || !hasLength(e, early, len(allItems)) {
			continue
		}
		call := clip(p.Name + "=" + early.Given["value"])
		parts = append(parts, Subject{Name: callInWords(late), Label: late.Label, Expected: "another list than with " + call}.
			failed("the described parameter "+clip(p.Name)+" has no effect: the whole list comes with "+early.Given["value"]+" and with "+late.Given["value"], evidence.Count(len(second.Items), "item")).
			Hinting("apply the parameter that the document describes; check that the code reads the declared name"))
	}
	return parts
}

// isAboutState reports whether the description of a parameter says that it selects a state of the data. A node may have only one state.
func isAboutState(text string) bool {
	return regexp.MustCompile(`(?i)\bas (it|they) (was|were)\b|\b(state|version|snapshot|edition|release) (of|from|at|on|before)\b|\bas (of|at) (this|that|the) (day|date|time)\b|\b(stand|zustand|fassung) (vom|von|am|zum|zu)\b|\bstichtag`).MatchString(text)
}

// findDifferentInstants finds parameters for which one instant, written with different offsets from UTC, gives different lists (RFC 3339 §4.2).
func findDifferentInstants(e Evidence) []Judgement {
	o, known := operation(e, e.Roles.List)
	if !known {
		return nil
	}
	var parts []Judgement
	namesDays := regexp.MustCompile(`(?i)\b(days?|dates?|tag(e|es)?|datum|jours?|d\x{ed}as?|giorn[oi]|dag(en)?)\b`) // the offset may then say which day is meant
	for _, p := range o.QueryParameters() {
		plain, sent := e.Get(e.Roles.List.With(evidence.InstantCase(p.Name, 1)))
		if !sent || !success(plain) || !listPageOf(e, plain).Listed || namesDays.MatchString(strings.ReplaceAll(p.Description, "date-time", "")) {
			continue
		}
		for n := 2; n <= instantWays; n++ {
			x, sent := e.Get(e.Roles.List.With(evidence.InstantCase(p.Name, n)))
			if !sent || !success(x) || !differentLists(e, plain, x) {
				continue
			}
			parts = append(parts, Subject{Name: callInWords(x), Label: x.Label, Expected: "the same list as with " + clip(plain.Given["value"])}.
				failed("the parameter "+clip(p.Name)+" treats one instant as two: "+clip(plain.Given["value"])+" and "+clip(x.Given["value"])+" give different lists", describe(x)).
				Hinting("convert the value to UTC before it is compared; do not drop its offset").Seen(plain.Label))
		}
	}
	if len(parts) > 0 && e.unsteady() {
		return nil
	}
	return parts
}

// instantWays is the number of ways in which one instant is written.
const instantWays = 3

// differentLists reports whether two answers are from different lists, by their totals, or by their items if both answers are complete. Pages of one list
// need not have the same items.
func differentLists(e Evidence, a, b evidence.Exchange) bool {
	first, second := listPageOf(e, a), listPageOf(e, b)
	switch {
	case !first.Listed || !second.Listed:
		return false
	case first.Total >= 0 && second.Total >= 0 && first.Total != second.Total:
		return true
	case !isCompleteAnswer(e, a) || !isCompleteAnswer(e, b):
		return false
	}
	return len(openapi.Missing(first.Items, second.Items))+len(openapi.Missing(second.Items, first.Items)) > 0
}
