package probe

import (
	"slices"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// jointValues is how many values of a filter are looked at for a pair.
const jointValues = 4

// condition is one value of a filter, and the items that hold it.
type condition struct {
	filter
	value string
	holds []bool
	count int
}

// conditions are the first values of a filter in the data.
func conditions(f describedFilter, items []item) []condition {
	var out []condition
	_, order := occurrences(items, f.member)
	for _, value := range order {
		if len(f.vocabulary) > 0 && !slices.Contains(f.vocabulary, value) {
			continue
		}
		c := condition{filter: f.filter, value: value, holds: make([]bool, len(items))}
		for i := range items {
			if slices.Contains(items[i].values[f.member], value) {
				c.holds[i] = true
				c.count++
			}
		}
		if out = append(out, c); len(out) == jointValues {
			break
		}
	}
	return out
}

// choosePair picks values of two filters that some item holds together. Best is a pair of which other items hold the first alone and the
// second alone, so that it shows which of the two is ignored; good enough is one of which one does. ok is false when there is none.
func choosePair(o document.Operation, items []item) (a, b condition, ok bool) {
	rank := 0
	var before []condition
	for _, f := range filtersOf(o) {
		these := conditions(f, items)
		for _, second := range these {
			for _, first := range before {
				both := 0
				for i := range items {
					if first.holds[i] && second.holds[i] {
						both++
					}
				}
				r := 0
				if both > 0 && first.count > both {
					r++
				}
				if both > 0 && second.count > both {
					r++
				}
				if r > rank {
					rank, a, b = r, first, second
				}
			}
		}
		before = append(before, these...)
	}
	return a, b, rank > 0
}

// twoFilters asks for what fits two filters.
func (r *run) twoFilters(o document.Operation, res discover.Resource, _ exchange.Case) (string, map[string]string, *unsent) {
	a, b, ok := choosePair(o, r.facts.itemsOf(res.Name))
	if !ok {
		return "", nil, notApplicable("no two filters tell the items apart together")
	}
	given := map[string]string{"parameter": a.parameter, "member": a.member, "value": a.value,
		"andParameter": b.parameter, "andMember": b.member, "andValue": b.value}
	return r.sized(o, withQuery(res.URL, pair{a.parameter, a.value}, pair{b.parameter, b.value}), a.parameter, sizeOfFilter), given, nil
}
