package requirement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges, for PAG-06, values that the document promises to refuse, and that the node accepts or ignores. Without such a promise a node may
// ignore them.

// wrongWords matches the words by which documents call values invalid.
const wrongWords = `(not valid|invalid|malformed|unparsable|unreadable|cannot be (read|parsed)|out of range|wrong|not allowed|falsch\w*|ungültig\w*|unzulässig\w*|nicht erlaubt\w*)`

// findDroppedValues finds values of filters that the document promises to refuse, and that the node ignores. If a filter ignores good values, too, PAG-07
// judges it.
func findDroppedValues(e Evidence) []Judgement {
	o, known := operation(e, e.Roles.List)
	if !known {
		return nil
	}
	general, byStatus := refusesInvalid(e, o)
	var parts []Judgement
	for _, x := range listAnswers(e) {
		p, described := queryParameter(o, x.Given["parameter"])
		if !described || openapi.RoleOf(p) != "" || !success(x) || !outsideVocabulary(x) && !unreadable(p.Schema, x) {
			continue
		}
		items, err := e.itemsOf(x)
		promised := promisesRefusal(p.Description)
		unknown := outsideVocabulary(x)
		isIgnored := len(items) > 0 && narrows(e, p.Name) && (unknown && general || unreadable(p.Schema, x) && (promised || general || byStatus))
		if err != nil || !isIgnored && !(unknown && promised) { // an empty list does not keep the promise either
			continue
		}
		want := Subject{Name: trialName(e, x), Label: x.Label, Expected: "400, as the document says"}
		parts = append(parts, want.failed(fmt.Sprintf("%s is not a value of the filter, and the list is answered as if it were good: %s", givenParameter(x), evidence.Count(len(items), "item")), describe(x)).
			Hinting("answer 400 and name the parameter: a client whose filter is left out takes the whole list for the result"))
	}
	return withoutRepeats(parts)
}

// findDroppedCursors finds unreadable cursors with which the list starts again or ends, although the document says that the node refuses them.
func findDroppedCursors(e Evidence) []Judgement {
	o, known := operation(e, e.Roles.List)
	first, err := e.itemsOf(e.exchange(evidence.ListOperation.With(evidence.OK)))
	if !known || err != nil || len(first) < 2 {
		return nil
	}
	var parts []Judgement
	for _, x := range listAnswers(e) {
		p, described := queryParameter(o, x.Given["parameter"])
		if !described || !success(x) || !unreadableCursor(x, p) || !promisesRefusal(p.Description) {
			continue
		}
		items, err := e.itemsOf(x)
		want := Subject{Name: trialName(e, x), Label: x.Label, Expected: "400, as the document says"}
		switch {
		case err != nil:
		case len(items) == 0:
			parts = append(parts, want.failed(givenParameter(x)+" is not a cursor of the list, and the answer is an empty page, as at its end", describe(x)).
				Hinting("answer 400: a client whose cursor was damaged takes the empty page for the end, and loses the rest"))
		case e.identity(items[0]) == e.identity(first[0]):
			parts = append(parts, want.failed(givenParameter(x)+" is not a cursor of the list, and the list starts again with its first page", describe(x)).
				Hinting("answer 400: a client whose cursor was damaged reads the list again without noticing"))
		}
	}
	return withoutRepeats(parts)
}

// unreadableCursor reports whether a call has a cursor that no node made: a made-up word, or one that decodes to something else.
func unreadableCursor(x evidence.Exchange, p openapi.Parameter) bool {
	switch x.Given["try"] {
	case "cursor-plain", "cursor-bytes", "cursor-text", "cursor-type", "cursor-deep":
		return true
	case string(evidence.WrongType):
		return openapi.RoleOf(p) == openapi.CursorRole
	}
	return false
}

// queryParameter finds a query parameter of an operation by its name.
func queryParameter(o openapi.Operation, name string) (openapi.Parameter, bool) {
	i := slices.IndexFunc(o.Parameters, func(p openapi.Parameter) bool { return p.In == "query" && p.Name == name })
	if i < 0 || name == "" {
		return openapi.Parameter{}, false
	}
	return o.Parameters[i], true
}

// promisesRefusal reports whether the description of a parameter says that values other than the described ones are answered 400 or 422.
func promisesRefusal(description string) bool {
	const others = `\b(others?|unknown|invalid|wrong|andere\w*|unbekannte?\w*|ungültig\w*|falsche?\w*)\b`
	promise := regexp.MustCompile(`(?i)` + others + `[^.;]{0,60}\b(400|422)\b|\b(400|422)\b[^.;]{0,10}\b(for|if|bei|für|wenn)\b[^.;]{0,40}` + others)
	text := strings.Join(strings.Fields(description), " ")
	return promise.MatchString(text) && !noRefusal().MatchString(text)
}

// noRefusal matches sentences with 400 or 422 that do not promise to refuse: they deny it, or are about something else.
func noRefusal() *regexp.Regexp {
	const answered = `(answered|refused|rejected|treated|beantwortet|abgelehnt)`
	return regexp.MustCompile(`(?i)\b(not|never|nicht|nie)\b (be )?` + answered + `\b[^.;]{0,40}\b(400|422)\b|\b(nicht|nie)\b [^.;]{0,10}\b(400|422)\b` +
		`|\b(no|never|kein\w*|other than|rather than|instead of|statt|without|ohne)\b (an? |einen? )?(status |fehler |error )?(400|422)\b|\b(400|422)\b (characters|items|records|zeichen|einträge)`)
}

// refusesInvalid reports whether the document says that invalid values of parameters are answered 400: in a sentence, or in the description of the status.
func refusesInvalid(e Evidence, o openapi.Operation) (sentence, byStatus bool) {
	const subject = `\b(parameters?|values?|filters?|werte?n?)\b`
	says := regexp.MustCompile(`(?i)` + subject + `[^.]{0,80}\b` + wrongWords + `[^.]{0,60}\b400\b|\b` + wrongWords + `[^.]{0,20}` + subject + `[^.]{0,60}\b400\b|\b400\b[^.]{0,60}` + subject + `[^.]{0,60}\b` + wrongWords)
	status := regexp.MustCompile(`(?i)` + subject + `[^.]{0,80}\b` + wrongWords + `|\b` + wrongWords + `[^.]{0,40}` + subject)
	if e.Spec.SaysOfAll(noRefusal()) || e.Spec.Says(o, noRefusal()) {
		return false, false
	}
	return e.Spec.SaysOfAll(says) || says.MatchString(strings.Join(strings.Fields(o.Description), " ")), e.Spec.Says(o, says) || status.MatchString(o.Responses["400"].Description)
}

// outsideVocabulary reports whether a call has a value that is not in the vocabulary of the parameter.
func outsideVocabulary(x evidence.Exchange) bool {
	return x.Given["try"] == string(evidence.OutsideEnum) || x.Label.Case() == "filter-bad"
}

// unreadable reports whether a value cannot be read as the type of its schema: a day that does not exist, or a word instead of a number or a date.
func unreadable(s openapi.Schema, x evidence.Exchange) bool {
	number, date := s.Type == "integer" || s.Type == "number", s.Format == "date" || s.Format == "date-time"
	switch x.Given["try"] {
	case "value-date", "value-date-other", "value-date-odd":
		return date
	case "value-number":
		_, value, _ := strings.Cut(x.Given["value"], "=")
		return number && !strings.ContainsAny(value, "0123456789%")
	case string(evidence.WrongType):
		return date || number || s.Type == "boolean"
	}
	return false
}

// narrows reports whether some good value of a filter gives fewer items than the list has.
func narrows(e Evidence, parameter string) bool {
	allItems, ok := wholeList(e)
	if !ok {
		return false
	}
	return slices.ContainsFunc(listAnswers(e), func(x evidence.Exchange) bool {
		legal, isTrial := trialOf(x)
		listPage := listPageOf(e, x)
		return x.Given["parameter"] == parameter && (legal || !isTrial) && listPage.Listed && (len(listPage.Items) == 0 || isCompleteAnswer(e, x) && len(listPage.Items) < len(allItems))
	})
}
