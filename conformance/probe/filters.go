package probe

import (
	"slices"
	"strconv"

	"github.com/rin-network/rin/conformance/openapi"
)

// filter maps a described query parameter to the member that it filters by.
type filter struct{ parameter, member string }

// filters returns the filters of the published funding API.
func filters() []filter {
	return []filter{
		{"fundingType", "type"},
		{"targetGroup", "targetGroups"},
		{"region", "eligibleApplicantsRegions"},
		{"applicantsScope", "eligibleApplicantsScope"},
		{"funderId", "funder[].funder.id"},
	}
}

// describedFilter is a filter that an operation describes.
type describedFilter struct {
	filter
	vocabulary []string // empty if any value is valid
}

// Bounds of the values that are tried of one filter. Of a filter without a vocabulary these are values that were seen and one that no item has.
const (
	maxValues  = 16 // with a vocabulary
	openValues = 3  // without one
)

// tries returns how many values of the filter are tried.
func (f describedFilter) tries(all bool) int {
	switch {
	case !all:
		return 1
	case len(f.vocabulary) == 0:
		return openValues
	}
	return min(len(f.vocabulary), maxValues)
}

// filtersOf returns the filters of an operation: parameters with the names of the published API, and parameters that have both name and
// vocabulary in common with a member of the items.
func filtersOf(o openapi.Operation) []describedFilter {
	item := itemSchema(o)
	var out []describedFilter
	for _, p := range o.Parameters {
		if p.In != "query" {
			continue
		}
		words := vocabulary(p.Schema)
		known := slices.IndexFunc(filters(), func(f filter) bool { return f.parameter == p.Name })
		switch {
		case known >= 0:
			out = append(out, describedFilter{filters()[known], words})
		case len(words) > 0 && sameWords(words, vocabulary(item.Properties[p.Name])):
			out = append(out, describedFilter{filter{p.Name, p.Name}, words})
		}
	}
	return out[:min(len(out), maxParameters)]
}

// vocabulary returns the enum of a schema, or of its items.
func vocabulary(s openapi.Schema) []string {
	if len(s.Enum) == 0 && s.Items != nil {
		return s.Items.Enum
	}
	return s.Enum
}

func sameWords(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// itemSchema returns the schema of the items of a list: those of an array, of the array in an envelope, or a single object that stands for
// its list (M1).
func itemSchema(o openapi.Operation) openapi.Schema {
	_, answer, _ := o.Success()
	for _, s := range answer.Content {
		if s.Items != nil {
			return *s.Items
		}
		for _, p := range s.Properties {
			if p.Items != nil && len(p.Items.Properties) > 0 && len(s.Properties) <= 8 && s.Properties["id"].Type == "" {
				return *p.Items
			}
		}
		if len(s.Properties) > 0 {
			return s
		}
	}
	return openapi.Schema{}
}

// runningCalls is the filter of the published API that does not correspond to a member of the items.
const runningCalls = "runningCalls"

func describesRunning(o openapi.Operation) bool {
	p, described := namedQuery(o, runningCalls)
	return described && (p.Schema.Type == "boolean" || p.Schema.Type == "")
}

// attempts returns the values of a filter to try, in order: seen values from the data, then the other values of the vocabulary, or an unknown
// value if the filter has no vocabulary.
func (f describedFilter) attempts(items []item, unknown string) (values []string, seen int) {
	counts, order := occurrences(items, f.member)
	if len(f.vocabulary) == 0 {
		seen = min(len(order), openValues-1)
		return append(slices.Clone(order[:seen]), unknown), seen
	}
	for _, v := range f.vocabulary {
		if counts[v] > 0 {
			values = append(values, v)
		}
	}
	seen = len(values)
	for _, v := range f.vocabulary {
		if counts[v] == 0 {
			values = append(values, v)
		}
	}
	return values, seen
}

// filterValue asks for one value of a filter. In a thorough run it asks for the whole answer with the first value, since some filters work
// only together with pages; one page is enough for the other values.
func filterValue(f describedFilter, i int) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		all := triesAllValues(r.Target)
		items := r.facts.itemsOf(res.Name)
		if best, ok := chooseFilter(o, items); ok && best.parameter == f.parameter && !all {
			return chosen{}, notApplicable("values of %s are tried by other calls", f.parameter)
		}
		values, seen := f.attempts(items, r.unknown())
		if i >= len(values) || !all && i >= seen {
			return chosen{}, notApplicable("there are no more values of %s to try", f.parameter)
		}
		address := withQuery(res.URL, pair{f.parameter, values[i]})
		if !all || i > 0 {
			address = r.sized(o, address, f.parameter, sizeOfFilter)
		}
		return chosen{address, map[string]string{"parameter": f.parameter, "member": f.member, "value": values[i], "seen": strconv.FormatBool(i < seen)}}, nil
	}
}

// unknown returns a value that no item has.
func (r *run) unknown() string { return "conformance-unknown-" + r.drawn.id }

// runningFilter asks for calls that run, or for those that do not.
func runningFilter(value string) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		address := r.sized(o, withQuery(res.URL, pair{runningCalls, value}), runningCalls, sizeOfFilter)
		return chosen{address, map[string]string{"parameter": runningCalls, "value": value}}, nil
	}
}

// filterWithPage asks for a filter together with a page.
func filterWithPage(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	best, ok := chooseFilter(o, r.facts.itemsOf(res.Name))
	page, paged := pageParameter(o)
	if !ok || !paged {
		return chosen{}, notApplicable("the document does not describe both a filter of a member in the data and pages")
	}
	value := strconv.Itoa(atLeast(page.Schema, 1))
	address := r.sized(o, withQuery(res.URL, pair{best.parameter, best.seen}, pair{page.Name, value}), best.parameter, sizeOfParameter)
	return chosen{address, map[string]string{"parameter": best.parameter, "member": best.member, "value": best.seen, "seen": "false", "page": value}}, nil
}

// badValue gives a parameter a value that the document does not allow.
func badValue(parameter func(openapi.Operation) (openapi.Parameter, bool), value string) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		p, described := parameter(o)
		if !described {
			return chosen{}, notApplicable("the document describes no parameter for it")
		}
		return chosen{r.sized(o, withQuery(res.URL, pair{p.Name, value}), p.Name, sizeOfFilter), map[string]string{"parameter": p.Name, "value": value}}, nil
	}
}

// queryParameter returns the first query parameter that fits.
func queryParameter(o openapi.Operation, fits func(openapi.Parameter) bool) (openapi.Parameter, bool) {
	for _, p := range o.Parameters {
		if p.In == "query" && fits(p) {
			return p, true
		}
	}
	return openapi.Parameter{}, false
}

// namedQuery returns the query parameter of a name.
func namedQuery(o openapi.Operation, name string) (openapi.Parameter, bool) {
	return queryParameter(o, func(p openapi.Parameter) bool { return p.Name == name })
}

// enumParameter returns the first query parameter with a vocabulary.
func enumParameter(o openapi.Operation) (openapi.Parameter, bool) {
	return queryParameter(o, func(p openapi.Parameter) bool { return len(vocabulary(p.Schema)) > 0 })
}

// unknownParameter is one that no document describes.
func unknownParameter(openapi.Operation) (openapi.Parameter, bool) {
	return openapi.Parameter{Name: "x-conformance"}, true
}

// jointValues bounds the values of one filter that choosePair considers.
const jointValues = 4

// condition is one value of a filter; holds reports for each item whether it has the value, count how many have it.
type condition struct {
	filter
	value string
	holds []bool
	count int
}

// conditions returns conditions with the first values of a filter in the data.
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

// choosePair picks values a and b of two filters that some item has together. It prefers a pair for which other items have only a, and
// others only b, since such a pair shows which filter is ignored; else one of the two suffices. ok is false if no pair fits.
func choosePair(o openapi.Operation, items []item) (a, b condition, ok bool) {
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

// twoFilters asks for the items that match two filters.
func twoFilters(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	a, b, ok := choosePair(o, r.facts.itemsOf(res.Name))
	if !ok {
		return chosen{}, notApplicable("no two filters tell the items apart together")
	}
	given := map[string]string{"parameter": a.parameter, "member": a.member, "value": a.value,
		"andParameter": b.parameter, "andMember": b.member, "andValue": b.value}
	return chosen{r.sized(o, withQuery(res.URL, pair{a.parameter, a.value}, pair{b.parameter, b.value}), a.parameter, sizeOfFilter), given}, nil
}
