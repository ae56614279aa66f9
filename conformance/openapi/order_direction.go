package openapi

import (
	"regexp"
	"slices"
	"strings"
)

// This file reads the directions of an order, and what the description of a sort parameter says against the usual: that the word alone sorts in descending order, that some items stand apart, or
// that values are compared in another way.

const (
	minusSign = `(?:minus(?:zeichen)?(?: sign)?|hyphen|dash|bindestrich|"-"|'-'|` + "`-`" + `)`
	mostFirst = `(?:largest|biggest|highest|greatest|newest|latest|most recent|last|größte|höchste|neueste|späteste|jüngste|letzte)[nrs]?\b[^,;.()]*\b(?:first|on top|at the top|at the head|vorn|vorne|zuerst|oben|am anfang|voran)\b`
	reversal  = `\b(?:revers\w*|opposite|inverts?|inverse|other way|turns? (?:it|them|either|both|this)|kehrt|umgekehrt|umkehr\w*|dreht)\b`
)

// plainMeansDown reports whether the description of a sort parameter says that a word without a minus sorts in descending order: in so many words, or because the
// greatest value stands first and a minus reverses this.
func plainMeansDown(text, word string) bool {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	without := regexp.MustCompile(`(?:without|no|not|ohne|kein\w*|fehlt|missing) (?:(?:a|an|the|any|leading|führendes|vorangestelltes) )*` + minusSign + `[^;.]{0,12}(?:ascending|aufsteigend)`)
	if !without.MatchString(text) && regexp.MustCompile(`\b`+minusSign+`:? (?:means |sorts |sorts in |gives |is for |for |stands for |bedeutet |sortiert |steht für )?(?:in |an )?(?:ascending|aufsteigend)`).MatchString(text) {
		return regexp.MustCompile(`\bdescending|\babsteigend`).MatchString(text)
	}
	if !regexp.MustCompile(reversal).MatchString(text) {
		return false
	}
	key := regexp.MustCompile(`(?:^|[^-\w])` + regexp.QuoteMeta(strings.ToLower(word)) + `\b`)
	first := regexp.MustCompile(`\b` + mostFirst)
	other := regexp.MustCompile(`\b(?:not|never|nicht|desc|descending|absteigend\w*|` + minusSign + `|prefix\w*|sign|default|without|ohne|vorzeichen|earliest|smallest|lowest|oldest|früheste\w*|kleinste\w*|niedrigste\w*|älteste\w*)\b|-` + regexp.QuoteMeta(strings.ToLower(word)))
	for _, clause := range regexp.MustCompile(`[,;.:()]+`).Split(text, -1) {
		if key.MatchString(clause) && first.MatchString(clause) && !other.MatchString(clause) {
			return true
		}
	}
	return false
}

// standApart reports whether a description says that some items come before or after all others in each order, such as highlighted calls. Items without a value do
// not count.
func standApart(text string) bool {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	likely := []string{"however", "whatever", "whichever", "regardless", "irrespective", "independent", "always", "in any", "in every", "in each", "in either", "immer", "stets", "jede", "unabhängig", "egal"}
	if !slices.ContainsFunc(likely, func(word string) bool { return strings.Contains(text, word) }) {
		return false // it runs for each answer
	}
	come := regexp.MustCompile(`\b(?:comes?|stands?|stays?|remains?|appears?|(?:are|is) (?:\w+ )?(?:listed|shown|kept|put)|stehen|kommen|bleiben|erscheinen|steht|kommt)\b`)
	place := regexp.MustCompile(`\b(?:first|last|on top|at the (?:top|head|end|bottom|beginning)|(?:before|after) (?:all |the )+(?:others?|rest)|oben|vorne?|zuerst|zuletzt|am (?:anfang|ende|schluss)|(?:vor|nach) allen anderen)\b`)
	always := regexp.MustCompile(`\b(?:in (?:any|every|each|either) (?:order|case|direction)|(?:however|whatever|whichever)\b[^;.:()]{0,30}\b(?:sort|order|direction|key|parameter|choose|chosen|request|ask)\w*|regardless|irrespective|independent\w*|always|immer|stets|in jedem fall|in jeder|bei jeder|unabhängig|egal)\b`)
	other := regexp.MustCompile(`\b(?:without|no|not|null|nulls|never|missing|absent|empty|ohne|fehlend\w*|leere\w*|nicht|keine?|the [a-z]+est|ties?|equal|gleich\w*|values?|werte?)\b`)
	key := regexp.MustCompile(`\b(?:newest|latest|oldest|nearest|closest|soonest|earliest|most recent|largest|smallest|highest|lowest|(?:early|late|near) \w+|soon|neueste\w*|jüngste\w*|älteste\w*|nächste\w*|früheste\w*|späteste\w*|bald|demnächst)\b`) // what an order begins with
	for _, clause := range regexp.MustCompile(`[;.:()]+(?: |$)`).Split(text, -1) {
		if come.MatchString(clause) && place.MatchString(clause) && always.MatchString(clause) && !other.MatchString(clause) && !key.MatchString(clause[:place.FindStringIndex(clause)[0]]) {
			return true
		}
	}
	return false
}

// comparesOtherwise reports whether a description says that the values of a member are not compared as they are, but as texts, or in steps.
func comparesOtherwise(text, word string) bool {
	named := regexp.MustCompile(`\b` + regexp.QuoteMeta(strings.ToLower(word)) + `\w{0,2}\b`)
	way := regexp.MustCompile(`\b(?:sorted|compared|ordered) (?:only |just )?(?:as (?:texts?|strings?|words)|in steps|by (?:steps|classes|groups)|alphabetically|lexicographically|rounded)\b|\b(?:als text\w*|alphabetisch|in schritten|in stufen|gerundet) (?:sortiert|verglichen|geordnet)\b`)
	for _, sentence := range sentenceEnd().Split(strings.ToLower(strings.Join(strings.Fields(text), " ")), -1) {
		if named.MatchString(sentence) && way.MatchString(sentence) && !regexp.MustCompile(`\b(?:not|never|nicht|nie) (?:sorted|compared|ordered|als)\b`).MatchString(sentence) {
			return true
		}
	}
	return false
}

// hasOpposites reports whether a vocabulary has both directions of one order, such as prazo and -prazo, or name_asc and name_desc. This shows in every
// language that the parameter is for sorting.
func hasOpposites(s Schema) bool {
	if s.Items != nil && len(s.Enum) == 0 {
		s = *s.Items
	}
	directions := map[string]bool{}
	for _, word := range s.Enum {
		if key := strings.TrimPrefix(word, "-"); key != word && key != "" && !isDigit(key[0]) && slices.Contains(s.Enum, key) {
			return true
		}
		words := Words(word)
		n := len(words) - 1
		if n < 1 || !isDirection(words[n]) {
			continue
		}
		key, down := strings.Join(words[:n], " "), strings.HasPrefix(words[n], "desc")
		if before, known := directions[key]; known && before != down {
			return true
		}
		directions[key] = down
	}
	return false
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
