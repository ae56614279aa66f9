package requirement

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// listItems finds the items of a list answer: the array itself, or the one array inside a usual envelope (HAL, Spring Data, ORDS,
// JSON:API, the registry's own "member"). ok is false when the answer is no list.
func listItems(v any) (items []any, ok bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case map[string]any:
		return enveloped(v)
	}
	return nil, false
}

func enveloped(o map[string]any) ([]any, bool) {
	for _, name := range envelopeNames() {
		switch inner := o[name].(type) {
		case []any:
			return inner, true
		case map[string]any:
			if items, ok := onlyArray(inner); ok {
				return items, true
			}
		}
	}
	if items, ok := onlyArray(o); ok && len(o) <= 8 && o["id"] == nil {
		return items, true
	}
	_, links := o["_links"]
	_, page := o["page"].(map[string]any)
	return nil, links && page // Spring HATEOAS leaves _embedded out of an empty page
}

func envelopeNames() []string {
	return []string{"_embedded", "items", "content", "data", "results", "value", "member", "records", "fundings", "calls"}
}

// onlyArray returns the array member of an object that has exactly one.
func onlyArray(o map[string]any) (items []any, ok bool) {
	for _, v := range o {
		if a, isArray := v.([]any); isArray {
			if ok {
				return nil, false
			}
			items, ok = a, true
		}
	}
	return items, ok
}

// memberValues collects the scalar values at a path of member names ("type", "funder[].funder.id") of an item, through arrays.
func memberValues(item any, path string) []string {
	at := flat(item)
	for name := range strings.SplitSeq(path, ".") {
		name = strings.TrimSuffix(name, "[]")
		var next []any
		for _, v := range at {
			if o, ok := v.(map[string]any); ok {
				next = append(next, flat(o[name])...)
			}
		}
		at = next
	}
	var out []string
	for _, v := range at {
		if s, ok := scalar(v); ok {
			out = append(out, s)
		}
	}
	return out
}

func flat(v any) []any {
	if a, ok := v.([]any); ok {
		return a
	}
	return []any{v}
}

// scalar is the text of a string, number or boolean.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// holds reports whether one of the values is the wanted one; vocabularies are compared without case.
func holds(values []string, want string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, want) })
}
