package openapi

import (
	"regexp"
	"strings"
)

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
// there is no promise. up reports that the document promises ascending ids for each direction of the order.
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
