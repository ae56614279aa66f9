package openapi

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// This file finds sentences that announce that the data, and not only the texts, depend on the language of a call.

// OmitsByLanguage reports whether the document says that a list leaves out records in one language, such as those without a translation.
func (d *Document) OmitsByLanguage(o Operation) bool {
	info, _ := d.Raw("/info/description")
	raw, _ := d.Raw(o.Pointer)
	texts := append(d.descriptionsIn(raw), stringValue(info))
	return slices.ContainsFunc(texts, func(text string) bool {
		return slices.ContainsFunc(Sentences(text), omitsRecords)
	})
}

// omitsRecords reports whether a sentence omits records for want of a translation. Words about texts in two languages ask for none.
func omitsRecords(sentence string) bool {
	return recordsLeftOut().MatchString(twoLanguages().ReplaceAllString(sentence, "…")) && !textsLeftOut().MatchString(sentence)
}

// LanguageForms are the members of which a document says that they have another value in another language.
type LanguageForms struct {
	properties map[string]bool // by the description of the property
	contrasts  []string        // sentences that say one thing of one language, and another thing of the other
	mentioned  map[string]bool // the phrases of these sentences
}

// maxContrasts bounds the sentences that are kept.
const maxContrasts = 20

// FormsByLanguage reads which members of an operation have another value in another language: by a description of the member, or by a sentence that names it.
func (d *Document) FormsByLanguage(o Operation) LanguageForms {
	out := LanguageForms{properties: map[string]bool{}, mentioned: map[string]bool{}}
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
			if len(out.contrasts) < maxContrasts && mayNameLanguage(sentence) && contrastsLanguages(sentence) {
				out.contrasts = append(out.contrasts, sentence)
				for phrase := range phrases(sentence) {
					out.mentioned[phrase] = true
				}
			}
		}
	}
	return out
}

// Has reports whether the document says of a member that it has another value in another language.
func (f LanguageForms) Has(member string) bool {
	isMentioned := slices.ContainsFunc(spellings(member), func(s string) bool { return f.mentioned[s] }) // fast
	return f.properties[member] || isMentioned && slices.ContainsFunc(f.contrasts, func(s string) bool { return isSubject(member, s) })
}

// mayNameLanguage reports whether a text may match [oneLanguage] or [languageWord]. It is fast.
func mayNameLanguage(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{"lang", "sprache", "engl", "german", "deutsch", "fren", "franz", "transl", "übersetz"}, func(word string) bool { return strings.Contains(text, word) })
}

// isSubject reports whether a member is the subject of a sentence: "In English, volume is".
func isSubject(member, sentence string) bool {
	named := memberPattern(member)
	for _, at := range named.FindAllStringIndex(sentence, maxNamed) {
		word := sentence[at[0]:at[1]]
		start := at[0] + len(word) - len(strings.TrimLeftFunc(word, isNoLetter))
		end := at[0] + len(strings.TrimRightFunc(word, isNoLetter))
		before, after := strings.TrimSpace(strings.TrimRight(sentence[:start], `"'`+"`")), strings.TrimLeft(sentence[end:], `"'`+"`")
		if beforeSubject().MatchString(before) && afterSubject().MatchString(after) || invertedVerb().MatchString(before) {
			return true
		}
	}
	return false
}

// memberPattern matches the spellings of a member in a sentence; see [spellings].
func memberPattern(member string) *regexp.Regexp {
	var words []string
	for _, spelling := range spellings(member) {
		words = append(words, strings.ReplaceAll(NamePattern(spelling), " ", "[ _-]?"))
	}
	if len(words) == 0 {
		words = []string{`\b\B`} // matches nothing
	}
	return regexp.MustCompile(`(?i)(?:^|[^\pL])(?:` + strings.Join(words, "|") + `)(?:[^\pL]|$)`)
}

// maxNamed bounds how often the name of a member is looked for in one sentence.
const maxNamed = 5

func isNoLetter(r rune) bool { return !unicode.IsLetter(r) }

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

// beforeSubject matches what may stand before the subject of a sentence: a place, an article, and other subjects.
var beforeSubject = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:in|with|for|auf|mit|bei|für) [^,]{1,40},|(?:in|auf) (?:english|german|french|englisch|deutsch|französisch)\b)?(?: ?(?:the|der|die|das|an?|each|every|all|jede[rs]?|alle|values?|of|werte?|von|member|field|feld)\b)*(?: ?[\pL_]+,)*(?: ?[\pL_]+,? (?:and|or|und|oder))?(?: ?(?:the|der|die|das))?$`)
})

// afterSubject matches a verb that follows the subject. In a relative clause the verb has another subject.
var afterSubject = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:, [\pL_]+)*(?:,? (?:and|or|und|oder) (?:the |die |der |das )?[\pL_]+)?(?: (?:in|for|of|on|auf|im|für|an?|the|its|calls?|records?|english|german|french|englisch\w*|deutsch\w*))* ` +
		`(?:is|are|depends?|differs?|varies|vary|has|have|holds?|gives?|shows?|counts?|ist|sind|hängt|hängen|unterscheide\w+|weich\w+|hat|haben|enthält|enthalten|nennt|gilt)\b`)
})

// invertedVerb matches a place and a verb that stand before the subject, in German.
var invertedVerb = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:in|im|auf) (?:der )?\pL+(?: sprache)? (?:ist|sind|hat|haben|hängt|gilt|steht|nennt)(?: (?:der|die|das))?(?: werte?)?$`)
})

// recordsLeftOut matches words that say that records are missing from a list for want of a translation, or of a text in a language.
var recordsLeftOut = sync.OnceValue(func() *regexp.Regexp {
	const records = `(?:calls?|records?|items?|entries|fundings?|programmes?|aufrufe\w?|ausschreibung\w*|förderung\w*|datens\S+|einträge\w?)`
	const language = `(?:languages?|accept-language|english|german|french|sprache|fremdsprache|englisch\w*|deutsch\w*|französisch\w*)`
	const article = `(?:(?:an?|the|that|this|any|its|their|own|such|at least one|full|complete|requested|preferred|accepted|eine\w?|ihre\w?|die|der|dieser|gewünschte\w?|angefragte\w?|bevorzugte\w?|angeforderte\w?) )*`
	const text = `(?:names?|titles?|texts?|versions?|descriptions?|labels?|summary|summaries|bezeichnung\w*|titel\w?|namen?|texte?n?|fassung\w*|version\w*|beschreibung\w*)`
	const inLanguage = `(?:in|into|to|auf|ins) ` + article + language + `\b`
	const translation = article + `(?:translations?\b|übersetzung\w*|` + language + ` ` + text + `\b|` + text + ` ` + inLanguage + `)`
	const untranslated = `(?:(?:untranslated|(?:not|nicht) (?:yet )?(?:translated|übersetzte\w?)|unübersetzte\w?) ` + records +
		`|` + records + `,? (?:(?:that|which|die) )?(?:without|lacking|lacks?|(?:have|has|with) no|ohne|keine\w?) ` + translation +
		`|` + records + `,? (?:(?:that|which|die|are|is|were|have|has|noch) )*(?:not|nicht) (?:(?:yet|been) )*(?:translated|übersetzt|available ` + inLanguage + `)\b)`
	return regexp.MustCompile(`(?i)\b(?:only|nur) (?:the |those |die |jene )?(?:[\pL]+ )?` + records + `,? (?:(?:that|which) (?:have|has) |with |having |mit |die |deren )` + translation +
		`|\b(?:only|nur) (?:the |those |die |jene )?(?:[\pL]+ )?` + records + `,? (?:(?:(?:that|which|are|is|exist|have|has|been|available|written|translated|die) )*` + inLanguage + `|(?:that|which) (?:are|is|have been|has been) translated\b|die (?:bereits |schon )?übersetzt\b)` +
		`|\b` + untranslated + `[^;]*?(?:\b(?:(?:not|n't|never) (?:be )?(?:listed|shown|included|returned|sent|visible|part)|left out|omitted|excluded|missing|absent|skipped|filtered out|fehlen|entfallen|weggelassen|ausgelassen)\b|\bnicht (?:gelistet|aufgelistet|enthalten|aufgeführt|gezeigt|sichtbar)\b)` +
		`|\b(?:leaves? out|leaving out|omits?|excludes?|skips?|lacks?) (?:the |all |those )?` + untranslated)
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
