package mockapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/rin-network/rin/fixtures/sample"
)

// Examples says whether answers show the examples of the document.
type Examples string

const (
	// ExamplesPrefer gives the examples of the document where it has some that fit their schemas.
	ExamplesPrefer Examples = "prefer"
	// ExamplesIgnore gives drawn values only.
	ExamplesIgnore Examples = "ignore"
)

// AllExamples lists the values of [Examples].
func AllExamples() []Examples { return []Examples{ExamplesPrefer, ExamplesIgnore} }

// The limits of the examples that are read.
const (
	maxExamples     = 50  // of one media type or header
	maxExampleItems = 200 // of one list
)

// examplesAt returns the examples of a media type, header or schema at a pointer that fit a schema, in order: its example, then its examples.
func (a *API) examplesAt(pointer, schema string) []any {
	if a.options.Examples == ExamplesIgnore || pointer == "" {
		return nil
	}
	holder, at := a.schema(pointer)
	var all []any
	if value, ok := holder["example"]; ok {
		all = append(all, value)
	}
	switch examples := holder["examples"].(type) {
	case []any: // of a schema
		all = append(all, examples...)
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(examples)) {
			if entry, _ := a.schema(sample.Join(at, "examples", name)); entry["value"] != nil {
				all = append(all, entry["value"])
			}
		}
	}
	var valid []any
	for _, value := range all[:min(len(all), maxExamples)] {
		if value, ok := a.validExample(value, schema); ok {
			valid = append(valid, value)
		}
	}
	return valid
}

// validExample returns an example if it fits a schema. Some documents write the JSON of an example as a string; if only the decoded value fits, validExample
// returns that. ok is false if neither fits.
func (a *API) validExample(value any, schema string) (example any, ok bool) {
	if isTooCostly(value, maxBodyDepth) {
		return nil, false
	}
	if a.fits(schema, value) {
		return value, true
	}
	if text, isText := value.(string); isText {
		if decoded, err := decodeJSON([]byte(text)); err == nil && !isTooCostly(decoded, maxBodyDepth) && a.fits(schema, decoded) {
			return decoded, true
		}
	}
	return nil, false
}

// readExamples sets the examples of a list: items of the list's examples, the examples of its detail, and those of the item's schema. The operation of a list
// has at least one media type.
func (a *API) readExamples(l *list) {
	if a.options.Examples == ExamplesIgnore {
		return
	}
	var all []any
	for _, value := range l.operation.media[0].examples {
		switch v := value.(type) {
		case []any:
			all = append(all, v...)
		case map[string]any:
			if items, ok := v[l.member].([]any); ok && l.shape == inEnvelope {
				all = append(all, items...)
			} else if l.shape == inSingle {
				all = append(all, v)
			}
		}
	}
	if l.detail != nil && len(l.detail.media) > 0 {
		all = append(all, l.detail.media[0].examples...)
	}
	all = append(all, a.examplesAt(l.item, l.item)...)
	for _, value := range all[:min(len(all), maxExampleItems)] {
		if a.fits(l.item, value) {
			l.examples = append(l.examples, value)
		}
	}
}

// exampleRecords returns the records that the examples of a list describe: each id once, or each value once if records have no id. at and path locate the list.
func (a *API) exampleRecords(l *list, at string, path []string) ([]record, error) {
	var all []record
	taken := map[string]bool{}
	for i, value := range l.examples {
		var err error
		r := record{key: fmt.Sprintf("%s#example%d", at, i), value: a.withPathValues(l, value, path)}
		if l.id != "" {
			if r.value, r.id, err = a.withID(l, r.value, r.key); err != nil {
				return nil, err
			}
			if taken[r.id] || r.id != "" && !a.isAddressable(l, r.value, r.id) {
				continue
			}
		}
		if r.encoded, err = json.Marshal(r.value); err != nil {
			return nil, err
		}
		if l.id == "" && slices.ContainsFunc(all, func(other record) bool { return string(other.encoded) == string(r.encoded) }) {
			continue
		}
		if r.id != "" {
			taken[r.id] = true
		}
		all = append(all, r)
	}
	return all, nil
}

// detailExample returns the example of a detail in which a member has the value id.
func (a *API) detailExample(m Media, member, id string) (any, bool) {
	for _, value := range m.examples {
		if object, ok := value.(map[string]any); ok && plainText(object[member]) == id {
			return object, true
		}
	}
	return nil, false
}

// firstText returns the first example if it is a text.
func firstText(examples []any) (string, bool) {
	if len(examples) == 0 {
		return "", false
	}
	text, ok := examples[0].(string)
	return text, ok
}

// mediaValue returns the first example of a media type, or a drawn value.
func (a *API) mediaValue(m Media, key string) (any, error) {
	if len(m.examples) > 0 {
		return m.examples[0], nil
	}
	return a.samples.Value(m.Schema, key)
}
