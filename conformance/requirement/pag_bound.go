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

// bounds judges the calls with a parameter that limits a number or a date of the items.
func bounds(e Evidence) []Judgement {
	var parts []Judgement
	for _, x := range e.Exchanges {
		if x.Label.Resource() == e.Roles.List && strings.HasPrefix(string(x.Label.Case()), "bound-") {
			parts = append(parts, boundKept(e, x))
		}
		if x.Label.Resource() == e.Roles.List && strings.HasPrefix(string(x.Label.Case()), "moment-") {
			parts = append(parts, boundKept(e, x))
		}
	}
	return parts
}

// edge is what the document says of a bound: whether it belongs to what it leaves, and by which clock days are told.
type edge struct {
	inclusive, exclusive bool
	utc                  bool
	leavesOutAbsent      bool
}

// edgeOf reads the description of a parameter.
func edgeOf(e Evidence, parameter string) edge {
	o, _ := operation(e, e.Roles.List)
	i := slices.IndexFunc(o.QueryParameters(), func(p openapi.Parameter) bool { return p.Name == parameter })
	if i < 0 {
		return edge{}
	}
	text := strings.ToLower(o.QueryParameters()[i].Description)
	says := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }
	out := edge{
		inclusive: says(`\bor (later|after|earlier|before|more|less|above|below|greater|higher|lower|smaller|larger|equal)\b|\binclusive(ly)?\b|\bincluding\b|\bat (least|most)\b|\b(not|no) (before|after|later|earlier|more|less)\b|\bon or\b`),
		exclusive: says(`\bexclusive(ly)?\b|\bstrictly\b|\b(before|after|earlier than|later than|more than|less than|greater than) (this|the given|that)\b`),
		utc:       says(`\butc\b`), leavesOutAbsent: says(`\bwithout\b[^.]*\b(left out|omitted|excluded|not (listed|included|returned))\b`),
	}
	if out.inclusive && out.exclusive {
		out.inclusive, out.exclusive = false, false
	}
	return out
}

// at says on which side the bound itself lies.
func (d edge) at() int {
	switch {
	case d.inclusive:
		return 1
	case d.exclusive:
		return -1
	}
	return 0
}

// side says where a value lies: within the bound (1), outside of it (-1), or too near to tell (0): unless the document says more, a bound on a day may be
// read in any time zone, and whether it includes the value itself is not known.
func side(value, bound, direction string, d edge) int {
	sign := 1
	if direction == "most" {
		sign = -1
	}
	of := func(order int) int {
		if order == 0 {
			return d.at()
		}
		return order * sign
	}
	if a, b, ok := numbers(value, bound); ok {
		return of(cmp.Compare(a, b))
	}
	t, errT := time.Parse(time.RFC3339, value)
	s, errS := time.Parse(time.RFC3339, bound)
	_, noDay := time.Parse(time.DateOnly, bound)
	_, valueNoDay := time.Parse(time.DateOnly, value)
	switch {
	case errT == nil && errS == nil:
		return of(t.Compare(s))
	case noDay == nil && valueNoDay == nil:
		return of(strings.Compare(value, bound))
	case noDay == nil && errT == nil && d.utc:
		return of(strings.Compare(t.UTC().Format(time.DateOnly), bound))
	case noDay == nil && errT == nil:
		west, east := t.UTC().Add(-12*time.Hour).Format(time.DateOnly), t.UTC().Add(14*time.Hour).Format(time.DateOnly)
		if x, y := strings.Compare(west, bound), strings.Compare(east, bound); x == y {
			return of(x)
		}
		return 0
	}
	const margin = 36 * time.Hour
	a, okA := instant(value)
	b, okB := instant(bound)
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

func numbers(x, y string) (a, b float64, ok bool) {
	a, errA := strconv.ParseFloat(x, 64)
	b, errB := strconv.ParseFloat(y, 64)
	return a, b, errA == nil && errB == nil
}

// instant reads a date or a time.
func instant(text string) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, true
	}
	t, err := time.Parse(time.DateOnly, text[:min(len(text), len(time.DateOnly))])
	return t, err == nil
}

// lies says where an item lies: within all bounds of a call (1), beyond one of them (-1), or neither can be told (0).
func lies(item []byte, within []condition, d edge) int {
	inside := 1
	for _, c := range within {
		values := openapi.MemberValues(item, c.member)
		all := func(where int) bool {
			return len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return side(v, c.value, c.bound, d) != where })
		}
		switch {
		case all(-1):
			return -1
		case !all(1):
			inside = 0
		}
	}
	return inside
}

// boundKept judges the items that came, and those that did not.
func boundKept(e Evidence, x evidence.Exchange) Judgement {
	within := conditionsOf(x)
	if len(within) == 0 {
		return Unclear("the recording does not name the member of the bound").Blaming(Suite).Seen(x.Label)
	}
	var names []string
	for _, c := range within {
		names = append(names, clip(c.member))
	}
	what, member := within[0].String(), strings.Join(names, " and ")
	if j, ok := inconclusive(x); ok {
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
		values := openapi.MemberValues(item, within[0].member)
		if lies(item, within, d) < 0 || len(within) == 1 && d.leavesOutAbsent && len(values) == 0 {
			wrong = append(wrong, Subject{Name: fmt.Sprintf("%s $[%d].%s", callInWords(x), i, member), Label: x.Label, Expected: inWords(within), Got: quote(gotOf(item, within))})
		}
	}
	if len(wrong) > 0 {
		return Failed(fmt.Sprintf("%s gives %d of %d items whose %s is beyond it", what, len(wrong), len(items), member), wrong[0].Expected, wrong[0].Got).About(wrong...).bounded()
	}
	if !completeAnswer(e, x) {
		return Passed(x.Label)
	}
	if lost := lostItems(e, x, openapi.Identities(items), func(item []byte) bool { return lies(item, within, d) > 0 }); len(lost) > 0 {
		return e.unlessLost(losesItems(x, what, lost, len(lost)+len(items)))
	}
	return Passed(x.Label)
}

// inWords says what is expected of an item; gotOf says what it has.
func inWords(within []condition) string {
	if len(within) == 1 {
		return "at " + within[0].bound + " " + quote(within[0].value)
	}
	var out []string
	for _, c := range within {
		out = append(out, clip(c.member)+" at "+c.bound+" "+quote(c.value))
	}
	return strings.Join(out, ", ")
}

func gotOf(item []byte, within []condition) string {
	var out []string
	for _, c := range within {
		out = append(out, strings.Join(openapi.MemberValues(item, c.member), ", "))
	}
	return strings.Join(out, " to ")
}
