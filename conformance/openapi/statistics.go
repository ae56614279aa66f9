package openapi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// StatisticsForm is what the document says of numbers of records by the values of a member, such as byStatus.
type StatisticsForm struct {
	Step    int  // the numbers are rounded, or left out, by so much; 0 if they are exact
	NoSum   bool // they need not add up to the total
	Amounts bool // they are sums or shares, and do not count records
	Others  bool // they count some records only, at another time, or more or less often than once for each value
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
		f.Others = f.Others || countsOthers(text, member, i >= general)
		for _, sentence := range Sentences(text) {
			ofMember := i >= general || mentions(sentence, member) && isSubject(member, sentence)
			if !ofMember && !ofNumbers().MatchString(sentence) && !mentions(sentence, member) {
				continue // it may be about another number, such as an average
			}
			sums := areAmounts(sentence, ofMember)
			if inexactCount().MatchString(sentence) && !exactCount().MatchString(sentence) && (sums || ofMember || countNoun().MatchString(sentence) && !otherNumber().MatchString(sentence)) {
				f.Step = max(f.Step, stepIn(sentence))
			}
			f.NoSum = f.NoSum || noSum().MatchString(sentence)
			f.Amounts = f.Amounts || sums
			f.Grouped = f.Grouped || grouped().MatchString(sentence) && !exclusion().MatchString(sentence) && !definesStatus().MatchString(sentence)
		}
	}
	return f
}

// ofNumbers matches words for all numbers of an answer, or for what they count.
var ofNumbers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:numbers?|counts?|counted|figures|values|groups?|total|sums?|calls?|records?|fundings?|per|zahl\w*|zähl\w*|anzahl\w*|werte\w?|gruppen?|summen?|gesamtzahl|je|aufruf\w*|förderung\w*|ausschreibung\w*)\b`)
})

// countNoun matches words for the numbers of records that statistics state.
var countNoun = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:numbers?|counts?|figures|values|groups?|zahl(?:en)?|anzahl|werte|gruppen?)\b`)
})

// otherNumber matches words for a number that counts no records.
var otherNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:averages?|means?|medians?|budgets?|volumes?|amounts?|euros?|eur|days?|weeks?|months?|shares?|durchschnitt\w*|mittelwerte?|betrag|beträge|tage\w?|wochen|monate\w?|anteile?)\b`)
})

// inexactCount matches words that round numbers, or that leave out small ones. "Less than" alone may be about records, such as those with few days left.
var inexactCount = sync.OnceValue(func() *regexp.Regexp {
	const below = `(?:below|under|(?:of )?(?:less|fewer|smaller) than|unter|weniger als)`
	return regexp.MustCompile(`(?i)\b(?:rounded|nearest|multiples? of|gerundet\w*|vielfache\w*)|\b(?:suppressed|unterdrückt)\b|` +
		`\b` + below + `\b[^.;,]{0,40}\b(?:are|is|werden|wird) (?:hidden|left out|omitted|masked|withheld|replaced|not (?:shown|given|stated|published)|(?:shown|given|stated|reported) as|weggelassen|ausgelassen|nicht (?:gezeigt|genannt|ausgewiesen)|als )|` +
		`\bunter \S+ (?:fehlen|entfallen)\b`)
})

// exactCount matches words that deny that numbers of records are rounded.
var exactCount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:not|never|without|nicht|nie|ohne|un) ?(?:\w+ )?(?:round\w*|gerundet\w*|rundung|suppress\w*)|\b(?:whole|ganze) (?:numbers|zahlen|euros?)\b`)
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

// areAmounts reports whether a sentence begins with what the numbers are, and they are not numbers of records. An amount beside numbers of records
// does not change them: "Number of calls and total budget in euros". ofMember is true for a sentence about the member with the numbers.
func areAmounts(sentence string, ofMember bool) bool {
	if notNumbers().MatchString(sentence) {
		return true
	}
	const far = 48 // bytes before the amount, such as "Per status, "
	if at := amounts().FindStringIndex(sentence); at != nil && at[0] <= far && !countNoun().MatchString(sentence[:at[0]]) {
		return true
	}
	return ofMember && inPercent().MatchString(sentence) || percentages().MatchString(sentence)
}

var amounts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:sums? of (?:the |all )?(?:volumes?|amounts?|budgets?|funds|money)|(?:total )?(?:volumes?|budgets?|amounts?) in|summen? (?:der|des))\b|^(?:[\pL ]{0,40},? )?(?:(?:the|a|each is the|die) )?(?:share of|shares? in percent|percentages?|anteile?|prozent\w*)\b`)
})

// notNumbers matches words that deny that the numbers are those of records.
var notNumbers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\band (?:not|no) (?:the )?numbers? of\b|\bnicht die (?:an)?zahl\b`)
})

// inPercent matches words for shares in a sentence about the member with the numbers.
var inPercent = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bper ?cent\w*|\bprozent\w*|\bshares? of\b|\banteile?\b`)
})

// percentages matches a sentence that states all numbers in percent. "The growth is in percent" is about another number.
var percentages = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:the|all|each|these|they|are|is|given|stated|numbers?|values?|figures?|counts?|shares?|statistics|zahlen|werte|kennzahlen|anteile?|die|alle|sind|(?:of|by|per|nach|je) \pL+)[ ,:]+)*in (?:percent|prozent)\b`)
})

// grouped matches words that count some records under another value than their own.
var grouped = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:counts?|counted) (?:here )?(?:as|under|with|among)\b|\b(?:grouped|combined|merged|subsumed) (?:with|under|into)\b|\b(?:zählen|zählt|gezählt) (?:hier )?(?:als|zu|unter|bei)\b|\b(?:gelten|gilt) hier als\b|\bzusammengefasst\b|\bals \S+ gezählt\b`)
})

// definesStatus matches sentences that say when a record has a value, or that all records count under their own.
var definesStatus = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:until|till|after|before|as long as|while|bis|nach|solange|sobald|its|their|sein\w*|ihr\w*|each of)\b|` +
		`^(?:(?:a|an|each|every|the|all|ein|eine|jede\w*|alle|der|die) )?(?:calls?|records?|items?|fundings?|aufrufe?|ausschreibung(?:en)?|förderung(?:en)?) (?:counts?|is counted|are counted|zählen|zählt|wird|werden|gelten|gilt)\b`)
})

const (
	someWord    = `(?:open|closed|running|active|current|forthcoming|upcoming|offene[rn]?|geschlossene[rn]?|laufende[rn]?|künftige[rn]?)`
	someRecords = someWord + ` (?:calls?|fundings?|ones|items|records|ausschreibungen)`
	// numberNoun is what a sentence about the statistics begins with.
	numberNoun = `^(?:(?:all|the|these|those|each|every|alle|die|diese|jede\w*|here|hier|they|are|is|given|stated|shown|sind) )*(?:numbers?|counts?|figures?|values?|statistics?|percentages?|shares?|in per ?cent|in prozent|prozent\w*|anteile?|kennzahl\w*|zahl\w*|anzahl|werte?|statistik\w*)\b`
)

var late = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bcumulat\w+|\bkumul\w+|\bof (?:last night|yesterday)\b|\blast night\b|\blag behind\b|\bnächtlich\w*|\bgestern\b`)
})

// severalTimes matches how records with several values of a member are counted. Its groups are that member, or a pronoun for it.
var severalTimes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bcount(?:s|ed)? (?:\w+ ){0,3}(?:under|for|in|with) each of (?:its |their |the |these |those |his )?(\pL+)|\b(?:counted|gezählt|zählt)\b[^.;]*\b(?:once|einmal)\b[^.;]*\b(?:first|ersten?)(?: of (?:its|their|the))? (\pL+)`)
})

// someCounted matches words that leave some records out of the count.
var someCounted = sync.OnceValue(func() *regexp.Regexp {
	const count, only = `(?:\bcount\w*|\bgezählt|\bzähl\w*|\binclude\w*)`, `\b(?:only|nur) (?:the |die |der |noch |nicht )*` + someWord + `\b`
	return regexp.MustCompile(numberNoun + `(?: \pL+){0,4} (?:of|der|aller) (?:the |all )?` + someRecords + `\b|^(?:the |all |die |alle )?` + someRecords + ` (?:per|by|for each|of each|je|pro)\b|` +
		`\b` + someWord + ` (?:(?:calls?|fundings?|ones|items|records|ausschreibungen) |and ` + someWord + ` )*(?:are|is|werden) (?:not|nicht) (?:counted|included|gezählt)|` +
		count + `\b[^.;]*` + only + `|` + only + `[^.;]*` + count)
})

// someOfMember matches words about some records in a sentence about the member with the numbers.
var someOfMember = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b` + someRecords + ` (?:of|per|for|by|je|pro) (?:each|every|a)?|\bof (?:the )?` + someRecords + `\b|\b(?:only|nur) (?:the |die |der |noch |nicht )*` + someWord + `\b`)
})

// countsOthers reports whether a text about statistics says that the numbers of a member do not count all records, each once for each of its values. A sentence
// that names other members only is about those. ofMember is true for the description of the member.
func countsOthers(text, member string, ofMember bool) bool {
	for _, sentence := range Sentences(text) {
		lower := strings.ToLower(sentence)
		if deniedOthers().MatchString(lower) {
			continue
		}
		if ofMember && (late().MatchString(lower) || someCounted().MatchString(lower) || someOfMember().MatchString(lower) || severalTimes().MatchString(lower)) {
			return true
		}
		named := memberNames().FindAllString(sentence, -1)
		if len(named) > 0 && !slices.Contains(named, member) {
			continue
		}
		for i, clause := range countClauses(lower) {
			if i > 0 && !countVerb().MatchString(clause) {
				continue // "Numbers by status, and the number of open calls"
			}
			if clauseCountsOthers(clause, member, len(named) > 0) {
				return true
			}
		}
	}
	return false
}

// memberNames matches the names of members of statistics.
var memberNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:by|per)[A-Z]\w*\b`) })

var countVerb = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:is|are|counts?|holds?|ist|sind|zählt|zählen)\b`)
})

// countClauses splits a sentence before another number: "Numbers by status, and shares of the regions".
func countClauses(sentence string) []string {
	another := regexp.MustCompile(`(?:,| and| und)(?: and| und)? ((?:the |an? |their |die |der |das |eine? )?(?:numbers?|shares?|averages?|growth|sums?|totals?|anzahl|zahl|anteile?|wachstum|summen?|durchschnitt\w*)\b)`)
	return strings.Split(another.ReplaceAllString(sentence, "\n$1"), "\n")
}

// clauseCountsOthers reports whether a clause says that the numbers of a member do not count all records; named is true if the sentence names the member.
func clauseCountsOthers(clause, member string, named bool) bool {
	return named && someOfMember().MatchString(clause) || late().MatchString(clause) || countsSeveralTimes(clause, member) || someCounted().MatchString(clause)
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

// deniedOthers matches words that deny such counts: "not only of open calls".
var deniedOthers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:not|never|nicht|nie) (?:cumulat|kumul|only|nur|just)`)
})
