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

// This file searches lists for words: a word from the data, the same in another case, a part of it, the word with a wildcard, and a word that no item has. Where the
// document says that the text is taken literally, it also searches for a word with a dot in place of a letter.

// searchWay makes the word of a search from a word in the data. make is nil if it does not need such a word.
type searchWay struct {
	kind string
	make func(s draw.Source, word string) string
}

func searchWays() []searchWay {
	inner := func(s draw.Source, word []rune) int { return 1 + s.Below(len(word)-2) }
	return []searchWay{
		{"word", func(_ draw.Source, word string) string { return word }},
		{"later-word", func(_ draw.Source, word string) string { return word }},
		{"other-case", func(_ draw.Source, word string) string { return otherCaseOf(word) }},
		{"part", func(s draw.Source, word string) string {
			letters := []rune(word)
			from := 1 + s.Below(2)
			return string(letters[from:max(from+3, len(letters)-s.Below(2))])
		}},
		{"pattern", func(s draw.Source, word string) string {
			letters := []rune(word)
			letters[inner(s, letters)] = []rune(draw.One(s, "_", "%"))[0]
			return string(letters)
		}},
		{"nothing", nil},
		{expression, func(s draw.Source, word string) string {
			letters := []rune(word)
			letters[inner(s, letters)] = '.'
			return string(letters)
		}},
	}
}

// expression is the kind of a search that finds the word only if the text is taken for a regular expression.
const expression = "expression"

// isLiteral reports whether the document says that the text of a search has no signs with a meaning of their own.
func isLiteral(p openapi.Parameter) bool {
	literal := regexp.MustCompile(`(?i)\bliteral(ly)?\b|\b(no|without)\b[^.;]*\bspecial meaning\b`)
	other := regexp.MustCompile(`(?i)\b(regex\w*|regular expressions?|wild ?cards?|patterns?|fuzzy|similar|stem\w*)\b`)
	return literal.MatchString(p.Description) && !other.MatchString(p.Description)
}

// isSearch reports whether a parameter searches in texts. Its name is in a language of Europe, and a pattern must allow ordinary words.
func isSearch(p openapi.Parameter) bool {
	takesWords := p.Schema.Pattern == "" || p.Schema.Allows("Förderung") && p.Schema.Allows("research")
	return p.In == "query" && p.Schema.Type == "string" && len(p.Schema.Enum) == 0 && p.Schema.Format == "" && takesWords && !p.Required &&
		slices.Contains([]string{
			"q", "query", "search", "text", "term", "keyword", "keywords", "fulltext", "searchterm", "searchtext", "title", "contains",
			"suche", "suchtext", "suchwort", "suchbegriff", "stichwort", "volltext", "freitext", "begriff", "titel", "recherche", "mot", "mots", "motcle", "motscles", "texte", "titre",
			"busqueda", "búsqueda", "buscar", "texto", "palabra", "ricerca", "cerca", "testo", "parola", "titolo", "zoek", "zoekterm", "zoekwoord", "sok", "søk", "sök", "soeg", "søg", "haku", "hledat", "szukaj",
		}, openapi.Joined(p.Name))
}

func searchCases(o openapi.Operation) []row {
	var out []row
	for _, p := range o.QueryParameters() {
		if !isSearch(p) {
			continue
		}
		for n, way := range searchWays() {
			plan := in(stageRest, stageRead, stagePages).onlyIf(notQuick)
			if way.kind == expression {
				plan = plan.onDemand()
			}
			out = append(out, row{Label: evidence.ListOperation.With(evidence.SearchCase(p.Name, way.kind)), Plan: plan, Send: choose(search(p, n))})
		}
		break
	}
	return out
}

// title is a text of an item that people search for.
type title struct{ id, member, text string }

// titlesOf returns the titles or names of items, from one member.
func titlesOf(texts [][]byte, identity string, members openapi.Members) []title {
	var out []title
	for _, name := range []string{"title", "name", "titel", "bezeichnung", "label", "titre", "intitule", "intitulé", "libelle", "libellé", "titulo", "título", "titolo", "denominazione", "nazev", "název", "nome", "nombre",
		"tittel", "rubrik", "otsikko", "tytuł", "naslov", "subject"} {
		for _, member := range members {
			words := openapi.Words(member)
			if len(words) == 0 {
				continue
			}
			isTitle := (words[0] == name || len(words) > 1 && words[0] == "item" && words[1] == name)
			last := words[len(words)-1]
			if !isTitle || last == "lang" || last == "language" || last == "id" || last == "trans" {
				continue
			}
			for _, item := range texts[:min(len(texts), maxRows)] {
				for _, text := range openapi.MemberValues(item, member) {
					out = append(out, title{openapi.MemberValue(item, identity), member, text})
				}
			}
			if len(out) > 0 {
				return out
			}
		}
	}
	return nil
}

// rareWords returns words that at most half of the items have in their titles, with the title of each. It takes them from the later texts of an item if later
// is true, or else from the first.
func rareWords(titles []title, later bool) (words []string, titleOf map[string]title) {
	titleOf = map[string]title{}
	counts, seen := map[string]map[string]bool{}, map[string]int{}
	for _, t := range titles {
		for _, word := range strings.FieldsFunc(t.text, func(r rune) bool { return !unicode.IsLetter(r) }) {
			key := strings.ToLower(word)
			if counts[key] == nil {
				counts[key] = map[string]bool{}
			}
			counts[key][t.id] = true
			if n := len([]rune(word)); (seen[t.id] > 0) == later && n >= 6 && n <= 30 && t.id != "" {
				if _, known := titleOf[word]; !known {
					titleOf[word] = t
				}
			}
		}
		seen[t.id]++
	}
	for word := range titleOf {
		if len(counts[strings.ToLower(word)])*2 <= len(seen) {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return words, titleOf
}

// frequentWord draws a word that more than [fewItems] items and at most half of them have in their titles. It prefers a word with a letter beyond ASCII, or a
// few letters around one, because a link to the next page must encode such letters. It returns "" if no word fits.
func frequentWord(titles []title, s draw.Source) string {
	ids, holders := map[string]bool{}, map[string]map[string]bool{}
	add := func(word, id string) {
		if holders[word] == nil {
			holders[word] = map[string]bool{}
		}
		holders[word][id] = true
	}
	for _, t := range titles {
		ids[t.id] = true
		for _, word := range strings.FieldsFunc(t.text, func(r rune) bool { return !unicode.IsLetter(r) }) {
			letters := []rune(word)
			if len(letters) >= 3 {
				add(word, t.id)
			}
			for i, r := range letters {
				if r > unicode.MaxASCII && i > 0 && i+1 < len(letters) {
					add(string(letters[i-1:i+2]), t.id)
				}
			}
		}
	}
	var plain, other []string
	for word, holding := range holders {
		switch {
		case len(holding) <= fewItems || 2*len(holding) > len(ids):
		case strings.ContainsFunc(word, func(r rune) bool { return r > unicode.MaxASCII }):
			other = append(other, word)
		default:
			plain = append(plain, word)
		}
	}
	if len(other) > 0 {
		plain = other
	}
	if len(plain) == 0 {
		return ""
	}
	slices.Sort(plain)
	return draw.One(s, plain...)
}

// beyondASCII returns the words with a letter beyond ASCII that has one capital and one small form, or all words if there is none: many databases fold the case
// of ASCII letters only.
func beyondASCII(words []string) []string {
	var out []string
	for _, word := range words {
		if otherCaseOf(word) != swappedCase(word) {
			out = append(out, word)
		}
	}
	if len(out) == 0 {
		return words
	}
	return out
}

// wordsForCase returns the words for a search in another case: those beyond ASCII with the letter i, or else, by the draw, those beyond ASCII or those with an
// i. Code that uses the rules of Turkish does not find an i by its capital letter.
func wordsForCase(all, beyond []string, s draw.Source) []string {
	withI := func(words []string) []string {
		return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !strings.ContainsAny(word, "iI") })
	}
	both, some := withI(beyond), withI(all)
	switch {
	case len(both) > 0:
		return both
	case len(some) > 0 && s.Below(2) == 0:
		return some
	}
	return beyond
}

// otherCaseOf changes the case of the letters of a word. Letters whose other case depends on language or place, such as ß, dotted and dotless i and the
// final sigma, stay as they are.
func otherCaseOf(word string) string {
	return strings.Map(func(r rune) rune {
		other := unicode.ToUpper(r)
		if unicode.IsUpper(r) {
			other = unicode.ToLower(r)
		}
		back := unicode.ToLower(other)
		if unicode.IsLower(other) {
			back = unicode.ToUpper(other)
		}
		if back != r || strings.ContainsRune("ßẞıİſςσΣK", r) {
			return r
		}
		return other
	}, word)
}

// search requests the items with a word, made in the nth way.
func search(p openapi.Parameter, n int) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		way := searchWays()[n]
		if way.kind == expression && !isLiteral(p) {
			return chosen{}, notApplicable("the document does not say that the text is taken literally")
		}
		s := r.source(res.Name, "search "+p.Name)
		given := map[string]string{"parameter": p.Name, "search": way.kind}
		var value string
		if way.make == nil {
			value = s.Word() + s.Word()
		} else {
			r.facts.mu.Lock()
			titles := r.facts.titles[res.Name]
			r.facts.mu.Unlock()
			words, titleOf := rareWords(titles, way.kind == "later-word")
			rare := words
			if words = beyondASCII(rare); way.kind == "other-case" {
				words = wordsForCase(rare, words, s)
			}
			if len(words) == 0 {
				return chosen{}, notApplicable("no title has a word that others lack")
			}
			word := draw.One(s, words...)
			value = way.make(r.source(res.Name, "search "+p.Name+" "+strconv.Itoa(n)), word)
			given["word"], given["id"], given["of"] = word, titleOf[word].id, titleOf[word].member
		}
		if p.Schema.MaxLength != nil && len(value) > *p.Schema.MaxLength {
			return chosen{}, notApplicable("the word is longer than the document allows")
		}
		if p.Schema.Pattern != "" && !p.Schema.Allows(value) {
			return chosen{}, notApplicable("the document does not allow %.80q", value)
		}
		given["value"] = value
		return chosen{r.sized(o, withQuery(res.URL, pair{p.Name, value}), p.Name, maxWalkSize), given}, nil
	}
}
