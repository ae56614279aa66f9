package requirement

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/openapi"
)

// This file reads what a document says of the numbers in statistics: some are no counts of all records.

// measures match sentences about numbers that are shares, cumulative, late, or the count of some records only. [openapi.Document.FormOfStatistics] reads how
// numbers are rounded.
func measures() []*regexp.Regexp {
	const some = `(?:open|closed|running|active|current|forthcoming|upcoming|published|offene[rn]?|geschlossene[rn]?|laufende[rn]?|künftige[rn]?)`
	const records = `(?:calls?|fundings?|ones|items|records|ausschreibungen)`
	return []*regexp.Regexp{
		regexp.MustCompile(`\bper ?cent\w*|\bprozent\w*|\bshares? of\b|\banteile?\b`),
		regexp.MustCompile(`\bcumulat\w+|\bkumul\w+|\bof (?:last night|yesterday)\b|\blast night\b|\blag behind\b|\bnächtlich\w*|\bgestern\b`),
		regexp.MustCompile(`\b(?:once|einmal)\b[^.;]*\b(?:first|ersten?)\b|\b(?:counts?|counted)\b[^.;]*\b(?:under|for) each\b`),
		regexp.MustCompile(`\b` + some + ` ` + records + ` (?:of|per|for|by|je|pro) (?:each|every|a)?|\bof (?:the )?` + some + ` ` + records + `\b|\b(?:only|nur) (?:the |die |der |noch |nicht )*` + some + `\b|\b` + some + ` (?:` + records + ` |and ` + some + ` )*(?:are|is|werden) (?:not|nicht) (?:counted|included|gezählt)`),
	}
}

// measuresOtherwise reports whether the document says that a member of statistics is no count of all records. A sentence that names other members only is about
// those.
func measuresOtherwise(e Evidence, o openapi.Operation, member string) bool {
	if saysMeasure(o.Description, member) {
		return true
	}
	return slices.ContainsFunc(measures(), func(measure *regexp.Regexp) bool {
		return e.Spec.SaysOfMember(o, member, regexp.MustCompile(`(?i)`+measure.String())) && !e.Spec.SaysOfMember(o, member, deniedMeasure())
	})
}

// saysMeasure is [measuresOtherwise] for the description of the operation.
func saysMeasure(text, member string) bool {
	names := regexp.MustCompile(`\b(?:by|per)[A-Z]\w*\b`)
	for _, sentence := range regexp.MustCompile(`[.;](?:\s|$)`).Split(strings.Join(strings.Fields(text), " "), -1) {
		if named := names.FindAllString(sentence, -1); len(named) > 0 && !slices.Contains(named, member) {
			continue
		}
		lower := strings.ToLower(sentence)
		if !deniedMeasure().MatchString(lower) && slices.ContainsFunc(measures(), func(measure *regexp.Regexp) bool { return measure.MatchString(lower) }) {
			return true
		}
	}
	return false
}

// deniedMeasure matches words that deny a measure: "not rounded".
func deniedMeasure() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:not|never|nicht|nie) (?:rounded|gerundet|in per ?cent|in prozent|cumulat|kumul|only|nur|just)|\bno (?:per ?cent|share)|\bkeine (?:prozent|anteile)`)
}
