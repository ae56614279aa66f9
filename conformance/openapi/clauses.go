package openapi

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file finds what a word of a sentence is about: the members that its clause names, and not those of the whole sentence.

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
