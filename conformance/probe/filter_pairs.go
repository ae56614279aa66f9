package probe

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file requests the items that match two filters, or three, and filtered lists in an order. It chooses values that some item has together, because two
// filters must leave out more than each of them.

// jointValues bounds the values of one filter that choosePair considers.
const jointValues = 4

// condition is one value of a filter; holds reports for each item whether it has the value, count how many have it.
type condition struct {
	filter
	value string
	bound bound // "" for the value itself
	holds []bool
	count int
}

// conditions returns conditions with the first values of a filter in the data.
func conditions(f describedFilter, items []item) []condition {
	var out []condition
	_, order := occurrences(items, f.member)
	slices.SortStableFunc(order, func(a, b string) int { return reserved(b) - reserved(a) })
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

// reserved ranks a value by its characters that a query must encode (RFC 3986 §2.2): 2 for characters that end a value, 1 for others, and 0 for a value
// without such characters.
func reserved(value string) int {
	switch {
	case strings.ContainsAny(value, "&#"):
		return 2
	case strings.ContainsAny(value, "+%=;"):
		return 1
	}
	return 0
}

// choosePair picks values a and b of two filters that some item has together. It prefers a pair for which some items have only a, and some only b, since
// such a pair shows which filter is ignored; otherwise one of the two is enough. ok is false if no pair fits.
func choosePair(filters []describedFilter, items []item) (a, b condition, ok bool) {
	rank := 0
	var before []condition
	for _, f := range filters {
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

// chooseThird picks a value of a third filter that some item has together with a and b.
func chooseThird(filters []describedFilter, items []item, a, b condition) (condition, bool) {
	for _, f := range filters {
		if f.parameter == a.parameter || f.parameter == b.parameter {
			continue
		}
		for _, c := range conditions(f, items) {
			for i := range items {
				if a.holds[i] && b.holds[i] && c.holds[i] {
					return c, true
				}
			}
		}
	}
	return condition{}, false
}

// filtersAtOnce requests the items that match two filters, or three.
func filtersAtOnce(n int) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		filters, items := r.filtersAt(res.Name), r.facts.itemsOf(res.Name)
		a, b, ok := choosePair(filters, items)
		if !ok {
			return chosen{}, notApplicable("no two filters together distinguish the items")
		}
		given := map[string]string{"parameter": a.parameter, "member": a.member, "value": a.value,
			"andParameter": b.parameter, "andMember": b.member, "andValue": b.value}
		query := []pair{{a.parameter, a.value}, {b.parameter, b.value}}
		if n > 2 {
			c, ok := chooseThird(filters, items, a, b)
			if !ok {
				return chosen{}, notApplicable("no three filters have items together")
			}
			given["thirdParameter"], given["thirdMember"], given["thirdValue"] = c.parameter, c.member, c.value
			query = append(query, pair{c.parameter, c.value})
		}
		return chosen{r.sized(o, withQuery(res.URL, query...), a.parameter, maxWalkSize), given}, nil
	}
}

// sortedFilterCase is the row that requests a filtered list in an order: code for filters often has a query of its own, which forgets the order.
func sortedFilterCase(o openapi.Operation) []row {
	if len(ordersOf(o)) == 0 || len(filtersOf(o)) == 0 {
		return nil
	}
	return []row{{Label: evidence.ListOperation.With("filter-sorted"), Words: "with a filter and in an order", Plan: in(stageRest, stageRead, stagePages).onlyIf(notQuick).onDemand(), Send: choose(sortedFilter)}}
}

// sortedFilter chooses the value that most items have of a drawn filter, and an order that those items do not already have.
func sortedFilter(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	s, items, columns := r.source(res.Name, "sorted filter"), r.facts.itemsOf(res.Name), r.columnsAt(res.Name)
	filters := r.filtersAt(res.Name)
	draw.Shuffle(s, filters)
	for _, f := range filters {
		all := slices.DeleteFunc(conditions(f, items), func(c condition) bool { return isProse(c.value) })
		if len(all) == 0 {
			continue
		}
		c := slices.MaxFunc(all, func(a, b condition) int { return a.count - b.count })
		for _, order := range columns.likelyOrders(ordersOf(o), s) {
			path, found := columns.sortedBy(order[0].value)
			if !found || path == c.member || len(columns[path]) != len(items) {
				continue
			}
			var values []string
			for row, value := range columns[path] {
				if c.holds[row] {
					values = append(values, value)
				}
			}
			if isSorted(values) {
				continue
			}
			given := map[string]string{"parameter": c.parameter, "member": c.member, "value": c.value, "seen": "true", "open": strconv.FormatBool(f.isOpen()), "order": order[0].value}
			return chosen{r.sized(o, withQuery(res.URL, append([]pair{{c.parameter, c.value}}, order...)...), c.parameter, maxWalkSize), given}, nil
		}
	}
	return chosen{}, notApplicable("no filter has items that are out of a described order")
}
