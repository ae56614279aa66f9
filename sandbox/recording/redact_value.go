package recording

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rin-network/rin/fixtures/sample"
	"github.com/rin-network/rin/sandbox/mockapi"
)

// The functions in this file replace values that name a person with values of the same form. Equal texts get equal values.

// value returns a copy of a value without personal texts; ok is false if no such copy fits the document. check says whether a value fits; it may be nil.
func (r *Redactor) value(member string, value any, check func(any) error) (redacted any, ok bool) {
	if c, isContent := value.(mockapi.RecordedContent); isContent {
		form := mockapi.FormOf(c.Type)
		if !utf8.Valid(c.Text) || form != mockapi.FormText && form != mockapi.FormXML {
			return nil, false
		}
		return mockapi.RecordedContent{Type: c.Type, Text: []byte(r.text(string(c.Text), r.token))}, true
	}
	var sites []site
	r.walk("", member, plain, value, func(pointer string, k kind, text string) {
		if c := r.candidates(k, text); len(c) > 0 {
			sites = append(sites, site{pointer, c})
		}
	})
	if len(sites) == 0 {
		return value, true
	}
	chosen := map[string]*string{}
	for _, s := range sites {
		chosen[s.pointer] = &s.candidates[0]
	}
	redacted = replaceAt("", value, chosen)
	if check == nil || check(value) != nil || check(redacted) == nil {
		return redacted, true
	}
	chosen = map[string]*string{} // replace one text after the other, so that the value fits after each step
	for _, s := range sites {
		found := false
		for i := range s.candidates {
			chosen[s.pointer] = &s.candidates[i]
			if found = check(replaceAt("", value, chosen)) == nil; found {
				break
			}
		}
		if found {
			continue
		}
		chosen[s.pointer] = nil
		if check(replaceAt("", value, chosen)) != nil {
			return nil, false
		}
	}
	return replaceAt("", value, chosen), true
}

// site is a text that must be replaced, with the texts that may replace it, the best first.
type site struct {
	pointer    string
	candidates []string
}

// replaceAt returns a copy of a value with other texts at some pointers; nil removes the text with its member.
func replaceAt(pointer string, value any, texts map[string]*string) any {
	switch v := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(v))
		for name, inner := range v {
			at := sample.Join(pointer, name)
			if text, ok := texts[at]; ok && text == nil {
				continue
			}
			copied[name] = replaceAt(at, inner, texts)
		}
		return copied
	case []any:
		copied := make([]any, 0, len(v))
		for i, inner := range v {
			at := sample.Join(pointer, fmt.Sprint(i))
			if text, ok := texts[at]; ok && text == nil {
				continue
			}
			copied = append(copied, replaceAt(at, inner, texts))
		}
		return copied
	case string:
		if text := texts[pointer]; text != nil {
			return *text
		}
	}
	return value
}

// candidates returns the texts that may replace a text, the best first; nil if the text can stay.
func (r *Redactor) candidates(k kind, text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var all []string
	switch k {
	case givenName, familyName:
		all = []string{r.name(text), r.shape(text)}
	case fullName:
		if r.looksLikePerson(text) {
			all = []string{r.name(text), r.shape(text)}
		}
	case loginName:
		all = []string{r.pseudonyms.word(text), r.shape(text)}
		if strings.Contains(text, "@") {
			all[0] = r.text(text, r.token)
		}
	case personalNumber:
		all = []string{r.shape(text)}
	case secret:
		all = []string{r.token(text), r.shape(text)}
	}
	if all == nil {
		if redacted := r.text(text, r.token); redacted != text {
			all = []string{redacted, r.text(text, r.shape)}
		}
	}
	return slices.DeleteFunc(all, func(redacted string) bool { return redacted == text })
}

// name replaces the words in the name of a person; titles and punctuation stay.
func (r *Redactor) name(text string) string {
	return r.pattern.ReplaceAllStringFunc(text, func(w string) string {
		if isTitle(w) {
			return w
		}
		if len([]rune(w)) == 1 {
			return r.shape(w)
		}
		return r.pseudonyms.word(w)
	})
}

// text replaces mail addresses, tokens and known names in a text. token makes the value that replaces a token.
func (r *Redactor) text(text string, token func(string) string) string {
	for _, s := range r.secrets {
		if strings.Contains(text, s) {
			text = strings.ReplaceAll(text, s, token(s))
		}
	}
	text = r.tokens.ReplaceAllStringFunc(text, token)
	text = r.parameters.ReplaceAllStringFunc(text, func(found string) string {
		parts := r.parameters.FindStringSubmatch(found)
		if parts[1] == "://" && parts[3] == "" || parts[1] != "://" && parts[2] == "" {
			return found // the host of a URL
		}
		return parts[1] + token(parts[2]) + parts[3]
	})
	if strings.Contains(text, "@") || strings.Contains(text, "%40") {
		text = r.mails.ReplaceAllStringFunc(text, func(found string) string {
			if strings.HasPrefix(found, "redacted-") {
				return found
			}
			if strings.Contains(found, "%40") {
				return strings.Replace(r.mail(found), "@", "%40", 1)
			}
			return r.mail(found)
		})
	}
	text = r.orcid.ReplaceAllStringFunc(text, r.shape)
	return r.replaceKnownNames(text)
}

// replaceKnownNames replaces the names of persons that the redactor has learnt.
func (r *Redactor) replaceKnownNames(text string) string {
	if len(r.familyNames)+len(r.lastWords)+len(r.recordNames) == 0 {
		return text
	}
	places := r.pattern.FindAllStringIndex(text, -1)
	words, roles, found := make([]string, len(places)), make([]role, len(places)), false
	for i, at := range places {
		words[i] = strings.TrimSuffix(strings.TrimSuffix(text[at[0]:at[1]], "'s"), "’s")
		roles[i] = r.role(words[i])
		found = found || roles[i] == knownName || roles[i] == lastWord
	}
	if !found {
		return text
	}
	adjacent := func(i, j int) role {
		if j < 0 || j >= len(places) || strings.Trim(text[min(places[i][1], places[j][1]):max(places[i][0], places[j][0])], " ,.\u00a0") != "" {
			return noName
		}
		return roles[j]
	}
	var b strings.Builder
	end := 0
	for i, at := range places {
		before, after := adjacent(i, i-1), adjacent(i, i+1)
		isName := roles[i] == knownName
		switch roles[i] {
		case lastWord:
			isName = before == firstName || before == initialLetter || before == titleWord || after == firstName || after == initialLetter
		case firstName, initialLetter:
			isName = before == knownName || before == lastWord || after == knownName || after == lastWord || roles[i] == firstName && (before == firstName || after == firstName)
		}
		if !isName {
			continue
		}
		b.WriteString(text[end:at[0]])
		if roles[i] == initialLetter {
			b.WriteString(r.shape(words[i]))
		} else {
			b.WriteString(r.pseudonyms.word(words[i]))
		}
		end = at[0] + len(words[i])
	}
	b.WriteString(text[end:])
	return b.String()
}

// role says which part of a person's name a word may be.
type role int

const (
	noName        role = iota
	knownName          // a last name that a member gives, or the first name of a person of this record
	lastWord           // the last word of a full name
	firstName          // a first name
	initialLetter      // a single letter
	titleWord          // Dr., Ms.
)

// role returns the role of a word of a text.
func (r *Redactor) role(word string) role {
	letters := []rune(word)
	known := r.wordFingerprint(word)
	switch {
	case !unicode.IsUpper(letters[0]):
		return noName
	case len(letters) == 1:
		return initialLetter
	case r.familyNames[known]:
		return knownName
	case r.lastWords[known]:
		return lastWord
	case r.recordNames[known]:
		return knownName
	case r.givenNames[known]:
		return firstName
	case isTitle(word):
		return titleWord
	}
	return noName
}

// maxFingerprints limits the words whose fingerprints are kept.
const maxFingerprints = 200_000

// wordFingerprint returns the fingerprint of a word of a text.
func (r *Redactor) wordFingerprint(word string) string {
	lower := strings.ToLower(word)
	if f, ok := r.fingerprints[lower]; ok {
		return f
	}
	f := r.fingerprint(lower)
	if len(r.fingerprints) < maxFingerprints {
		r.fingerprints[lower] = f
	}
	return f
}
