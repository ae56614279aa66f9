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

// LanguageForms are the members of which a document says that they have another value in another language.
type LanguageForms struct {
	properties, mentioned map[string]bool // as in [ListForms]
}

// FormsByLanguage reads which members of an operation have another value in another language: by a description of the member, or by a sentence that names it.
func (d *Document) FormsByLanguage(o Operation) LanguageForms {
	out := LanguageForms{map[string]bool{}, map[string]bool{}}
	texts, left := d.textsOfProperties(o), maxText
	for _, name := range sortedKeys(texts) {
		for _, text := range texts[name] {
			if !mayNameLanguage(text) || left < len(text) {
				continue
			}
			left -= len(text)
			if slices.ContainsFunc(Sentences(text), contrastsLanguages) {
				out.properties[name] = true
			}
		}
	}
	info, _ := d.Raw("/info/description")
	for _, text := range []string{o.Description, stringValue(info)} {
		for _, sentence := range Sentences(text) {
			if !mayNameLanguage(sentence) || !contrastsLanguages(sentence) {
				continue
			}
			for phrase := range phrases(sentence) {
				if len(out.mentioned) < maxPhrases {
					out.mentioned[phrase] = true
				}
			}
		}
	}
	return out
}

// Has reports whether the document says of a member that it has another value in another language.
func (f LanguageForms) Has(member string) bool {
	return f.properties[member] || slices.ContainsFunc(spellings(member), func(s string) bool { return f.mentioned[s] })
}

// mayNameLanguage reports whether a text may match [oneLanguage] or [languageWord]. It is fast.
func mayNameLanguage(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{"lang", "sprache", "engl", "german", "deutsch", "fren", "franz", "transl", "übersetz"}, func(word string) bool { return strings.Contains(text, word) })
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
