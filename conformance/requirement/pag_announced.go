package requirement

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges differences between list and detail that the document announces.

// formInList returns what the document says about a member of the list. The member may be a path: its first name counts.
func formInList(e Evidence, member string) openapi.ListForm {
	forms := remember(e.judged, "the forms of members in the list", func() *openapi.ListForms {
		list, okList := operation(e, e.Roles.List)
		detail, okDetail := operation(e, e.Roles.Detail)
		if !okList || !okDetail {
			return new(openapi.ListForms)
		}
		return e.Spec.FormsInList(list, detail)
	})
	name, _, _ := strings.Cut(member, ".")
	return forms.Of(strings.TrimSuffix(name, "[]"))
}

// stepInList returns the step to which the list rounds a member, as the document says, 0 if it does not.
func stepInList(e Evidence, member string) int64 {
	return remember(e.judged, "the step in the list of "+member, func() int64 {
		list, okList := operation(e, e.Roles.List)
		detail, okDetail := operation(e, e.Roles.Detail)
		if !okList || !okDetail {
			return 0
		}
		return e.Spec.StepInList(list, detail, member)
	})
}

// isAnnounced reports whether the document explains the difference of a member between list and detail.
func isAnnounced(e Evidence, name string, inList, inDetail []byte) bool {
	form := formInList(e, name)
	if form.Differs || !form.Rounded {
		return form.Differs
	}
	var a, b any
	return evidence.DecodeJSON(inList, &a) == nil && evidence.DecodeJSON(inDetail, &b) == nil && isRoundedFrom(a, b, stepInList(e, name))
}

// isRoundedFrom reports whether a value of the list may be that of the detail, with rounded numbers. A number differs by no more than the step. If no step is known
// (0), it differs by no more than one, or by a tenth.
func isRoundedFrom(inList, inDetail any, step int64) bool {
	switch a := inList.(type) {
	case map[string]any:
		b, ok := inDetail.(map[string]any)
		for name, value := range a {
			other, inBoth := b[name]
			ok = ok && (!inBoth || isRoundedFrom(value, other, step))
		}
		return ok
	case []any:
		b, ok := inDetail.([]any)
		ok = ok && len(a) == len(b)
		for i := 0; ok && i < len(a); i++ {
			ok = isRoundedFrom(a[i], b[i], step)
		}
		return ok
	}
	x, okX := ratOf(inList)
	y, okY := ratOf(inDetail)
	if !okX || !okY {
		return inList == inDetail || isSameButDigits(inList, inDetail)
	}
	apart := new(big.Rat).Abs(new(big.Rat).Sub(x, y))
	if step > 0 {
		return apart.Cmp(new(big.Rat).SetInt64(step)) <= 0
	}
	tenth := new(big.Rat).Abs(new(big.Rat).Mul(y, big.NewRat(1, 10)))
	return apart.Cmp(tenth) <= 0 || apart.Cmp(big.NewRat(1, 1)) <= 0
}

// ratOf returns a number of JSON, or one in a text.
func ratOf(value any) (*big.Rat, bool) {
	n, ok := value.(json.Number)
	if text, isText := value.(string); isText && regexp.MustCompile(`^-?\d{1,30}(?:\.\d{1,10})?$`).MatchString(text) {
		n, ok = json.Number(text), true
	}
	if !ok {
		return nil, false
	}
	return new(big.Rat).SetString(string(openapi.BoundedNumber(n)))
}

// isSameButDigits reports whether two texts with digits differ only in them, such as "51.000 EUR" and "51.234 EUR".
func isSameButDigits(a, b any) bool {
	x, okX := a.(string)
	y, okY := b.(string)
	digits := regexp.MustCompile(`\d[\d.,' ]*`)
	return okX && okY && digits.MatchString(x) && digits.MatchString(y) && digits.ReplaceAllString(x, "") == digits.ReplaceAllString(y, "")
}

// inOtherLanguage reports whether list and detail name different languages in Content-Language, so that their texts differ. announced is true if the document
// says so of one of the two.
func inOtherLanguage(e Evidence, list, detail evidence.Exchange) (other, announced bool) {
	a, b := languageOf(list), languageOf(detail)
	if a == "" || b == "" || a == b {
		return false, false
	}
	return true, remember(e.judged, "list and detail in two languages", func() bool { return announcesLanguages(e) })
}

// announcesLanguages reports whether the document says that list and detail choose their language in different ways: the one shows texts in one language, or
// does not look at Accept-Language, and a sentence about the other says something else.
func announcesLanguages(e Evidence) bool {
	listOperation, okList := operation(e, e.Roles.List)
	detailOperation, okDetail := operation(e, e.Roles.Detail)
	if !okList || !okDetail {
		return false
	}
	info, _ := e.Spec.Raw("/info/description")
	general, _ := info.(string)
	list, detail := regexp.MustCompile(`(?i)\b(lists?|liste|listen)\b`), regexp.MustCompile(`(?i)\b(details?|detailansicht|einzel\w*)\b`)
	language := regexp.MustCompile(`(?i)\b(accept-language|languages?|sprache\w*|german|english|deutsch\w*|englisch\w*|translat\w*)\b|übersetz`)
	same := regexp.MustCompile(`(?i)\b(same|both|alike|gleich\w*|beide\w*|dieselbe\w*|wie (die|in|im))\b|\band (the )?details?\b`)
	of := func(text string, place *regexp.Regexp, whole bool) bool {
		about := false
		for _, sentence := range openapi.Sentences(text) {
			about = about || whole || place.MatchString(sentence)
			if same.MatchString(sentence) {
				return false
			}
			if about && language.MatchString(sentence) {
				return true
			}
		}
		return false
	}
	return (of(general, list, false) || of(listOperation.Description, list, true)) && (of(general, detail, false) || of(detailOperation.Description, detail, true))
}
