package requirement

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// agrees compares a detail with the item of the list (PAG-08). The list may tell less: leave members out, abbreviate a text, name
// some of several values. What both tell must not contradict, or one of the two is wrong.
func agrees(e Evidence, x exchange.Exchange, listed [][]byte, member, id string) Judgement {
	item := itemWith(listed, member, id)
	text, err := e.jsonText(x)
	if item == nil || err != nil {
		return Passed(x.Label)
	}
	inList, inDetail := document.Object(item), document.Object(unwrapped(text, member))
	faulty := faultyMembers(e, e.Roles.List.With(exchange.OK), x.Label)
	var differ []Subject
	first := ""
	for _, name := range slices.Sorted(maps.Keys(inList)) {
		theirs, both := inDetail[name]
		if !both || name == member || faulty[name] || volatile(name) || compatible(inList[name], theirs) {
			continue
		}
		if first == "" {
			first = name
		}
		differ = append(differ, Subject{Name: clip(callName(x) + " $." + name), Label: x.Label, Expected: shown(inList[name]) + ", as in the list", Got: shown(theirs)})
	}
	if len(differ) == 0 {
		return Passed(x.Label)
	}
	return Warned("list and detail disagree on "+clip(first), differ[0].Expected, differ[0].Got).
		Hinting("serve list and detail from the same record; look for a cache or a second mapping of the list").About(differ...).bounded()
}

// faultyMembers are the members of items that break the schema in one of the answers: API-04 to API-07 judge them.
func faultyMembers(e Evidence, labels ...exchange.Label) map[string]bool {
	top := regexp.MustCompile(`^\$(?:\[\d+\])?\.([^.\[]+)`)
	out := map[string]bool{}
	for _, label := range labels {
		found, _ := e.FindingsOf(label)
		for _, f := range found.Findings {
			if m := top.FindStringSubmatch(f.Path); m != nil {
				out[m[1]] = true
			}
		}
	}
	return out
}

// volatile reports members that may change from one request to the next: times, counts and versions of the record itself.
func volatile(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"modified", "updated", "changed", "timestamp", "retrieved", "version", "etag", "count", "views", "links", "href"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// unwrapped is the item inside a usual envelope of one.
func unwrapped(text []byte, member string) []byte {
	if len(document.MemberValues(text, member)) > 0 {
		return text
	}
	object := document.Object(text)
	for _, name := range envelopes() {
		if inner, ok := object[name]; ok {
			return inner
		}
	}
	return text
}

// envelopes are the names under which a detail may be wrapped.
func envelopes() []string { return []string{"data", "item", "content", "result"} }

// The bounds of what is compared: bytes of a member, and elements of an array.
const (
	maxCompared = 64 << 10
	maxElements = 200
)

// compatible reports whether the list's value of a member can come from the same record as the detail's.
func compatible(inList, inDetail []byte) bool {
	if len(inList) > maxCompared || len(inDetail) > maxCompared {
		return true // too large to be worth it
	}
	var a, b any
	return decoded(inList, &a) != nil || decoded(inDetail, &b) != nil || tellsNoMore(a, b)
}

func decoded(text []byte, v *any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

// tellsNoMore reports whether a value of the list says the same as one of the detail, or less of it. The order of array elements does
// not count.
func tellsNoMore(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return true
	case string:
		text, ok := b.(string)
		return ok && strings.HasPrefix(text, strings.TrimRight(strings.TrimSuffix(a, "…"), ". "))
	case json.Number:
		n, ok := b.(json.Number)
		x, errX := a.Float64()
		y, errY := n.Float64()
		return ok && (a == n || errX == nil && errY == nil && x == y) // 5 and 5.0 are the same
	case []any:
		list, ok := b.([]any)
		if len(a) > maxElements || len(list) > maxElements {
			return ok
		}
		return ok && !slices.ContainsFunc(a, func(e any) bool {
			return !slices.ContainsFunc(list, func(f any) bool { return tellsNoMore(e, f) })
		})
	case map[string]any:
		object, ok := b.(map[string]any)
		for name, value := range a {
			if theirs, both := object[name]; both && !tellsNoMore(value, theirs) {
				return false
			}
		}
		return ok
	}
	return a == b
}

// shown is a short scalar as it stands, or what kind of value it is: judgements hold no whole records.
func shown(text []byte) string {
	const short = 40
	if kind := textType(text); kind == "array" || kind == "object" || len(text) > short {
		return "another " + kind
	}
	return string(text)
}
