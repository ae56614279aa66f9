package openapi

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// This file splits prose into sentences and clauses, and finds which members they name. Names and prose come from a node, so no pattern is made of a name, and the
// work is bounded.

// These bound what is read of one description: its bytes, its sentences, and the bytes of one sentence.
const (
	maxText      = 64 << 10
	maxSentences = 500
	maxSentence  = 1000
)

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

// NamePattern returns a regular expression for a name or a word that comes from a node. For one that is longer than [maxName] it matches nothing, because a long
// expression takes seconds to compile.
func NamePattern(name string) string {
	if len(name) > maxName {
		return `[^\s\S]`
	}
	return regexp.QuoteMeta(name)
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

// A span is a part of a sentence, from one byte to another.
type span struct{ start, end int }

// clauses splits a sentence at its commas, colons, dashes and brackets, before words such as "but", and at each "and" between two statements. The commas of an
// enumeration, such as "status, title and volume", split nothing.
func clauses(sentence string) []span {
	breaks := clauseBreak().FindAllStringIndex(sentence, -1)
	var out []span
	start, listed := 0, false // listed is true within an enumeration
	for i, at := range breaks {
		end, before, after := len(sentence), "", ""
		if i+1 < len(breaks) {
			end, before = breaks[i+1][0], strings.ToLower(strings.TrimSpace(sentence[breaks[i+1][0]:breaks[i+1][1]]))
		}
		after = strings.TrimSpace(sentence[at[1]:end])
		split := true
		switch sign := strings.ToLower(strings.TrimSpace(sentence[at[0]:at[1]])); sign {
		case "and", "und", "or", "oder":
			split = sign[0] != 'o' && finiteVerb().MatchString(sentence[start:at[0]]) && (statement(after) || exclusive().MatchString(after))
		case ",":
			isElement := after != "" && len(strings.Fields(after)) <= 3 && !finiteVerb().MatchString(after) && !exclusive().MatchString(after) && slices.Contains([]string{",", "and", "und", "or", "oder"}, before)
			split = !isElement && !(listed && after == "" && slices.Contains([]string{"and", "und", "or", "oder"}, before))
			listed = !split
		}
		if split {
			listed = false
			out = append(out, span{start, at[0]})
			start = at[0]
		}
	}
	return append(out, span{start, len(sentence)})
}

// statement reports whether a part of a sentence has a subject and a verb.
func statement(part string) bool {
	at := finiteVerb().FindStringIndex(part)
	return at != nil && at[0] > 0
}

var clauseBreak = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)[,:–—()]| (?:but|aber|sondern|without|ohne|whereas|while|während)\b| (?:and|und|or|oder)\b`)
})

var finiteVerb = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:is|are|was|were|has|have|shows?|gives?|holds?|contains?|comes?|returns?|does|do|may|can|will|differs?|stays?|ist|sind|wird|werden|hat|haben|zeigt|zeigen|enthält|kann|können|kommt|kommen|steht|stehen)\b`)
})

// exclusive matches the beginning of a part that says what is left out, or what alone is there.
var exclusive = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:does|do|is|are) )?(?:not|only|no|without|nur|nicht|kein\w*|ohne)\b`)
})

// governed returns the part of a sentence that a word in one of its clauses is about. A clause without a subject, such as "which is masked", is about all before it.
func governed(sentence string, clause, word span, first bool) span {
	before, after := strings.Trim(sentence[clause.start:word.start], " ,:–—()"), strings.TrimSpace(sentence[word.end:clause.end])
	isAttribute := after != "" && !aside().MatchString(after) && !ofTime().MatchString(sentence[word.start:word.end])
	if onlyFunctionWords(before) {
		switch colon := strings.HasPrefix(sentence[clause.end:], ":"); {
		case isAttribute:
			return clause
		case first || colon:
			return span{0, len(sentence)}
		}
		return span{0, clause.end}
	}
	if isAttribute { // "status and a shortened description" is about the description
		part := sentence[clause.start:word.start]
		if at := conjunction().FindAllStringIndex(part, -1); at != nil && onlyFunctionWords(part[at[len(at)-1][1]:]) {
			return span{clause.start + at[len(at)-1][1], clause.end}
		}
	}
	return clause
}

var conjunction = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(?:,| and | or | und | oder )`) })

// onlyFunctionWords reports whether a text names nothing but the list or the detail.
func onlyFunctionWords(text string) bool {
	return functionWords().MatchString(strings.TrimSpace(text))
}

var functionWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:but|and|or|though|also|yet|then|however|always|partly|there|here|where|it|its|they|their|them|these|those|this|which|that|all|both|each|is|are|be|was|were|been|being|may|can|will|has|have|does|do|in|on|of|from|as|for|with|without|to|by|a|an|the|` +
		`lists?|listing|overview|details?|following|members?|fields?|properties|aber|und|oder|dort|hier|wo|er|sie|es|der|die|das|den|dem|ist|sind|wird|werden|kann|können|im|von|als|mit|ohne|ein|eine|einer|jeweils|liste|listen|listenansicht|übersicht|felder|folgende\w*)(?:[^\pL]+|$))*$`)
})

// aside matches the beginning of words that follow a form, and that name no member.
var aside = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:[^\pL]*$|[^\pL\s]|(?:to|by|in|into|for|at|on|as|of|from|after|before|there|here|and|or|with|between|than|` +
		`its|their|forms?|versions?|letters?|characters?|chars?|words?|sentences?|lines?|digits?|parts?|values?|elements?|entry|entries|items?|ones?|address|domain|amounts?|time|numbers?|figures?|days?|months?|years?|` +
		`local|auf|in|im|am|zu|nach|von|vor|und|oder|mit|form|fassung|buchstaben?|zeichen|wörter|wort|stellen?|werte?|gemacht|angegeben|gezeigt|dargestellt)\b)|^[0-9]`)
})

// ofTime matches forms that are followed by a time and not by a member.
var ofTime = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:as of|.*night|snapshot|stand .*|nearest|in steps of|rounds|whole .*|(?:volle|ganze) .*|.*\b(?:differ|deviate|different|older|newer)\b.*|.*\b(?:differs|deviates)\b.*|unterscheiden|abweichen|weichen|weicht)$`)
})

// Sentences splits a description at the ends of its sentences and at its paragraphs. Runs of white space within one are one blank. A long text is cut, and a long
// sentence is split.
func Sentences(text string) []string {
	var out []string
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(cutText(text, maxText), "\r", ""), "\n\n") {
		for _, sentence := range endOfSentence().Split(strings.Join(strings.Fields(paragraph), " "), maxSentences) {
			for sentence = strings.TrimSpace(sentence); sentence != ""; {
				if len(out) == maxSentences {
					return out
				}
				part := cutText(sentence, maxSentence)
				if blank := strings.LastIndexByte(part, ' '); len(part) < len(sentence) && blank > 0 {
					part = part[:blank]
				}
				out = append(out, part)
				sentence = strings.TrimSpace(strings.TrimPrefix(sentence, part))
			}
		}
	}
	return out
}

var endOfSentence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[.;!?](?:\s|$)`) })
