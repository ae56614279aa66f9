package requirement

import (
	"bytes"
	"encoding/json"
	"html"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file compares details with the same records in the answers of the list, on any page.

// A disagreement is a member in which a detail differs from the record of the list.
type disagreement struct {
	member, id string
	subject    Subject
	hard       bool // the two values cannot come from one record
	before     bool // the detail disagrees with an earlier answer of the list
	after      bool // the detail disagrees with a later answer of the list
}

// disagreements compares a detail with the item in all answers of the list. The list may omit members, abbreviate a text or name some of several values,
// but it must not contradict the detail. A member agrees if one answer of the list has its value: the others may show another state of the record. idMember is the
// member that has the id.
func disagreements(e Evidence, x evidence.Exchange, idMember, id string) []disagreement {
	text, err := e.jsonText(x)
	records := listRecords(e, idMember, id)
	if err != nil || len(records) == 0 {
		return nil
	}
	items := make([]map[string][]byte, len(records))
	for i, r := range records {
		items[i] = openapi.Object(r.item)
	}
	inList, inDetail := items[0], openapi.Object(unwrap(text, idMember))
	faulty, renewed := faultyMembers(e, records[0].call.Label, x.Label), newEachTime(e)
	var out []disagreement
	for _, name := range slices.Sorted(maps.Keys(inList)) {
		if _, inBoth := inDetail[name]; !inBoth || name == idMember || faulty[name] {
			continue
		}
		listValue, detailValue := renewed.without(name, inList[name]), renewed.without(name, inDetail[name])
		if compatible(listValue, detailValue) || compatibleAsHTML(e, listValue, detailValue) {
			continue
		}
		if volatile(name) && !inOtherZone(listValue, detailValue) {
			continue // the member may have changed between the two answers
		}
		otherLanguage, announced := inOtherLanguage(e, records[0].call, x)
		if isAnnounced(e, name, listValue, detailValue) || announced && !contradicts(listValue, detailValue) {
			continue
		}
		d := disagreement{member: name, id: id, subject: Subject{Name: clip(callName(x) + " $." + name), Label: x.Label, Expected: valueInWords(listValue) + ", as in the list", Got: valueInWords(detailValue)}}
		d.hard = contradicts(listValue, detailValue) || isScalarText(listValue) && isScalarText(detailValue) && sharedSchema(e, name) && !otherLanguage
		d.hard = d.hard && !formInList(e, name).Stale
		agreed := false
		for i, r := range records {
			value := renewed.without(name, items[i][name])
			agreed = agreed || value != nil && compatible(value, detailValue)
			d.before = d.before || r.call.Started.Before(x.Started)
			d.after = d.after || r.call.Started.After(x.Started)
		}
		if !agreed {
			out = append(out, d)
		}
	}
	for _, d := range nullsInList(e, x, inList, inDetail, id) {
		if formInList(e, d.member).Differs {
			continue
		}
		d.before = slices.ContainsFunc(records, func(r record) bool { return r.call.Started.Before(x.Started) })
		d.after = slices.ContainsFunc(records, func(r record) bool {
			return r.call.Started.After(x.Started) && isNull(openapi.Object(r.item)[d.member])
		})
		out = append(out, d)
	}
	return out
}

// compatibleAsHTML reports whether two values are [compatible] as a browser shows them, at a node whose document says that texts are HTML.
func compatibleAsHTML(e Evidence, inList, inDetail []byte) bool {
	return bytes.ContainsAny(slices.Concat(inList, inDetail), "&<\\") && describesHTML(e) && compatible(withoutHTML(inList), withoutHTML(inDetail))
}

// nullsInList finds scalars of the detail that are null in the list, although other items of the list have a value there.
func nullsInList(e Evidence, x evidence.Exchange, inList, inDetail map[string][]byte, id string) []disagreement {
	var out []disagreement
	for _, name := range slices.Sorted(maps.Keys(inList)) {
		detailValue := inDetail[name]
		if !isNull(inList[name]) || volatile(name) || !isScalar(detailValue) {
			continue
		}
		othersHaveIt := slices.ContainsFunc(itemsOrNone(e, e.exchange(evidence.ListOperation.With(evidence.OK))), func(item []byte) bool { return isScalar(openapi.Object(item)[name]) })
		if othersHaveIt {
			out = append(out, disagreement{member: name, id: id, hard: true,
				subject: Subject{Name: clip(callName(x) + " $." + name), Label: x.Label, Expected: "null, as in the list", Got: valueInWords(detailValue)}})
		}
	}
	return out
}

func isScalar(text []byte) bool {
	switch openapi.FirstByte(text) {
	case 0, '[', '{', 'n': // no value, an array, an object, null
		return false
	}
	return true
}

func isNull(text []byte) bool { return string(bytes.TrimSpace(text)) == "null" }

func isScalarText(text []byte) bool { return openapi.FirstByte(text) == '"' }

// judgeDisagreements judges the members in which details differ from the list. An editor may have changed one record between two answers. So a failure
// needs two records, or a list that differs from the detail both before and after it.
func judgeDisagreements(all []disagreement) []Judgement {
	ids := map[string]map[string]bool{}
	for _, d := range all {
		if d.hard {
			if ids[d.member] == nil {
				ids[d.member] = map[string]bool{}
			}
			ids[d.member][d.id] = true
		}
	}
	var out []Judgement
	for _, d := range all {
		reason := "list and detail disagree on " + clip(d.member)
		j := Warned(reason, d.subject.Expected, d.subject.Got)
		if d.hard && (len(ids[d.member]) > 1 || d.before && d.after) {
			j = Failed(reason, d.subject.Expected, d.subject.Got)
		}
		out = append(out, j.Hinting("serve list and detail from the same record; look for a cache or a second mapping of the list").About(d.subject))
	}
	return out
}

// record is an item in an answer of the list.
type record struct {
	item []byte
	call evidence.Exchange
}

// listRecords returns the item with the id from each answer to a plain call of the list.
func listRecords(e Evidence, member, id string) []record {
	var out []record
	text := []byte(id)
	for _, x := range e.Exchanges {
		if !x.Answered() || x.Label.Resource() != e.Roles.List || !isPlainList(x) || !success(x) {
			continue
		}
		for _, item := range itemsOrNone(e, x) {
			// Decoding is slow, and few items contain the id. But an id that JSON may escape is found only by decoding.
			if strings.ContainsAny(id, `"\\/<>&`) || !isASCII(id) || bytes.Contains(item, text) {
				if slices.Equal(openapi.MemberValues(item, member), []string{id}) {
					out = append(out, record{item, x})
				}
			}
		}
		if len(out) >= maxRecords {
			return out
		}
	}
	return out
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > 127 }) < 0
}

// maxRecords bounds the records that are compared for one item.
const maxRecords = 12

// isPlainList reports whether a call of the list has no parameters but those for pages, filters, bounds and orders. Another language or format may change the
// values of a record. Calls of a reading of many pages name the reading.
func isPlainList(x evidence.Exchange) bool {
	c := string(x.Label.Case())
	return c == string(evidence.OK) || c == "size-2" || c == "list-again" || x.Given["reading"] != "" || strings.HasPrefix(c, "walk-") || strings.HasPrefix(c, "filter-") || strings.HasPrefix(c, "bound-")
}

// inOtherZone reports whether two times differ by the offset of a time zone. Then an error of the conversion is likelier than a change of the record.
func inOtherZone(a, b []byte) bool {
	s, okS := parseJSONTime(a)
	t, okT := parseJSONTime(b)
	apart := s.Sub(t).Abs()
	return okS && okT && apart >= time.Hour && apart <= 14*time.Hour && apart%(30*time.Minute) == 0
}

// parseJSONTime reads a JSON string as a time.
func parseJSONTime(text []byte) (time.Time, bool) {
	var s string
	if json.Unmarshal(text, &s) != nil {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil
}

// contradicts reports whether two values cannot come from one record: they are different times, numbers or words of a vocabulary.
func contradicts(inList, inDetail []byte) bool {
	if len(inList) > maxCompared || len(inDetail) > maxCompared {
		return false
	}
	var a, b any
	return evidence.DecodeJSON(inList, &a) == nil && evidence.DecodeJSON(inDetail, &b) == nil && opposed(a, b)
}

// opposed implements [contradicts] for decoded values. A detail with null contradicts a list that has a value.
func opposed(a, b any) bool {
	switch a := a.(type) {
	case string:
		text, ok := b.(string)
		return b == nil && a != "" || ok && opposedTexts(a, text)
	case json.Number:
		n, ok := b.(json.Number)
		return b == nil || ok && !sameNumber(a, n)
	case bool:
		c, ok := b.(bool)
		return b == nil || ok && a != c
	case []any:
		list, ok := b.([]any)
		return ok && (lacksWord(a, list) || opposedElements(a, list))
	case map[string]any:
		object, _ := b.(map[string]any)
		for name, value := range a {
			if theirs, both := object[name]; both && !volatile(name) && !abbreviates(value, theirs) && opposed(value, theirs) {
				return true
			}
		}
	}
	return false
}

// lacksWord reports whether the array of a detail lacks a word that the array of the list has.
func lacksWord(inList, inDetail []any) bool {
	return len(inList) <= maxElements && len(inDetail) <= maxElements && slices.ContainsFunc(inList, func(a any) bool {
		word, isText := a.(string)
		return isText && isWord(word) && !slices.ContainsFunc(inDetail, func(b any) bool { return abbreviates(a, b) })
	})
}

// opposedElements reports whether an object of one array contradicts its counterpart in the other. It compares arrays with the same number of objects, and
// pairs the objects by a member whose text is different in each.
func opposedElements(a, b []any) bool {
	if len(a) == 0 || len(a) != len(b) || len(a) > maxElements {
		return false
	}
	first, _ := a[0].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(first)) {
		mine, theirs := elementsBy(a, name), elementsBy(b, name)
		if len(mine) != len(a) || len(theirs) != len(b) || slices.ContainsFunc(slices.Collect(maps.Keys(mine)), func(key string) bool { return theirs[key] == nil }) {
			continue
		}
		for key, object := range mine {
			if opposed(object, theirs[key]) {
				return true
			}
		}
		return false
	}
	return false
}

// elementsBy returns the objects of an array, with the text of a member as the key. It leaves out objects without the member.
func elementsBy(array []any, name string) map[string]any {
	out := map[string]any{}
	for _, element := range array {
		object, _ := element.(map[string]any)
		if key, ok := object[name].(string); ok && key != "" {
			out[key] = object
		}
	}
	return out
}

// sameNumber compares numbers exactly: 5 and 5.0 are the same, and large numbers differ even if a float64 cannot distinguish them.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, okX := new(big.Rat).SetString(string(openapi.BoundedNumber(a)))
	y, okY := new(big.Rat).SetString(string(openapi.BoundedNumber(b)))
	return okX && okY && x.Cmp(y) == 0
}

// opposedTexts reports whether two texts are different dates or times, words of which neither is a part of the other, or the same text with HTML escapes in
// only one of them.
func opposedTexts(a, b string) bool {
	if a != b && (html.UnescapeString(a) == b || html.UnescapeString(b) == a) {
		return true
	}
	s, errS := time.Parse(time.RFC3339, a)
	t, errT := time.Parse(time.RFC3339, b)
	if errS == nil && errT == nil {
		return !s.Equal(t)
	}
	s, okS := parseTimeOrDay(a)
	t, okT := parseTimeOrDay(b)
	if len(a) >= len(time.DateOnly) && len(b) >= len(time.DateOnly) && okS && okT {
		if len(a) == len(b) && len(a) == len(time.DateOnly) {
			return a != b
		}
		return math.Abs(s.Sub(t).Hours()) > 48 // a date and a time on the same day may differ by a time zone
	}
	return isWord(a) && isWord(b) && !strings.Contains(strings.ToLower(b), strings.ToLower(a)) && !strings.Contains(strings.ToLower(a), strings.ToLower(b))
}

// withoutHTML returns a JSON value whose texts are as a browser shows them: without tags, and with character references decoded.
func withoutHTML(text []byte) []byte {
	var value any
	if len(text) > maxCompared || evidence.DecodeJSON(text, &value) != nil {
		return text
	}
	tag := regexp.MustCompile(`<[^<>]*>`)
	var shown func(value any) any
	shown = func(value any) any {
		switch value := value.(type) {
		case string:
			return strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(value, " "))), " ")
		case []any:
			for i := range value {
				value[i] = shown(value[i])
			}
		case map[string]any:
			for name := range value {
				value[name] = shown(value[name])
			}
		}
		return value
	}
	out, err := json.Marshal(shown(value))
	if err != nil {
		return text
	}
	return out
}

// sameInstant reports whether two texts are the same instant, whatever their offsets from UTC.
func sameInstant(a, b string) bool {
	s, errS := time.Parse(time.RFC3339, a)
	t, errT := time.Parse(time.RFC3339, b)
	return errS == nil && errT == nil && s.Equal(t)
}

// isWord reports whether a text looks like a code, an id or a word of a vocabulary: it is in upper case, or a usual state of a record.
func isWord(text string) bool {
	plain := text != "" && len(text) <= 60 && !strings.ContainsAny(text, " \t\n/…")
	return plain && (strings.ToUpper(text) == text || slices.Contains([]string{"open", "closed", "upcoming", "planned", "draft", "published", "active", "inactive"}, strings.ToLower(text)))
}

// sharedSchema reports whether the document describes a member of the list's items and of the detail by one schema.
func sharedSchema(e Evidence, name string) bool {
	list, okL := operation(e, e.Roles.List)
	detail, okD := operation(e, e.Roles.Detail)
	if !okL || !okD {
		return false
	}
	ofDetail := e.Spec.SchemasWith(detail, name)
	return slices.ContainsFunc(e.Spec.SchemasWith(list, name), func(pointer string) bool { return slices.Contains(ofDetail, pointer) })
}

// The bounds of a comparison: bytes of a member, and elements of an array.
const (
	maxCompared = 64 << 10
	maxElements = 200
)

// compatible reports whether the list's value of a member and the detail's can come from one record.
func compatible(inList, inDetail []byte) bool {
	if len(inList) > maxCompared || len(inDetail) > maxCompared {
		return true // too large to compare
	}
	var a, b any
	return evidence.DecodeJSON(inList, &a) != nil || evidence.DecodeJSON(inDetail, &b) != nil || abbreviates(a, b)
}

// abbreviates reports whether a value of the list equals one of the detail, or is a part of it. The order of array elements does not count.
func abbreviates(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return true
	case string:
		text, ok := b.(string)
		return ok && (strings.HasPrefix(text, strings.TrimRight(strings.TrimSuffix(a, "…"), ". ")) || sameInstant(a, text))
	case json.Number:
		n, ok := b.(json.Number)
		return ok && sameNumber(a, n)
	case []any:
		list, ok := b.([]any)
		if len(a) > maxElements || len(list) > maxElements {
			return ok
		}
		return ok && !slices.ContainsFunc(a, func(e any) bool {
			return !slices.ContainsFunc(list, func(f any) bool { return abbreviates(e, f) })
		})
	case map[string]any:
		object, ok := b.(map[string]any)
		for name, value := range a {
			if theirs, both := object[name]; both && !abbreviates(value, theirs) {
				return false
			}
		}
		return ok
	}
	return a == b
}
