package probe

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file follows the link to the next page with each parameter of a list, and with several at once: if the link lacks a parameter, the second page is
// from another list.

// These limit the requests of this file.
const (
	maxLinked     = 8
	linkedPages   = 2
	combinedPages = 3
	morePairs     = 4
	fewItems      = 2 // on the first page
)

// linkedCases are the first two pages with each parameter that does not select pages, and the whole list with parameters whose meaning is not known.
func linkedCases(o openapi.Operation) []row {
	var out []row
	plan := in(stageRest, stageRead, stagePages).onlyIf(notQuick)
	for _, p := range o.QueryParameters() {
		if role := openapi.RoleOf(p); role != "" && role != openapi.SortRole || len(out) >= maxLinked*(linkedPages+1) {
			continue
		}
		name, lane := evidence.LinkedReading(p.Name), "linked "+p.Name
		for n := range linkedPages {
			out = append(out, readingRow(name, n+1, plan.inLane(lane).onDemand(), beginLinked(p))) // lists without links do not need these calls
		}
		out = append(out, row{Label: evidence.ListOperation.With(evidence.UnlinkedCase(p.Name)), Plan: plan.inLane(lane).onDemand(), Send: choose(unlinked(p))})
	}
	for n := range combinedPages {
		out = append(out, readingRow(readCombined, n+1, plan.inLane(readCombined).onDemand(), beginCombined))
	}
	for n := range morePairs {
		out = append(out, row{Label: evidence.ListOperation.With(evidence.Case("filter-pair-" + strconv.Itoa(n+1))), Plan: plan.onDemand(), Send: choose(anotherPair(n))})
	}
	return out
}

// readCombined reads the list with two filters and an order, in small pages.
const readCombined = "combined"

// linkedValue returns a value of a parameter, if possible one that excludes some items and keeps several.
func (r *run) linkedValue(res Resource, o openapi.Operation, p openapi.Parameter) (value string, given map[string]string, ok bool) {
	given = map[string]string{"parameter": p.Name}
	items := r.facts.itemsOf(res.Name)
	best := 0
	for _, c := range r.allConditions(res.Name, items, r.source(res.Name, "linked "+p.Name)) {
		rank := min(c.count, len(items)-c.count)
		if c.count > fewItems { // then a link to a second page must encode the value
			rank += reserved(c.value) * len(items)
		}
		if c.parameter == p.Name && rank > best {
			best, value = rank, c.value
			given["member"], given["value"], given["bound"] = c.member, c.value, string(c.bound)
		}
	}
	if value != "" {
		return value, given, true
	}
	if p.Schema.Type == "string" && strings.HasPrefix(p.Schema.Format, "date") {
		if value = r.columnsAt(res.Name).middleDate(p.Schema.Format == "date"); value != "" {
			given["value"] = value
			return value, given, true
		}
	}
	if openapi.RoleOf(p) == openapi.SortRole && len(p.Schema.Enum) > 0 {
		value = draw.One(r.source(res.Name, "linked "+p.Name), p.Schema.Enum...)
		given["value"] = value
		return value, given, true
	}
	if isSearch(p) {
		var titles []title
		r.facts.with(func(f *facts) { titles = f.titles[res.Name] })
		if value = frequentWord(titles, r.source(res.Name, "linked "+p.Name)); value != "" {
			given["value"] = value
			return value, given, true
		}
	}
	_, value, ok = valueOfParameter(p, r.Clock())
	if value == "" || isAboutAnswer(p.Name) {
		return "", nil, false
	}
	given["value"] = value
	return value, given, ok
}

// middleDate returns the median of all dates of a list.
func (c columns) middleDate(dayOnly bool) string {
	var days []string
	for _, values := range c {
		for _, v := range values {
			if len(v) >= len(time.DateOnly) {
				if _, err := time.Parse(time.DateOnly, v[:len(time.DateOnly)]); err == nil {
					days = append(days, v[:len(time.DateOnly)])
				}
			}
		}
	}
	if len(days) == 0 {
		return ""
	}
	slices.Sort(days)
	day := days[len(days)/2]
	if dayOnly {
		return day
	}
	return day + "T00:00:00Z"
}

func beginLinked(p openapi.Parameter) beginReading {
	return func(r *run, o openapi.Operation, res Resource) (*reading, *unsent) {
		r.facts.mu.Lock()
		_, links := r.facts.next[res.Name]
		r.facts.mu.Unlock()
		sized, ok := r.size(o)
		if !ok || !links {
			return nil, notApplicable("no page links to a next one")
		}
		value, given, ok := r.linkedValue(res, o, p)
		if !ok {
			return nil, notApplicable("neither the document nor the data has a valid value of %.80q", p.Name)
		}
		rd := r.newReading(o, res, atLeast(sized.Schema, fewItems), pair{p.Name, value})
		rd.links = true
		for name, v := range given {
			rd.given[name] = v
		}
		return rd, nil
	}
}

// unlinked requests all items on one page, with the value of a parameter whose meaning is not known.
func unlinked(p openapi.Parameter) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		rd := r.readingOf(readingName{res.Name, evidence.LinkedReading(p.Name)})
		if rd == nil || len(rd.Pages) < linkedPages || rd.given["member"] != "" || openapi.RoleOf(p) == openapi.SortRole {
			return chosen{}, notApplicable("there is nothing to compare")
		}
		size, _ := r.size(o)
		return chosen{withQuery(res.URL, pair{p.Name, rd.given["value"]}, pair{size.Name, strconv.Itoa(atLeast(size.Schema, maxPageAsked))}), rd.given}, nil
	}
}

// allConditions returns conditions for the filters and the bounds of a list, with values from the data.
func (r *run) allConditions(at evidence.Resource, items []item, s draw.Source) []condition {
	var out []condition
	for _, f := range r.filtersAt(at) {
		out = append(out, conditions(f, items)...)
	}
	r.facts.mu.Lock()
	bounds := slices.Clone(r.facts.bounds[at])
	r.facts.mu.Unlock()
	for _, b := range bounds {
		_, values := occurrences(items, b.member)
		if values = b.ordered(values); len(values) < 3 {
			continue
		}
		value := b.inner(values, s)
		if b.date && b.day {
			value = value[:len(time.DateOnly)]
		}
		c := condition{filter: b.filter, value: value, bound: b.bound, holds: make([]bool, len(items))}
		for i := range items {
			if c.holds[i] = b.holds(items[i].values[b.member], value); c.holds[i] {
				c.count++
			}
		}
		out = append(out, c)
	}
	return out
}

// inner returns a value that keeps many items: a lower bound is from the lower half and an upper one from the upper half, so that a range of both has items.
func (b describedBound) inner(values []string, s draw.Source) string {
	half, quarter := len(values)/2, len(values)/8
	if b.bound == atLeastBound {
		return values[quarter+s.Below(half-quarter)]
	}
	return values[len(values)-1-quarter-s.Below(half-quarter)]
}

// holds reports whether all values of an item are within a bound. Values that equal the bound do not count, because the bound may be exclusive.
func (b describedBound) holds(values []string, bound string) bool {
	if len(values) == 0 {
		return false
	}
	for _, v := range values {
		d := compareValues(v, bound)
		if b.date {
			d = strings.Compare(v[:min(len(v), len(bound))], bound)
		}
		if b.bound == atLeastBound && d <= 0 || b.bound == atMostBound && d >= 0 {
			return false
		}
	}
	return true
}

// countBoth returns how many items meet both conditions.
func countBoth(a, b condition) (n int) {
	for i := range a.holds {
		if a.holds[i] && b.holds[i] {
			n++
		}
	}
	return n
}

// pairs lists the pairs of conditions on different parameters that some items meet together, and each of which excludes items that the other keeps.
func pairs(all []condition) [][2]condition {
	var out [][2]condition
	for i, a := range all {
		for _, b := range all[i+1:] {
			if n := countBoth(a, b); a.parameter != b.parameter && n > 0 && n < a.count && n < b.count {
				out = append(out, [2]condition{a, b})
			}
		}
	}
	return out
}

func (c condition) givenAs(given map[string]string, parameter, member, value, bound string) {
	given[parameter], given[member], given[value] = c.parameter, c.member, c.value
	if c.bound != "" {
		given[bound] = string(c.bound)
	}
}

// pairGiven returns the inputs of a call with two conditions.
func pairGiven(a, b condition) map[string]string {
	given := map[string]string{}
	a.givenAs(given, "parameter", "member", "value", "bound")
	b.givenAs(given, "andParameter", "andMember", "andValue", "andBound")
	return given
}

// rankOfPair puts ranges, which have two bounds of one member, before other pairs.
func rankOfPair(p [2]condition) int {
	if p[0].bound != "" && p[1].bound != "" && p[0].member == p[1].member {
		return 0
	}
	return 1
}

func shuffled(s draw.Source, names []string) []string {
	out := slices.Clone(names)
	for i := len(out) - 1; i > 0; i-- {
		j := s.Below(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// anotherPair requests the items of a drawn pair of filters. Each call takes another pair of parameters.
func anotherPair(n int) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		items := r.facts.itemsOf(res.Name)
		s := r.source(res.Name, "pairs of filters")
		all := pairs(r.allConditions(res.Name, items, s))
		byName := map[string][][2]condition{}
		var names []string
		for _, p := range all {
			name := p[0].parameter + " " + p[1].parameter
			if byName[name] == nil {
				names = append(names, name)
			}
			byName[name] = append(byName[name], p)
		}
		if n >= len(names) {
			return chosen{}, notApplicable("there are no more pairs of filters that distinguish the items")
		}
		names = shuffled(s, names)
		slices.SortStableFunc(names, func(a, b string) int { return rankOfPair(byName[a][0]) - rankOfPair(byName[b][0]) })
		candidates := byName[names[n]]
		p := candidates[r.source(res.Name, "pair "+strconv.Itoa(n)).Below(len(candidates))]
		query := []pair{{p[0].parameter, p[0].value}, {p[1].parameter, p[1].value}}
		if s.Below(2) == 1 {
			slices.Reverse(query)
		}
		if orders := o.Orders(); len(orders) > 0 {
			for _, q := range draw.One(r.source(res.Name, "order of pair "+strconv.Itoa(n)), orders...).Query {
				query = append(query, pair{q[0], q[1]})
			}
		}
		return chosen{r.sized(o, withQuery(res.URL, query...), p[0].parameter, maxWalkSize), pairGiven(p[0], p[1])}, nil
	}
}

// beginCombined reads the items of the pair of filters that keeps the most, in an order, in small pages, and by links if there are any.
func beginCombined(r *run, o openapi.Operation, res Resource) (*reading, *unsent) {
	s := r.source(res.Name, readCombined)
	best, most := [2]condition{}, 2
	for _, p := range pairs(r.allConditions(res.Name, r.facts.itemsOf(res.Name), s)) {
		if n := countBoth(p[0], p[1]); n > most {
			best, most = p, n
		}
	}
	if most < 3 {
		return nil, notApplicable("no two filters leave several items together")
	}
	query := []pair{{best[0].parameter, best[0].value}, {best[1].parameter, best[1].value}}
	if orders := o.Orders(); len(orders) > 0 {
		for _, q := range draw.One(s, orders...).Query {
			query = append(query, pair{q[0], q[1]})
		}
	}
	rd, reason := r.smallReading(o, res, most, combinedPages, readCombined, cut{}, query...)
	if reason != nil {
		return nil, reason
	}
	rd.links = true
	for name, value := range pairGiven(best[0], best[1]) {
		rd.given[name] = value
	}
	return rd, nil
}

// exchangedCases returns the request with a range whose ends are exchanged, if the document may describe both bounds of a member.
func exchangedCases(o openapi.Operation) []row {
	has := func(side bound) bool {
		return slices.ContainsFunc(o.QueryParameters(), func(p openapi.Parameter) bool { b, ok := boundOf(p); return ok && b.bound == side })
	}
	if !has(atLeastBound) || !has(atMostBound) {
		return nil
	}
	return []row{{Label: evidence.ListOperation.With("range-exchanged"), Words: "with the ends of a range exchanged",
		Plan: in(stageRest, stageRead, stagePages).onlyIf(notQuick).onDemand(), Send: choose(exchangedRange)}}
}

// exchangedRange requests a range whose lower bound is above its upper bound, with values of the data between them. No item fits both bounds.
func exchangedRange(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	r.facts.mu.Lock()
	bounds := slices.Clone(r.facts.bounds[res.Name])
	r.facts.mu.Unlock()
	for _, from := range bounds {
		for _, to := range bounds {
			if from.bound != atLeastBound || to.bound != atMostBound || from.member != to.member || from.date != to.date {
				continue
			}
			_, values := occurrences(r.facts.itemsOf(res.Name), from.member)
			values = from.ordered(values)
			if len(values) < 5 { // so that some items are between the ends, and some beyond each
				continue
			}
			edge := max(1, len(values)/4)
			low, high := to.written(values[edge]), from.written(values[len(values)-1-edge])
			if low == high {
				continue
			}
			a := condition{filter: from.filter, value: high, bound: atLeastBound}
			b := condition{filter: to.filter, value: low, bound: atMostBound}
			return chosen{r.sized(o, withQuery(res.URL, pair{a.parameter, a.value}, pair{b.parameter, b.value}), a.parameter, maxWalkSize), pairGiven(a, b)}, nil
		}
	}
	return chosen{}, notApplicable("the document describes no two bounds of one member with several values")
}

// written returns a value of the data in the form that the parameter takes.
func (b describedBound) written(value string) string {
	if b.date && b.day {
		return value[:len(time.DateOnly)]
	}
	return value
}
