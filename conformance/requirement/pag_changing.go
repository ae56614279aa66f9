package requirement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file finds members that change from call to call.

// changingCases returns the cases that call the same item several times, one after the other.
func changingCases() []evidence.Case {
	return []evidence.Case{"item-drawn-1", "item-drawn-1-again-1", "item-drawn-1-again-2", "item-drawn-1-again-3"}
}

// sameItemAnswers returns the item as each successful call of [changingCases] shows it, and the last of these calls.
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

// leastAnswers is the number of answers that are needed to show that a member is new in each answer.
const leastAnswers = 3

// findChangingMember compares the answers to the same call: a member that changes more than once comes from replicas that differ. If it changes once, the
// record was edited. Members that belong to the answer, such as a signed link, are new each time and right.
func findChangingMember(e Evidence) []Judgement {
	answers, last := sameItemAnswers(e)
	if len(answers) < leastAnswers {
		return nil
	}
	renewed := newEachTime(e)
	subject := func(at string) Subject {
		return Subject{Name: clip(callName(last) + " $." + at), Label: last.Label, Expected: "the same value each time"}
	}
	for _, name := range slices.Sorted(maps.Keys(answers[0])) {
		if volatile(name) {
			continue
		}
		changes, distinct := 0, 1
		for n := 1; n < len(answers); n++ {
			isSame := func(earlier map[string][]byte) bool {
				return sameValue(renewed.without(name, answers[n][name]), renewed.without(name, earlier[name]))
			}
			if !isSame(answers[n-1]) {
				changes++
			}
			if !slices.ContainsFunc(answers[:n], isSame) {
				distinct++
			}
		}
		if changes <= 1 {
			continue
		}
		reason := clip(name) + " changes from call to call"
		if distinct < len(answers) {
			reason += ", and back"
		}
		return []Judgement{subject(name).failed(reason, valueInWords(answers[0][name])+" and "+valueInWords(answers[1][name])).Hinting(changingHint)}
	}
	for _, at := range slices.Sorted(maps.Keys(renewed)) {
		if renewed[at] == counterValue && !volatile(at) {
			return []Judgement{subject(at).warned("a number changes from call to call: "+clip(at), "another number each time").Hinting(changingHint)}
		}
	}
	return nil
}

const changingHint = "serve the record from one place: replicas or caches that differ give a client another record with each call"

// A renewal says why a scalar is new in each answer.
type renewal int

const (
	recordData   renewal = iota // the scalar is not new in each answer
	answerData                  // a link, a random text, or a member with a name such as requestId
	counterValue                // a number that rises or falls a little
)

// renewals has the scalars that are new in each answer, and so are not data of the record, by their places, such as "files[].url".
type renewals map[string]renewal

// newEachTime returns the scalars that are new in each answer to the calls of [changingCases].
func newEachTime(e Evidence) renewals {
	type key struct{}
	return remember(e.judged, key{}, func() renewals {
		answers, _ := sameItemAnswers(e)
		return renewalsOf(answers)
	})
}

// renewalsOf finds the scalars that differ in all answers to the same call, and that look like data of the answer or like counters.
func renewalsOf(answers []map[string][]byte) renewals {
	if len(answers) < leastAnswers {
		return nil
	}
	out, named, index := renewals{}, renewedNames(), regexp.MustCompile(`\[\d+\]`)
	for name := range answers[0] {
		values := map[string][]any{} // by place, with the index of each element
		for _, text := range valuesOf(answers, name) {
			var value any
			if len(text) <= maxCompared && evidence.DecodeJSON(text, &value) == nil {
				addScalars(values, name, value)
			}
		}
		for at, all := range values {
			if len(all) < len(answers) || !allDiffer(all) {
				continue
			}
			at = index.ReplaceAllString(at, "[]")
			switch member := strings.TrimRight(at[strings.LastIndexByte(at, '.')+1:], "[]"); {
			case named.MatchString(member), areRandom(all):
				out[at] = answerData
			case areCounts(all) && out[at] != answerData:
				out[at] = counterValue
			}
		}
	}
	return out
}

// valuesOf returns a member as each answer has it.
func valuesOf(answers []map[string][]byte, name string) [][]byte {
	var out [][]byte
	for _, answer := range answers {
		out = append(out, answer[name])
	}
	return out
}

// renewedNames matches names of members that belong to the answer, and not to the record.
func renewedNames() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^sig|signature|token|nonce|random|uuid|guid|trace|session|request(ed)?(_?(id|at|no|number))?$|issued|generated|served|accessed|expir|fetched|queried|as_?of|^now$|` +
		`^time|(server|request|response|query|processing|execution|current|system)_?time|seconds|minutes|remaining|left$|elapsed|duration|took|^age$|sequence|seq$|hits$|reads$|visit|click|download|popular|` +
		`score|rank|relevan|^load|instance|host|^node|^server|valid_?(until|to|through)$|ttl$|max_?age|delivered|exported|rendered|produced|^sent|last_?(seen|read|view)|waiting`)
}

func allDiffer(values []any) bool {
	texts := map[string]bool{}
	for _, v := range values {
		texts[fmt.Sprintf("%T %v", v, v)] = true
	}
	return len(texts) == len(values)
}

// areRandom reports whether all values are links, or long texts with digits and without blanks. Times are not random.
func areRandom(values []any) bool {
	const shortest = 16
	return !slices.ContainsFunc(values, func(v any) bool {
		text, _ := v.(string)
		_, isTime := parseTimeOrDay(text)
		isLink := strings.Contains(text, "://") || strings.HasPrefix(text, "/")
		return isTime || strings.ContainsAny(text, " \t\n") || !isLink && (len(text) < shortest || !strings.ContainsAny(text, "0123456789"))
	})
}

// areCounts reports whether values are numbers that only rise or only fall, and by little in all.
func areCounts(values []any) bool {
	var numbers []float64
	for _, v := range values {
		number, _ := v.(json.Number)
		n, err := strconv.ParseFloat(string(number), 64)
		if err != nil {
			return false
		}
		numbers = append(numbers, n)
	}
	change := numbers[len(numbers)-1] - numbers[0]
	if change < 0 {
		slices.Reverse(numbers)
	}
	return slices.IsSorted(numbers) && math.Abs(change) <= max(100, math.Abs(numbers[0])/100)
}

// without returns a member of a record with null in the places that are new in each answer. It applies to every record, not only to the one that was called
// repeatedly.
func (r renewals) without(name string, text []byte) []byte {
	isBelow := func(at string) bool {
		return at == name || strings.HasPrefix(at, name+".") || strings.HasPrefix(at, name+"[")
	}
	var value any
	if !slices.ContainsFunc(slices.Collect(maps.Keys(r)), isBelow) || len(text) > maxCompared || evidence.DecodeJSON(text, &value) != nil {
		return text
	}
	out, err := json.Marshal(r.cut(name, value))
	if err != nil {
		return text
	}
	return out
}

// cut implements [renewals.without] for a decoded value, which it changes.
func (r renewals) cut(at string, value any) any {
	if len(at) > maxPlace {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = r.cut(at+"."+name, v[name])
		}
	case []any:
		for n := range v {
			v[n] = r.cut(at+"[]", v[n])
		}
	default:
		if r[at] != recordData {
			return nil
		}
	}
	return value
}

// maxPlace bounds the length of a place in bytes, and so the depth of a value.
const maxPlace = 1000

// addScalars adds the scalars in a value to a map by their places.
func addScalars(scalars map[string][]any, at string, value any) {
	if len(at) > maxPlace {
		return
	}
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
		scalars[at] = append(scalars[at], value)
	}
}

// sameValue reports whether two JSON texts have one value: members in any order, numbers and texts in any notation. The text of a missing member is empty.
func sameValue(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return len(a) > 0 && len(b) > 0 && json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
