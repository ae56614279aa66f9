package probe

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file requests two values of one filter at once, if the document describes the filter as an array. A node that reads only one value of a parameter
// ignores the other, and a node that builds links from one value loses the other on later pages.

// readSeveral reads the list with two values of a filter, in small pages.
const readSeveral = "several"

const (
	maxSeveral   = 3 // filters that are tried with two values
	severalPages = 3 // pages that are read
)

// takesSeveral reports whether a query parameter may have several values.
func takesSeveral(p openapi.Parameter) bool {
	return p.Schema.Type == "array" && (p.Schema.MaxItems == nil || *p.Schema.MaxItems > 1)
}

// severalCases returns a request with two values for each filter that takes several, and the pages of a list that two values of one filter select.
func severalCases(o openapi.Operation) []row {
	var out []row
	plan := in(stageRest, stageRead, stagePages).onlyIf(notQuick)
	for _, f := range filtersOf(o) {
		if f.several && len(out) < maxSeveral {
			out = append(out, row{Label: evidence.ListOperation.With(evidence.SeveralCase(f.parameter)), Plan: plan, Send: choose(severalValues(f.parameter))})
		}
	}
	if len(out) == 0 {
		return nil
	}
	for n := range severalPages {
		out = append(out, readingRow(readSeveral, n+1, plan.inLane(readSeveral).onDemand(), beginSeveral))
	}
	return out
}

// alternatives are two values of a filter, either of which an item may have.
type alternatives struct {
	describedFilter
	first, second string
	count         int // of the items that have at least one of the values: the matches
	// atRisk is the least number of items in the second half of the matches that are lost if a link keeps only one of the two values.
	atRisk int
}

// given returns the inputs of a request with both values. The items have both, so seen is true.
func (a alternatives) given() map[string]string {
	return map[string]string{"parameter": a.parameter, "member": a.member, "value": a.first, "or": a.second, "seen": "true"}
}

// addTo adds both values to a URL, as the document writes arrays.
func (a alternatives) addTo(address string) string {
	if a.separator != "" {
		return withQuery(address, pair{a.parameter, a.first + a.separator + a.second})
	}
	return withQuery(address, pair{a.parameter, a.first}) + "&" + url.QueryEscape(a.parameter) + "=" + url.QueryEscape(a.second)
}

// alternativesOf lists the pairs of values of a filter that items have, in drawn order.
func alternativesOf(f describedFilter, items []item, s draw.Source) []alternatives {
	if !f.several || !f.meansAnyOf(items) {
		return nil
	}
	all := conditions(f, items)
	draw.Shuffle(s, all)
	var out []alternatives
	for i, first := range all {
		for _, second := range all[i+1:] {
			if f.separator == "" || !strings.Contains(first.value+second.value, f.separator) {
				out = append(out, newAlternatives(f, first, second))
			}
		}
	}
	return out
}

func newAlternatives(f describedFilter, first, second condition) alternatives {
	a := alternatives{describedFilter: f, first: first.value, second: second.value, count: first.count + second.count - countBoth(first, second)}
	matches, onlyFirst, onlySecond := 0, 0, 0 // onlyFirst and onlySecond count the second half
	for i := range first.holds {
		if !first.holds[i] && !second.holds[i] {
			continue
		}
		if matches++; matches <= (a.count+1)/2 || first.holds[i] && second.holds[i] {
			continue
		}
		if first.holds[i] {
			onlyFirst++
		} else {
			onlySecond++
		}
	}
	a.atRisk = min(onlyFirst, onlySecond)
	return a
}

// meansAnyOf reports whether an item with one of the requested values must match. It must if the document says so, or if no item has several values in the
// member. Otherwise a node may require all of the requested values.
func (f describedFilter) meansAnyOf(items []item) bool {
	if regexp.MustCompile(`(?i)\b(all|both|each|every|alle[nrs]?|jede[mnrs]?)\b`).MatchString(f.text) {
		return false
	}
	if regexp.MustCompile(`(?i)\b(any|either|one) of\b|\bat least one\b|\bor\b|\b(mindestens|wenigstens) eine[mnrs]?\b|\beine[mnrs]? (der|dieser|davon|von)\b|\boder\b`).MatchString(f.text) {
		return true
	}
	for _, i := range items {
		if len(i.values[f.member]) > 1 {
			return false
		}
	}
	return true
}

// severalValues returns a chooser of a request for the items that have one of two values.
func severalValues(parameter string) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		for _, f := range r.filtersAt(res.Name) {
			if f.parameter != parameter {
				continue
			}
			items := r.facts.itemsOf(res.Name)
			all := alternativesOf(f, items, r.source(res.Name, "several "+parameter))
			if len(all) == 0 {
				break
			}
			best := all[0]
			if i := slices.IndexFunc(all, func(a alternatives) bool { return a.count < len(items) }); i >= 0 { // prefer a pair that some items lack
				best = all[i]
			}
			return chosen{r.sized(o, best.addTo(res.URL), parameter, maxWalkSize), best.given()}, nil
		}
		return chosen{}, notApplicable("the items lack two values of %.80q, or it is unclear whether an item must have both", parameter)
	}
}

// beginSeveral reads the list with two values of a filter, in small pages, and follows links if there are any.
func beginSeveral(r *run, o openapi.Operation, res Resource) (*reading, *unsent) {
	items := r.facts.itemsOf(res.Name)
	var best alternatives
	for _, f := range r.filtersAt(res.Name) {
		for _, a := range alternativesOf(f, items, r.source(res.Name, readSeveral+" "+f.parameter)) {
			if a.atRisk > best.atRisk || best.count == 0 {
				best = a
			}
		}
	}
	if best.count < 3 {
		return nil, notApplicable("no two values of one filter select at least 3 items together")
	}
	res.URL = best.addTo(res.URL)
	rd, reason := r.smallReading(o, res, best.count, severalPages, readSeveral, cut{})
	if reason != nil {
		return nil, reason
	}
	rd.links = true
	for name, value := range best.given() {
		rd.given[name] = value
	}
	return rd, nil
}

// pluralMember returns the only member whose name is the filter's with an ending of German plurals, such as regionen for region, and whose values are all in
// the filter's vocabulary.
func (f describedFilter) pluralMember(members openapi.Members, items [][]byte) string {
	if len(f.vocabulary) < 2 || slices.Contains(f.vocabulary, "true") {
		return ""
	}
	var found []string
	for _, member := range members {
		ending, begins := strings.CutPrefix(openapi.Joined(member), openapi.Joined(f.parameter))
		if !begins || !slices.Contains([]string{"e", "n", "en", "er", "nen"}, ending) {
			continue
		}
		fits := true
		for _, item := range items[:min(len(items), maxItems)] {
			for _, value := range openapi.MemberValues(item, member) {
				fits = fits && slices.Contains(f.vocabulary, value)
			}
		}
		if fits {
			found = append(found, member)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}
