package requirement

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/openapi"
)

// This file reads what a document says of the numbers in statistics: some are no counts of all records.

// maxMeasureText bounds the part of a description that patterns read, in bytes.
const maxMeasureText = 64 << 10

// measures match descriptions of a member whose numbers are shares, cumulative, late, or the count of some records only.
// [openapi.Document.FormOfStatistics] reads how numbers are rounded.
func measures() []*regexp.Regexp {
	return append(someCounted(), inPercent(), late(), severalTimes(), regexp.MustCompile(`\b`+someRecords+` (?:of|per|for|by|je|pro) (?:each|every|a)?|\bof (?:the )?`+someRecords+`\b|\b(?:only|nur) (?:the |die |der |noch |nicht )*`+someWord+`\b`))
}

const (
	someWord    = `(?:open|closed|running|active|current|forthcoming|upcoming|published|offene[rn]?|geschlossene[rn]?|laufende[rn]?|künftige[rn]?)`
	someRecords = someWord + ` (?:calls?|fundings?|ones|items|records|ausschreibungen)`
	// numberNoun is what a sentence about the statistics begins with.
	numberNoun = `^(?:(?:all|the|these|those|each|every|alle|die|diese|jede\w*|here|hier|they|are|is|given|stated|shown|sind) )*(?:numbers?|counts?|figures?|values?|statistics?|percentages?|shares?|in per ?cent|in prozent|prozent\w*|anteile?|kennzahl\w*|zahl\w*|anzahl|werte?|statistik\w*)\b`
)

func inPercent() *regexp.Regexp {
	return regexp.MustCompile(`\bper ?cent\w*|\bprozent\w*|\bshares? of\b|\banteile?\b`)
}

func late() *regexp.Regexp {
	return regexp.MustCompile(`\bcumulat\w+|\bkumul\w+|\bof (?:last night|yesterday)\b|\blast night\b|\blag behind\b|\bnächtlich\w*|\bgestern\b`)
}

// severalTimes matches how records with several values of a member are counted. Its groups are that member, or a pronoun for it.
func severalTimes() *regexp.Regexp {
	return regexp.MustCompile(`\bcount(?:s|ed)? (?:\w+ ){0,3}(?:under|for|in|with) each of (?:its |their |the |these |those |his )?(\pL+)|\b(?:counted|gezählt|zählt)\b[^.;]*\b(?:once|einmal)\b[^.;]*\b(?:first|ersten?)(?: of (?:its|their|the))? (\pL+)`)
}

// someCounted matches words that leave some records out of the count.
func someCounted() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(numberNoun + `(?: \pL+){0,4} (?:of|der|aller) (?:the |all )?` + someRecords + `\b|^(?:the |all |die |alle )?` + someRecords + ` (?:per|by|for each|of each|je|pro)\b`),
		regexp.MustCompile(`\b` + someWord + ` (?:(?:calls?|fundings?|ones|items|records|ausschreibungen) |and ` + someWord + ` )*(?:are|is|werden) (?:not|nicht) (?:counted|included|gezählt)`),
		regexp.MustCompile(`(?:\bcount\w*|\bgezählt|\bzähl\w*|\binclude\w*)\b[^.;]*\b(?:only|nur) (?:the |die |der |noch |nicht )*` + someWord + `\b|\b(?:only|nur) (?:the |die |der |noch |nicht )*` + someWord + `\b[^.;]*(?:\bcount\w*|\bgezählt|\bzähl\w*|\binclude\w*)\b`),
	}
}

// measuresOtherwise reports whether the document says that a member of statistics is no count of all records. A sentence that names other members only is about
// those.
func measuresOtherwise(e Evidence, o openapi.Operation, member string) bool {
	texts := []string{o.Description}
	raw, _ := e.Spec.Raw(o.Pointer)
	if object, ok := raw.(map[string]any); ok && o.Pointer != "" { // the summary has no full stop before the description
		summary, _ := object["summary"].(string)
		description, _ := object["description"].(string)
		texts = []string{summary, description}
	}
	if slices.ContainsFunc(texts, func(text string) bool { return saysMeasure(text, member) }) {
		return true
	}
	return slices.ContainsFunc(measures(), func(measure *regexp.Regexp) bool {
		return e.Spec.SaysOfMember(o, member, regexp.MustCompile(`(?i)`+measure.String())) && !e.Spec.SaysOfMember(o, member, deniedMeasure())
	})
}

// saysMeasure is [measuresOtherwise] for the summary or the description of the operation.
func saysMeasure(text, member string) bool {
	names := regexp.MustCompile(`\b(?:by|per)[A-Z]\w*\b`)
	text = strings.Join(strings.Fields(text[:min(len(text), maxMeasureText)]), " ")
	for _, sentence := range regexp.MustCompile(`[.;](?:\s|$)`).Split(text, -1) {
		named := names.FindAllString(sentence, -1)
		if len(named) > 0 && !slices.Contains(named, member) {
			continue
		}
		lower := strings.ToLower(sentence)
		if deniedMeasure().MatchString(lower) {
			continue
		}
		for i, clause := range measureClauses(lower) {
			if hasVerb := regexp.MustCompile(`\b(?:is|are|counts?|holds?|ist|sind|zählt|zählen)\b`); i > 0 && !hasVerb.MatchString(clause) {
				continue // "Numbers by status, and the number of open calls"
			}
			if clauseMeasures(clause, member, len(named) > 0) {
				return true
			}
		}
	}
	return false
}

// measureClauses splits a sentence before another number: "Numbers by status, and shares of the regions".
func measureClauses(sentence string) []string {
	another := regexp.MustCompile(`(?:,| and| und)(?: and| und)? ((?:the |an? |their |die |der |das |eine? )?(?:numbers?|shares?|averages?|growth|sums?|totals?|anzahl|zahl|anteile?|wachstum|summen?|durchschnitt\w*)\b)`)
	return strings.Split(another.ReplaceAllString(sentence, "\n$1"), "\n")
}

// clauseMeasures reports whether a clause says that the numbers of a member are no count of all records; named is true if the sentence names the member.
func clauseMeasures(clause, member string, named bool) bool {
	if inPercent().MatchString(clause) && (named || regexp.MustCompile(numberNoun).MatchString(clause)) &&
		!regexp.MustCompile(`\b(?:growth|increase|change|wachstum|zuwachs|veränderung)`).MatchString(clause) {
		return true
	}
	if named && regexp.MustCompile(`\b(?:only|nur) (?:the |die |der |noch |nicht )*`+someWord+`\b|\bof (?:the )?`+someRecords+`\b`).MatchString(clause) {
		return true
	}
	return late().MatchString(clause) || countsSeveralTimes(clause, member) ||
		slices.ContainsFunc(someCounted(), func(some *regexp.Regexp) bool { return some.MatchString(clause) })
}

// countsSeveralTimes reports whether a clause says how records with several values of this member are counted: "under each of its regions" is about byRegion.
func countsSeveralTimes(clause, member string) bool {
	said := severalTimes().FindStringSubmatch(clause)
	if said == nil {
		return false
	}
	noun := said[1] + said[2]
	if noun == "them" || noun == "these" || noun == "those" {
		several := regexp.MustCompile(`\b(?:several|many|two|multiple|more than one) (\pL+)`).FindStringSubmatch(clause)
		if several == nil {
			return false
		}
		noun = several[1]
	}
	const stem = 5 // "statuses", "Regionen"
	letters := []rune(noun)
	return len(letters) > 2 && strings.Contains(strings.ToLower(member), string(letters[:min(len(letters), stem)]))
}

// deniedMeasure matches words that deny a measure: "not rounded".
func deniedMeasure() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:not|never|nicht|nie) (?:rounded|gerundet|in per ?cent|in prozent|cumulat|kumul|only|nur|just)|\bno (?:per ?cent|share)|\bkeine (?:prozent|anteile)`)
}
