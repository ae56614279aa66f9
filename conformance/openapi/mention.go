package openapi

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file finds the names of members in prose. Names and prose come from a node, so no pattern is made of them, and the work is bounded.

const (
	maxName    = 64     // the bytes of a name that prose may mention
	maxPhrase  = 4      // the words of a name in prose
	maxPhrases = 20_000 // the phrases that are kept of one document
)

// phrases returns the runs of one to maxPhrase words in a text, in lower case, with one blank between words. A blank, a hyphen or a low line separates words of a run.
func phrases(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var run []string
		last, separators := 0, 0 // the end of the last word, and the runes since then
		add := func(start, end int) bool {
			if separators != 1 || !strings.ContainsAny(text[last:start], " -_") {
				run = run[:0]
			}
			if len(run) == maxPhrase {
				run = run[1:]
			}
			run = append(run, strings.ToLower(text[start:end]))
			last, separators = end, 0
			for i := range run {
				if !yield(strings.Join(run[i:], " ")) {
					return false
				}
			}
			return true
		}
		start := -1
		for i, r := range text {
			switch inWord := unicode.IsLetter(r) || unicode.IsDigit(r); {
			case inWord && start < 0:
				start = i
			case !inWord:
				if start >= 0 && !add(start, i) {
					return
				}
				start = -1
				separators++
			}
		}
		if start >= 0 {
			add(start, len(text))
		}
	}
}

// spellings returns the phrases that mention a member: contactEmail is also "contact email", and name is also "names" and "Namen". It returns nil for a name that
// is long, or that has other signs than letters, digits, low lines and hyphens.
func spellings(member string) []string {
	if len(member) > maxName {
		return nil
	}
	var words strings.Builder
	small := false // the rune before is a small letter or a digit
	for _, r := range member {
		switch {
		case r == '_' || r == '-':
			words.WriteByte(' ')
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			return nil
		default:
			if small && unicode.IsUpper(r) {
				words.WriteByte(' ')
			}
			words.WriteRune(unicode.ToLower(r))
		}
		small = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	split := strings.Fields(words.String())
	if len(split) == 0 {
		return nil
	}
	var out []string
	for _, ending := range []string{"", "s", "es", "n", "en"} {
		out = append(out, strings.Join(split, " ")+ending)
		if len(split) > 1 {
			out = append(out, strings.Join(split, "")+ending)
		}
	}
	return out
}

// mentions reports whether a sentence mentions a member.
func mentions(sentence, member string) bool {
	known := map[string]bool{}
	for _, s := range spellings(member) {
		known[s] = true
	}
	for phrase := range phrases(sentence) {
		if known[phrase] {
			return true
		}
	}
	return false
}

const (
	maxPropertyNodes = 1000    // the values that are read below one property
	maxPropertyWork  = 20_000  // the same for all properties of an operation
	maxPropertyText  = 4 << 10 // the bytes that are read of one description
	maxPropertyTexts = 1 << 18 // the same for all properties of an operation
)

// textsOfProperties returns the descriptions of all properties in the operations, and of what is below them, by the name of the property.
func (d *Document) textsOfProperties(operations ...Operation) map[string][]string {
	out := map[string][]string{}
	seen := map[[2]string]bool{}
	for _, o := range operations {
		raw, _ := d.Raw(o.Pointer)
		work, bytes := maxPropertyWork, maxPropertyTexts
		d.newSearch().find(raw, func(object map[string]any) bool {
			properties, _ := object["properties"].(map[string]any)
			for _, name := range sortedKeys(properties) {
				if work <= 0 || bytes <= 0 {
					return true
				}
				budget := min(maxPropertyNodes, work)
				s := &search{d, budget}
				s.find(properties[name], func(inner map[string]any) bool {
					text := cutText(stringValue(inner["description"]), maxPropertyText)
					if key := [2]string{name, text}; text != "" && bytes > 0 && !seen[key] {
						seen[key] = true
						out[name] = append(out[name], text)
						bytes -= len(text)
					}
					return false
				})
				work -= budget - max(s.left, 0)
			}
			return false
		})
	}
	return out
}

// cutText cuts a text to some bytes, at a whole rune.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
