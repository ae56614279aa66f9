package probe

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// filter is a described query parameter with the member that it filters by; member is empty if its effect is not known.
type filter struct{ parameter, member string }

// publishedFilters are the filters of the published funding API whose name differs from that of their member.
func publishedFilters() []filter {
	return []filter{
		{"fundingType", "type"},
		{"region", "eligibleApplicantsRegions"},
		{"applicantsScope", "eligibleApplicantsScope"},
	}
}

// describedFilter is a filter that an operation describes.
type describedFilter struct {
	filter
	vocabulary []string // empty if any value is valid
	text       string   // its description in the document
	zero       bool     // a number that may be 0
	several    bool     // an array: it takes several values
	other      bool     // it does not select the items that have its value
	separator  string   // between several values; "" if the parameter is repeated
	schema     openapi.Schema
}

// These limit how many values of one filter are tried. Without a vocabulary, the values are some from the data and one that no item has.
const (
	maxValues  = 16 // with a vocabulary
	openValues = 6  // without one
)

// tries returns how many values of the filter are tried.
func (f describedFilter) tries() int {
	if len(f.vocabulary) == 0 {
		return openValues
	}
	return min(len(f.vocabulary), maxValues)
}

// filtersOf returns the parameters of an operation that may filter by a member of the items. It leaves out parameters for pages, order, bounds and searches.
func filtersOf(o openapi.Operation) []describedFilter {
	var out []describedFilter
	for _, p := range o.QueryParameters() {
		s := p.Schema
		if s.Type == "array" && s.Items != nil {
			s = *s.Items
		}
		_, bounds := boundOf(p)
		other := o.SelectsOtherwise(p)
		switch words := vocabulary(p.Schema); {
		case openapi.RoleOf(p) != "" || bounds || p.Name == runningCalls || isAboutAnswer(p.Name) || needsSeveral(p.Schema):
		case len(words) > 0:
			out = append(out, describedFilter{filter: filter{parameter: p.Name}, vocabulary: words, text: p.Description, other: other, several: takesSeveral(p), separator: p.Separator})
		case s.Type == "boolean":
			out = append(out, describedFilter{filter: filter{parameter: p.Name}, vocabulary: []string{"true", "false"}, text: p.Description, other: other})
		case (s.Type == "string" || s.Type == "integer") && !strings.HasPrefix(s.Format, "date"):
			zero := s.Type == "integer" && (s.Minimum == nil || *s.Minimum <= 0) && (s.Maximum == nil || *s.Maximum >= 0)
			out = append(out, describedFilter{filter: filter{parameter: p.Name}, text: p.Description, other: other, zero: zero, several: takesSeveral(p), separator: p.Separator, schema: s})
		}
	}
	return out[:min(len(out), maxParameters)]
}

// isAboutAnswer reports whether the name of a parameter suggests that it selects the form of the answer, or searches in texts.
func isAboutAnswer(name string) bool {
	return slices.Contains([]string{"q", "query", "search", "text", "term", "keyword", "keywords", "lang", "language", "locale", "format", "fields", "include", "expand", "embed",
		"select", "view", "accept", "filter", "where", "exclude", "projection", "callback", "pretty"}, strings.ToLower(strings.TrimLeft(name, "$")))
}

// learnItems keeps the items of a list, and which of their members each filter compares.
func (r *run) learnItems(at evidence.Resource, o openapi.Operation, texts [][]byte) {
	members := openapi.MembersOf(texts)
	filters := filtersOf(o)
	for i, f := range filters {
		filters[i].member = memberOf(f, members, texts)
	}
	known := slices.DeleteFunc(slices.Clone(filters), func(f describedFilter) bool { return f.member == "" })
	bounds := boundsOf(o, members, texts)
	for _, b := range bounds {
		known = append(known, describedFilter{filter: b.filter})
	}
	identity := r.identityIn(o, texts)
	items, columns := readItems(identity.Member, texts, known...), columnsOf(texts)
	for _, f := range known { // only values that the pattern allows are sent
		fits := f.fitting()
		for _, item := range items {
			item.values[f.member] = slices.DeleteFunc(item.values[f.member], func(value string) bool { return !fits(value) })
		}
	}
	var titles []title
	if slices.ContainsFunc(o.QueryParameters(), isSearch) {
		titles = titlesOf(texts, identity.Member, members)
	}
	var instants []instant
	if slices.ContainsFunc(o.QueryParameters(), isInstant) {
		instants = instantsOf(texts)
	}
	r.facts.with(func(f *facts) {
		f.titles[at], f.identities[at], f.instants[at] = titles, identity, instants
		f.items[at], f.columns[at] = items, columns
		f.filters[at] = filters
		f.bounds[at] = bounds
	})
	r.learnRecords(at, texts)
}

// memberOf returns the member of the items that a filter filters by: the member of the same name, or else the one in [publishedFilters], if the items have
// it. If no value of the member is in the filter's vocabulary, or the document gives the parameter another meaning, memberOf returns "".
func memberOf(f describedFilter, members openapi.Members, items [][]byte) string {
	if f.other {
		return ""
	}
	member, own := members.Named(f.parameter)
	if !own {
		i := slices.IndexFunc(publishedFilters(), func(p filter) bool { return p.parameter == f.parameter })
		switch {
		case i >= 0 && members.Has(publishedFilters()[i].member):
			member = publishedFilters()[i].member
		default:
			member = f.pluralMember(members, items)
		}
		if member == "" {
			return ""
		}
	}
	if len(f.vocabulary) == 0 {
		member = meantMember(f, member, members)
		if f.takesExpressions(member, items) {
			return ""
		}
		return member
	}
	for _, item := range items[:min(len(items), maxItems)] {
		for _, value := range openapi.MemberValues(item, member) {
			if slices.ContainsFunc(f.vocabulary, func(word string) bool { return strings.EqualFold(word, value) }) {
				return member
			}
		}
	}
	return ""
}

// maxPatternText and maxPatterned bound the work of a pattern of the document.
const (
	maxPatternText = 500 // bytes of the pattern
	maxPatterned   = 200 // bytes of a value
)

// fitting returns a function that reports whether a filter takes a value: it has no pattern that this one misses.
func (f describedFilter) fitting() func(value string) bool {
	if f.schema.Pattern == "" || len(f.schema.Pattern) > maxPatternText {
		return func(string) bool { return true }
	}
	pattern, err := regexp.Compile(f.schema.Pattern)
	return func(value string) bool { return err != nil || len(value) <= maxPatterned && pattern.MatchString(value) }
}

// takesExpressions reports whether a filter takes expressions such as 10000..50000 or ge:10000, and not the values of its member: no value of the items fits the
// pattern of the filter, or each example in the document is a range, a comparison or a wildcard.
func (f describedFilter) takesExpressions(member string, items [][]byte) bool {
	fits, any, some := f.fitting(), false, false
	for _, item := range items[:min(len(items), openapi.MaxLinkedItems)] {
		for _, value := range sendableValues(item, member) {
			any, some = true, some || fits(value)
		}
	}
	expression := regexp.MustCompile(`(?i)\.\.|^(gte?|lte?|ge|le|eq|ne|min|max)[:=]|[<>*]`)
	isExample := func(example string) bool { return !expression.MatchString(example) }
	return any && !some || len(f.schema.Examples) > 0 && !slices.ContainsFunc(f.schema.Examples, isExample)
}

// meantMember returns the member for a filter that is named like an object, such as funder for funder.id and funder.name: the member that the description
// mentions. It returns "" if the object has several members and the description does not mention exactly one of them.
func meantMember(f describedFilter, member string, members openapi.Members) string {
	object, _, nested := cutLast(member, ".")
	if _, own := (openapi.Members{object}).Named(f.parameter); !nested || !own {
		return member
	}
	var candidates, meant []string
	for _, m := range members {
		if owner, name, _ := cutLast(m, "."); owner == object {
			candidates = append(candidates, m)
			if slices.ContainsFunc(wordsOf(f.text), func(word string) bool { return strings.EqualFold(word, name) }) {
				meant = append(meant, m)
			}
		}
	}
	switch {
	case len(candidates) == 1:
		return member
	case len(meant) == 1:
		return meant[0]
	}
	return ""
}

// cutLast cuts around the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(separator):], true
}

// wordsOf returns the words of a text.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' })
}

// filtersAt returns the filters of a list whose member is known.
func (r *run) filtersAt(at evidence.Resource) []describedFilter {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.facts.filters[at]), func(f describedFilter) bool { return f.member == "" })
}

// vocabulary returns the enum of a schema, or of its items.
func vocabulary(s openapi.Schema) []string {
	if len(s.Enum) == 0 && s.Items != nil {
		return s.Items.Enum
	}
	return s.Enum
}

// runningCalls is the filter of the published API that does not correspond to a member of the items.
const runningCalls = "runningCalls"

func describesRunning(o openapi.Operation) bool {
	p, described := namedQuery(o, runningCalls)
	return described && (p.Schema.Type == "boolean" || p.Schema.Type == "")
}

// attempts returns the values of a filter to try, in order: seen values from the data, then the other values of the vocabulary, or an unknown value if the
// filter has no vocabulary. Without a vocabulary the seen values are the first one, a later one, and one from an item with several values.
func (f describedFilter) attempts(items []item, unknown string, source draw.Source) (values []string, seen int) {
	counts, order := occurrences(items, f.member)
	if len(f.vocabulary) == 0 {
		order = slices.DeleteFunc(order, isProse)
		if f.zero && counts["0"] > 0 { // code that treats 0 as a missing value returns everything
			order = append([]string{"0"}, slices.DeleteFunc(order, func(v string) bool { return v == "0" })...)
		}
		values = slices.Clone(order[:min(len(order), 1)])
		if part := partOfAnother(order); part != "" && !slices.Contains(values, part) {
			values = append(values, part)
		} else if len(order) > 1 {
			values = append(values, order[1+source.Below(len(order)-1)])
		}
		for _, i := range items {
			if all := i.values[f.member]; len(all) > 1 && !slices.Contains(values, all[len(all)-1]) && !isProse(all[len(all)-1]) {
				values = append(values, all[len(all)-1])
				break
			}
		}
		if f.zero {
			unknown = "0"
			if counts["0"] > 0 {
				return slices.Clip(values), len(values)
			}
			return append(slices.Clone(values), unknown), len(values)
		}
		return append(append(slices.Clone(values), f.nearValues(order, source)...), unknown), len(values)
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

// partOfAnother returns a value that another one contains, such as F-1 in F-10: it reveals a filter that compares parts of values.
func partOfAnother(values []string) string {
	values = values[:min(len(values), 200)]
	for _, v := range values {
		if slices.ContainsFunc(values, func(other string) bool { return other != v && strings.Contains(other, v) }) {
			return v
		}
	}
	return ""
}

// nearValues returns values that no item has and that resemble a seen value: the value cut short, and a pattern, a part or an extension of it.
func (f describedFilter) nearValues(seen []string, source draw.Source) []string {
	good := slices.DeleteFunc(slices.Clone(seen), func(v string) bool { return len(v) < 3 || len(v) > 100 || !isPrintable(v) })
	if len(good) == 0 {
		return nil
	}
	value := good[source.Below(len(good))]
	at := 1 + source.Below(len(value)-1)
	pattern := value[:at] + draw.One(source, "%", "_") + value[at+1:]
	out := []string{value[:len(value)-1], draw.One(source, pattern, value[:at]+draw.One(source, "*", ".", ".*")+value[min(len(value), at+1):], value[1:], value+source.Text(draw.Digits, 1))}
	if f.isOpen() {
		out = []string{pattern}
	}
	return slices.DeleteFunc(out, func(v string) bool {
		return strings.TrimSpace(v) != v || v == "" || slices.ContainsFunc(seen, func(s string) bool { return strings.EqualFold(s, v) })
	})
}

// isOpen reports whether the filter may match a part of a value: it has no vocabulary, it does not compare ids, and the document does not say that it
// compares whole values.
func (f describedFilter) isOpen() bool {
	if len(f.vocabulary) > 0 || strings.HasSuffix(strings.ToLower(f.parameter), "id") {
		return false
	}
	text := strings.ToLower(f.text)
	if regexp.MustCompile(`\b(part|parts|contain|contains|containing|prefix|begin|begins|beginning|start|starts|starting|like|search|match|matches|substring|wildcard)\b`).MatchString(text) {
		return !strings.Contains(text, "exact")
	}
	words := openapi.Words(f.member)
	return !strings.Contains(text, "exact") && (len(words) == 0 || !slices.Contains([]string{"id", "code", "key"}, words[len(words)-1]))
}

// isProse reports whether a value is a text and not a code or an id. A filter may search for parts of texts.
func isProse(value string) bool { return strings.ContainsAny(value, " \t\n") || len(value) > 100 }

// filterValue requests one value of a filter. It sends the first value without a page size, because a node may apply a filter only if the call also asks for
// a page. For the other values one page is enough.
func filterValue(f describedFilter, i int) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		filters := r.filtersAt(res.Name)
		at := slices.IndexFunc(filters, func(known describedFilter) bool { return known.parameter == f.parameter })
		if at < 0 {
			return chosen{}, notApplicable("the items have no member that %.80q filters by", f.parameter)
		}
		f := filters[at]
		values, seen := f.attempts(r.facts.itemsOf(res.Name), r.unknown(), r.source(res.Name, f.parameter))
		if i >= len(values) {
			return chosen{}, notApplicable("there are no more values of %s to try", f.parameter)
		}
		address := withQuery(res.URL, pair{f.parameter, values[i]})
		if i > 0 {
			address = r.sized(o, address, f.parameter, maxWalkSize)
		}
		return chosen{address, map[string]string{"parameter": f.parameter, "member": f.member, "value": values[i], "seen": strconv.FormatBool(i < seen), "open": strconv.FormatBool(f.isOpen())}}, nil
	}
}

// unknown returns a value that no item has.
func (r *run) unknown() string { return r.drawn.id }

// runningFilter requests the running calls, or the others.
func runningFilter(value string) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		address := r.sized(o, withQuery(res.URL, pair{runningCalls, value}), runningCalls, sizeOfFilter)
		return chosen{address, map[string]string{"parameter": runningCalls, "value": value}}, nil
	}
}

// filterWithPage requests a filter together with a page.
func filterWithPage(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	best, ok := chooseFilter(r.filtersAt(res.Name), r.facts.itemsOf(res.Name))
	page, paged := pageParameter(o)
	if !ok || !paged {
		return chosen{}, notApplicable("the document does not describe both a filter of a member in the data and pages")
	}
	value := strconv.Itoa(atLeast(page.Schema, 1))
	address := r.sized(o, withQuery(res.URL, pair{best.parameter, best.seen}, pair{page.Name, value}), best.parameter, sizeOfParameter)
	return chosen{address, map[string]string{"parameter": best.parameter, "member": best.member, "value": best.seen, "seen": "false", "page": value}}, nil
}
