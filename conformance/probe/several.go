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

// This file asks for two values of one filter at once, where the document describes an array: code that reads one value of a parameter loses the others, and
// so do links that are built from it.

// readSeveral reads the list with two values of a filter, in small pages.
const readSeveral = "several"

// The numbers of such filters and of the pages that are read.
const (
	maxSeveral   = 3
	severalPages = 3
)

// takesSeveral reports a query parameter that may hold several values.
func takesSeveral(p openapi.Parameter) bool {
	return p.Schema.Type == "array" && (p.Schema.MaxItems == nil || *p.Schema.MaxItems > 1)
}

// severalCases are two values of each filter that takes several, and the pages of what the first of them leaves.
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
	count         int // of the items that have one of them
	late          int // of the items in the second half of those, for the value that has fewer there: what a link loses shows by them
}

// given are the inputs of a call with both values.
func (a alternatives) given() map[string]string {
	return map[string]string{"parameter": a.parameter, "member": a.member, "value": a.first, "or": a.second, "seen": "true"}
}

// in adds both values to a URL, as the document writes arrays.
func (a alternatives) in(address string) string {
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
	a := alternatives{describedFilter: f, first: first.value, second: second.value, count: first.count + second.count - together(first, second)}
	n, ofFirst, ofSecond := 0, 0, 0
	for i := range first.holds {
		if !first.holds[i] && !second.holds[i] {
			continue
		}
		if n++; n <= (a.count+1)/2 || first.holds[i] && second.holds[i] {
			continue
		}
		if first.holds[i] {
			ofFirst++
		} else {
			ofSecond++
		}
	}
	a.late = min(ofFirst, ofSecond)
	return a
}

// meansAnyOf reports that an item with one of several values matches: each item has at most one, or the document says so. Of members with several values,
// a node may ask for all.
func (f describedFilter) meansAnyOf(items []item) bool {
	if regexp.MustCompile(`(?i)\b(any|either|one) of\b|\bat least one\b|\bor\b`).MatchString(f.text) {
		return true
	}
	for _, i := range items {
		if len(i.values[f.member]) > 1 {
			return false
		}
	}
	return true
}

// severalValues asks for the items that have one of two values.
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
			if i := slices.IndexFunc(all, func(a alternatives) bool { return a.count < len(items) }); i >= 0 { // other items have neither value
				best = all[i]
			}
			return chosen{r.sized(o, best.in(res.URL), parameter, maxWalkSize), best.given()}, nil
		}
		return chosen{}, notApplicable("the items do not show that %.80q takes one of several values", parameter)
	}
}

// beginSeveral reads what two values of a filter leave, in small pages and along links where there are any.
func beginSeveral(r *run, o openapi.Operation, res Resource) (*reading, *unsent) {
	items := r.facts.itemsOf(res.Name)
	var best alternatives
	for _, f := range r.filtersAt(res.Name) {
		for _, a := range alternativesOf(f, items, r.source(res.Name, readSeveral+" "+f.parameter)) {
			if a.late > best.late || best.count == 0 {
				best = a
			}
		}
	}
	if best.count < 3 {
		return nil, notApplicable("no two values of a filter that takes several leave several items")
	}
	res.URL = best.in(res.URL)
	rd, reason := r.smallReading(o, res, best.count, severalPages, readSeveral, nil)
	if reason != nil {
		return nil, reason
	}
	rd.links = true
	for name, value := range best.given() {
		rd.given[name] = value
	}
	return rd, nil
}
