package openapi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// TotalMeaning is what a document says of a total that is not the number of the items of the list.
type TotalMeaning struct {
	OfPage bool  // it counts the items of the page alone
	Others bool  // it also counts records that the list leaves out
	Caps   []int // the node stops counting at these numbers
}

// Counts reports whether a total of this value is the number of items of the list, as far as the document says.
func (m TotalMeaning) Counts(total int) bool {
	return !m.OfPage && !m.Others && !slices.Contains(m.Caps, total)
}

// MeaningOfTotal returns what the description of the total in a place says that it counts. The place is that of [Total].
func (d *Document) MeaningOfTotal(o Operation, place string) TotalMeaning {
	var m TotalMeaning
	d.anyOfTotal(o, place, func(s *search, property any) bool {
		m.Caps = append(m.Caps, d.maximumOf(property)...)
		s.find(property, func(object map[string]any) bool {
			text, _ := object["description"].(string)
			for i, sentence := range Sentences(text) {
				m.OfPage = m.OfPage || i == 0 && countsPage(sentence)
				m.Others = m.Others || countsUnlisted(sentence)
				m.Caps = append(m.Caps, capsIn(sentence)...)
			}
			return false
		})
		return false
	})
	return m
}

// maximumOf returns the declared maximum of a number: a total that has reached it may stand for more.
func (d *Document) maximumOf(property any) []int {
	schema, _ := d.resolve(property)
	if inner, _ := schema["schema"].(map[string]any); inner != nil { // of a header field
		schema, _ = d.resolve(inner)
	}
	raw, _ := schema["maximum"].(interface{ Int64() (int64, error) })
	if raw == nil {
		return nil
	}
	n, err := raw.Int64()
	if err != nil || n < 1 {
		return nil
	}
	return []int{int(n)}
}

// countsPage reports whether a sentence says that a number counts the items of one page: "Number of calls on this page". A clause with a denial, or about all
// pages, says something else.
func countsPage(sentence string) bool {
	for clause := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return strings.ContainsRune(",()–—", r) }) {
		if ofOnePage().MatchString(clause) && !notOfPage().MatchString(clause) {
			return true
		}
	}
	return false
}

var ofOnePage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:number|count|counts|counted|how many|amount|anzahl|zahl|zählt)\b[^,]{0,50}\b(?:on|of|in|auf)(?: only| just| nur)? ` +
		`(?:this|the (?:current|returned|present|requested)|dieser|der (?:aktuellen|jeweiligen|angeforderten|gelieferten))(?: single)? (?:page|response|answer|seite|antwort)\b`)
})

var notOfPage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:not|no|never|without|beyond|before|other than|nicht|nie|kein\w*|ohne|außer|repeated|query|search|suche)\b|n't\b|\b(?:of )?which (?:are|is|some)\b`)
})

// countsUnlisted reports whether a sentence says that a number also counts records that the list leaves out.
func countsUnlisted(sentence string) bool {
	sentence = notListed().ReplaceAllString(sentence, "…")
	return !onOnePage().MatchString(sentence) && unlistedRecords().MatchString(sentence) && countedAlso().MatchString(sentence) && !exclusion().MatchString(sentence)
}

// notListed matches words that say that a record is not listed.
var notListed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:not|never|nicht|nie) (?:(?:yet|be|being|part of|noch|mehr|in|on|of|the|this|der|dieser) )*` +
		`(?:list|listed|visible|published|liste|gelistet\w*|aufgelistet\w*|aufgeführt\w*|sichtbar\w*|veröffentlicht\w*|enthalten)\b`)
})

// onOnePage matches words about one page or answer: a record that is not listed there is on another page.
var onOnePage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:here|hier|(?:on|of|in|auf) (?:this|the (?:current|returned|present)|each|dieser|der (?:aktuellen|jeweiligen)) (?:page|response|answer|result|seite|antwort))\b`)
})

// unlistedRecords matches kinds of records that lists leave out, and the sign for [notListed].
var unlistedRecords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)…|\b(?:archiv\w*|drafts?|unpublished|unlisted|hidden|deleted|withdrawn|embargoed|entwürfe|unveröffentlicht\w*|gelöscht\w*|zurückgezogen\w*|verborgen\w*)\b`)
})

var countedAlso = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:includ(?:es?|ing)|counts?|counted|as well|also|too|even|plus|zähl(?:en|t)|mitgezählt|auch|samt|einschließlich|inklusive|inkl)\b`)
})

var exclusion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:not|no|never|without|except|exclu\w*|neither|nor|nicht|nie|ohne|kein\w*|außer|weder|ausgenommen)\b|n't\b`)
})

// capsIn returns the numbers at which a node stops counting, as a sentence about its total says: "up to 100", "capped at 10,000", "höchstens 10.000". A number
// of a page, or of seconds, is another limit.
func capsIn(sentence string) []int {
	if otherLimit().MatchString(sentence) {
		return nil
	}
	words := map[string]int{"hundred": 100, "thousand": 1000, "ten thousand": 10000, "hundert": 100, "tausend": 1000, "zehntausend": 10000}
	var out []int
	for _, m := range capped().FindAllStringSubmatch(sentence, maxCaps) {
		n, isWord := words[strings.ToLower(m[1])]
		if !isWord {
			n, _ = strconv.Atoi(strings.NewReplacer(",", "", ".", "", "'", "", " ", "").Replace(m[1]))
		}
		if n > 0 {
			out = append(out, n)
		}
	}
	return out
}

// maxCaps bounds the numbers that are read from one sentence.
const maxCaps = 8

var capped = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:up to|at (?:the )?most|no (?:more|further|higher) than|(?:never|not) (?:more|greater|larger|higher|beyond|above)(?: than)?|beyond|maximum(?: of| is)?|max\.?|` +
		`(?:capped|limited|cut off|cut|stops?|stopped|ends?|stays?|remains?)(?: counting)? (?:at|to|after)|` +
		`höchstens|maximal|bis zu|bis|(?:nie|nicht) mehr als|nicht über|(?:begrenzt|beschränkt|gedeckelt) (?:auf|bei|mit)|endet bei|ab|(?:shown|given|reported|sent) as|(?:angezeigt|angegeben) als) ` +
		`(?:one |a |ein)?(\d{1,3}(?:[,.' ]\d{3})+|\d+|hundred|thousand|ten thousand|hundert|tausend|zehntausend)\b`)
})

var otherLimit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:pages?|size|answers?|responses?|requests?|calls? (?:at|per)|antwort\w*|anfrage\w*|seconds?|minutes?|hours?|per|seiten?|sekunden|minuten|stunden|pro|je)\b`)
})

// ReadAs returns the page without its total if, as the document says, the total is not the number of items of the list. body is that of the answer.
func (s ListPage) ReadAs(m TotalMeaning, body []byte) ListPage {
	if s.Total < 0 || m.Counts(s.Total) {
		return s
	}
	s.Partial = s.Next() == "" && (s.Total > len(s.Items) || hintsAtMore(body, len(s.Items)))
	s.Total = -1
	return s
}
