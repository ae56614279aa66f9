package openapi

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file finds parameters that are named like a member of the items and have another meaning, as the document says: some select nothing, some leave out
// what they name, and some let more pass than they name. No item contradicts their values.

// SelectsOtherwise reports whether a parameter does not select the items whose member has its value, by its name or by a sentence of the document: one of its own
// description, or in a line of that of the operation which begins with its name.
func (o Operation) SelectsOtherwise(p Parameter) bool {
	return strings.ContainsAny(p.Name, "!<>~^") || o.saysOf(p, selectsNothing(), aboutCaller(), leavesOut(), selectsMore(), aboutPast())
}

// SelectsMore reports whether the document says that other values match, too, and nothing else that [Operation.SelectsOtherwise] looks for. Such a parameter
// still leaves out something.
func (o Operation) SelectsMore(p Parameter) bool {
	return o.saysOf(p, selectsMore()) && !strings.ContainsAny(p.Name, "!<>~^") && !o.saysOf(p, selectsNothing(), aboutCaller(), leavesOut(), aboutPast())
}

// saysOf reports whether a sentence about a parameter matches one of the patterns.
func (o Operation) saysOf(p Parameter, patterns ...*regexp.Regexp) bool {
	text := p.Description
	for line := range strings.Lines(o.Description) {
		rest, named := strings.CutPrefix(strings.TrimLeft(line, " \t-*+`_|"), p.Name) // an entry of a list of parameters
		if named && p.Name != "" && rest != "" && strings.ContainsRune(" *`_:|–—-", []rune(rest)[0]) {
			text += ". " + strings.Trim(rest, " *`_:|–—-")
		}
	}
	for _, sentence := range sentenceEnd().Split(strings.Join(strings.Fields(text), " "), -1) {
		if rest, named := strings.CutPrefix(strings.TrimLeft(sentence, "`*"), p.Name); named {
			rest = strings.TrimLeft(rest, "`*")
			if strings.HasPrefix(rest, " wird ") || strings.HasPrefix(rest, " wurde ") {
				sentence = "Der Parameter" + rest
			}
		}
		for _, aside := range []*regexp.Regexp{aboutValues(), aboutSomeValues(), aboutForm(), aboutOrder()} {
			sentence = aside.ReplaceAllString(sentence, " … ")
		}
		if slices.ContainsFunc(patterns, func(pattern *regexp.Regexp) bool { return pattern.MatchString(sentence) }) {
			return true
		}
	}
	return false
}

// sentenceEnd matches the sign between two sentences.
var sentenceEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[.;]\s|[.;]$`) })

// selectsNothing matches sentences that say that a parameter has no effect on the list. Most of them are about statistics, or about an earlier version.
var selectsNothing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(deprecated\W+)?(is |now )?ignored\b|\b(parameter|it|and|is|are|was|been|be|always|currently|now) (currently |simply |now )?ignored\b|` +
		`\b(has|have|without|with) (no|any) (effect|influence|impact|bearing)\b|` +
		`\b(does not|do not|doesn't|don't|never|will not|won't|not) (used to )?(filter|select|restrict|narrow)\b|` +
		`\b(does not|do not|doesn't|don't|never|will not|won't) (change|affect|influence|limit|alter) (the |which |what )?(answers?|lists?|results?|responses?|records?|items?|calls?|fundings?|entries|selection|anything)\b|` +
		`\b(selects|filters|changes|restricts) nothing\b|\b(answer|list|result|response)s? (is|are|stays?|remains?) (always )?(the same|unchanged)\b|` +
		`\b(only|just|solely|purely|exclusively) (used )?for (\w+ ){0,3}(statistic|analytic|track|logg|log\b|logs\b|monitor|account|attribution|billing|audit|debug)|` +
		`\bfor (\w+ ){0,3}(statistics|analytics|tracking|logging|monitoring|attribution|auditing|debugging)( purposes)? only\b|` +
		`\b(wird|werden) (derzeit |nicht mehr |seit [^,]{1,20} )?ignoriert|\b(ohne (wirkung|einfluss|auswirkung)|wirkungslos|hat keine\w* (wirkung|einfluss|auswirkung))|(^|\s)(filtert|verändert|ändert|beeinflusst|schränkt)\b[^,]*\b(nicht|nichts)\b|` +
		`\b(come|comes|listed|shown|appear|appears|ranked|sorted) (first|last|higher|at the top)\b|\b(boost(s|ed|ing)?|prefer(s|red|ring|ence)?)\b|\b(ranked|ranking)\b|\bkommen zuerst\b|\bbevorzugt|\bdien(t|en) (nur|allein|lediglich|ausschließlich|einzig) |` +
		`(^|, |\b(aber|jedoch|und) |parameter (\S+ )?|\b(wert|filter|angabe|feld|eingabe|auswahl|kriterium|beide|dies|er|es|sie) )(wird |werden |wurde )?(derzeit |zurzeit |aktuell |seit [^,]{1,20} )?nicht (mehr )?(ausgewertet|berücksichtigt|beachtet|verwendet)\b|` +
		`\b(moves?|puts?|places?|lifts?)\b[^,]*\b(to|at) the (top|head|front|beginning)\b|\bleaves? (none|nothing|no (calls?|items?|records?|entries)) out\b|\b(rückt|stellt|setzt)\b[^,]*\b(nach oben|an den anfang|an die spitze|voran)|` +
		`\bnur (für|zu|zur) (\S+ ){0,2}(statistik|auswertung|protokoll|nutzungsstatistik|statistischen)|` +
		`\b(est|sera) ignoré|\bsans effet\b|\bne (filtre|modifie|change) (pas|rien)|\bfins (de )?statisti|\b(viene|è) ignorat|\bsenza effetto\b|\bse ignora\b|\bsin efecto\b`)
})

// aboutCaller matches sentences that say who calls.
var aboutCaller = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(where|which|who|whom|that|of|from|name of) (the )?(your|you) ?(users?|applications?|organi[sz]ations?|offices?|systems?|institutions?|portals?|clients?|belong|work|represent|call|are)\b|` +
		`\bcalling (application|client|system|organi[sz]ation|party)\b|\b(of|for) the caller\b|\bdes aufrufers\b|\baufrufenden?\b|\bihrer (anwendung|organisation|einrichtung|nutz\S+)`)
})

// aboutPast matches sentences about a value that the record had at another time, which the member does not show.
var aboutPast = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(that|which) (had (this|that|the)|used to (have|be))\b|\bwhose \w+ (was|were) (this|that)\b[^,]*\b(at|before|until|last|earlier|formerly|previously|originally)\b|` +
		`\b(former|previous|earlier) \w+ of\b|\b(original|initial) \w+ of\b.*\b(that|which|before|when|no longer|now)\b|\b(hatten?|war|waren)\b[^,]*\b(anfang|beginn|früher|zuvor|ursprünglich|damals)\b`)
})

// leavesOut matches sentences that begin with what is left out.
var leavesOut = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(excludes?|leaves? out|omits?|hides?|skips?|removes?)\b|^(all |the |only |other )*(\w+ ){0,2}(other than|except|excluding|of (any|an|every|all) other|that (are|have|do) not|which (are|have|do) not|not (of|in|with|from|by))\b|` +
		`\b(that|which) (the |these |any )?(calls?|fundings?|items?|results?|records?|entries|hits) (must|may|shall|should|do|does|can|will) not (have|carry|belong|show)\b|` +
		`, (den|die|das|der|dem|deren) (die |diese )?\S+ nicht (haben|tragen|aufweisen|besitzen|angehören)\b|` +
		`^(alle |nur |only |all )?(\S+ ){0,2}(außerhalb|outside)( of)? (this|that|these|dieser|dieses)\b|^(alle |nur )?\S+, (die|deren \S+) nicht (aus|in|von|zu|mit) (dieser|diesem|dieses|der|dem)\b|` +
		`^(außer|schließt\b[^,]*\baus\b|blendet\b[^,]*\baus\b)|^(alle |nur )?(\S+ ){0,2}(außer|mit anderer?m?|einer anderen)\b|^(sauf|exclut|esclude|tranne|excluye|excepto)\b`)
})

// selectsMore matches sentences that say that other values match, too, such as those below the value in a hierarchy.
var selectsMore = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(or|and|including|with|as well as|plus)( of| in| from| for| by| all| any| every| its| their| the| his)* (\w+ )?(sub-?\w+|below|beneath|above|under(neath)?|descendants?|children|narrower|broader|higher|lower|older|newer|parents?|ancestors?|neighbou?r\w*)\b|` +
		`\bat (least|most)\b|\b(this|that|the) \w+ (or|and) (more|less|higher|lower|above|below|better|later|earlier|up|down)\b|\bup to\b|\b(nationwide|worldwide|regardless)\b|\b(starts?|starting|begins?|beginning) with\b|\bprefix\b|` +
		`\b(und|oder|samt|einschließlich|inklusive)( \S+){0,2} (unter\S*|darunter\S*|untergeordnet\S*|übergeordnet\S*|nachgeordnet\S*|höher\S*|niedriger\S*|darüber\S*)|\b(mindestens|höchstens|bundesweit\w*|österreichweit\w*)\b|\b(beginn\w*|anfang\w*) mit\b|` +
		`\b(and|or)( of| in| from| for| by)? (the |a |any |all |every |its |their )?\w+ (that|which) (borders?|belongs?|adjoins?|depends?|(is|are) part)\b|\b(and|or)( of| in| from)? (its|their|the) neighbou?r\w*|` +
		`\b(und|oder)( aus| in| von)? (ihrer|ihren|ihre|deren|seiner|seinen|der|den|die) (nachbar|angrenzend|zugehörig|umliegend)\S*|` +
		`\b(ou|et|y compris)( \S+){0,2} (inférieur|supérieur|sous-)\S*|\bau moins\b`)
})

// aboutValues matches words about some values, other parameters or the order only: "Unknown values are ignored."
var aboutValues = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(case|empty|blank|unknown|invalid|wrong|other|bad|missing|absent|white ?space|spaces?|accents?|upper|lower ?case)\b[^,]*\bignored\b|\bignored (if|when|unless|where|together|with|without)\b|` +
		`\b(effect|influence|impact|bearing|change|affect|influence|alter)s? (if|unless|when|together|with|without|on (the )?(order|sort|pag|total|number))|` +
		`\b(leer|unbekannt|ungültig|ander|falsch|groß|klein)[^,]*\b(ignoriert|ausgewertet)|\b(groß-|kleinschreibung|schreibweise|reihenfolge|leerzeichen|akzente?|umlaute?)[^,]*(, (aber|jedoch) )?[^,]*\b(ignoriert|ausgewertet|berücksichtigt|beachtet|verwendet)\b|\b(ignoriert|wirkung),? (wenn|falls|zusammen|ohne|bei)\b`)
})

// aboutSomeValues matches words that say that some values, or their absence, select nothing: "An empty value does not filter."
var aboutSomeValues = sync.OnceValue(func() *regexp.Regexp {
	const odd = `(empty|blank|unknown|invalid|wrong|missing|absent|omitted|unset|not given|not set|left out)`
	const nothing = `(not|never|nothing|no effect|the same|unchanged)`
	return regexp.MustCompile(`(?i)\b` + odd + `( \w+)? (do|does|will|is|are|has|have|leaves?|gives?|selects?|filters?|changes?|restricts?) ` + nothing + `\b|` +
		`\b(if|when) ([\w']+ ){0,5}` + odd + `\b,?[^,]{0,30}\b` + nothing + `\b|\b` + nothing + `\b[^,]{0,30}\b(if|when) ([\w']+ ){0,4}` + odd + `\b|` +
		`(^|[^dr] )without (a |any )?(value|parameter)\b,?[^,]{0,30}\b` + nothing + `\b|` +
		`(^|\s)((leer|unbekannt|ungültig|fehlend)\S*|ohne (wert|angabe))\b[^,]{0,30}\b(nicht|nichts)\b|` +
		`\b(paging|page|pagination|sort|sorting|unknown|other|additional|further|such) parameters? (is|are) (then |simply )?ignored\b`)
})

// aboutForm matches words that say how a value is written: its length, its letters, how many there are, or that one of several is enough.
var aboutForm = sync.OnceValue(func() *regexp.Regexp {
	const number = `(\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|ein\w{0,2}|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|zwanzig)`
	const unit = `(values?|characters?|chars|letters?|digits?|words?|codes?|ids?|bytes|werte?n?|zeichen|buchstaben|ziffern|stellen|wörtern?|wort)`
	const literal = `["'` + "\x60" + `“„]?(?-i:[A-Z0-9]{2,}\S*)`
	return regexp.MustCompile(`(?i)\b(up to|at (least|most)|mindestens|höchstens) ` + number + ` ` + unit + `\b|` +
		`\bat least one of (the|these|those)\b|\b(mindestens|wenigstens) eine[mnrs]? (der|dieser|davon|von)\b|` +
		`\bregardless of (the |its |their )?((upper|lower|small|capital|mixed)([ -]?case)?( and | or |/| ))*(case|letters?|accents?|diacritics|spelling|capitali[sz]ation|white ?space|spaces?|punctuation)\b|` +
		`\b(it|they|values?|codes?|numbers?|ids?|identifiers?) (always |must |should |can )?(starts?|begins?) with (` + literal + `|(an?|one|two|three) (\w+ )?(letters?|digits?)\b)|` +
		`\b(er|sie|es|wert|code|nummer|kennung) beginnt (immer )?mit (` + literal + `|\S+ (buchstaben?|ziffern?)\b)|` +
		`\b(without|omitting) (the |a |any |its )?(\w+ )?prefix\b|\b(with|including) (the|a|its) prefix ` + literal + `|` +
		`\bpreferred (form|spelling|format|notation|writing|way|variant)\b|\b(form|spelling|format|notation|case|letters) (is|are) preferred\b`)
})

// aboutOrder matches words about the order of the list: "The newest come first."
var aboutOrder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(newest|latest|oldest|most recent|earliest|nearest|soonest|closest|longest|shortest|largest|smallest|highest|lowest)\b[^,]{0,40}\b(first|last|at the top)\b|` +
		`\bsorted (first|last) by\b|(^|\s)(neu|ält|jüng|nächst|früh)\S*\b[^,]{0,40}\bkommen zuerst\b`)
})

// MeansAll reports whether a word of a vocabulary means "all values". A filter by such a word leaves out nothing.
func MeansAll(word string) bool {
	return slices.Contains([]string{"all", "any", "both", "every", "everything", "alle", "alles", "beide", "beliebig", "tous", "toutes", "tutti", "tutte", "todos", "todas"}, strings.ToLower(word))
}

// NamesScale reports whether the description of a number says that it counts a multiple or a part of the usual unit, such as cents or thousands of euros. A value of
// the data, which may be in another unit, then shows nothing.
func NamesScale(text string) bool {
	const scale = `(?:cents?|euro-?cents?|rappen|groschen|pence|thousands?|millions?|billions?|tausend\w*|million\w*|milliard\w*|mio|mrd|tsd|teur|meur|keur|k€|m€|t€)\b`
	const before = `(?:whole |full |units of |steps of |ganzen |vollen |je )*(?:euro[ -]?)?`
	named := regexp.MustCompile(`\b(?:in|as|counted in|expressed in) ` + before + scale + `|\b(?:unit|einheit)\b:? (?:is |are |ist )?(?:the )?` + before + scale + `|\((?:euro[ -]?)?` + scale + `(?: (?:eur|euros?|chf))?\)`)
	if strings.HasSuffix(text, "€") {
		text += " "
	}
	for _, sentence := range sentenceEnd().Split(strings.ToLower(strings.Join(strings.Fields(text), " ")), -1) {
		if at := named.FindStringIndex(sentence); at != nil && !regexp.MustCompile(`\b(?:not|never|nicht|nie|statt|instead of|rather than)(?: \w+)?,? $`).MatchString(sentence[:at[0]]) {
			return true
		}
	}
	return false
}
