package requirement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// agrees compares a detail with the item of the list (PAG-08). Members that the document requires of both must be equal, or one of the
// two is wrong; others may be newer, shorter or left out on purpose.
func agrees(e Evidence, x exchange.Exchange, listed [][]byte, member, id string) Judgement {
	item := itemWith(listed, member, id)
	text, err := jsonText(x)
	if item == nil || err != nil {
		return Passed(x.Label)
	}
	inList, inDetail := document.Object(item), document.Object(unwrapped(text, member))
	required := requiredMembers(e)
	var differ []Subject
	var notes []string
	for _, name := range slices.Sorted(maps.Keys(inList)) {
		theirs, both := inDetail[name]
		switch {
		case !both, name == member, canonical(inList[name]) == canonical(theirs):
		case slices.Contains(required, name):
			differ = append(differ, Subject{Name: callName(x) + " $." + clip(name), Label: x.Label, Expected: shown(inList[name]) + ", as in the list", Got: shown(theirs)})
		default:
			notes = append(notes, fmt.Sprintf("%s differs between the list and %s", quote(name), callName(x)))
		}
	}
	notes = notes[:min(len(notes), maxSubjects)]
	if len(differ) == 0 {
		return Passed(x.Label).Noting(notes...)
	}
	return Warned("list and detail disagree on "+strings.TrimPrefix(differ[0].Name, callName(x)+" $."), differ[0].Expected, differ[0].Got).
		Hinting("serve list and detail from the same record; look for a cache or a second mapping of the list").About(differ...).Noting(notes...).bounded()
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

// requiredMembers are those that the document requires of a detail, and so of both: it may be a subtype of what the list declares.
func requiredMembers(e Evidence) []string {
	o, _ := operation(e, e.Roles.Detail)
	_, answer, _ := o.Success()
	var out []string
	for _, s := range answer.Content {
		out = append(out, s.Required...)
	}
	return out
}

// maxCompared bounds the members that are compared as values, in bytes.
const maxCompared = 64 << 10

// canonical is a text that is equal for equal JSON values; the order of members and of array elements does not count.
func canonical(text []byte) string {
	if len(text) > maxCompared {
		return "" // too large to be worth it: equal to all that are
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(text)
	}
	return canonicalValue(v)
}

func canonicalValue(v any) string {
	switch v := v.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = canonicalValue(e)
		}
		slices.Sort(parts)
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, fmt.Sprintf("%q:%s", name, canonicalValue(v[name])))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return fmt.Sprint(f) // 5 and 5.0 are the same
		}
		return v.String()
	}
	return fmt.Sprintf("%#v", v)
}

// shown is a short scalar as it stands, or what kind of value it is: judgements hold no whole records.
func shown(text []byte) string {
	const short = 40
	if kind := textType(text); kind == "array" || kind == "object" || len(text) > short {
		return "another " + kind
	}
	return string(text)
}
