package openapi

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// StatisticsForm is what the document says of numbers of records by the values of a member, such as byStatus.
type StatisticsForm struct {
	Step    int  // the numbers are rounded, or left out, by so much; 0 if they are exact
	NoSum   bool // they need not add up to the total
	Amounts bool // they are sums or shares, and no numbers of records
	Grouped bool // some records count under another value than their own
}

// FormOfStatistics returns what the descriptions of an operation, of its answer, and of the member with the numbers say.
func (d *Document) FormOfStatistics(o Operation, member string) StatisticsForm {
	var f StatisticsForm
	texts := []string{o.Description}
	raw, _ := d.Raw(o.Pointer)
	if operation, ok := raw.(map[string]any); ok && o.Pointer != "" { // the summary has no full stop before the description
		texts = []string{stringValue(operation["summary"]), stringValue(operation["description"])}
	}
	if status, _, ok := o.Success(); ok {
		at, _ := d.Descend(Join(o.Pointer, "responses"), status)
		value, _ := d.Raw(at)
		response, _ := value.(map[string]any)
		texts = append(texts, stringValue(response["description"]))
	}
	general := len(texts)
	texts = append(texts, d.textsOfProperties(o)[member]...)
	for i, text := range texts {
		for _, sentence := range Sentences(text) {
			if i < general && !ofNumbers().MatchString(sentence) && !mentions(sentence, member) {
				continue // it may be about another number, such as an average
			}
			if inexactCount().MatchString(sentence) && !exactCount().MatchString(sentence) {
				f.Step = max(f.Step, stepIn(sentence))
			}
			f.NoSum = f.NoSum || noSum().MatchString(sentence)
			f.Amounts = f.Amounts || amounts().MatchString(sentence)
			f.Grouped = f.Grouped || grouped().MatchString(sentence) && !exclusion().MatchString(sentence)
		}
	}
	return f
}

// ofNumbers matches words for all numbers of an answer, or for what they count.
var ofNumbers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:numbers?|counts?|counted|figures|values|groups?|total|sums?|calls?|records?|fundings?|per|zahl\w*|zähl\w*|anzahl\w*|werte\w?|gruppen?|summen?|gesamtzahl|je|aufruf\w*|förderung\w*|ausschreibung\w*)\b`)
})

var inexactCount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:rounded|nearest|multiples? of|gerundet\w*|vielfache\w*)|\b(?:suppressed|(?:numbers?|counts?|groups?|values?) (?:below|under|of (?:less|fewer) than|smaller than)|(?:less|fewer) than|unterdrückt|weniger als|zahlen unter)\b`)
})

// exactCount matches words that deny that numbers are rounded.
var exactCount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:not|never|without|nicht|nie|ohne|un) ?(?:\w+ )?(?:round\w*|gerundet\w*|rundung|suppress\w*)`)
})

// stepIn returns the number by which a sentence says that numbers are rounded, 10 if it names none.
func stepIn(sentence string) int {
	words := map[string]int{"five": 5, "fives": 5, "ten": 10, "tens": 10, "twenty": 20, "fifty": 50, "hundred": 100, "hundreds": 100, "thousand": 1000, "thousands": 1000,
		"fünf": 5, "fünfer": 5, "zehn": 10, "zehner": 10, "zwanzig": 20, "fünfzig": 50, "hundert": 100, "hunderter": 100, "tausend": 1000, "tausender": 1000}
	for word := range strings.FieldsFuncSeq(strings.ToLower(sentence), func(r rune) bool { return strings.ContainsRune(" ,()-–", r) }) {
		if n, ok := words[word]; ok {
			return n
		}
		if n, err := strconv.Atoi(word); err == nil && n > 0 && n <= maxStep {
			return n
		}
	}
	return 10
}

// maxStep bounds the step to which numbers of records are rounded. A larger number in a sentence is a year, or the like.
const maxStep = 1000

var noSum = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:need|needs|do|does|may|might|must|will|can) ?n(?:o|')t (?:necessarily )?(?:\w+ )?(?:be the sum|add up|sum|equal)|\bnot the sum\b|\badds? up to more\b|` +
		`\b(?:ergeben|ergibt) (?:\S+ )?nicht\b|\b(?:nicht|keine) (?:die )?summe\b|\b(?:müssen|muss) (?:\S+ ){0,3}nicht (?:\S+ ){0,2}ergeben\b|\bsummieren sich nicht\b`)
})

// amounts matches sentences that begin with what the numbers are, if it is no number of records.
var amounts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:[\w ]{0,40},? )?(?:(?:the|a|each is the) )?(?:sums? of (?:the |all )?(?:volumes?|amounts?|budgets?|funds|money)|(?:total )?(?:volumes?|budgets?|amounts?) in\b|share of|shares? in percent|percentages?)|\b(?:in|of) (?:percent|prozent)\b|` +
		`\band (?:not|no) (?:the )?numbers? of\b|^(?:[\pL ]{0,40},? )?(?:die )?(?:summen? (?:der|des) |anteile?\b|prozent)|\bnicht die (?:an)?zahl\b`)
})

var grouped = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:counts?|counted) (?:here )?(?:as|under|with|among)\b|\b(?:grouped|combined|merged|subsumed) (?:with|under|into)\b|\b(?:zählen|zählt|gezählt|gelten|gilt) (?:hier )?(?:als|zu|unter|bei)\b|\bzusammengefasst\b|\bals \S+ gezählt\b`)
})
