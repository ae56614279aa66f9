package requirement

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// minCutRecords is how many records a filter must cut before it fails: a single record may have been edited meanwhile.
const minCutRecords = 2

// findCutRecords finds filters by an array that also cut the array: each record shows only the elements that match, for example because of a join that fetches
// the elements with the condition of the filter. A filter is right if one record keeps an element that does not match.
func findCutRecords(e Evidence) []Judgement {
	allItems, complete := wholeList(e)
	list, known := operation(e, e.Roles.List)
	if !complete || !known {
		return nil
	}
	byID := map[string][]byte{}
	for _, item := range allItems {
		byID[e.identity(item)] = item
	}
	var parts []Judgement
	for _, x := range e.Exchanges {
		if x.Label.Resource() != e.Roles.List || !success(x) || x.Given["or"] != "" || !isMemberFilter(x) && x.Label.Case() != "filter-seen" {
			continue
		}
		if j, found := findCutRecordsOf(e, x, byID); found {
			parts = append(parts, j)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	matchingOnly := regexp.MustCompile(`(?i)\b(only|just) (the |those )?(matching|selected|requested|filtered)\b|\b(elements|entries|values) that match\b|\bnur (die )?(passenden|gewählten|gefilterten)\b`)
	if e.unsteady() || e.Spec.Says(list, matchingOnly) {
		return nil
	}
	return parts
}

// findCutRecordsOf judges one filtered list. byID has the records of the complete list.
func findCutRecordsOf(e Evidence, x evidence.Exchange, byID map[string][]byte) (j Judgement, found bool) {
	path := strings.FieldsFunc(x.Given["member"], func(c rune) bool { return c == '.' || c == '[' || c == ']' })
	items, err := e.itemsOf(x)
	if err != nil || len(path) == 0 || selectsLanguage(x.Given["parameter"]) {
		return Judgement{}, false
	}
	name, count := path[0], 0
	for _, item := range items {
		whole := byID[e.identity(item)]
		if whole == nil || e.bodies.digestOf(whole) == e.bodies.digestOf(item) {
			continue // most records are not cut, and need not be decoded
		}
		if cut, _ := cutBy(x, item, whole, name); cut {
			count++
		}
	}
	isSpared := func(item []byte) bool {
		_, spared := cutBy(x, item, byID[e.identity(item)], name)
		return spared
	}
	if count < minCutRecords || slices.ContainsFunc(items, isSpared) {
		return Judgement{}, false
	}
	filter := condition{parameter: x.Given["parameter"], member: x.Given["member"], value: x.Given["value"]}.String()
	return expect(x, "the whole "+clip(name)+" of each record").
		failed("the filter "+filter+" cuts "+clip(name)+" of "+evidence.Count(count, "record")+" to what matches", describe(x)).
		Hinting("select records with a subquery (EXISTS) and fetch their parts without the condition: no JOIN FETCH with WHERE, no include with where"), true
}

// selectsLanguage reports whether a parameter names a language. Such a parameter may leave out texts in other languages.
func selectsLanguage(parameter string) bool {
	return slices.ContainsFunc(openapi.Words(parameter), func(word string) bool {
		return slices.Contains([]string{"lang", "language", "locale", "sprache", "sprachen", "langue", "langues", "lingua", "idioma", "taal"}, word)
	})
}

// cutBy compares the array in a record of the filtered list with that of the whole list. cut is true if all elements that are left match the filter, and all
// others do not. spared is true if an element that does not match is left.
func cutBy(x evidence.Exchange, filtered, whole []byte, name string) (cut, spared bool) {
	left, all := arrayMember(filtered, name), arrayMember(whole, name)
	if len(left) == 0 || len(all) == 0 {
		return false, false
	}
	matches := func(element json.RawMessage) bool {
		alone, err := json.Marshal(map[string][]json.RawMessage{name: {element}})
		return err == nil && containsFold(openapi.MemberValues(alone, x.Given["member"]), x.Given["value"])
	}
	if !slices.ContainsFunc(left, matches) {
		return false, false // the filter selects by another member
	}
	for _, element := range left {
		if !matches(element) {
			return false, true
		}
	}
	inLeft := func(element json.RawMessage) bool {
		return slices.ContainsFunc(left, func(own json.RawMessage) bool { return sameValue(own, element) })
	}
	for _, element := range left {
		if !slices.ContainsFunc(all, func(own json.RawMessage) bool { return sameValue(own, element) }) {
			return false, false // the record was edited
		}
	}
	for _, element := range all {
		if matches(element) != inLeft(element) {
			return false, false
		}
	}
	return len(left) < len(all), false
}

// arrayMember returns the elements of a member of a record; nil unless the member is an array.
func arrayMember(record []byte, name string) []json.RawMessage {
	var members map[string]json.RawMessage
	if len(record) == 0 || json.Unmarshal(record, &members) != nil {
		return nil
	}
	var out []json.RawMessage
	if json.Unmarshal(members[name], &out) != nil {
		return nil
	}
	return out
}
