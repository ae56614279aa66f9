package openapi

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file finds sentences that announce that the data, and not only the texts, depend on the language of a call.

// OmitsByLanguage reports whether the document says that a list leaves out records in one language, such as those without a translation.
func (d *Document) OmitsByLanguage(o Operation) bool {
	info, _ := d.Raw("/info/description")
	raw, _ := d.Raw(o.Pointer)
	texts := append(d.descriptionsIn(raw), stringValue(info))
	return slices.ContainsFunc(texts, func(text string) bool { return slices.ContainsFunc(Sentences(text), omitsRecords) })
}

func omitsRecords(sentence string) bool {
	return languageWord().MatchString(sentence) && recordsLeftOut().MatchString(sentence) && !textsLeftOut().MatchString(sentence)
}

// DiffersByLanguage reports whether the document says that a member has another value in another language: in a description of the member, or in a sentence
// that names it.
func (d *Document) DiffersByLanguage(o Operation, member string) bool {
	for _, text := range d.textsOfMember(o, o, member) {
		if slices.ContainsFunc(Sentences(text), contrastsLanguages) {
			return true
		}
	}
	named := memberPattern(member)
	info, _ := d.Raw("/info/description")
	for _, text := range []string{o.Description, stringValue(info)} {
		if slices.ContainsFunc(Sentences(text), func(s string) bool { return named.MatchString(s) && contrastsLanguages(s) }) {
			return true
		}
	}
	return false
}

// contrastsLanguages reports whether a sentence says one thing of one language, and another thing of the other.
func contrastsLanguages(sentence string) bool {
	if sameInLanguages().MatchString(sentence) {
		return false
	}
	sentence = twoLanguages().ReplaceAllString(sentence, "$1") // "in English and German" is one place
	named := oneLanguage().FindAllString(strings.ToLower(sentence), 2)
	return len(named) > 0 && otherwise().MatchString(sentence) || len(named) == 2 && named[0] != named[1] ||
		languageWord().MatchString(sentence) && dependsOn().MatchString(sentence)
}

// descriptionsIn returns the descriptions in a part of the document, and in what it refers to.
func (d *Document) descriptionsIn(part any) []string {
	var out []string
	d.newSearch().find(part, func(object map[string]any) bool {
		if text, isText := object["description"].(string); isText {
			out = append(out, text)
		}
		return false
	})
	return out
}

var languageWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:languages?|accept-language|english|german|sprache\w*|englisch\w*|deutsch\w*|translat\w*)\b|übersetz`)
})

// recordsLeftOut matches words that say that records are missing from a list.
var recordsLeftOut = sync.OnceValue(func() *regexp.Regexp {
	const records = `(?:calls?|records?|items?|entries|fundings?|programmes?|aufrufe\w?|ausschreibung\w*|förderung\w*|datens\S+|einträge\w?)`
	return regexp.MustCompile(`(?i)\bonly (?:the |those )?` + records + ` (?:that|which|with|having)\b|\b` + records + `\b[^;]*\b(?:(?:not|n't|never) (?:be )?(?:listed|shown|included|returned|sent|visible|part)|left out|omitted|excluded|missing|absent|skipped|filtered out|fehlen|entfallen|weggelassen|ausgelassen|nicht (?:gelistet|aufgelistet|enthalten|aufgeführt|gezeigt|sichtbar))\b|` +
		`\b(?:leaves?|leaving) out (?:the |all |those )?` + records + `\b|\b(?:omits?|excludes?|skips?|lacks?) (?:the |all |those )?` + records + `\b|\bnur (?:die |jene )?` + records + `,? (?:die|mit|deren)\b`)
})

// textsLeftOut matches words that deny that records are left out, or that are about their texts.
var textsLeftOut = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:the |all |their )?(?:\w+ )?(?:texts?|names?|titles?|translations?|descriptions?|texte|namen|titel|bezeichnungen|übersetzungen|beschreibungen) |` +
		`\b(?:no|none of the|neither|kein\w*) (?:calls?|records?|items?|entries|fundings?|aufruf\w*|ausschreibung\w*|datens\S+|einträge?)\b|\b(?:is|are|be|was|wird|werden) (?:not|never|nicht|nie) (?:left out|omitted|excluded|missing|skipped|weggelassen|ausgelassen)|\b(?:fehlen|entfallen) (?:nicht|nie)\b|` +
		`\b(?:replaced|instead|fall(?:s|ing)? ?back|fallback|ersetzt|stattdessen|(?:shown|sent|listed|given) (?:with|in) (?:its|their|the)? ?(?:german|english|other))\b`)
})

var oneLanguage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:english|german|french|englisch|deutsch|französisch)`)
})

var twoLanguages = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b((?:english|german|englisch|deutsch)\w*)(?: and | or | und | oder |, ?|/)(?:in )?(?:english|german|englisch|deutsch)\w*`)
})

var otherwise = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:otherwise|else|whereas|while|in (?:all )?other languages|sonst|ansonsten|hingegen|dagegen|in (?:allen )?anderen sprachen)\b`)
})

var dependsOn = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:depends? on|differs?|varies|vary|hängt|abhängig|unterscheide\w+|weich\w+)\b`)
})

var sameInLanguages = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:same|whatever|regardless|irrespective|independent\w*|equal\w*|identical\w*|in (?:every|all|any|each) languages?|gleich\w*|identisch\w*|unabhängig\w*|dieselbe\w*|in (?:jeder|allen) sprachen?)\b|\b(?:not|never|nicht|nie) (?:depend|differ|vary|change|hängt|ab)`)
})
