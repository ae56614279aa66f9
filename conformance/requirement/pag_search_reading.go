package requirement

import (
	"regexp"
	"strings"

	"github.com/rin-network/rin/conformance/openapi"
)

// This file reads what the description of a search excludes: the text that the word comes from, parts of a text, and signs.

// negation matches words that deny a clause of a description.
const negation = `\b(?:not|never|no|nor|without|except|excluding|nicht|nie|kein\w*|ohne|außer|ausgenommen)\b`

// clausesOf splits a description in lower case at the signs between clauses, and before "but".
func clausesOf(text string) []string {
	return regexp.MustCompile(`[.,;:()–]+|\b(?:but|sondern|aber)\b|\band not\b`).Split(strings.ReplaceAll(text, " and not ", ", not "), -1)
}

// searchesElsewhere reports whether the description of a search, in lower case, names another text than the one in a member, such as the summary instead of the
// title, or says that it does not search this one.
func searchesElsewhere(text, of string, members openapi.Members) bool {
	first := strings.ToLower(regexp.MustCompile(`^[A-Za-z]+`).FindString(of))
	titles := regexp.MustCompile(`\b(?:` + regexp.QuoteMeta(first) + `s?|titles?|names?|headings?|headlines?|labels?|titeln?|titels|namen?|namens|bezeichnung(?:en)?|überschrift(?:en)?|titres?|titol[oi]|títulos?)\b`)
	notIn := regexp.MustCompile(`\bnot (?:in |searched in )?(?:the |its |their )?` + titles.String() + `|` + titles.String() + ` (?:is|are) (?:not|never) (?:searched|read|considered|looked)|\bneither (?:the )?(?:\w+ nor (?:the )?)?` + titles.String() + `|\bweder (?:der |im |den )?(?:\S+ noch (?:der |im |den )?)?` + titles.String() + `|` +
		`\b(?:not|never) (?:search|look|read)\w* (?:in |at |through )?(?:the |its |their )?` + titles.String() + `|` +
		`\bnicht (?:im |in |den |die |in den |in der )?` + titles.String() + `|` + titles.String() + ` (?:wird|werden) (?:dabei )?nicht (?:durch|ge)sucht`)
	// Words that say that the search reads more texts than those which the description names.
	text = regexp.MustCompile(`\b(?:titel|title|name)s? of (?:the |a )?(?:funder|organi[sz]ation|person|programme|institution|agency)s?\b|\b(?:titel|name) (?:des|der|einer) (?:förder|organisation|einrichtung|person|geldgeber)\S*`).ReplaceAllString(text, "in the contents") // another member's text
	if regexp.MustCompile(`\b(?:not only|nicht nur|also|too|as well|including|auch|sowie|everywhere|überall|full[- ]?text|volltext\w*|(?:all|any|every|alle[nr]?) (?:the |its |other )?(?:texts?|members?|fields?|texten?|felder\w*))\b`).MatchString(text) {
		return false
	}
	others := []string{`summar(?:y|ies)`, "abstracts?", "descriptions?", "contents?", `zusammenfassung\w*`, `kurzfassung\w*`, `\w*beschreibung\w*`, "inhalt(?:s|es)?", `schlagw\w+`}
	for _, path := range members {
		if name := openapi.Words(path); !strings.HasPrefix(path, first) && len(name) > 0 && !titles.MatchString(name[len(name)-1]) {
			others = append(others, regexp.QuoteMeta(strings.Join(name, " "))+"s?", regexp.QuoteMeta(strings.ToLower(path)))
		}
	}
	other := regexp.MustCompile(`(?:\b(?:in|of|through|within|search(?:es|ed)?|durchsucht|im|der|des|den|die|das)|^) *(?:only |nur )?(?:the |its |their |den |die |der |dem |das |a )?(?:call'?s? |\w+ (?:and|or|und|oder) )?(?:` + strings.Join(others, "|") + `)\b`)
	named, denied := false, false
	for _, clause := range clausesOf(text) {
		if notIn.MatchString(clause) {
			denied = true
			continue
		}
		if titles.MatchString(clause) {
			return false
		}
		named = named || other.MatchString(clause) && !regexp.MustCompile(negation).MatchString(clause)
	}
	return named || denied
}

// comparesWhole reports whether the description of a search, in lower case, says that a text must be given as a whole, and that a part of it finds nothing.
func comparesWhole(text string) bool {
	return regexp.MustCompile(`\bthe (?:whole|complete|entire|full) (?:title|name|text|value|label) (?:must|has to|needs to|is required)\b|\bcompared as a whole\b|\bmust (?:match|equal|be given) (?:completely|in full|as a whole|as a complete)\b|`+
		`\b(?:title|name|text|value),? (?:complete|in full)\b|\bparts? of (?:it|the (?:title|name|text|value)|a (?:title|name))(?: alone)? (?:finds?|match(?:es)?|gives?|brings?) (?:nothing|no (?:call|item))|\bparts? of (?:it|the (?:title|name|text)) (?:is|are) not (?:found|enough|sufficient)\b|`+
		`\bder (?:ganze|vollständige|komplette) (?:titel|name|text|wert) (?:muss|ist anzugeben)|\b(?:als ganzes|im ganzen|vollständig) (?:verglichen|angegeben|übereinstimmen)|\bteile (?:davon|des titels|des namens|eines titels)? ?(?:finden|ergeben|liefern) (?:nichts|keine)`).MatchString(text) &&
		!regexp.MustCompile(`\b(?:need not|needn't|not|nicht) (?:be )?(?:compared|given|verglichen|angegeben)\b|\bmuss nicht\b`).MatchString(text)
}

// dropsSign reports whether the description of a search, in lower case, says that signs such as % are no part of the text, because they separate words or are
// left out. A sign that the description counts among the letters stays.
func dropsSign(text, sign string) bool {
	const signs = `(?:signs?|punctuation(?: marks?)?|special characters?|symbols?|(?:characters?|everything|anything) (?:other than|except|but)\b[^.;]*|\w*zeichen(?: außer\b[^.;]*)?)`
	const gone = `(?:separates?|splits?|delimits?|(?:is|are|count as|counts as|treated as|act as|taken for) (?:\w+ )?(?:separators?|delimiters?|blanks?|spaces?|ignored|dropped|removed|stripped|skipped|disregarded|left out)|trennen|trennt|(?:wird|werden) (?:\w+ )?(?:ignoriert|entfernt|übergangen|weggelassen|nicht beachtet)|gelten als (?:trenn\w*|leer\w*))`
	for _, sentence := range regexp.MustCompile(`[.;](?:\s|$)`).Split(text, -1) {
		if at := regexp.MustCompile(`(?:^|[ (])` + signs + `[^.;]{0,80}\b` + gone + `\b`).FindString(sentence); at != "" &&
			!regexp.MustCompile(`\b(?:not|never|nicht|nie|no|keine?)\b`).MatchString(at) {
			return sign != "_" || !regexp.MustCompile(`\bunder(?:score|line)s?\b|\bunterstrich`).MatchString(at)
		}
	}
	return regexp.MustCompile(`\bsplit (?:in)?to words at (?:everything|anything|all (?:signs|characters)) (?:other than|except|but|that)\b`).MatchString(text) && sign != "_"
}

// readsSome reports whether the description of a search, in lower case, says that it reads only some of the items, such as those with a certain status.
func readsSome(text string) bool {
	const items = `(?:calls?|fundings?|items?|records?|entries|ausschreibungen|einträge|datensätze)`
	return regexp.MustCompile(`\bonly (?:\w+ ){1,2}` + items + ` (?:is|are) (?:searched|found|read|considered)\b|\bsearch(?:es)? only (?:the )?\w+ ` + items + `\b|\b\w+ (?:` + items + ` |ones )?(?:is|are) not (?:searched|found)\b|` +
		`\b(?:der|die|den) (?:laufenden|offenen|geschlossenen|aktuellen|künftigen) ` + items + `\b|\bnur (?:\w+ ){1,2}` + items + ` (?:wird|werden) (?:durch|ge)sucht|\b(?:geschlossene|abgelaufene|künftige|vergangene|archivierte)\b[^.;]{0,40}\bwerden nicht (?:durchsucht|gefunden|berücksichtigt)`).MatchString(text)
}

// findsEnds reports whether the description of a search, in lower case, says that the text must stand at one end of a text.
func findsEnds(text string) bool {
	return regexp.MustCompile(`\b(?:that|which|whose \w+) (?:ends?|begins?|starts?) (?:with|in)\b|\b(?:titel|name|text|wert)\S*,? (?:der|die|das|deren \S+|dessen \S+) mit \S+(?: \S+)? (?:ende[nt]?|beginn\S*|anfäng\S*)\b|\b(?:beginning|end|start|prefix|suffix) of the (?:title|name|text)\b|\b(?:anfang|beginn|ende) des (?:titels|namens|textes)\b`).MatchString(text) &&
		!regexp.MustCompile(`\bnot (?:only|just)\b|\bnicht nur\b|\banywhere\b`).MatchString(text)
}

// withoutDenied returns the description of a search, in lower case, without words about case that are denied, and those that hold for some letters only.
func withoutDenied(text string) string {
	text = regexp.MustCompile(`\b(?:not|never|isn't|does not|doesn't) (?:case[- ]?insensitiv\w*|ignor\w+ (?:the )?(?:upper|lower|case)[^.,;]*|regardless of (?:upper|lower|case)[^.,;]*)`).ReplaceAllString(text, "")
	return regexp.MustCompile(`[^.;]*\b(?:only|just) (?:the )?(?:ascii|latin|english|unaccented)[^.;]*`).ReplaceAllString(text, "")
}

// expandsText reports whether the description of a search, in lower case, gives signs a meaning of their own, or finds words that are not the same.
func expandsText(text string) bool {
	return regexp.MustCompile(`\b(?:platzhalter\w*|joker\w*|muster|ähnlich\w*|unscharf\w*|tippfehler\w*|wortst[aä]mm\w*|misspel\w+|typos?|spelling mistakes?|differ\w* in (?:one|a|two|1|2)\b)`).MatchString(text) &&
		!regexp.MustCompile(`\b(?:no|not|without|never|keine?|nicht|ohne)\b[^.;,]{0,25}\b(?:platzhalter|joker|muster|ähnlich|unscharf|tippfehler|wortst|misspel|typo|spelling|toler)|\b(?:platzhalter|joker|misspel|typo)\w*\b[^.;,]{0,25}\b(?:not|no|never|nicht|kein\w*)\b`).MatchString(text)
}
