package requirement

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// listedItems returns PAG-08 and PAG-09, about single items.
func listedItems() []Requirement {
	list, detail, after := evidence.ListOperation, evidence.DetailOperation, afterDocument()
	return []Requirement{
		{
			ID: "PAG-08", Title: "Listed items can be fetched one by one",
			Level: Network, Gate: Gating, Profile: API,
			Source:   NET("R15"),
			Quote:    definedByDocument,
			Probe:    "The detail operation with the first, a middle, the last and up to nine drawn ids of the list, percent-encoded: first those of a rare form, and of records that lack a member or have null, 0, false or nothing in it, on every page that was read; the answer against the item of the list; one of them four times. Objects with an id inside the records, such as the programme of a call, against the record of the list with that id.",
			Forgives: "A 400 or 404 for an id with a slash, a backslash or a percent sign, which Tomcat, Apache and Spring refuse by default, unless the document says that such ids are percent-encoded, and a 404 for items that are neither calls nor programmes, which only funders serve (warnings); a list that shows less than the detail, and times, counts and versions, which may differ; an item that the list no longer holds.",
			Fix:      "Serve each listed id from the same record as the list. For ids with a slash: Tomcat encodedSolidusHandling=passthrough, Apache AllowEncodedSlashes NoDecode, Spring StrictHttpFirewall.setAllowUrlEncodedSlash(true).",
			Breaks:   "The detail operation answers 404 for listed ids.",
			Reads: []evidence.Label{detail.With("item-first"), detail.With("item-middle"), detail.With("item-last"),
				list.With(evidence.OK), evidence.WholeRun}, After: after, Check: onList(judgeListedItems),
		},
		{
			ID: "PAG-09", Title: "Unknown id gives 404",
			Level: Recommended, Gate: Gating, Profile: API,
			Source:   RFC(9110, "15.5.5"),
			Quote:    "The 404 (Not Found) status code indicates that the origin server did not find a current representation for the target resource or is not willing to disclose that one exists.",
			Probe:    "The detail operation with an id that does not exist, and with five that are nearly a listed one: cut, extended, as a pattern, beyond the range of numbers, in another spelling. Up to four ids that the numbers of the listed ones pass over, and two that other records name and no list has: drafts, and what is not published yet, must not be there. The list with parameters that the document does not describe and that show drafts in other software. Each operation below a record, for a record that does not exist.",
			Forgives: "410; 400 where ids follow a pattern, and 403 (warnings); a redirect to the listed id; another spelling of the same number where the document says integer, another case, and blanks at the end (warnings); records that the list leaves out, unless the document or the record itself says that they are hidden (if an undescribed parameter shows them, a warning); operations below a record whose document describes no 404.",
			Fix:      "Compare the whole id: no parseInt, no LIKE, no comparison of a text with a number in the database. Answer 404 when the record is not found: catch the error of the lookup (ValueError, NoSuchElementException, EntityNotFoundException) and map it, in Spring with @ResponseStatus(NOT_FOUND).",
			Breaks:   "Unknown ids give 500.",
			Needs:    []evidence.Label{detail.With("unknown-id")},
			Reads:    append(unpublishedLabels(), evidence.WholeRun), After: after, Control: detail.With(evidence.OK), Check: onList(judgeUnknownIDs),
		},
	}
}

// judgeUnknownIDs is the check of PAG-09.
func judgeUnknownIDs(e Evidence) Judgement {
	parts := []Judgement{judgeUnknownID(e.exchange(evidence.DetailOperation.With("unknown-id")))}
	for n := 1; n <= nearIDs; n++ {
		if x, sent := e.Get(e.Roles.Detail.With(evidence.LikeIDCase(n))); sent {
			parts = append(parts, judgeNearID(e, x))
		}
	}
	parts = slices.Concat(parts, findHiddenRecords(e), findUnpublishedRecords(e), judgeBelowUnknownRecord(e), findForeignRecords(e))
	return gather(withoutRepeats(parts)...)
}

// nearIDs bounds the requested ids that differ little from a listed id.
const nearIDs = 5

// judgeNearID judges a call with an id that is nearly one of a listed item. A record with that id may exist, although the list lacks it.
func judgeNearID(e Evidence, x evidence.Exchange) Judgement {
	id, listedID := x.Given["asked"], x.Given["known"]
	want := expect(x, "404")
	if serverError(x) && x.Attempts > 1 {
		return want.failed("an unknown id breaks the node", describe(x))
	}
	if !success(x) || len(x.Redirects) > 0 {
		return Passed(x.Label)
	}
	text, err := e.jsonText(x)
	if err != nil {
		return Passed(x.Label) // API-03 judges the answer
	}
	got := openapi.MemberValues(unwrap(text, memberOfID(x)), memberOfID(x))
	switch {
	case len(got) != 1 || got[0] == id:
		return Passed(x.Label)
	// "even" says that a node may read both ids as one, because only their spelling differs.
	case x.Given["even"] == "true" && strings.TrimLeft(id, "0") == strings.TrimLeft(listedID, "0"):
		return Passed(x.Label) // the same integer
	case x.Given["even"] == "true" && ignoresSpelling(e, id, listedID):
		return Passed(x.Label)
	case x.Given["even"] == "true":
		return want.warned("an id in another spelling gives the record of "+quote(listedID)+": "+quote(id), quote(got[0]))
	}
	return want.failed("an id that no record has gives another record: "+quote(id), "the record of "+quote(got[0]))
}

// ignoresSpelling reports whether the document promises that the detail finds a record by an id in another spelling.
func ignoresSpelling(e Evidence, asked, known string) bool {
	o, isKnown := operation(e, e.Roles.Detail)
	return isKnown && o.IgnoresSpelling(asked, known)
}

// judgeUnknownID judges a call with an id that is not like any listed one.
func judgeUnknownID(x evidence.Exchange) Judgement {
	want := expect(x, "404")
	switch {
	case serverError(x):
		return want.failed("an unknown id breaks the node", describe(x))
	case success(x):
		return want.failed("an unknown id is answered as if it existed", describe(x))
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	switch x.Status() {
	case 404, 410:
		return Passed(x.Label)
	case 400, 403, 422:
		return want.warned("an unknown id is refused, but not with 404", describe(x))
	}
	if redirected(x) {
		return want.unclear("the call with an unknown id is redirected elsewhere", describe(x)).Hinting("answer 404: a client that follows the redirect takes what comes for the record")
	}
	return want.failed("an unknown id is not answered with 404", describe(x))
}

// judgeListedItems is the check of PAG-08.
func judgeListedItems(e Evidence) Judgement {
	if e.Roles.Detail == "" {
		return Inapplicable("this run has no " + roleName(evidence.DetailOperation.With(evidence.OK)))
	}
	var parts, unsent []Judgement
	var differ []disagreement
	for _, c := range itemCases() {
		label := e.Roles.Detail.With(c)
		if _, planned := e.Skipped(label); !planned {
			if _, sent := e.Get(label); !sent && len(parts)+len(unsent) > 0 {
				continue // a short list has no middle item
			}
		}
		if j, missing := e.missingAnswer(label); missing {
			unsent = append(unsent, j)
			continue
		}
		j, found := judgeItem(e, e.exchange(label))
		parts, differ = append(parts, j), append(differ, found...)
	}
	if len(parts) == 0 {
		return gather(unsent...)
	}
	for _, j := range unsent {
		if j.Outcome == Inconclusive {
			parts = append(parts, j)
		}
	}
	parts = append(parts, judgeDisagreements(differ)...)
	return gather(slices.Concat(parts, findChangingMember(e), findMisplacedItems(e), findFalseReferences(e))...)
}

// itemCases returns the cases that call listed items.
func itemCases() []evidence.Case {
	return slices.Concat([]evidence.Case{"item-first", "item-middle", "item-last"}, evidence.DrawnItems(), evidence.MoreItems())
}

// judgeItem judges one detail answer.
func judgeItem(e Evidence, x evidence.Exchange) (Judgement, []disagreement) {
	id, member := x.Given["id"], memberOfID(x)
	j := judgeItemAnswer(e, x)
	if j.Outcome != Pass || !success(x) {
		return j, nil
	}
	return j, disagreements(e, x, member, id)
}

// judgeItemAnswer judges whether the call of a listed item gives the item. It does not compare other members than the id.
func judgeItemAnswer(e Evidence, x evidence.Exchange) Judgement {
	id, member := x.Given["id"], memberOfID(x)
	if j, unclear := inconclusiveAnswer(x); unclear && !serverError(x) {
		return j
	}
	want := expect(x, "200 with "+member+" "+quote(id))
	isMissing := x.Status() == 404 || x.Status() == 410
	gone, known := vanished(e, x, member, id)
	switch {
	case success(x):
		return judgeItemIdentity(e, x, member, id, want)
	case isMissing && gone:
		return Inapplicable("the item was removed from the list during the run").Noting("the item " + quote(id) + " was removed from the list during the run").Seen(x.Label)
	case x.Given["guessed"] == "true" && (x.Status() == 404 || x.Status() == 400):
		return want.unclear("the records have no member id, and no record is found by its "+clip(member), describe(x)).Hinting("name the parameter of the detail like the member of the list that holds its values, or name the member in the description of the parameter")
	case strings.ContainsAny(id, `/\%`) && (x.Status() == 400 || x.Status() == 404) && !promisesEncodedIDs(e):
		sign, encoded := refusedSign(id)
		return want.warned("an id with "+sign+" cannot be fetched; servers refuse "+encoded+" in paths by default", describe(x))
	case slices.Contains([]int{400, 404, 410, 422}, x.Status()) && servedByFunder(e, member, id):
		return want.warned("an item that is neither call nor programme cannot be fetched here", describe(x)).
			Hinting("funders serve single items of this type; leave the item out of the list or serve it")
	case isMissing && !known:
		return want.unclear("an item of a later page was not found, and whether it was removed during the run is not known", describe(x)).Hinting("repeat the run")
	case redirected(x):
		return want.unclear("the detail call is redirected elsewhere", describe(x)).Hinting("answer the record where the document describes it: clients do not send their token to another place")
	}
	return want.failed("a listed item cannot be fetched by its id", describe(x))
}

// judgeItemIdentity looks for the id at the top of the answer, or inside a usual envelope.
func judgeItemIdentity(e Evidence, x evidence.Exchange, member, id string, want Subject) Judgement {
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
	case len(got) == 0 && member != "id":
		return Passed(x.Label).Noting("the detail answer has no " + clip(member) + ", which identifies the records of the list")
	case len(got) == 0:
		return want.failed("the detail answer has no "+clip(member), "no "+clip(member))
	}
	return want.failed("the detail answer is another item", quote(got[0]))
}

// refusedSign returns the character of an id for which servers refuse a path, in words and percent-encoded.
func refusedSign(id string) (sign, encoded string) {
	switch {
	case strings.Contains(id, "/"):
		return "a slash", "%2F"
	case strings.Contains(id, `\`):
		return "a backslash", "%5C"
	}
	return "a percent sign", "%25"
}

// promisesEncodedIDs reports whether the document says of the ids of the detail operation that they are percent-encoded, or may hold a slash.
func promisesEncodedIDs(e Evidence) bool {
	o, _ := operation(e, e.Roles.Detail)
	texts := []string{o.Description}
	for _, p := range o.Parameters {
		if p.In == "path" {
			texts = append(texts, p.Description)
		}
	}
	encoded := regexp.MustCompile(`(?i)%2f|\b(ids?|path|slash\w*|identifiers?)\b[^.;]*\b(percent|url)[- ]?encod|\b(percent|url)[- ]?encod\w*[^.;]*\b(ids?|path|slash\w*|identifiers?)\b|prozent-?kodiert`)
	denial := regexp.MustCompile(`(?i)\b(not|no|never|cannot|without|except|refused?|nicht|nie|kein\w*|ohne|außer)\b|n't\b`)
	for _, text := range texts {
		for sentence := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(".;\n", r) }) {
			if encoded.MatchString(sentence) && !denial.MatchString(sentence) {
				return true
			}
		}
	}
	return false
}

// vanished reports whether an item that was not found has left the list, which is read again at the end. For an item of a later page, the first page does not
// show this: then the item is gone if the total is smaller than before and no later answer has it. known is false if there are no totals either.
func vanished(e Evidence, x evidence.Exchange, member, id string) (gone, known bool) {
	lastList, sent := e.Get(e.Roles.List.With(evidence.SecondWalk.List()))
	if !sent || !success(lastList) {
		return false, true
	}
	items, err := e.itemsOf(lastList)
	if err != nil || itemWith(items, member, id) != nil || lastList.Response.Truncated {
		return false, true
	}
	first := e.exchange(evidence.ListOperation.With(evidence.OK))
	if itemWith(itemsOrNone(e, first), member, id) != nil {
		return true, true
	}
	before, now := listPageOf(e, first).Total, listPageOf(e, lastList).Total
	later := slices.ContainsFunc(listRecords(e, member, id), func(r record) bool { return r.call.Started.After(x.Started) })
	if now < 0 || before < 0 {
		return false, later
	}
	return !later && now < before, true
}

// itemWith returns the item with the id, or nil.
func itemWith(items [][]byte, member, id string) []byte {
	i := slices.IndexFunc(items, func(item []byte) bool { return slices.Contains(openapi.MemberValues(item, member), id) })
	if i < 0 {
		return nil
	}
	return items[i]
}

// servedByFunder reports whether an item is neither a call nor a programme: only funders serve single items of other types.
func servedByFunder(e Evidence, member, id string) bool {
	records := listRecords(e, member, id)
	if len(records) == 0 {
		return false
	}
	types := openapi.MemberValues(records[0].item, "type")
	return len(types) == 1 && !slices.Contains([]string{"CALL", "PROGRAMME"}, types[0])
}

// faultyMembers returns the members that break their schema in one of the answers. API-04 to API-07 judge them.
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

// volatile reports whether a member may change from one request to the next, by its name: times, versions, counts and links.
func volatile(name string) bool {
	name = strings.ToLower(name)
	parts := []string{"modified", "updated", "changed", "timestamp", "retrieved", "version", "etag", "count", "views", "links", "href"}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}

// unwrap returns the item inside a usual envelope, or the text itself.
func unwrap(text []byte, member string) []byte {
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

// envelopes returns the names of members that may wrap a detail.
func envelopes() []string { return []string{"data", "item", "content", "result"} }

// valueInWords returns a short scalar itself, and the type of any other value: judgements do not contain whole records.
func valueInWords(text []byte) string {
	const short = 40
	if kind := textType(text); kind == "array" || kind == "object" || len(text) > short {
		return "another " + kind
	}
	return string(text)
}
