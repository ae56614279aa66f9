package openapi

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file finds sentences that promise what the detail of a record serves: records that the list leaves out, and records under other spellings of their ids.

// ServedUnlisted returns the kinds of records, by words such as draft, that the list leaves out, and that the detail serves to every client that knows the id,
// as the document says in the description of the detail or of the whole API.
func (d *Document) ServedUnlisted(detail Operation) []string {
	info, _ := d.Raw("/info/description")
	var out []string
	for i, text := range []string{detail.Description, stringValue(info)} {
		before := ""
		for _, sentence := range Sentences(text) {
			if servesByID(sentence, i == 0) {
				out = append(out, kindsOfUnlisted(before+". "+exception().ReplaceAllString(sentence, ""))...)
			}
			before = sentence
		}
	}
	return out
}

// servesByID reports whether a sentence says that a record is served by its id, to all clients. ofDetail is true for a sentence of the description of the detail.
func servesByID(sentence string, ofDetail bool) bool {
	if restricted().MatchString(sentence) {
		return false
	}
	placed := byID().MatchString(sentence) || ofDetail && here().MatchString(sentence)
	for clause := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return r == ',' || r == ':' }) {
		if served().MatchString(clause) && !notServed().MatchString(clause) && (placed || ofDetail && servedToo().MatchString(clause)) {
			return true
		}
	}
	return false
}

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

// kindsOfUnlisted returns the kinds of records that a text names.
func kindsOfUnlisted(text string) []string {
	var out []string
	for kind, words := range map[string]string{
		"draft": `drafts?|entwurf|entwürfen?`, "deleted": `deleted|gelöscht\w*`, "hidden": `hidden|verborgene?\w*`, "internal": `internal|interne?\w*`, "embargo": `embargo\w*|sperrfrist\w*`,
		"published": `unpublished|(?:not|never) (?:yet )?(?:been )?published|publication|withdrawn|withdrawal|zurückgezogene?\w*|unveröffentlicht\w*|nicht veröffentlicht\w*|veröffentlichung\w*`,
	} {
		if regexp.MustCompile(`(?i)(?:^|[^\pL])(?:`+words+`)(?:[^\pL]|$)`).MatchString(text) && !slices.Contains(out, kind) {
			out = append(out, kind)
		}
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
