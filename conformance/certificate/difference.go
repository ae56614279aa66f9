package certificate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/evidence"
)

// difference names the first place in which a recorded file differs from the one that was made again; nil if they are equal. It descends into
// JSON, and counts lines of other text.
func difference(name string, want, got []byte) *fault {
	if bytes.Equal(want, got) {
		return nil
	}
	var a, b any
	if evidence.DecodeJSON(want, &a) == nil && evidence.DecodeJSON(got, &b) == nil {
		if place, why := firstDifference("", a, b); why != "" {
			return faultAt(name+place, "%s", why)
		}
		return faultAt(name, "it has the right content in another form: blanks, order or repeated members")
	}
	lines, recorded := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range max(len(lines), len(recorded)) {
		switch {
		case i >= len(recorded):
			return faultAt(name, "it ends after line %d; the evidence gives %d", len(recorded), len(lines))
		case i >= len(lines):
			return faultAt(name, "it has lines after line %d; the evidence gives no more", len(lines))
		case !bytes.Equal(lines[i], recorded[i]):
			at := commonPrefix(lines[i], recorded[i])
			return faultAt(fmt.Sprintf("%s, line %d, byte %d", name, i+1, at+1), "expected %.80q, got %.80q", lines[i][at:], recorded[i][at:])
		}
	}
	return faultAt(name, "it differs")
}

// commonPrefix returns the length of the whole characters that two lines have in common at their start.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			n = i
			break
		}
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}

// firstDifference descends into two values.
func firstDifference(place string, want, got any) (where, why string) {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return firstMember(place, w, g)
		}
	case []any:
		if g, ok := got.([]any); ok {
			return firstItem(place, w, g)
		}
	default:
		if want == got {
			return "", ""
		}
	}
	return place, fmt.Sprintf("expected %s, got %s", short(want), short(got))
}

func firstMember(place string, want, got map[string]any) (where, why string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		g, ok := got[name]
		if !ok {
			return place + "." + name, "it is missing"
		}
		if where, why := firstDifference(place+"."+name, want[name], g); why != "" {
			return where, why
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			return place + "." + name, "the evidence does not give it"
		}
	}
	return "", ""
}

func firstItem(place string, want, got []any) (where, why string) {
	for i := range min(len(want), len(got)) {
		if where, why := firstDifference(fmt.Sprintf("%s[%d%s]", place, i, nameOf(want[i])), want[i], got[i]); why != "" {
			return where, why
		}
	}
	if len(want) != len(got) {
		return place, fmt.Sprintf("expected %d items, got %d", len(want), len(got))
	}
	return "", ""
}

// nameOf names an item of a list by its id or name: " TOK-01".
func nameOf(item any) string {
	object, _ := item.(map[string]any)
	for _, member := range []string{"id", "label", "name"} {
		if text, ok := object[member].(string); ok {
			return fmt.Sprintf(" %.60s", text)
		}
	}
	return ""
}

// short shows a value in an error.
func short(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	return evidence.Clip(string(text), 100)
}
