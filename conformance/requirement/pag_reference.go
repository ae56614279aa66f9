package requirement

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file compares objects inside records, such as the programme of a call, with the records of the same list that they refer to.

// The bounds of the search: records of the list, depth of a record, and how many references must show a fault.
const (
	maxReferring  = 500
	maxDepth      = 5
	minReferences = 2
)

// A reference is an object with an id inside a record. path has the names of the members that lead to it.
type reference struct {
	from, path, id string
	object         map[string]any
}

// findFalseReferences finds objects that name a record of the list, and contradict it or spell its id in another way. An object with an id may also mean
// something else, such as a subject with a number. So two objects at the same path must share a text with the record of their id, and no other record may
// have this text.
func findFalseReferences(e Evidence) []Judgement {
	items, complete := wholeList(e)
	if !complete || e.unsteady() || len(items) > maxReferring || e.Roles.Detail == "" {
		return nil
	}
	records, idsByPlainID := map[string]map[string]any{}, map[string][]string{}
	var all []reference
	for _, item := range items {
		var object map[string]any
		if len(item) > maxCompared || evidence.DecodeJSON(item, &object) != nil || e.isAnonymous(item) {
			continue
		}
		id := e.identity(item)
		records[id] = object
		idsByPlainID[plainID(id)] = append(idsByPlainID[plainID(id)], id)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			all = append(all, referencesIn(object[name], name, id, e.identityMember(), 1)...)
		}
	}
	owners := textOwners(records, e.identityMember())
	agreeing, opposing, misspelled := map[string]int{}, map[string][]Subject{}, map[string][]Subject{}
	hard := map[string]int{} // by path and member, the references whose value is that of another record: then reference and record use one vocabulary
	label := e.exchange(evidence.ListOperation.With(evidence.OK)).Label
	for _, r := range all {
		if r.id == r.from { // another version or language of the record itself
			continue
		}
		target, known := records[r.id]
		if !known {
			if ids := idsByPlainID[plainID(r.id)]; len(ids) == 1 && ids[0] != r.from && sharesName(r.object, ids[0], owners) {
				misspelled[r.path] = append(misspelled[r.path], Subject{Name: clip("item " + quote(r.from) + " $." + r.path), Label: label, Expected: quote(ids[0]), Got: quote(r.id)})
			}
			continue
		}
		if sharesName(r.object, r.id, owners) {
			agreeing[r.path]++
		}
		for _, name := range slices.Sorted(maps.Keys(r.object)) {
			right, inBoth := target[name]
			value := r.object[name]
			if !inBoth || name == e.identityMember() || mayChange(name) || abbreviates(value, right) || abbreviates(right, value) {
				continue
			}
			at := r.path + "." + name
			isOfRecord := func(record map[string]any) bool { return abbreviates(value, record[name]) && record[name] != nil }
			if opposed(wordsOf(value), right) && slices.ContainsFunc(slices.Collect(maps.Values(records)), isOfRecord) {
				hard[at]++
			}
			opposing[at] = append(opposing[at], Subject{Name: clip("item " + quote(r.from) + " $." + at), Label: label, Expected: "as in the record " + quote(r.id), Got: valueOf(value)})
		}
	}
	return referenceFaults(agreeing, opposing, misspelled, hard)
}

// referenceFaults judges what the references at each path show.
func referenceFaults(agreeing map[string]int, opposing, misspelled map[string][]Subject, hard map[string]int) []Judgement {
	var parts []Judgement
	for _, at := range slices.Sorted(maps.Keys(opposing)) {
		path, subjects := at[:strings.LastIndexByte(at, '.')], opposing[at]
		if agreeing[path] < minReferences || len(subjects) < minReferences {
			continue
		}
		reason := fmt.Sprintf("%s differs from the record that it refers to in %s", clip(at), evidence.Count(len(subjects), "item"))
		j := Warned(reason, subjects[0].Expected, subjects[0].Got)
		if hard[at] >= minReferences {
			j = Failed(reason, subjects[0].Expected, subjects[0].Got)
		}
		parts = append(parts, j.Hinting("take what a record says of another one from that record, and not from a copy").About(subjects...).bounded())
	}
	for _, path := range slices.Sorted(maps.Keys(misspelled)) {
		if subjects := misspelled[path]; len(subjects) >= minReferences {
			parts = append(parts, Failed(fmt.Sprintf("%s names records by another spelling of their ids in %s", clip(path), evidence.Count(len(subjects), "item")), subjects[0].Expected, subjects[0].Got).
				Hinting("write the id of a record in the same way everywhere, with its zeros and in its case: clients look it up").About(subjects...).bounded())
		}
	}
	return parts
}

// referencesIn returns the objects with an id in a value of a record.
func referencesIn(value any, path, from, member string, depth int) []reference {
	if depth > maxDepth {
		return nil
	}
	var out []reference
	switch value := value.(type) {
	case []any:
		for _, element := range value[:min(len(value), maxElements)] {
			out = append(out, referencesIn(element, path, from, member, depth+1)...)
		}
	case map[string]any:
		if id, ok := value[member].(string); ok && len(value) > 1 {
			out = append(out, reference{from, path, id, value})
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			out = append(out, referencesIn(value[name], path+"."+name, from, member, depth+1)...)
		}
	}
	return out
}

// A placedText is a text in a member of a record.
type placedText struct{ member, text string }

// textOwners returns the id of the record that has a text in a member other than the id. It is "" if several records have the text, such as the name of a country.
func textOwners(records map[string]map[string]any, member string) map[placedText]string {
	owners := map[placedText]string{}
	for id, record := range records {
		for name, value := range record {
			if name == member {
				continue
			}
			for _, text := range namesIn(value, 1) {
				at := placedText{name, text}
				if owner, known := owners[at]; known && owner != id {
					owners[at] = ""
				} else {
					owners[at] = id
				}
			}
		}
	}
	return owners
}

// sharesName reports whether an object has a long text that only the record with the id has in this member.
func sharesName(object map[string]any, id string, owners map[placedText]string) bool {
	for name, value := range object {
		isOwn := func(text string) bool { return owners[placedText{name, text}] == id }
		if id != "" && slices.ContainsFunc(namesIn(value, 1), isOwn) {
			return true
		}
	}
	return false
}

// namesIn returns the texts in a value that are long enough for a name, except times.
func namesIn(value any, depth int) []string {
	const shortest = 8
	var out []string
	switch value := value.(type) {
	case string:
		if _, isTime := parseTimeOrDay(value); len(value) >= shortest && !isTime {
			return []string{value}
		}
	case []any:
		for _, element := range value[:min(len(value), maxElements)] {
			if depth < maxDepth {
				out = append(out, namesIn(element, depth+1)...)
			}
		}
	case map[string]any:
		for _, inner := range value {
			if depth < maxDepth {
				out = append(out, namesIn(inner, depth+1)...)
			}
		}
	}
	return out
}

// wordsOf returns a value with null for its numbers, flags and times. They may describe the reference itself, such as a share of the budget.
func wordsOf(value any) any {
	switch value := value.(type) {
	case string:
		if _, isTime := parseTimeOrDay(value); isTime {
			return nil
		}
		return value
	case []any:
		out := make([]any, len(value))
		for i, element := range value {
			out[i] = wordsOf(element)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, inner := range value {
			out[name] = wordsOf(inner)
		}
		return out
	}
	return nil
}

// mayChange reports whether a member of a reference may differ from the record, by its name: it may be older, or describe the reference.
func mayChange(name string) bool {
	return volatile(name) || changingName().MatchString(name)
}

var changingName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)stat(e|us)|phase|stage|role|order|position|lang|locale`)
})

// plainID returns an id without case, signs, and zeros before a number.
func plainID(id string) string {
	return leadingZeros().ReplaceAllString(idSigns().ReplaceAllString(strings.ToLower(id), ""), "$1$2")
}

var (
	idSigns      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]+`) })
	leadingZeros = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[^0-9])0+([0-9])`) })
)

// valueOf returns a short scalar, and the type of any other value.
func valueOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "another value"
	}
	return valueInWords(text)
}
