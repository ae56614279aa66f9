package requirement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file finds members that change from call to call.

// changingCases are calls of one item, one after the other.
func changingCases() []evidence.Case {
	return []evidence.Case{"item-drawn-1", "item-drawn-1-again-1", "item-drawn-1-again-2", "item-drawn-1-again-3"}
}

// sameItemAnswers returns the items in the good answers to the calls of one item, and the last of these calls.
func sameItemAnswers(e Evidence) (answers []map[string][]byte, last evidence.Exchange) {
	for _, c := range changingCases() {
		x, sent := e.Get(e.Roles.Detail.With(c))
		if !sent || !success(x) {
			continue
		}
		if text, err := e.jsonText(x); err == nil {
			answers, last = append(answers, openapi.Object(unwrap(text, memberOfID(x)))), x
		}
	}
	return answers, last
}

// leastAnswers is how many answers show that a member is new each time.
const leastAnswers = 3

// findChangingMember judges the answers to the same call, one after the other: a member that changes and changes back comes from replicas that differ. A
// member that changes once shows that the record was changed, and one that is new in each answer, such as a signed link, belongs to the answer.
func findChangingMember(e Evidence) []Judgement {
	answers, last := sameItemAnswers(e)
	if len(answers) < leastAnswers {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(answers[0])) {
		if volatile(name) || isNewEachTime(valuesOf(answers, name)) {
			continue
		}
		changes := 0
		for n := 1; n < len(answers); n++ {
			if !sameValue(answers[n][name], answers[n-1][name]) {
				changes++
			}
		}
		if changes > 1 {
			return []Judgement{Subject{Name: clip(callName(last) + " $." + name), Label: last.Label, Expected: "the same value each time"}.
				failed(fmt.Sprintf("%s changes from call to call, and back", clip(name)), valueInWords(answers[0][name])+" and "+valueInWords(answers[1][name])).
				Hinting("serve the record from one place: replicas or caches that differ give a client another record with each call")}
		}
	}
	return nil
}

// newEachTime returns the members of an item that are new in each answer.
func newEachTime(e Evidence) map[string]bool {
	answers, _ := sameItemAnswers(e)
	if len(answers) < leastAnswers {
		return nil
	}
	out := map[string]bool{}
	for name := range answers[0] {
		if isNewEachTime(valuesOf(answers, name)) {
			out[name] = true
		}
	}
	return out
}

func valuesOf(answers []map[string][]byte, name string) [][]byte {
	var out [][]byte
	for _, answer := range answers {
		out = append(out, answer[name])
	}
	return out
}

// isNewEachTime reports whether a member, or some scalars in it, have another value in each answer, and none that came before. The rest is the same in all answers.
func isNewEachTime(values [][]byte) bool {
	if len(values) < leastAnswers {
		return false
	}
	var places map[string][]string // the values of each scalar
	for n, text := range values {
		var value any
		if len(text) > maxCompared || evidence.DecodeJSON(text, &value) != nil {
			return false
		}
		scalars := map[string]string{}
		addScalars(scalars, "", value)
		if n == 0 {
			places = make(map[string][]string, len(scalars))
		} else if len(scalars) != len(places) {
			return false
		}
		for at, scalar := range scalars {
			if n > 0 && places[at] == nil {
				return false
			}
			places[at] = append(places[at], scalar)
		}
	}
	some := false
	for _, all := range places {
		different := len(slices.Compact(slices.Sorted(slices.Values(all))))
		if different != 1 && different != len(all) {
			return false
		}
		some = some || different == len(all)
	}
	return some
}

// addScalars adds the scalars in a value, by their places.
func addScalars(scalars map[string]string, at string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			addScalars(scalars, at+"."+name, inner)
		}
	case []any:
		for n, inner := range v {
			addScalars(scalars, at+"["+strconv.Itoa(n)+"]", inner)
		}
	default:
		scalars[at] = fmt.Sprintf("%T %v", v, v)
	}
}

// sameValue reports whether two JSON texts have one value: members in any order, numbers and texts in any notation. A missing text is empty.
func sameValue(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return len(a) > 0 && len(b) > 0 && json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
