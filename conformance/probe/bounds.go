package probe

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// bound says whether a parameter is a lower or an upper bound of a number or a date.
type bound string

const (
	atLeastBound bound = "least"
	atMostBound  bound = "most"
)

// describedBound is a parameter that bounds a member of the items.
type describedBound struct {
	filter
	bound   bound
	date    bool
	day     bool   // a date without time
	integer bool   // whole numbers only
	text    string // its description in the document
}

// boundTries is how many values of a bound are tried: one in the middle, a drawn one, and 0 or one that no item fits. boundFourth is the index of a fourth
// value, for dates only: a moment with another offset from UTC, or a day that begins or ends close to a date of the data.
const (
	boundTries  = 3
	boundFourth = boundTries
)

// boundOf reads a parameter whose name has a direction, such as minAmount, deadlineFrom or before; the rest of the name is the name of a member.
func boundOf(p openapi.Parameter) (b describedBound, ok bool) {
	s := p.Schema
	date := s.Type == "string" && (s.Format == "date" || s.Format == "date-time")
	if p.In != "query" || openapi.RoleOf(p) != "" || !date && s.Type != "integer" && s.Type != "number" {
		return b, false
	}
	words := openapi.Words(p.Name)
	b = describedBound{filter: filter{parameter: p.Name}, date: date, day: s.Format == "date", integer: s.Type == "integer", text: p.Description}
	var rest []string
	for _, word := range words {
		switch direction := directionOf(word); {
		case direction != "":
			b.bound, ok = direction, true
		case !slices.Contains([]string{"at", "on", "or", "not", "no", "the"}, word):
			rest = append(rest, word)
		}
	}
	b.member = strings.Join(rest, "")                          // the name of the member, see boundsOf
	return b, ok && (len(rest) > 0 || date && len(words) == 1) // if the name is only from or to, the description names the member
}

// boundsOf lists the bounds of an operation that apply to a member of the items. It finds the member by the name of the parameter, then by its description,
// and then as the only number of an object with that name.
func boundsOf(o openapi.Operation, members openapi.Members, items [][]byte) []describedBound {
	var out []describedBound
	for _, p := range o.QueryParameters() {
		b, ok := boundOf(p)
		if !ok || openapi.NamesScale(p.Description) { // a value of the data may be in another unit
			continue
		}
		path, found := boundMember(b.member, b.date, members)
		if b.member == "" {
			path, found = onlyMemberIn(members, wordsOf(b.text))
		}
		if !found {
			path, found = memberInText(b.text, members)
		}
		switch {
		case found:
		case b.date && b.member == "":
			path, found = onlyDate(members, items)
		case !b.date:
			path, found = numberOf(b.member, members, items)
		}
		if found {
			b.member = path
			out = append(out, b)
		}
	}
	return out
}

// onlyDate returns the only member whose values are days or instants, if its name says no more than that: from and to of a list of days can mean no other.
func onlyDate(members openapi.Members, items [][]byte) (path string, ok bool) {
	for _, member := range members {
		isDate := false
		for _, item := range items[:min(len(items), maxItems)] {
			for _, value := range openapi.MemberValues(item, member) {
				if _, err := time.Parse(time.DateOnly, value[:min(len(value), len(time.DateOnly))]); err == nil {
					isDate = true
				}
			}
		}
		if isDate && ok {
			return "", false
		}
		if isDate {
			path, ok = member, true
		}
	}
	return path, ok && slices.Contains([]string{"date", "day", "datum", "tag", "jour", "giorno"}, openapi.Joined(path))
}

// onlyMemberIn returns the only member that one of the words names.
func onlyMemberIn(members openapi.Members, words []string) (path string, ok bool) {
	for _, word := range words {
		if found, known := members.Ending(word); known && found != path {
			if ok {
				return "", false
			}
			path, ok = found, true
		}
	}
	return path, ok
}

// boundCases returns the requests that try values of the parameters that bound a number or a date.
func boundCases(o openapi.Operation) []row {
	var out []row
	for _, p := range o.QueryParameters() {
		if _, ok := boundOf(p); !ok || openapi.NamesScale(p.Description) {
			continue
		}
		tries := boundTries
		if p.Schema.Format == "date" || p.Schema.Format == "date-time" {
			tries = boundFourth + 1
		}
		for n := range tries {
			out = append(out, row{
				Label: evidence.ListOperation.With(evidence.BoundCase(p.Name, n+1)),
				Plan:  in(stageRest, stageRead, stagePages).onlyIf(notQuick), Send: choose(boundValue(p, n)),
			})
		}
	}
	return out
}

// extreme returns a bound that no item fits, or else 0, or a number far beyond the data. Code that treats 0 or an empty result as a missing filter returns all
// items.
func (b describedBound) extreme(p openapi.Parameter, values []string, s draw.Source) string {
	first, last := values[0], values[len(values)-1]
	if b.date {
		at, days := last, 1
		if b.bound == atMostBound {
			at, days = first, -1
		}
		day, err := time.Parse(time.DateOnly, at[:len(time.DateOnly)])
		if err != nil {
			return ""
		}
		switch day = day.AddDate(0, 0, 3*days); { // outside the data in every time zone
		case !isRFC3339(day):
			return ""
		case p.Schema.Format == "date":
			return day.Format(time.DateOnly)
		}
		return day.Format(time.RFC3339)
	}
	allowed := func(n float64) bool {
		return (p.Schema.Minimum == nil || *p.Schema.Minimum <= n) && (p.Schema.Maximum == nil || *p.Schema.Maximum >= n)
	}
	top, err := strconv.ParseFloat(last, 64)
	if far := farAmount(p, top, s); far != "" && err == nil && s.Below(4) > 0 && (b.bound == atLeastBound || s.Below(2) == 0) {
		return far
	}
	if b.bound == atLeastBound && err == nil && top > 0 && top < 1<<31-1 {
		if n := math.Floor(top) + 1; allowed(n) {
			return strconv.FormatFloat(n, 'f', -1, 64)
		}
	}
	if allowed(0) {
		return "0"
	}
	return ""
}

// farAmount returns a number that the document allows and that is far beyond all amounts of the data, by the draw often just beyond what 32 bits can count in
// hundredths: code that counts so wraps around. It returns "" if the document names no maximum, or a near one.
func farAmount(p openapi.Parameter, top float64, s draw.Source) string {
	const least, cents = 4, (1 << 31) / 100.
	if p.Schema.Maximum == nil || top <= 0 || *p.Schema.Maximum < least*top {
		return ""
	}
	low, high := least*top, min(*p.Schema.Maximum, 1<<31-1)
	if low < cents && high > 1.5*cents && s.Below(2) == 0 {
		low, high = cents+1, 1.5*cents
	}
	if low >= high {
		return ""
	}
	n := math.Floor(low * math.Pow(high/low, float64(s.Below(1000))/1000))
	return strconv.FormatFloat(max(n, math.Ceil(low)), 'f', -1, 64)
}

// isRFC3339 reports whether the year has four digits (RFC 3339 §5.6). Data may mean "no end" by 9999-12-31, and the day after it has five.
func isRFC3339(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 }

// boundValue chooses the nth value of a bound, see [boundTries].
func boundValue(p openapi.Parameter, n int) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		var b describedBound
		r.facts.with(func(f *facts) {
			if i := slices.IndexFunc(f.bounds[res.Name], func(b describedBound) bool { return b.parameter == p.Name }); i >= 0 {
				b = f.bounds[res.Name][i]
			}
		})
		if b.parameter == "" {
			return chosen{}, notApplicable("the items have no member, or more than one, that %.80q may bound", p.Name)
		}
		counts, values := occurrences(r.facts.itemsOf(res.Name), b.member)
		values = b.ordered(values)
		if len(values) < 3 {
			return chosen{}, notApplicable("the items have too few values of %s", b.member)
		}
		value := values[len(values)/2]
		switch n {
		case 1:
			room := maxItems
			if size, ok := r.size(o); ok {
				room = atLeast(size.Schema, maxWalkSize)
			}
			value = b.drawn(values, counts, room, r.source(res.Name, p.Name))
		case 2:
			if value = b.extreme(p, values, r.source(res.Name, p.Name+" extreme")); value == "" {
				return chosen{}, notApplicable("the document allows no value of %.80q that no item fits", p.Name)
			}
		case boundFourth:
			if value = b.fourth(values, r.source(res.Name, p.Name+" offset")); value == "" {
				return chosen{}, notApplicable("the items have no time of %s with an offset from UTC", b.member)
			}
		}
		if b.date && p.Schema.Format == "date" {
			value = value[:len(time.DateOnly)]
		}
		given := map[string]string{"parameter": b.parameter, "member": b.member, "value": value, "bound": string(b.bound)}
		return chosen{r.sized(o, withQuery(res.URL, pair{b.parameter, value}), b.parameter, maxWalkSize), given}, nil
	}
}

// drawn draws a value of the data. It prefers one that leaves fewer items than a page holds, because only a complete answer shows what is missing.
func (b describedBound) drawn(values []string, counts map[string]int, room int, s draw.Source) string {
	inner, left, fit := values[1:len(values)-1], counts[values[0]], 0
	at := func(n int) string { return inner[n] }
	if b.bound == atLeastBound {
		left = counts[values[len(values)-1]]
		at = func(n int) string { return inner[len(inner)-1-n] }
	}
	for fit < len(inner) && left+counts[at(fit)] < room {
		left += counts[at(fit)]
		fit++
	}
	switch {
	case fit > 0 && b.bound == atLeastBound:
		inner = inner[len(inner)-fit:]
	case fit > 0:
		inner = inner[:fit]
	}
	// A moment by day lies on the same day in all time zones of Europe.
	if byDay := slices.DeleteFunc(slices.Clone(inner), func(v string) bool { return !isByDay(v) }); b.day && len(byDay) > 0 {
		inner = byDay
	}
	return draw.One(s, inner...)
}

// isByDay reports whether a moment is between six in the morning and eight in the evening, UTC.
func isByDay(value string) bool {
	at, err := time.Parse(time.RFC3339, value)
	return err == nil && at.UTC().Hour() >= 6 && at.UTC().Hour() < 20
}

// fourth returns the fourth value of a bound, see [boundTries].
func (b describedBound) fourth(values []string, s draw.Source) string {
	if b.day {
		return b.nearMidnight(values)
	}
	return b.withOffset(values, s)
}

// nearMidnight returns a day in UTC that begins or ends less than two hours from a moment of the data: in a time zone near UTC the moment belongs to another
// day. It prefers moments before midnight, because the network is east of Greenwich.
func (b describedBound) nearMidnight(values []string) string {
	const near = 2 * time.Hour
	var late, early string
	if b.bound == atMostBound { // so that the earliest such day is found: few items are before it
		values = slices.Clone(values)
		slices.Reverse(values)
	}
	for _, v := range values {
		at, err := time.Parse(time.RFC3339, v)
		if err != nil {
			continue
		}
		midnight := at.UTC().Truncate(24 * time.Hour)
		next := midnight.AddDate(0, 0, 1)
		switch isLowerBound := b.bound == atLeastBound; {
		case !isRFC3339(next):
		case next.Sub(at) <= near && isLowerBound: // the bound is the next day, which excludes the moment
			late = next.Format(time.DateOnly)
		case next.Sub(at) <= near:
			late = midnight.Format(time.DateOnly)
		case at.Sub(midnight) < near && isLowerBound:
			early = midnight.Format(time.DateOnly)
		case at.Sub(midnight) < near: // the bound is the day before, which excludes the moment
			early = midnight.AddDate(0, 0, -1).Format(time.DateOnly)
		}
	}
	return cmp.Or(late, early)
}

// withOffset returns a bound that is one second from a drawn moment of the data, written with the offset of a far time zone: code that ignores the offset
// loses the item of that moment, or finds it wrongly (RFC 3339 §4.2). The bound includes or excludes the moment, by the draw, because stored moments may
// have lost their offsets, too.
func (b describedBound) withOffset(values []string, s draw.Source) string {
	at, err := time.Parse(time.RFC3339, values[1+s.Below(len(values)-2)])
	if err != nil {
		return ""
	}
	early, margin := (b.bound == atMostBound) != (s.Below(2) == 0), time.Second // early is the local time of the bound if its offset is lost
	hours := s.Between(11, 13)
	if early {
		hours = -s.Between(10, 12)
	} else {
		margin = -time.Second
	}
	return at.Add(margin).In(time.FixedZone("", hours*3600)).Format(time.RFC3339)
}

// ordered returns the values that are numbers, or dates, in order.
func (b describedBound) ordered(values []string) []string {
	if b.date {
		values = slices.DeleteFunc(slices.Clone(values), func(v string) bool {
			_, err := time.Parse(time.DateOnly, v[:min(len(v), len(time.DateOnly))])
			return err != nil
		})
		slices.Sort(values)
		return values
	}
	number := func(v string) float64 { f, _ := strconv.ParseFloat(v, 64); return f }
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool {
		_, err := strconv.ParseFloat(v, 64)
		return err != nil || b.integer && strings.ContainsAny(v, ".eE")
	})
	slices.SortFunc(values, func(x, y string) int {
		switch {
		case number(x) < number(y):
			return -1
		case number(x) > number(y):
			return 1
		}
		return 0
	})
	return values
}

// farValues returns two values of a date or a number at the far ends of its range. A bound keeps all items with one of them and no items with the other. They
// need no words of the document, which may be in any language. ok is false for other parameters.
func farValues(p openapi.Parameter) (early, late string, ok bool) {
	s := p.Schema
	switch {
	case p.In != "query" || p.Required || openapi.RoleOf(p) != "" || len(s.Enum) > 0 || s.Pattern != "" || isAboutAnswer(p.Name):
	case s.Type == "string" && s.Format == "date":
		return "1971-01-02", "2101-01-02", true
	case s.Type == "string" && s.Format == "date-time":
		return "1971-01-02T00:00:00Z", "2101-01-02T00:00:00Z", true
	case s.Type == "integer" || s.Type == "number":
		low, high := atLeast(s, 0), 1<<31-1
		if s.Maximum != nil && *s.Maximum < float64(high) {
			high = int(*s.Maximum)
		}
		return strconv.Itoa(low), strconv.Itoa(high), high > low
	}
	return "", "", false
}

// effectCases returns the requests with both [farValues] of each parameter that may have them.
func effectCases(o openapi.Operation) []row {
	var out []row
	for _, p := range o.QueryParameters() {
		early, late, ok := farValues(p)
		if !ok || len(out) >= 2*maxLinked {
			continue
		}
		for n, value := range []string{early, late} {
			out = append(out, row{
				Label: evidence.ListOperation.With(evidence.EffectCase(p.Name, n+1)),
				Plan:  in(stageRest, stageRead, stagePages).onlyIf(notQuick).onDemand(), Send: choose(farValue(p, value)),
			})
		}
	}
	return out
}

func farValue(p openapi.Parameter, value string) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		for _, f := range r.filtersAt(res.Name) {
			if f.parameter == p.Name {
				return chosen{}, notApplicable("%.80q filters by a member of the items", p.Name)
			}
		}
		return chosen{r.sized(o, withQuery(res.URL, pair{p.Name, value}), p.Name, maxWalkSize), map[string]string{"parameter": p.Name, "value": value, "far": "true"}}, nil
	}
}
