package requirement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file compares the contents of one URL over the run for ROB-08. A GET transfers the current representation (RFC 9110 §9.3.1): its content may change,
// but it does not change back and forth, and it does not depend on a header field that selects nothing.

// minReturns is how often the content of a URL must return to an earlier one. An editor may undo a change, and replicas get a change one after the other,
// which looks like one or two returns.
const minReturns = 3

// maxContent is the size in bytes up to which contents are compared.
const maxContent = 1 << 20

// A contentGroup has the good answers of one URL to one caller. The calls in plain have only header fields of an ordinary client; those in other have fields
// that must not change the content, such as a condition that does not hold.
type contentGroup struct{ plain, other []evidence.Exchange }

// judgeContents adds the faults in the contents of the node's URLs to the survey.
func judgeContents(e Evidence, s *survey) {
	groups := contentGroups(e)
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		g := groups[key]
		if len(g.plain) == 0 || givesAnyRecord(e, g.plain[0].Label.Resource()) {
			continue
		}
		r := string(g.plain[0].Label.Resource())
		if g.plain[0].Label.Resource() != e.Roles.Detail { // PAG-08 compares the details with each other and with the list
			j := judgeTurns(e, g)
			s.add("turns "+r+" "+string(j.Outcome), j)
		}
		for _, x := range g.other {
			s.add("content by field "+r, judgeSelection(e, g.plain, x))
		}
	}
}

// contentGroups sorts the good answers by URL and caller.
func contentGroups(e Evidence) map[string]*contentGroup {
	document := e.exchange(evidence.Specification.With(evidence.OK)).Request.URL
	groups := map[string]*contentGroup{}
	for _, x := range e.Exchanges {
		isPlainGet := x.Request.Method == "GET" && len(x.Request.Body) == 0 && !hasUnknownField(x) && !isTryOutURL(x.Request.URL)
		isContent := x.Status() == 200 && isWhole(x) && len(x.Redirects) == 0 && isNodeAnswer(x)
		if !isPlainGet || !isContent {
			continue
		}
		isPublic := x.Request.URL == document // the document counts with any token, and without one
		if !isPublic && (lacksGoodToken(x) || sendsRolelessToken(x)) {
			continue
		}
		caller := tokenName(x)
		if lacksGoodToken(x) {
			caller = "anonymous"
		}
		key := x.Request.URL + " " + caller
		g := groups[key]
		if g == nil {
			g = &contentGroup{}
			groups[key] = g
		}
		if len(idleFields(x)) > 0 {
			g.other = append(g.other, x)
		} else {
			g.plain = append(g.plain, x)
		}
	}
	return groups
}

// hasUnknownField reports whether a request has a header field that may change the content, such as Accept-Language.
func hasUnknownField(x evidence.Exchange) bool {
	known := []string{"authorization", "user-agent", "content-type", "connection", "host", "accept", "accept-encoding", "if-none-match", "if-modified-since", "range", "origin"}
	return slices.ContainsFunc(x.Request.Header, func(f evidence.Field) bool { return !slices.Contains(known, strings.ToLower(f.Name)) })
}

// idleFields returns the header fields of a request that a plain call does not have, and that select nothing if the answer is 200 and of the same media type.
func idleFields(x evidence.Exchange) []string {
	var out []string
	for _, f := range x.Request.Header {
		switch name := strings.ToLower(f.Name); {
		case name == "accept" && f.Value != "application/json", name == "accept-encoding" && f.Value != "gzip",
			slices.Contains([]string{"if-none-match", "if-modified-since", "range", "origin"}, name):
			out = append(out, clip(f.Name+": "+f.Value))
		}
	}
	return out
}

// judgeTurns looks for a content, or a record of a list, that alternates between states. Calls with the same header fields must show it, because a field may
// select a content after all.
func judgeTurns(e Evidence, g *contentGroup) Judgement {
	calls := slices.SortedStableFunc(slices.Values(slices.Concat(g.plain, g.other)), func(a, b evidence.Exchange) int { return a.Started.Compare(b.Started) })
	if !slices.ContainsFunc(calls, func(x evidence.Exchange) bool { return !bytes.Equal(x.Response.Body, calls[0].Response.Body) }) {
		return Passed()
	}
	states := map[string][]state{} // by the id of the record
	service := showsService(e, calls[0])
	for _, x := range calls {
		for id, text := range contentsOf(e, x) {
			states[id] = append(states[id], state{x, text})
		}
	}
	result := Passed() // or the first warning about a number
	for _, id := range slices.Sorted(maps.Keys(states)) {
		for _, n := range []normalizer{{service: service}, {service: service, numbers: true}} {
			t := turnsOf(states[id], n)
			hasWarning := n.numbers && result.Outcome != Pass
			if t.returns < minReturns || !turnsWithSameFields(states[id], n) || hasWarning {
				continue
			}
			want, got := t.describe(id)
			if n.numbers {
				result = want.warned("a number changes back and forth while the same call is repeated: it returned to an earlier value "+evidence.Count(t.returns, "time"), got)
				continue
			}
			return want.failed(fmt.Sprintf("the same call has two contents in turn: its content returned to an earlier one %s in %s", evidence.Count(t.returns, "time"), evidence.Count(len(states[id]), "answer")), got).
				Hinting("bring all instances of the node to one state: one version, one configuration, one database or replicas that have caught up, and no cache in each process").Seen(t.before.call.Label, t.after.call.Label)
		}
	}
	return result
}

// turnsWithSameFields reports whether the calls with one set of idle header fields return to an earlier state.
func turnsWithSameFields(states []state, n normalizer) bool {
	byFields := map[string][]state{}
	for _, s := range states {
		var names []string
		for _, field := range idleFields(s.call) {
			name, _, _ := strings.Cut(field, ":")
			names = append(names, name)
		}
		fields := strings.Join(names, " ")
		byFields[fields] = append(byFields[fields], s)
	}
	for _, group := range byFields {
		if turnsOf(group, n).returns > 0 {
			return true
		}
	}
	return false
}

// A state is the content of an answer, or of a record in it.
type state struct {
	call evidence.Exchange
	text []byte
}

// contentsOf returns the records of a list by their ids, or the content of another answer under the empty id. Which records a list has, and in which order,
// is left to the requirements on pages.
func contentsOf(e Evidence, x evidence.Exchange) map[string][]byte {
	records := map[string][]byte{}
	if x.Label.Resource() != e.Roles.List {
		if text, err := e.jsonText(x); err == nil && len(text) <= maxContent {
			records[""] = text
		}
		return records
	}
	for _, item := range itemsOrNone(e, x) {
		if id := e.identity(item); !e.isAnonymous(item) && len(item) <= maxCompared {
			records[id] = item
		}
	}
	return records
}

// turns says how often a content returned to an earlier state, and has two states that follow each other.
type turns struct {
	before, after state
	returns       int
}

// turnsOf counts the returns of a content to an earlier state. The states are in the order of the calls.
func turnsOf(states []state, n normalizer) (t turns) {
	if !slices.ContainsFunc(states, func(s state) bool { return !bytes.Equal(s.text, states[0].text) }) {
		return turns{}
	}
	forms, seen := map[string]string{}, map[string]bool{} // forms holds the normal form of each text
	for i, s := range states {
		form, known := forms[string(s.text)]
		if !known {
			form = n.formOf(s.text)
			forms[string(s.text)] = form
		}
		if form == "" {
			return turns{}
		}
		if i > 0 && form != forms[string(states[i-1].text)] {
			t.before, t.after = states[i-1], s
			if seen[form] {
				t.returns++
			}
		}
		seen[form] = true
	}
	return t
}

// describe returns the subject of a judgement on the turns, and the first difference between the states.
func (t turns) describe(id string) (want Subject, got string) {
	want = expect(t.after.call, "one state, or a new one")
	if id != "" {
		want.Name = clip(callInWords(t.after.call) + ", item " + quote(id))
	}
	member, before, after := firstDifference(t.before.text, t.after.text)
	return want, clip(member + ": " + before + ", then " + after)
}

// judgeSelection judges a call with header fields that select nothing, such as Accept-Encoding: identity. Its content must be the one that all plain calls
// had, before and after it.
func judgeSelection(e Evidence, plain []evidence.Exchange, x evidence.Exchange) Judgement {
	usual, errUsual := e.jsonText(plain[0])
	isComparable := mediaType(x) == mediaType(plain[0]) && errUsual == nil && len(usual) <= maxContent
	if !isComparable || bytes.Equal(x.Response.Body, plain[0].Response.Body) {
		return Passed(x.Label)
	}
	want, fields := expect(x, "the content of the call without these fields"), strings.Join(idleFields(x), " and ")
	text, err := e.jsonText(x)
	if err != nil {
		return want.failed("the call with "+fields+" has a broken body, and the other calls of the URL have a good one: "+clip(err.Error()), describe(x)).Seen(plain[0].Label)
	}
	before := slices.ContainsFunc(plain, func(p evidence.Exchange) bool { return p.Started.Before(x.Started) })
	after := slices.ContainsFunc(plain, func(p evidence.Exchange) bool { return p.Started.After(x.Started) })
	if !before || !after {
		return Passed(x.Label)
	}
	n := normalizer{service: showsService(e, x)}
	usualForm, form := n.formOf(usual), n.formOf(text)
	isUsual := func(p evidence.Exchange) bool {
		text, err := e.jsonText(p)
		return err == nil && n.formOf(text) == usualForm
	}
	isSame := usualForm == "" || form == "" || usualForm == form // or cannot be compared
	if isSame || selects(x, plain[0]) || slices.ContainsFunc(plain, func(p evidence.Exchange) bool { return !isUsual(p) }) {
		return Passed(x.Label)
	}
	member, expected, got := firstDifference(usual, text)
	return want.failed("the call with "+fields+" has another content than all plain calls of the URL, before and after it", clip(member+": "+got+" instead of "+expected)).
		Hinting("choose the data by the URL, the caller and the fields that Vary names alone; compress and cut only the bytes that are sent, after the data was chosen").Seen(plain[0].Label)
}

// selects reports whether Vary of one of the answers names a header field of the call, except Accept-Encoding: a coding does not change the content.
func selects(x, plain evidence.Exchange) bool {
	return slices.ContainsFunc(idleFields(x), func(field string) bool {
		name, _, _ := strings.Cut(field, ":")
		return !strings.EqualFold(name, "Accept-Encoding") && (variesBy(x, name) || variesBy(plain, name))
	})
}

// A normalizer writes JSON values without what may differ in two good answers: times, counts, the name of the instance, the order of arrays and, unless
// numbers is set, numbers.
type normalizer struct {
	numbers bool
	service bool           // the content has the state of the service beside its data
	hidden  bool           // the value has no normal form: it has a marker of the redactor, or is too deep
	about   *regexp.Regexp // matches the members that are left out; nil for none
}

const instanceNames = `(?i)serve[rd]|host|instance|node|worker|pod|replica|backend|trace|session|nonce`

// instanceName matches members about the instance that answered, serviceName also those about the state of the service.
var (
	instanceName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(instanceNames) })
	serviceName  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(instanceNames + `|cache|hits?$|load|health|status|state|ready|busy|up$|region|zone|colou?r|slot|deploy|quota|expir|reset|source`)
	})
)

// maxNormalDepth bounds the depth of a value, because each level copies the text of those below.
const maxNormalDepth = 48

// formOf returns the normal form of a JSON text, or "" if it has none: the text is not JSON, too deep, or has a marker of the redactor.
func (n normalizer) formOf(text []byte) string {
	var value any
	if len(text) > maxContent || evidence.DecodeJSON(text, &value) != nil {
		return ""
	}
	n.about = instanceName()
	if n.service {
		n.about = serviceName()
	}
	form := n.append(nil, withoutVolatile(value), 0)
	if n.hidden {
		return ""
	}
	return string(form)
}

// append appends the normal form of a value.
func (n *normalizer) append(out []byte, value any, depth int) []byte {
	if depth > maxNormalDepth {
		n.hidden = true
		return out
	}
	switch value := value.(type) {
	case map[string]any:
		out = append(out, '{')
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if n.leavesOut(name, value[name]) {
				continue
			}
			out = n.append(n.append(out, name, depth), value[name], depth+1)
		}
		return append(out, '}')
	case []any:
		forms := make([][]byte, len(value))
		for i, v := range value {
			forms[i] = n.append(nil, v, depth+1)
		}
		slices.SortFunc(forms, bytes.Compare)
		out = append(append(out, '['), bytes.Join(forms, []byte{','})...)
		return append(out, ']')
	case json.Number:
		if !n.numbers {
			return append(out, '0')
		}
		return append(out, value...)
	case string:
		n.hidden = n.hidden || strings.Contains(value, markerStart)
		return fmt.Appendf(out, "%q", value)
	}
	return fmt.Append(out, value)
}

// leavesOut reports whether a member is about the instance that answered or, if service is set, about the state of the service: a text with such a name and,
// if service is set, also a flag with such a name or any date with a time.
func (n *normalizer) leavesOut(name string, value any) bool {
	text, isText := value.(string)
	_, isFlag := value.(bool)
	if n.service && isMoment(text) {
		return true
	}
	if !isText && !(isFlag && n.service) {
		return false
	}
	return n.about != nil && n.about.MatchString(name)
}

// isMoment reports whether a text is a date with a time.
func isMoment(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// sameMoment reports whether two dates with a time are the same moment, in any time zone.
func sameMoment(a, b string) bool {
	s, _ := time.Parse(time.RFC3339, a)
	t, _ := time.Parse(time.RFC3339, b)
	return s.Equal(t)
}

// showsService reports whether a content may say how the service is, such as its load: it is neither the list nor a document.
func showsService(e Evidence, x evidence.Exchange) bool {
	return x.Label.Resource() != e.Roles.List && x.Label.Resource() != evidence.Specification
}

// givesAnyRecord reports whether the path or the description of an operation says that it gives another record each time, such as a featured one.
func givesAnyRecord(e Evidence, r evidence.Resource) bool {
	o, known := operation(e, r)
	return known && r != e.Roles.List && r != e.Roles.Detail &&
		regexp.MustCompile(`(?i)\b(random(ly|i[sz]ed)?|featured|of the day|zuf(ä|ae)llig\w*)\b|\bsample of\b`).MatchString(o.Description+" "+strings.ReplaceAll(o.Path, "/", " "))
}

// firstDifference returns a member in which two JSON texts differ, and its values.
func firstDifference(a, b []byte) (member, one, other string) {
	var left, right any
	if evidence.DecodeJSON(a, &left) != nil || evidence.DecodeJSON(b, &right) != nil {
		return "$", "JSON", "other JSON"
	}
	return differenceAt(left, right, "$")
}

// differenceAt is [firstDifference] for two values at a path, such as "$.deadline".
func differenceAt(a, b any, at string) (member, one, other string) {
	same := func(a, b any) bool {
		n := normalizer{numbers: true}
		return bytes.Equal(n.append(nil, withoutVolatile(a), 0), n.append(nil, withoutVolatile(b), 0))
	}
	words := func(v any) string {
		switch v := v.(type) {
		case nil:
			return "nothing"
		case string:
			return quote(v)
		case []any:
			return evidence.Count(len(v), "element")
		case map[string]any:
			return "an object"
		}
		return clip(fmt.Sprint(v))
	}
	left, isObject := a.(map[string]any)
	if right, alsoObject := b.(map[string]any); isObject && alsoObject {
		names := maps.Clone(left)
		maps.Copy(names, right)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if !volatile(name) && !same(left[name], right[name]) {
				return differenceAt(left[name], right[name], at+"."+name)
			}
		}
	}
	elements, isArray := a.([]any)
	if others, alsoArray := b.([]any); isArray && alsoArray && len(elements) == len(others) {
		for i := range elements {
			if !same(elements[i], others[i]) {
				return differenceAt(elements[i], others[i], fmt.Sprintf("%s[%d]", at, i))
			}
		}
	}
	return at, words(a), words(b)
}
