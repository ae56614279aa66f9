package openapi

import (
	"regexp"
	"slices"
	"strings"
)

// This file reads what prose says of an order: how ties are broken, where items without a value stand, the default order, and what is against the usual, such as a
// word that sorts in descending order without a minus.

// withPromises returns an order with what the prose promises of it.
func (o Operation) withPromises(order Order, text string) Order {
	own := strings.ToLower(text) // of the sort parameter: what the operation says of ties may be about its default order only
	text = strings.ToLower(text + " " + o.Description)
	const absent, fehlend = `\b(without|null|nulls|no|absent|missing)\b[^.;]{0,60}`, `\b(ohne|fehlend\w*|leere)\b[^.;]{0,60}`
	last := strings.Contains(text, "last") || strings.Contains(text, "ende") || strings.Contains(text, "zuletzt")
	last = last && regexp.MustCompile(absent+`\blast\b|`+fehlend+`\b(am ende|zuletzt|am schluss)\b`).MatchString(text)
	order.NullsLast = last && !regexp.MustCompile(absent+`\blast\b[^.;]{0,20}\b(except|unless|only|but)\b|`+fehlend+`\b(am ende|zuletzt|am schluss)\b[^.;]{0,20}\b(außer|ausgenommen|nur)\b|`+absent+`\bfirst\b|`+fehlend+`\b(am anfang|zuerst|vorn|voran|vorne)\b`).MatchString(text)
	order.TieWord, _ = tiePromise(text)
	_, order.TiesUp = tiePromise(own)
	order.TiesByID = order.TieWord != ""
	return order
}

// tiePromise finds the promise, in English or German, that items with equal values come in the order of their ids. It returns the word for the id, or "" if
// there is none. up reports whether the ids are ascending in both directions of the order.
func tiePromise(text string) (word string, up bool) {
	if !strings.Contains(text, "id") && !strings.Contains(text, "kennung") {
		return "", false
	}
	found := regexp.MustCompile(`\b(?:equal|ties|tied|same)\b[^.;]{0,60}\b(?:by|of)\b[^.;]{0,20}\b(id)s?\b|, then (?:by )?(?:the )?(id)s?\b|` +
		`\bbei (?:gleichstand|gleiche[mnr])\b[^.;]{0,60}\bnach\b[^.;]{0,30}\b(id|kennung)(?:s|en)?\b|\bgleiche (?:werte )?(?:ordne[nt]|folgen|stehen)\b[^.;]{0,30}\b(id|kennung)(?:s|en)?\b`).FindStringSubmatchIndex(text)
	if found == nil || regexp.MustCompile(`\b(?:not|never|nicht|nie)\b`).MatchString(text[found[0]:found[1]]) && !regexp.MustCompile(`\b(?:but|sondern)\b`).MatchString(text[found[0]:found[1]]) {
		return "", false
	}
	for group := 2; group < len(found); group += 2 {
		if found[group] >= 0 {
			word = text[found[group]:found[group+1]]
		}
	}
	clause := text[strings.LastIndexAny(text[:found[0]], ".;")+1:]
	if end := strings.IndexAny(clause, ".;"); end >= 0 {
		clause = clause[:end]
	}
	up = regexp.MustCompile(`\b(?:ids?|kennung|kennungen)\b,? (?:always |in |immer |stets )?\(?(?:ascending|asc|aufsteigend)\b|\b(?:ascending|aufsteigende[mnr]?|aufsteigend nach)(?: order of| by| der| den)?(?: the| their)? (?:ids?|kennung|kennungen)\b`).MatchString(clause) &&
		!regexp.MustCompile(`\b(?:desc|descending|direction|revers\w*|opposite|absteigend\w*|richtung|umgekehrt\w*|if|when|unless|without|not|ohne|nicht|wenn|falls|default\w*)\b`).MatchString(clause) &&
		!regexp.MustCompile(`\b(?:revers\w*|opposite|inverts?|turn(?:s|ed)?\b[^.;]{0,30}\baround|umgekehrt\w*|umkehr\w*|dreht\w*)\b`).MatchString(text)
	return word, up
}

// orderInProse returns the order that the description of an operation names. It runs for each answer, and most descriptions name no order. Therefore it searches
// for parts of words before it compiles a pattern.
func (o Operation) orderInProse() (order Order, words string, ok bool) {
	if text := strings.ToLower(o.Description); !strings.Contains(text, "order") && !strings.Contains(text, "orted by") {
		return order, "", false
	}
	found := regexp.MustCompile(`(?i)\b(?:in (?:the )?order of|sorted by|ordered by)(?: the| their)? ([A-Za-z_]+)`).FindAllStringSubmatch(affirmed(o.Description), 2)
	if len(found) != 1 {
		return order, "", false
	}
	order = o.withPromises(Order{By: Joined(found[0][1]), InProse: true, Apart: standApart(o.Description)}, "")
	return order, "the described order by " + found[0][1], true
}

// affirmed returns a description without the clauses that name an order which the list does not have: one that is denied, that another list has, or that an
// earlier version had. Of "not sorted by deadline but by budget" it keeps "sorted by budget".
func affirmed(text string) string {
	const order = `(?:in (?:the )?order of|sorted by|ordered by)`
	const other = `not|never|neither|nor|(?:can|may|could|might|would) (?:also |then )?be|to (?:get|have|see|receive|obtain) (?:it|them|the \w+)|wants?|grouped by|no longer|isn't|aren't|rather than|instead of|unlike|as opposed to|other than|until|formerly|previously|earlier versions?|used to be|(?:was|were|had been)`
	denied := regexp.MustCompile(`(?i)\b(?:` + other + `)\b[^.;:]*?\b` + order + `[^.;:]*`)
	inParts := regexp.MustCompile(`(?i)\b` + order + `[^.;]*\b(?:within (?:each|a|every|both)|in each (?:group|part)|first (?:those|the ones)\b[^.;]*\bthen)\b`)
	text = inParts.ReplaceAllString(text, "")
	but := regexp.MustCompile(`(?i)^(?:not|never|no longer|isn't|aren't)\b[^,;.]*?\b` + order + `[^,;.]*,? but (?:are |is )?(?:sorted |ordered )?by\b`)
	return denied.ReplaceAllStringFunc(text, func(clause string) string {
		if at := but.FindStringIndex(clause); at != nil {
			return "sorted by" + clause[at[1]:]
		}
		return ""
	})
}

// firstKey returns the first of several keys in a value; "deadline,desc" is one.
func firstKey(value string) string {
	first, rest, _ := strings.Cut(value, ",")
	if next, _, _ := strings.Cut(rest, ","); isDirection(strings.TrimSpace(next)) {
		return first + "," + next
	}
	return first
}

const (
	minusSign = `(?:minus(?:zeichen)?(?: sign)?|hyphen|dash|bindestrich|"-"|'-'|` + "`-`" + `)`
	mostFirst = `(?:largest|biggest|highest|greatest|newest|latest|most recent|last|größte|höchste|neueste|späteste|jüngste|letzte)[nrs]?\b[^,;.()]*\b(?:first|on top|at the top|at the head|vorn|vorne|zuerst|oben|am anfang|voran)\b`
	reversal  = `\b(?:revers\w*|opposite|inverts?|inverse|other way|turns? (?:it|them|either|both|this)|kehrt|umgekehrt|umkehr\w*|dreht)\b`
)

// plainMeansDown reports whether the description of a sort parameter says that a word without a minus sorts in descending order. It says so outright, or it says
// that the greatest value comes first, and that a minus reverses the order.
func plainMeansDown(text, word string) bool {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	without := regexp.MustCompile(`(?:without|no|not|ohne|kein\w*|fehlt|missing) (?:(?:a|an|the|any|leading|führendes|vorangestelltes) )*` + minusSign + `[^;.]{0,12}(?:ascending|aufsteigend)`)
	if !without.MatchString(text) && regexp.MustCompile(`\b`+minusSign+`:? (?:means |sorts |sorts in |gives |is for |for |stands for |bedeutet |sortiert |steht für )?(?:in |an )?(?:ascending|aufsteigend)`).MatchString(text) {
		return regexp.MustCompile(`\bdescending|\babsteigend`).MatchString(text)
	}
	const down, up = `(?:descending|absteigend)\b`, `(?:ascending|aufsteigend)\b`
	const verbs = `[:,]? ?\(?(?:sorts? |means |is |in |sortiert )*`
	plain := NamePattern(strings.ToLower(word))
	if regexp.MustCompile(`(?:^|[^-\w])`+plain+verbs+down).MatchString(text) && regexp.MustCompile(`-`+plain+verbs+up).MatchString(text) ||
		regexp.MustCompile(`^`+down+`[^.]{0,20}\b(?:prefix|leading|vorangestellt\w*)\b[^.]{0,20}`+up).MatchString(text) {
		return true
	}
	if !regexp.MustCompile(reversal).MatchString(text) {
		return false
	}
	key := regexp.MustCompile(`(?:^|[^-\w])` + NamePattern(strings.ToLower(word)) + `\b`)
	first := regexp.MustCompile(`\b` + mostFirst)
	other := regexp.MustCompile(`\b(?:not|never|nicht|desc|descending|absteigend\w*|` + minusSign + `|prefix\w*|sign|default|without|ohne|vorzeichen|earliest|smallest|lowest|oldest|früheste\w*|kleinste\w*|niedrigste\w*|älteste\w*)\b|-` + NamePattern(strings.ToLower(word)))
	for _, clause := range regexp.MustCompile(`[,;.:()]+`).Split(text, -1) {
		if key.MatchString(clause) && first.MatchString(clause) && !other.MatchString(clause) {
			return true
		}
	}
	return false
}

// standApart reports whether a description says that some items come before or after all others in each order, such as highlighted calls. Items without a value do
// not count.
func standApart(text string) bool {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	likely := []string{"however", "whatever", "whichever", "regardless", "irrespective", "independent", "always", "in any", "in every", "in each", "in either", "immer", "stets", "jede", "unabhängig", "egal"}
	if !slices.ContainsFunc(likely, func(word string) bool { return strings.Contains(text, word) }) {
		return false // it runs for each answer
	}
	come := regexp.MustCompile(`\b(?:comes?|stands?|stays?|remains?|appears?|(?:are|is) (?:\w+ )?(?:listed|shown|kept|put)|stehen|kommen|bleiben|erscheinen|steht|kommt)\b`)
	place := regexp.MustCompile(`\b(?:first|last|on top|at the (?:top|head|end|bottom|beginning)|(?:before|after) (?:all |the )+(?:others?|rest)|oben|vorne?|zuerst|zuletzt|am (?:anfang|ende|schluss)|(?:vor|nach) allen anderen)\b`)
	always := regexp.MustCompile(`\b(?:in (?:any|every|each|either) (?:order|case|direction)|(?:however|whatever|whichever)\b[^;.:()]{0,30}\b(?:sort|order|direction|key|parameter|choose|chosen|request|ask)\w*|regardless|irrespective|independent\w*|always|immer|stets|in jedem fall|in jeder|bei jeder|unabhängig|egal)\b`)
	other := regexp.MustCompile(`\b(?:without|no|not|null|nulls|never|missing|absent|empty|ohne|fehlend\w*|leere\w*|nicht|keine?|the [a-z]+est|ties?|equal|gleich\w*|values?|werte?)\b`)
	key := regexp.MustCompile(`\b(?:newest|latest|oldest|nearest|closest|soonest|earliest|most recent|largest|smallest|highest|lowest|(?:early|late|near) \w+|soon|neueste\w*|jüngste\w*|älteste\w*|nächste\w*|früheste\w*|späteste\w*|bald|demnächst)\b|\b(?:new|neue\w*)\b[^;.:()]*\b(?:always|immer|stets)\b`) // what an order begins with
	for _, clause := range regexp.MustCompile(`[;.:()]+(?: |$)`).Split(text, -1) {
		if come.MatchString(clause) && place.MatchString(clause) && always.MatchString(clause) && !other.MatchString(clause) && !key.MatchString(clause[:place.FindStringIndex(clause)[0]]) {
			return true
		}
	}
	return false
}

// comparesOtherwise reports whether a description says that the values of a member are not compared as they are, but as texts, or in steps.
func comparesOtherwise(text, word string) bool {
	named := regexp.MustCompile(`\b` + NamePattern(strings.ToLower(word)) + `\w{0,2}\b`)
	way := regexp.MustCompile(`\b(?:sorted|compared|ordered) (?:only |just )?(?:as (?:texts?|strings?|words)|in steps|by (?:steps|classes|groups)|alphabetically|lexicographically|rounded)\b|\b(?:als text\w*|alphabetisch|in schritten|in stufen|gerundet) (?:sortiert|verglichen|geordnet)\b`)
	for _, sentence := range sentenceEnd().Split(strings.ToLower(strings.Join(strings.Fields(text), " ")), -1) {
		if named.MatchString(sentence) && way.MatchString(sentence) && !regexp.MustCompile(`\b(?:not|never|nicht|nie) (?:sorted|compared|ordered|als)\b`).MatchString(sentence) {
			return true
		}
	}
	return false
}

// hasOpposites reports whether a vocabulary has both directions of one order, such as prazo and -prazo, or name_asc and name_desc. This shows in every
// language that the parameter is for sorting.
func hasOpposites(s Schema) bool {
	if s.Items != nil && len(s.Enum) == 0 {
		s = *s.Items
	}
	directions := map[string]bool{}
	for _, word := range s.Enum {
		if key := strings.TrimPrefix(word, "-"); key != word && key != "" && !isDigit(key[0]) && slices.Contains(s.Enum, key) {
			return true
		}
		words := Words(word)
		n := len(words) - 1
		if n < 1 || !isDirection(words[n]) {
			continue
		}
		key, down := strings.Join(words[:n], " "), strings.HasPrefix(words[n], "desc")
		if before, known := directions[key]; known && before != down {
			return true
		}
		directions[key] = down
	}
	return false
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
