package openapi

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file finds sentences that promise what the detail of a record serves: records that the list leaves out, and records under other spellings of their ids.

// ServedUnlisted returns the kinds of records, by words such as draft, that the list leaves out, and that the detail serves to every client that knows the id,
// as the document says in the description of the detail or of the whole API. The kind must be the subject of the sentence. A pronoun may stand for the kind,
// if the sentence before says that the list leaves it out: "Drafts are not listed. They can be read by their id."
func (d *Document) ServedUnlisted(detail Operation) []string {
	info, _ := d.Raw("/info/description")
	var out []string
	kinds := unlistedKinds()
	for i, text := range []string{detail.Description, stringValue(info)} {
		before := ""
		for _, sentence := range Sentences(text) {
			for _, kind := range kinds {
				if !slices.Contains(out, kind.name) && kind.isServed(sentence, before, i == 0) {
					out = append(out, kind.name)
				}
			}
			before = sentence
		}
	}
	return out
}

// An unlistedKind is a kind of records that lists leave out.
type unlistedKind struct {
	name  string
	words *regexp.Regexp
	all   *regexp.Regexp // the words of all kinds
}

// isServed reports whether a sentence says that records of the kind are served by their id, to all clients. ofDetail is true for a sentence of the description
// of the detail.
func (k unlistedKind) isServed(sentence, before string, ofDetail bool) bool {
	if restricted().MatchString(sentence) || notYet().MatchString(sentence) {
		return false
	}
	placed := byID().MatchString(sentence) || ofDetail && here().MatchString(sentence)
	known := leavesOutKind(k.clauses(before)) // so that a pronoun means the kind
	for _, clause := range k.clauses(exception().ReplaceAllString(sentence, "")) {
		about := kindIsSubject().MatchString(clause)
		if served().MatchString(clause) && !notServed().MatchString(clause) && (placed || ofDetail && servedToo().MatchString(clause)) &&
			(about || known && pronounIsSubject().MatchString(clause) || servedToo().MatchString(clause) && kindIsObject().MatchString(clause)) {
			return true
		}
		known = about || known && isAdverbial().MatchString(clause)
	}
	return false
}

// clauses returns the clauses of a sentence, in which signs stand for the words for this kind and for those for other kinds. A relative clause
// stays in the clause around it.
func (k unlistedKind) clauses(sentence string) []string {
	sentence = k.words.ReplaceAllString(sentence, "${1}KIND$2")
	sentence = k.all.ReplaceAllString(sentence, "${1}OTHER$2")
	sentence = strings.ReplaceAll(relative().ReplaceAllString(sentence, " $1"), " but ", ", but ")
	clauses := strings.FieldsFunc(sentence, func(r rune) bool { return r == ',' || r == ':' })
	for i, clause := range clauses {
		clauses[i] = strings.TrimSpace(clause)
	}
	return clauses
}

// leavesOutKind reports whether clauses say that the list leaves out the kind, and name no other records after that.
func leavesOutKind(clauses []string) bool {
	out := false
	for _, clause := range clauses {
		if out && otherRecords().MatchString(clause) {
			return false
		}
		out = out || kindIsSubject().MatchString(clause) && notInList().MatchString(clause) || kindLeftOut().MatchString(clause)
	}
	return out
}

const (
	unlistedNoun = `(?:calls?|records?|items?|entries|fundings?|ones?|aufruf\w*|ausschreibung\w*|förderung\w*|datens\S+|einträge\w?)`
	// kindInWords is a kind with a noun, or with a relative clause; unlistedKind.clauses places the sign.
	kindInWords = `(?:(?:all|any|an?|the|even|also|alle|die|der|auch|noch) )*(?:OTHER (?:` + unlistedNoun + ` )?(?:and|or|und|oder) )*` +
		`(?:` + unlistedNoun + ` (?:(?:that|which|die|marked|flagged|as|are|is|have|has|been|still|noch|in|the|state|status|with|under|unter|mit|an?|einer?|of) )*)?KIND(?: ` + unlistedNoun + `)?`
)

// kindIsSubject matches a clause about the records of the kind: "drafts are", and not "draft texts are" or "the draft of the contract is".
var kindIsSubject = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:here|hier|however|but|and|yet|aber|doch|und|in the details?|by (?:its|their|the) ids?) )*(?:(?:the )?details? of )?` + kindInWords +
		`(?: (?:are|is|can|may|will|remains?|stays?|sind|ist|werden|wird|können|kann|bleiben|bleibt|fehlen|stehen|too|also|and|or|und|oder)\b|$)|` +
		`^(?:hier|(?:über|unter|mit|in) (?:\S+ )?(?:kennung|einzelansicht|detailansicht)) (?:sind|werden|können|bleiben) ` + kindInWords + `\b`)
})

// kindIsObject matches a clause that returns the records of the kind.
var kindIsObject = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:returns?|serves?|shows?|gives?) ` + kindInWords + `(?: (?:as well|too|also)\b|$)`)
})

// pronounIsSubject matches a clause whose subject is a pronoun, or that has no subject.
var pronounIsSubject = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:here|hier|however|but|and|yet|still|also|aber|doch|und|dennoch|auch|in the details?|by (?:its|their|the) ids?) )*(?:(?:they|these|those|it) (?:are|is|can|may|will|remains?|stays?)\b|` +
		`(?:their|its) (?:details?|records?) (?:are|is|can|may|remains?)\b|(?:sie|diese) (?:sind|werden|können|bleiben|bleibt|ist|wird|kann)\b|` +
		`(?:(?:hier|(?:über|unter|mit|in) (?:\S+ )?(?:kennung|einzelansicht|detailansicht)) )?(?:sind|werden|können|bleiben|ist|wird|kann) (?:sie|diese|aber|jedoch|dennoch|auch|über|unter|mit|noch|weiter\w*|hier)\b|(?:are|is|can|may|remains?|stays?) |for \w+ days?\b)`)
})

// isAdverbial matches a clause without a verb, and one that continues what is said of the pronoun before it.
var isAdverbial = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:here|hier|however|jedoch|therefore|daher)$|(?:(?:here|but|however) )*(?:they|these|it) (?:are|is) |(?:hier )?(?:sie|diese) )`)
})

// notYet matches words that promise a record for later, such as a draft once it is published.
var notYet = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:once|as soon as|becomes?|until then|no longer|sobald|nachdem|erst|nicht mehr)\b|\b(?:when|after) (?:they|it|that|being|(?:their|its|the) (?:publication|release)|publi\w+|release\w*)\b`)
})

var notInList = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:not|never|n't) (?:be |being )?(?:listed|part of|in|shown in|included in|returned in)\b|\bin no list\b|\b(?:missing|absent|hidden|excluded|left out|omitted)\b|` +
		`\b(?:nicht|nie) (?:(?:in|teil) (?:der|die|einer|von)|gelistet|aufgelistet|aufgeführt|enthalten)\b|\bfehlen\b|\bin keiner liste\b`)
})

var kindLeftOut = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:leaves?|leaving) (?:out ` + kindInWords + `|` + kindInWords + ` out)\b|\b(?:omits?|lacks?|hides?|excludes?) ` + kindInWords + `\b`)
})

var otherRecords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b` + unlistedNoun + `(?:[^\pL]|$)`) })

var relative = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i), ((?:die|der|das|that|which|whose|deren) )`) })

var byID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\pL])(?:by|knows?|under|with|via|über|unter|mit|kennen|kennt) (?:its |their |the |an |ihre\w? |der |die |seine\w? )?(?:ids?|identifiers?|kennung\w*)\b|\b(?:detail|details|einzelansicht|detailansicht)\b`)
})

var here = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:here|this operation|hier|diese operation)\b`)
})

var served = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:is|are|be|remains?|stays?) (?:still |also |always )?(?:open|served|returned|readable|read|retrieved|retrievable|fetched|available|accessible|reachable|shown|found|visible|answered with 200)\b|` +
		`\b(?:still|also) with 200\b|\b(?:returns?|serves?|shows?|gives?) (?:\w+ ){1,2}(?:as well|too|also)\b|\balso (?:returns?|serves?|shows?)\b|` +
		`\b(?:abrufbar|erreichbar|einsehbar|lesbar|auffindbar)\b|(?:^|[^\pL])verfügbar\b|\b(?:abgerufen|gelesen|eingesehen) werden\b`)
})

var servedToo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b(?:as well|too|also|auch)\b`) })

var notServed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:not|never|no|neither|nor|nowhere|cannot|nicht|nie|kein\w*|weder)\b|n't\b`)
})

// restricted matches words that promise a record to some clients only.
var restricted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:only|nur|roles?|rollen?|permissions?|permitted|allowed|entitled|berechtig\w*|befugt\w*|editors?|redakt\w*|admin\w*|staff|owners?|authors?|internal(?:ly)? (?:users?|clients?|callers?|to)|mitarbeite\w*|if (?:you|it|they|the client)|wenn|sofern)\b`)
})

// exception matches what a sentence excepts.
var exception = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:unless|except|excepting|but not|ausgenommen|es sei denn|außer)\b.*`)
})

// unlistedKinds returns the kinds of records that [Document.ServedUnlisted] finds. A date of publication is not a kind, unless it lies in the future.
func unlistedKinds() []unlistedKind {
	pattern := func(words string) *regexp.Regexp {
		return regexp.MustCompile(`(?i)(^|[^\pL])(?:` + words + `)([^\pL]|$)`)
	}
	const future = `(?:calls?|records?|fundings?) whose (?:publication(?: date)?|date of publication) (?:lies|is) (?:still )?(?:in the future|ahead|to come)`
	words := [...][2]string{
		{"draft", `drafts?|entwurf|entwürfen?`}, {"deleted", `deleted|gelöscht\w*`}, {"hidden", `hidden|verborgen\w*`}, {"internal", `internal|interne?\w*`},
		{"embargo", `embargo\w*|sperrfrist\w*`}, {"published", future + `|unpublished|(?:not|never) (?:yet )?(?:been )?published|withdrawn|zurückgezogen\w*|unveröffentlicht\w*|(?:noch )?nicht veröffentlicht\w*`},
	}
	var union []string
	for _, w := range words {
		union = append(union, w[1])
	}
	all := pattern(strings.Join(union, "|"))
	var out []unlistedKind
	for _, w := range words {
		out = append(out, unlistedKind{w[0], pattern(w[1]), all})
	}
	return out
}

// IgnoresSpelling reports whether the description of a path parameter promises that an id is found in the spelling that was asked for, although the record has
// the other one.
func (o Operation) IgnoresSpelling(asked, known string) bool {
	ofCase := regexp.MustCompile(`(?i)\b(?:case[- ]insensitive\w*|upper (?:or|and) lower[- ]?case|upper[- ]?case (?:or|and) lower[- ]?case|(?:in|of) (?:any|either) case|case (?:does not|doesn't) matter|(?:regardless|irrespective) of (?:the )?case)\b|groß-? ?(?:und|oder|/) ?kleinschreibung|groß- oder klein`)
	ofParts := regexp.MustCompile(`(?i)\b(?:with or without|leading (?:zeros?|zeroes|letters?)|zeros? may be|spaces?|blanks?|whitespace|führende\w* nullen?|mit oder ohne|leerzeichen)\b`)
	strict := regexp.MustCompile(`(?i)\bcase[- ]sensitive\b|\b(?:not|never|must|distinguish\w*|differ\w*|nicht|muss|müssen|unterschied\w*|unterscheide\w*)\b|n't\b`)
	pattern := ofParts
	if strings.EqualFold(asked, known) {
		pattern = ofCase
	}
	for _, p := range o.Parameters {
		if p.In != "path" {
			continue
		}
		for _, sentence := range Sentences(p.Description) {
			said := pattern.FindString(sentence)
			if said != "" && !strict.MatchString(strings.Replace(sentence, said, "", 1)) {
				return true
			}
		}
	}
	return false
}
