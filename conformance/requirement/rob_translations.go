package requirement

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file compares the records of one URL in two languages, for ROB-08.

// judgeTranslations compares the records of one URL in two languages: they must be the same records, with the same numbers, dates and flags. Only texts may
// differ. Lists are compared only if both hold all records, because a list may be sorted by its texts.
func judgeTranslations(e Evidence, r evidence.Resource) Judgement {
	one, other := e.exchange(r.With("good-language-de")), e.exchange(r.With("good-language-en"))
	if one.Status() != 200 || other.Status() != 200 || !isWhole(one) || !isWhole(other) || one.Request.URL != other.Request.URL || len(one.Redirects)+len(other.Redirects) > 0 || !differ(one, other) {
		return Passed()
	}
	inOther := "in " + quote(strings.Join(evidence.Values(other.Request.Header, "Accept-Language"), ", "))
	want := Subject{Name: callInWords(other), Label: other.Label, Expected: "the data of the other language"}
	items, errOne := e.itemsOf(one)
	theirs, errOther := e.itemsOf(other)
	if errOne != nil || errOther != nil {
		text, err := e.jsonText(one)
		translated, errThere := e.jsonText(other)
		if err != nil || errThere != nil {
			return Passed()
		}
		items, theirs = [][]byte{text}, [][]byte{translated}
	} else if r == e.Roles.List && (len(items) >= maxOnPage || e.unsteady()) {
		return Passed()
	}
	byID := map[string][]byte{}
	for _, item := range theirs {
		byID[e.identity(item)] = item
	}
	total, _, named := totalOf(e, one)
	totalThere, _, alsoNamed := totalOf(e, other)
	if named && alsoNamed && total != totalThere && !e.withinEdits(total, totalThere, spanOf(one, other), true) && !limitsByLanguage(e, r) {
		return want.failed(fmt.Sprintf("the list has %s in one language and %d %s", evidence.Count(total, "item"), totalThere, clip(inOther)), strconv.Itoa(totalThere)).Hinting(languageHint).Seen(one.Label)
	}
	renewed := newEachTime(e)
	announced := func(name string) bool {
		o, known := operation(e, r)
		forms := func() openapi.LanguageForms { return e.Spec.FormsByLanguage(o) }
		return known && remember(e.judged, "by language "+string(r)+" "+name, func() bool { return remember(e.judged, "by language "+string(r), forms).Has(name) })
	}
	for _, item := range items {
		id := e.identity(item)
		translated, has := byID[id]
		if e.wasEdited(id, spanOf(one, other)) {
			continue
		}
		if !has {
			if len(items) > len(theirs) && listPageOf(e, one).Next() == "" && listPageOf(e, other).Next() == "" && !e.isAnonymous(item) && !limitsByLanguage(e, r) {
				return want.failed("an item that the list has in one language is missing "+clip(inOther), quote(id)+" is missing").Hinting(languageHint).Seen(one.Label)
			}
			continue
		}
		if member, before, now := differenceInLanguages(item, translated, renewed, announced); member != "" && !e.wasEdited(id, spanOf(one, other), strings.TrimPrefix(member, "$.")) {
			return want.failed("a value other than a text differs "+clip(inOther)+": "+clip(member), before+" and "+now).Hinting(languageHint).Seen(one.Label)
		}
	}
	return Passed(one.Label, other.Label)
}

// languageHint is the fix for data that depends on the language of the call.
const languageHint = "translate only the texts; an inner join with the table of translations loses the records without a translation"

// limitsByLanguage reports whether the document says that a list leaves out records in one language.
func limitsByLanguage(e Evidence, r evidence.Resource) bool {
	o, _ := operation(e, r)
	return e.Spec != nil && remember(e.judged, "omits by language "+string(r), func() bool { return e.Spec.OmitsByLanguage(o) })
}

// differenceInLanguages finds a number, a flag or a date that differs in two languages of one record, or that one of them lacks. Members that are renewed with each
// answer do not count, nor do those whose difference the document announces.
func differenceInLanguages(a, b []byte, renewed renewals, announced func(name string) bool) (member, before, now string) {
	var one, other any
	if len(a) > maxCompared || len(b) > maxCompared || evidence.DecodeJSON(a, &one) != nil || evidence.DecodeJSON(b, &other) != nil {
		return "", "", ""
	}
	for _, record := range []any{one, other} {
		object, _ := record.(map[string]any)
		for name, value := range object {
			object[name] = renewed.cut(name, value)
		}
	}
	object, _ := one.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		counterpart, _ := other.(map[string]any)
		if path, _, _ := differingData(map[string]any{name: object[name]}, map[string]any{name: counterpart[name]}, "$"); path != "" && announced(name) {
			delete(object, name)
		}
	}
	return differingData(one, other, "$")
}

// differingData implements differenceInLanguages for a value at a path, such as "$.deadline".
func differingData(a, b any, at string) (member, before, now string) {
	word := func(v any) string { return clip(fmt.Sprint(v)) }
	// These members describe the answer or the length of its text, and not the record.
	aboutAnswer := regexp.MustCompile(`(?i)time|request|length|size|generated|served|issued|expire|asof|^now$|^date$`)
	switch a := a.(type) {
	case json.Number:
		if n, is := b.(json.Number); b == nil || is && !sameNumber(a, n) {
			return at, word(a), word(b)
		}
	case bool:
		if other, is := b.(bool); b == nil || is && a != other {
			return at, word(a), word(b)
		}
	case string:
		if text, _ := b.(string); isMoment(a) && (b == nil || isMoment(text) && !sameMoment(a, text)) || isDay(a) && (b == nil || isDay(text) && a != text) {
			return at, word(a), word(b)
		}
	case map[string]any:
		object, is := b.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(a)) {
			if !is || volatile(name) || aboutAnswer.MatchString(name) {
				continue
			}
			if member, before, now = differingData(a[name], object[name], at+"."+name); member != "" {
				return member, before, now
			}
		}
	case []any:
		list, _ := b.([]any)
		if len(list) > maxElements || len(a) > maxElements {
			return "", "", ""
		}
		for _, element := range a { // elements are matched by id, because another language may have another order, or fewer texts
			object, _ := element.(map[string]any)
			i := slices.IndexFunc(list, func(v any) bool {
				counterpart, _ := v.(map[string]any)
				return object["id"] != nil && counterpart["id"] == object["id"]
			})
			if i < 0 {
				continue
			}
			if member, before, now = differingData(element, list[i], at+"[]"); member != "" {
				return member, before, now
			}
		}
	}
	return "", "", ""
}
