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
	titles := regexp.MustCompile(`\b(?:` + openapi.NamePattern(first) + `s?|titles?|names?|headings?|headlines?|labels?|titeln?|titels|namen?|namens|bezeichnung(?:en)?|überschrift(?:en)?|titres?|titol[oi]|títulos?)\b`)
	notIn := regexp.MustCompile(`\bnot (?:in |searched in )?(?:the |its |their )?` + titles.String() + `|` + titles.String() + ` (?:is|are) (?:not|never) (?:searched|read|considered|looked)|\bneither (?:the )?(?:\w+ nor (?:the )?)?` + titles.String() + `|\bweder (?:der |im |den )?(?:\S+ noch (?:der |im |den )?)?` + titles.String() + `|` +
		`\b(?:not|never) (?:search|look|read)\w* (?:in |at |through )?(?:the |its |their )?` + titles.String() + `|` +
		`\bnicht (?:im |in |den |die |in den |in der )?` + titles.String() + `|` + titles.String() + ` (?:wird|werden) (?:dabei )?nicht (?:durch|ge)sucht`)
	// Words that say that the search reads more texts than those which the description names.
	text = regexp.MustCompile(`\b(?:titel|title|name)s? of (?:the |a )?(?:funder|organi[sz]ation|person|programme|institution|agency)s?\b|\b(?:titel|name) (?:des|der|einer) (?:förder|organisation|einrichtung|person|geldgeber)\S*`).ReplaceAllString(text, "in the summary")                    // another member's text
	text = regexp.MustCompile(`\b(?:(?:its|their|calls?'?s?) contents?|contents? of (?:the |a |an |each |every |all )*(?:calls?|records?|items?|entry|entries|fundings?)|inhalt\w* (?:des|der|einer|aller) (?:ausschreibung\w*|calls?|eintr\S*|datens\S*))\b`).ReplaceAllString(text, "all of it") // the title is a part of a record's contents
	if regexp.MustCompile(`\b(?:not only|nicht nur|also|too|as well|including|auch|sowie|everywhere|überall|full[- ]?text|volltext\w*|(?:all|any|every|alle[nr]?) (?:the |its |other )?(?:texts?|members?|fields?|texten?|felder\w*))\b`).MatchString(text) {
		return false
	}
	others := []string{`summar(?:y|ies)`, "abstracts?", "descriptions?", "contents?", `zusammenfassung\w*`, `kurzfassung\w*`, `\w*beschreibung\w*`, "inhalt(?:s|es)?", `schlagw\w+`}
	for _, path := range members[:min(len(members), maxElements)] {
		if name := openapi.Words(path); !strings.HasPrefix(path, first) && len(name) > 0 && !titles.MatchString(name[len(name)-1]) {
			others = append(others, openapi.NamePattern(strings.Join(name, " "))+"s?", openapi.NamePattern(strings.ToLower(path)))
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
	return regexp.MustCompile(`\bthe (?:whole|complete|entire|full) (?:title|name|text|value|label) (?:is required\b|(?:must|has to|needs to) (?:\w+ )?(?:be (?:given|entered|typed|specified|stated|supplied|passed|sent|equal|the same)|match|equal|agree)\b)|\bcompared as a whole\b|\bmust (?:match|equal|be given) (?:completely|in full|as a whole|as a complete)\b|`+
		`\b(?:title|name|text|value),? (?:complete|in full)\b|\bparts? of (?:it|the (?:title|name|text|value)|a (?:title|name))(?: alone)? (?:finds?|match(?:es)?|gives?|brings?) (?:nothing|no (?:call|item))|\bparts? of (?:it|the (?:title|name|text)) (?:is|are) not (?:found|enough|sufficient)\b|`+
		`\bder (?:ganze|vollständige|komplette) (?:titel|name|text|wert) (?:ist anzugeben|muss (?:\S+ ){0,3}(?:angegeben|eingegeben|übergeben|genannt|geschrieben|übereinstimmen|gleich|entsprechen))|\b(?:als ganzes|im ganzen|vollständig) (?:verglichen|angegeben|übereinstimmen)|\bteile (?:davon|des titels|des namens|eines titels)? ?(?:finden|ergeben|liefern) (?:nichts|keine)`).MatchString(text) &&
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

// readsSome reports whether the description of a search, in lower case, says that it reads only some of the items, such as those with a certain status. item is
// the text of the item with the word, in lower case: that drafts are not found excuses no loss of another item.
func readsSome(text, item string) bool {
	const items = `(?:calls?|fundings?|items?|records?|entries|ausschreibungen|einträge|datensätze)`
	const kind = `(?:closed|open|past|expired|ended|archived?|forthcoming|future|upcoming|planned|running|current|ongoing|finished|old|older|inactive|drafts?|unpublished|deleted|withdrawn|hidden)`
	only := regexp.MustCompile(`\bonly (?:\w+ )?(\w+) ` + items + ` (?:is|are) (?:searched|found|read|considered)\b|\bsearch(?:es)? only (?:the )?(\w+) ` + items + `\b|` +
		`\b(?:der|die|den) (laufenden|offenen|geschlossenen|aktuellen|künftigen) ` + items + `\b|\bnur (?:\w+ )?(\w+) ` + items + ` (?:wird|werden) (?:durch|ge)sucht`)
	absent := regexp.MustCompile(`\b(\w+) ` + items + ` (?:is|are) not (?:searched|found)\b|\b(` + kind + `)(?: ones)? (?:is|are) not (?:searched|found)\b|` +
		`\b(geschlossene|abgelaufene|künftige|vergangene|archivierte)\b[^.;]{0,40}\bwerden nicht (?:durchsucht|gefunden|berücksichtigt)`)
	noKind := regexp.MustCompile(`^(?:the|these|those|such|all|others?|remaining|matching|different|more|than|no|with|of)$`)
	for _, found := range only.FindAllStringSubmatch(text, -1) {
		if !noKind.MatchString(strings.Join(found[1:], "")) {
			return true
		}
	}
	for _, found := range absent.FindAllStringSubmatch(text, -1) {
		word := strings.Join(found[1:], "")
		unlisted := regexp.MustCompile(`^(?:draft|unpublished|deleted|withdrawn|hidden)`).FindString(word)
		if !noKind.MatchString(word) && (unlisted == "" || strings.Contains(item, unlisted)) {
			return true
		}
	}
	return false
}

// findsEnds reports whether the description of a search, in lower case, says that the text must stand at one end of a text. What it says of blanks at the ends
// of the text that is searched for, and of the order of the answer, is about something else.
func findsEnds(text string) bool {
	if regexp.MustCompile(`\bnot (?:only|just)\b|\bnicht nur\b|\banywhere\b`).MatchString(text) {
		return false
	}
	const german = `\b(?:titel|name|text|wert)\S*,? (?:der|die|das|deren \S+|dessen \S+) mit (\S+)(?: \S+)? (?:ende[nt]?|beginn\S*|anfäng\S*)\b`
	ends := regexp.MustCompile(`\b(?:that|which|whose \w+) (?:ends?|begins?|starts?) (?:with|in) (an? (?:given|certain) |\S+)|` + german + `|\b(?:beginning|end|start|prefix|suffix) of the (?:title|name|text)\b|\b(?:anfang|beginn|ende) des (?:titels|namens|textes)\b`)
	other := regexp.MustCompile(`\b(?:spaces?|blanks?|white ?space|trimmed|leerzeichen|leerraum|abgeschnitten)\b|\b(?:comes?|stands?|ranks?|are|is|listed|shown|ranked|placed) (?:first|on top|at the top|higher|before)\b|\b(?:kommen|stehen|erscheinen) (?:zuerst|oben|vorne?|voran)\b`)
	for _, sentence := range regexp.MustCompile(`[.;](?:\s|$)|, (?:and|und) `).Split(text, -1) {
		if other.MatchString(sentence) {
			continue
		}
		for _, found := range ends.FindAllStringSubmatch(sentence, -1) {
			if !regexp.MustCompile(`^(?:an?|any|no|one|digits?|letters?|einem|einer)$`).MatchString(found[1] + found[2]) {
				return true
			}
		}
	}
	return false
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
