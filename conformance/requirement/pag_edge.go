package requirement

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges the items whose value is the bound itself: whether all answers agree with one way to read the bound that the document allows.

// edge is what the document says of a bound. If it does not say whether the bound itself matches, inclusive and exclusive are both false.
type edge struct {
	inclusive, exclusive bool
	utc, central         bool // days are those of UTC, or of Central Europe
	written              bool // the day of a time is the date in its text, whatever its offset
	leavesOutAbsent      bool // items without the member do not match
}

// edgeOf reads the name and the description of a parameter. It knows words of the languages in which the network's documents are written.
func edgeOf(e Evidence, parameter string) edge {
	o, _ := operation(e, e.Roles.List)
	i := slices.IndexFunc(o.QueryParameters(), func(p openapi.Parameter) bool { return p.Name == parameter })
	if i < 0 {
		return edge{}
	}
	return edgeIn(strings.ToLower(o.QueryParameters()[i].Description), openapi.Words(parameter))
}

// edgeIn reads a description in lower case and the words of a parameter name.
func edgeIn(text string, name []string) edge {
	described := text
	text = regexp.MustCompile(`[^.;]*\b(without|ohne)\b[^.;]*`).ReplaceAllString(text, "") // speaks of items without the member
	// A negated word says the opposite of the word alone.
	text = regexp.MustCompile(`\bnicht (vor|nach|früher|später|mehr als|weniger als)\b( (diesem|dem angegebenen))?|\b(not|no) (before|after|later|earlier|more|less)\b( than)?( (this|the given|that))?`).ReplaceAllString(text, "inclusive")
	text = regexp.MustCompile(`\b(day|date|value|bound|limit|itself|tag|datum|wert|betrag|grenze|selbst)\b[^.;]{0,30}\b(nicht (mehr )?(eingeschlossen|enthalten|dabei|gelistet)|not (included|inclusive))\b`).ReplaceAllString(text, "exclusive")
	says := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }
	named := func(words ...string) bool {
		return slices.ContainsFunc(name, func(word string) bool { return slices.Contains(words, word) })
	}
	out := edge{
		inclusive: says(`\bor (later|after|earlier|before|more|less|above|below|greater|higher|lower|smaller|larger|equal)\b|\binclusive(ly)?\b|\bincluding\b|\bat (least|most)\b|\bon or\b|\bwhole day (counts|is included)\b`) ||
			says(`\boder (später|spaeter|danach|früher|frueher|davor|mehr|weniger|höher|niedriger|größer|kleiner)|\b(einschließlich|einschliesslich|inklusive|eingeschlossen|mindestens|spätestens|frühestens)\b|\bhöchstens\b|\bganze tag zählt\b|\b(inclus|incluse|compris|comprise|incluido|incluso|compreso)\b`) ||
			says(`\bau plus (tard|t\x{f4}t)\b|\bou (plus (tard|t\x{f4}t)|avant|apr\x{e8}s)|\b(al m\x{e1}s tardar|o (antes|despu\x{e9}s|posterior|anterior)|al pi\x{f9} (tardi|presto)|o (prima|dopo|successiv\w+|precedent\w+)|uiterlijk|op of (eerder|later))\b`),
		exclusive: says(`\bexclusive(ly)?\b|\bstrictly\b|\b(before|after|earlier than|later than|more than|less than|greater than) (this|the given|that)\b`) ||
			says(`\b(vor|nach) (diesem|dem angegebenen)\b|\bexklusive\b`),
		utc:             says(`\b(utc|gmt)\b`) && !says(`\b(offset|abstand|difference)\b[^.]{0,20}\butc\b`),
		central:         says(`\b(europe/(vienna|berlin|zurich|paris|rome|prague|budapest|amsterdam|brussels|madrid|warsaw|ljubljana)|wien|wiener|vienna|berlin|zürich|zurich|cet|cest|mez|mesz)\b|central european|mitteleuropäisch|heure (suisse|de paris|fran\x{e7}aise|de suisse)|\bswiss time\b|\bschweizer zeit\b|\bora (italiana|svizzera)\b`),
		leavesOutAbsent: regexp.MustCompile(`\bwithout\b[^.]*\b(left out|omitted|excluded|not (listed|included|returned))\b`).MatchString(described),
	}
	if out.inclusive == out.exclusive {
		out.inclusive, out.exclusive = named("gte", "lte", "ge", "le"), named("gt", "lt")
	}
	out.written = says(`\bday\b[^.;]{0,20}\b(is|as)\b[^.;]{0,20}\bwritten\b|\bday\b[^.;]{0,60}\bat (its|the|their) own offset\b`) && !says(`\bnot\b[^.;]{0,30}\b(written|own offset)\b`)
	if out.utc && out.central || out.written && (out.utc || out.central) {
		out.utc, out.central, out.written = false, false, false
	}
	return out
}

// dayOf returns the day of a moment in the time zone that the document names.
func (d edge) dayOf(t time.Time) string {
	t = t.UTC()
	if d.central {
		t = t.Add(centralOffset(t))
	}
	return t.Format(time.DateOnly)
}

// centralOffset returns the offset of Central Europe from UTC: an hour, and two from the last Sunday of March to that of October, 01:00 UTC (Directive
// 2000/84/EC). rin has no table of time zones.
func centralOffset(t time.Time) time.Duration {
	lastSunday := func(m time.Month) time.Time {
		last := time.Date(t.Year(), m, 31, 1, 0, 0, 0, time.UTC)
		return last.AddDate(0, 0, -int(last.Weekday()))
	}
	if !t.Before(lastSunday(time.March)) && t.Before(lastSunday(time.October)) {
		return 2 * time.Hour
	}
	return time.Hour
}

// boundReading is one way to read a bound: whether an item on the bound matches, when a day begins, and whether a bound that is a day means the whole day
// or its first moment.
type boundReading struct {
	inclusive bool
	// begin is how long before midnight UTC the day begins. atMidnight means that the bound is the moment at which the day begins.
	begin      time.Duration
	atMidnight bool
	written    bool // see [edge]
}

// readingsOf returns all ways to read a bound that the document allows. days is true if the bounds are days: then it matters when a day begins.
func readingsOf(d edge, days bool) []boundReading {
	begins := []time.Duration{0}
	if days && !d.written {
		const step = 30 * time.Minute
		for begin := step; begin <= 14*time.Hour; begin += step {
			begins = append(begins, begin)
			if begin <= 12*time.Hour {
				begins = append(begins, -begin)
			}
		}
	}
	var out []boundReading
	for _, begin := range begins {
		if !d.exclusive {
			out = append(out, boundReading{inclusive: true, begin: begin, written: d.written})
		}
		if !d.inclusive {
			out = append(out, boundReading{begin: begin, written: d.written})
		}
		if days && !d.written && !d.inclusive && !d.exclusive {
			out = append(out, boundReading{inclusive: true, begin: begin, atMidnight: true}, boundReading{begin: begin, atMidnight: true})
		}
	}
	return out
}

// side returns where a value is by one reading, like the function [side]. In summer a day may begin an hour earlier. If that hour decides, side returns 0.
func (r boundReading) side(value, bound, direction string) int {
	d := edge{inclusive: r.inclusive, exclusive: !r.inclusive, written: r.written}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil || !isDay(bound) || r.written {
		return side(value, bound, direction, d)
	}
	midnight, _ := time.Parse(time.DateOnly, bound)
	within := func(midnight time.Time) bool {
		next := midnight.AddDate(0, 0, 1)
		switch isLowerBound := direction == "least"; {
		case r.atMidnight && r.inclusive && isLowerBound:
			return !at.Before(midnight)
		case r.atMidnight && r.inclusive:
			return !at.After(midnight)
		case r.atMidnight && isLowerBound:
			return at.After(midnight)
		case r.atMidnight:
			return at.Before(midnight)
		case r.inclusive && isLowerBound:
			return !at.Before(midnight)
		case r.inclusive:
			return at.Before(next)
		case isLowerBound:
			return !at.Before(next)
		}
		return at.Before(midnight)
	}
	begin := midnight.Add(-r.begin)
	switch first, second := within(begin), within(begin.Add(-time.Hour)); {
	case first && second:
		return 1
	case !first && !second:
		return -1
	}
	return 0
}

// findInconsistentBounds finds parameters whose answers agree with no way to read the bound. Each answer alone may be right.
func findInconsistentBounds(e Evidence) []Judgement {
	if e.unsteady() {
		return nil
	}
	calls, judged := map[string][]evidence.Exchange{}, map[string]bool{} // judged has the parameters with an answer that is wrong by itself
	var parameters []string
	for _, x := range e.Exchanges {
		name := x.Given["parameter"]
		if x.Label.Resource() != e.Roles.List || !strings.HasPrefix(string(x.Label.Case()), "bound-") || !success(x) || len(conditionsOf(x)) != 1 || volatile(x.Given["member"]) {
			continue
		}
		if judgeBound(e, x).Outcome != Pass {
			judged[name] = true
		}
		if calls[name] == nil {
			parameters = append(parameters, name)
		}
		calls[name] = append(calls[name], x)
	}
	var parts []Judgement
	for _, name := range parameters {
		if judged[name] {
			continue
		}
		var against string
		var answers []boundAnswer
		for _, x := range calls[name] {
			answers = append(answers, boundAnswerOf(e, x))
		}
		days := slices.ContainsFunc(calls[name], func(x evidence.Exchange) bool { return isDay(x.Given["value"]) })
		agrees := slices.ContainsFunc(readingsOf(edgeOf(e, name), days), func(r boundReading) bool {
			return !slices.ContainsFunc(answers, func(a boundAnswer) bool {
				why := r.contradictedBy(a)
				against = cmp.Or(against, why) // the first reading is the usual one, so its contradiction is reported
				return why != ""
			})
		})
		if !agrees {
			last := calls[name][len(calls[name])-1]
			parts = append(parts, Subject{Name: callInWords(last), Label: last.Label, Expected: "one side of the bound for all items that are on it"}.
				failed(clip(name)+" treats items on the bound in different ways, whichever time zone is assumed, and whether the bound itself is included or not", against).
				Hinting("compare days with days, or moments with moments, for all records alike, in one time zone; say in the document whether the bound itself is included"))
		}
	}
	return parts
}

// boundAnswer holds, for each value of the member, one item that is in the answer to a bound, and one that is missing. Each value counts once, because a
// list may be long and there are many ways to read a bound.
type boundAnswer struct {
	condition        condition
	present, missing []valuedItem
}

type valuedItem struct{ value, id string }

// boundAnswerOf reads the answer to a call with a bound.
func boundAnswerOf(e Evidence, x evidence.Exchange) boundAnswer {
	a := boundAnswer{condition: conditionsOf(x)[0]}
	valueOf := func(item []byte) string {
		values := e.memberValues(item, a.condition.member)
		if len(values) != 1 {
			return ""
		}
		return values[0]
	}
	items, seen := itemsOrNone(e, x), map[string]bool{}
	for _, item := range items {
		if value := valueOf(item); value != "" && !seen[value] {
			seen[value] = true
			a.present = append(a.present, valuedItem{value, e.identity(item)})
		}
	}
	if !isCompleteAnswer(e, x) {
		return a
	}
	values := map[string]string{} // by id
	lost := lostItems(e, x, e.identities(items), func(item []byte) bool { values[e.identity(item)] = valueOf(item); return true })
	clear(seen)
	for _, id := range lost {
		if value := values[id]; value != "" && !seen[value] {
			seen[value] = true
			a.missing = append(a.missing, valuedItem{value, id})
		}
	}
	return a
}

// contradictedBy says which item of an answer contradicts the reading, or returns "". Of items with the same value, either all match or none does.
func (r boundReading) contradictedBy(a boundAnswer) string {
	present := map[string]bool{}
	for _, item := range a.present {
		present[item.value] = true
		if r.side(item.value, a.condition.value, a.condition.bound) < 0 {
			return fmt.Sprintf("with %s, the item %s is in the answer: its %s is %s", a.condition, quote(item.id), clip(a.condition.member), quote(item.value))
		}
	}
	for _, item := range a.missing {
		if present[item.value] || r.side(item.value, a.condition.value, a.condition.bound) > 0 {
			return fmt.Sprintf("with %s, the item %s is missing", a.condition, quote(item.id))
		}
	}
	return ""
}
