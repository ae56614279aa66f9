package openapi

import (
	"regexp"
	"strings"
)

// maxPromiseNodes bounds the values that are read for a promise.
const maxPromiseNodes = 4000

// PromisesFullPages reports that the document says of a list that none of its pages is empty: its last page names no next one. Without these words an
// empty page at the end is right: many databases learn only there that nothing follows.
func (d *Document) PromisesFullPages(o Operation) bool {
	promise := regexp.MustCompile(`(?i)\bno (?:other |further |later |next )?page\b[^.;]{0,40}\b(?:is|are|be) (?:ever )?empty\b|\bpages?\b[^.;]{0,40}\bnever\b[^.;]{0,10}\bempty\b|\bnever\b[^.;]{0,30}\ban empty page\b`)
	raw, _ := d.Raw(o.Pointer)
	left, seen := maxPromiseNodes, map[string]bool{}
	var promised func(value any) bool
	promised = func(value any) bool {
		if left--; left < 0 {
			return false
		}
		switch v := value.(type) {
		case map[string]any:
			if ref := stringValue(v["$ref"]); ref != "" && !seen[ref] {
				seen[ref] = true
				if _, target, ok := d.Follow(ref); ok && promised(target) {
					return true
				}
			}
			for _, name := range sortedKeys(v) {
				if text, isText := v[name].(string); isText && name == "description" && promise.MatchString(strings.Join(strings.Fields(text), " ")) || promised(v[name]) {
					return true
				}
			}
		case []any:
			for _, part := range v {
				if promised(part) {
					return true
				}
			}
		}
		return false
	}
	return promised(raw)
}
