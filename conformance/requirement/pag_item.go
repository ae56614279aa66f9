package requirement

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// listedItems are PAG-08 and PAG-09: single items.
func listedItems() []Requirement {
	list, detail, after := evidence.ListOperation, evidence.DetailOperation, afterDocument()
	return []Requirement{
		{
			ID: "PAG-08", Title: "Listed items can be fetched one by one",
			Level: Network, Gate: Gating, Profile: Funding,
			Source:   NET("R15"),
			Quote:    definedByDocument,
			Probe:    "The detail operation with the first, a middle and the last id of the list, percent-encoded; the answer against the item of the list.",
			Forgives: "A 400 or 404 for an id with a slash, which Tomcat and Apache refuse by default, and a 404 for items that are neither calls nor programmes, which only funders serve (warnings); a list that shows less than the detail, and times, counts and versions, which may differ; an item that the list no longer holds.",
			Fix:      "Serve each listed id from the same record as the list. For ids with a slash: Tomcat encodedSolidusHandling=passthrough, Apache AllowEncodedSlashes NoDecode, Spring StrictHttpFirewall.setAllowUrlEncodedSlash(true).",
			Breaks:   "The detail operation answers 404 for listed ids.",
			Reads: []evidence.Label{detail.With("item-first"), detail.With("item-middle"), detail.With("item-last"),
				list.With(evidence.OK), evidence.WholeRun}, After: after, Check: onList(itemsFetched),
		},
		{
			ID: "PAG-09", Title: "Unknown id gives 404",
			Level: Recommended, Gate: Gating, Profile: Funding,
			Source:   RFC(9110, "15.5.5"),
			Quote:    "The 404 (Not Found) status code indicates that the origin server did not find a current representation for the target resource or is not willing to disclose that one exists.",
			Probe:    "The detail operation with an id that does not exist.",
			Forgives: "410; 400 where ids follow a pattern, and 403 (warnings).",
			Fix:      "Answer 404 when the record is not found: catch the error of the lookup (ValueError, NoSuchElementException, EntityNotFoundException) and map it, in Spring with @ResponseStatus(NOT_FOUND).",
			Breaks:   "Unknown ids give 500.",
			Needs:    []evidence.Label{detail.With("unknown-id")},
			Reads:    []evidence.Label{evidence.WholeRun}, After: after, Control: detail.With(evidence.OK), Check: onList(onAnswer(detail.With("unknown-id"), unknownNotFound)),
		},
	}
}

func unknownNotFound(x evidence.Exchange) Judgement {
	want := expect(x, "404")
	switch {
	case serverError(x):
		return want.failed("an unknown id breaks the node", describe(x))
	case success(x):
		return want.failed("an unknown id is answered as if it existed", describe(x))
	}
	if j, ok := inconclusive(x); ok {
		return j
	}
	switch x.Status() {
	case 404, 410:
		return Passed(x.Label)
	case 400, 403, 422:
		return want.warned("an unknown id is refused, but not with 404", describe(x))
	}
	if redirected(x) {
		return want.unclear("the call with an unknown id is redirected elsewhere", describe(x))
	}
	return want.failed("an unknown id is not answered as one that does not exist", describe(x))
}

func itemsFetched(e Evidence) Judgement {
	if e.Roles.Detail == "" {
		return Missing("this run has no " + roleName(evidence.DetailOperation.With(evidence.OK)))
	}
	listed, _ := e.itemsOf(e.exchange(evidence.ListOperation.With(evidence.OK)))
	var parts, unsent []Judgement
	for _, c := range []evidence.Case{"item-first", "item-middle", "item-last"} {
		label := e.Roles.Detail.With(c)
		if _, planned := e.Skipped(label); !planned {
			if _, sent := e.Get(label); !sent && len(parts)+len(unsent) > 0 {
				continue // a short list does not have a middle
			}
		}
		if j, ok := e.unanswered(label); ok {
			unsent = append(unsent, j)
			continue
		}
		parts = append(parts, itemFetched(e, e.exchange(label), listed))
	}
	if len(parts) == 0 {
		return gather(unsent...)
	}
	for _, j := range unsent {
		if j.Outcome == Inconclusive {
			parts = append(parts, j)
		}
	}
	return gather(parts...)
}

// itemFetched judges one detail answer.
func itemFetched(e Evidence, x evidence.Exchange, listed [][]byte) Judgement {
	id, member := x.Given["id"], "id"
	if m := x.Given["member"]; m != "" {
		member = m
	}
	if j, unclear := inconclusive(x); unclear && !serverError(x) {
		return j
	}
	want := expect(x, "200 with "+member+" "+quote(id))
	switch {
	case success(x):
		if j := sameItem(e, x, member, id, want); j.Outcome != Pass {
			return j
		}
		return judgeAgreement(e, x, listed, member, id)
	case (x.Status() == 404 || x.Status() == 410) && vanished(e, member, id):
		return Missing("the item was removed from the list during the run").Noting("the item " + quote(id) + " was removed from the list during the run").Seen(x.Label)
	case strings.Contains(id, "/") && (x.Status() == 400 || x.Status() == 404):
		return want.warned("an id with a slash cannot be fetched; servers refuse %2F in paths by default", describe(x))
	case x.Status() == 404 && servedByFunder(listed, member, id):
		return want.warned("an item that is neither call nor programme cannot be fetched here", describe(x)).
			Hinting("funders serve single items of this type; leave the item out of the list or serve it")
	case redirected(x):
		return want.unclear("the detail call is redirected elsewhere", describe(x))
	}
	return want.failed("a listed item cannot be fetched by its id", describe(x))
}

// sameItem looks for the id at the top of the answer, or inside a usual envelope.
func sameItem(e Evidence, x evidence.Exchange, member, id string, want Subject) Judgement {
	text, err := e.jsonText(x)
	if err != nil {
		return want.failed("the detail answer cannot be read: "+clip(err.Error()), describe(x))
	}
	got := openapi.MemberValues(text, member)
	for _, envelope := range envelopes() {
		if len(got) == 0 {
			got = openapi.MemberValues(text, envelope+"."+member)
		}
	}
	switch {
	case slices.Contains(got, id):
		return Passed(x.Label)
	case len(got) == 0:
		return want.failed("the detail answer has no "+clip(member), "no "+clip(member))
	}
	return want.failed("the detail answer is another item", quote(got[0]))
}

// vanished reports whether the list, read again at the end, lacks the item.
func vanished(e Evidence, member, id string) bool {
	again, sent := e.Get(e.Roles.List.With("list-again"))
	if !sent || !success(again) {
		return false
	}
	items, err := e.itemsOf(again)
	return err == nil && itemWith(items, member, id) == nil && !again.Response.Truncated
}

// itemWith returns the item of a list with the id, or nil.
func itemWith(items [][]byte, member, id string) []byte {
	i := slices.IndexFunc(items, func(item []byte) bool { return slices.Contains(openapi.MemberValues(item, member), id) })
	if i < 0 {
		return nil
	}
	return items[i]
}

// servedByFunder reports whether the type of the item in the list is one whose single items only funders serve.
func servedByFunder(listed [][]byte, member, id string) bool {
	types := openapi.MemberValues(itemWith(listed, member, id), "type")
	return len(types) == 1 && !slices.Contains([]string{"CALL", "PROGRAMME"}, types[0])
}

// judgeAgreement compares a detail with the item of the list. The list may omit members, abbreviate a text or name some of several values, but it must
// not contradict the detail.
func judgeAgreement(e Evidence, x evidence.Exchange, listed [][]byte, member, id string) Judgement {
	item := itemWith(listed, member, id)
	text, err := e.jsonText(x)
	if item == nil || err != nil {
		return Passed(x.Label)
	}
	inList, inDetail := openapi.Object(item), openapi.Object(unwrapped(text, member))
	faulty := faultyMembers(e, e.Roles.List.With(evidence.OK), x.Label)
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
		differ = append(differ, Subject{Name: clip(callName(x) + " $." + name), Label: x.Label, Expected: valueInWords(inList[name]) + ", as in the list", Got: valueInWords(theirs)})
	}
	if len(differ) == 0 {
		return Passed(x.Label)
	}
	return Warned("list and detail disagree on "+clip(first), differ[0].Expected, differ[0].Got).
		Hinting("serve list and detail from the same record; look for a cache or a second mapping of the list").About(differ...).bounded()
}

// faultyMembers are the members that break the schema in one of the answers; API-04 to API-07 judge them.
func faultyMembers(e Evidence, labels ...evidence.Label) map[string]bool {
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
	parts := []string{"modified", "updated", "changed", "timestamp", "retrieved", "version", "etag", "count", "views", "links", "href"}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// unwrapped returns the item inside a usual envelope.
func unwrapped(text []byte, member string) []byte {
	if len(openapi.MemberValues(text, member)) > 0 {
		return text
	}
	object := openapi.Object(text)
	for _, name := range envelopes() {
		if inner, ok := object[name]; ok {
			return inner
		}
	}
	return text
}

// envelopes are the names under which a detail may be wrapped.
func envelopes() []string { return []string{"data", "item", "content", "result"} }

// The bounds of a comparison: bytes of a member, and elements of an array.
const (
	maxCompared = 64 << 10
	maxElements = 200
)

// compatible reports whether the list's value of a member can come from the same record as the detail's.
func compatible(inList, inDetail []byte) bool {
	if len(inList) > maxCompared || len(inDetail) > maxCompared {
		return true // too large to compare
	}
	var a, b any
	return decoded(inList, &a) != nil || decoded(inDetail, &b) != nil || abbreviates(a, b)
}

func decoded(text []byte, v *any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

// abbreviates reports whether a value of the list equals one of the detail, or is a part of it. The order of array elements does not count.
func abbreviates(a, b any) bool {
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

// valueInWords is a short scalar itself, or the type of another value: judgements do not contain whole records.
func valueInWords(text []byte) string {
	const short = 40
	if kind := textType(text); kind == "array" || kind == "object" || len(text) > short {
		return "another " + kind
	}
	return string(text)
}
