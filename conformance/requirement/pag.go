package requirement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// pageParameters returns the requirements on the size parameter and on bad values.
func pageParameters() []Requirement {
	list, after := evidence.ListOperation, afterDocument()
	return []Requirement{
		{
			ID: "PAG-02", Title: "Declared size parameter limits the page",
			Level: Network, Gate: Gating, Profile: API,
			Source:   NET("R15"),
			Quote:    definedByDocument,
			Probe:    "The list operation with its declared size parameter at 2 (at 1 where the list has two items), or at the declared minimum; and the pages of PAG-03.",
			Forgives: "Pages that are smaller; a size parameter that is not declared, which is only reported; a list too short for two pages, to which this does not apply.",
			Fix:      "Apply the declared parameter, or take it out of the document. Spring Data: spring.data.web.pageable.size-parameter must be the declared name, such as page[size].",
			Breaks:   "The size parameter is ignored.",
			Needs:    []evidence.Label{list.With("size-2")},
			Reads:    []evidence.Label{list.With(evidence.OK), evidence.WholeRun}, After: after, Check: onList(judgePageSize),
		},
		{
			ID: "PAG-05", Title: "Percent-encoded and raw brackets behave alike",
			Level: Recommended, Gate: Information, Profile: API,
			Source:   RFC(3986, "3.2.2").And(RFC(3986, "3.4")),
			Quote:    "This is the only place where square bracket characters are allowed in the URI syntax.",
			Probe:    "The list operation with ?page%5Bsize%5D=2 and with ?page[size]=2.",
			Forgives: "A refusal of the raw brackets (a warning): by the standard they must be encoded, but the network's client sends them.",
			Fix:      "Read the query percent-decoded, whatever its spelling. Tomcat refuses raw brackets unless relaxedQueryChars=\"[]\" is set on the connector (Spring Boot: server.tomcat.relaxed-query-chars).",
			Breaks:   "Only raw brackets are understood.",
			Needs:    []evidence.Label{list.With("size-raw"), list.With("size-2")},
			Reads:    []evidence.Label{list.With(evidence.OK), evidence.WholeRun}, After: after, Check: onList(judgeBrackets),
		},
		{
			ID: "PAG-06", Title: "Bad values of parameters are client errors or defaults, never 5xx",
			Level: Recommended, Gate: Gating, Profile: API,
			Source:   RFC(9110, "15.5.1"),
			Quote:    "The 400 (Bad Request) status code indicates that the server cannot or will not process the request due to something that is perceived to be a client error",
			Probe:    "The list operation with the size -1, 0, abc and 99999999999, the page -1 and abc, a filter value that is not in its vocabulary, and an unknown parameter. Each operation with values that the document does not allow: outside of a vocabulary, just beyond a bound or a length, of another type, or left out although required. Values that often break parsers: half an escape, a single quote, a repeated parameter, a number beyond 64 bits, a date that does not exist. A range whose ends are exchanged.",
			Forgives: "Any 4xx, the default instead of the bad value, an empty list, 503 with Retry-After, and a 5xx that came once only. Only a warning for bytes that are not UTF-8, control characters, half escapes and very long values, except in the profile full. Unless the document says that the node refuses them: the whole list for a value that is not in the vocabulary (a warning) or has another type, and the first page for a cursor that cannot be read.",
			Fix:      "Check parameters before they reach the database and answer 400. Spring: @Validated with @Min and @Max, and a handler for MethodArgumentTypeMismatchException and ConstraintViolationException; Flask: catch ValueError of int().",
			Breaks:   "size=abc gives 500.",
			Needs:    []evidence.Label{list.With("unknown-query")},
			Reads:    []evidence.Label{evidence.WholeRun}, After: after, Check: onList(judgeBadValues),
		},
	}
}

// afterDocument returns the requirements that must pass before those of the list are judged: a token and a document.
func afterDocument() []ID { return []ID{"TOK-01", "SPC-01", "SPC-03"} }

// onList extends a check of the list operation to the other lists of the node. If API-03 does not pass, its judgement is returned instead; a list without a
// schema is checked nevertheless.
func onList(check func(e Evidence) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		if j, ok := e.topLevelFits(); !ok && j.Outcome != NotApplicable {
			return j
		}
		return addOtherLists(e, check(e), check)
	}
}

// addOtherLists adds the failures and warnings that the check finds on the other lists of the node. It ignores all other outcomes.
func addOtherLists(e Evidence, j Judgement, check func(e Evidence) Judgement) Judgement {
	parts := []Judgement{j}
	for _, other := range e.Roles.OtherLists {
		if x, _ := e.Get(other.List.With(evidence.OK)); !success(x) {
			continue
		}
		if found := check(e.withList(other)); found.Outcome == Fail || found.Outcome == Warn {
			parts = append(parts, found)
		}
	}
	if len(parts) == 1 || j.Outcome == Blocked {
		return j
	}
	return gather(parts...)
}

// withList returns the evidence with another list of the node in place of the list of funding calls.
func (e Evidence) withList(other evidence.ListRoles) Evidence {
	return remember(e.judged, "at "+string(other.List), func() Evidence {
		log := *e.Log
		log.Roles.List, log.Roles.Detail, log.Roles.OtherLists = other.List, other.Detail, nil
		changed := e
		changed.Log, changed.judged = &log, &sync.Map{}
		remember(changed.judged, ID("API-03"), func() Judgement { return e.judge("API-03") }) // API-03 has one judgement for all lists
		return changed
	})
}

// smallestPage is the page size of PAG-02, unless the document declares a greater minimum.
const smallestPage = 2

// judgePageSize is the check of PAG-02.
func judgePageSize(e Evidence) Judgement {
	x, plain := e.exchange(evidence.ListOperation.With("size-2")), e.exchange(evidence.ListOperation.With(evidence.OK))
	parameter, size := x.Given["parameter"], smallestPage
	if n, err := strconv.Atoi(x.Given["value"]); err == nil && n > 0 {
		size = n
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	items, err := e.itemsOf(x)
	if parameter != "" && !declaresQuery(e, parameter) {
		return Inapplicable("no size parameter is declared").Noting(fmt.Sprintf("%s=%d, which is not declared, gives %s", clip(parameter), size, countOf(items, err)))
	}
	call := fmt.Sprintf("%s=%d", clip(parameter), size)
	switch {
	case !success(x):
		return expect(x, "2xx with at most "+strconv.Itoa(size)+" items").failed("the declared size parameter is refused", describe(x))
	case err != nil:
		return expect(x, "a list").unclear("the items of the page cannot be counted: "+clip(err.Error()), describe(x))
	case len(items) > size && len(items) <= largestPage(e)(size):
		if j, found := findOversizedPage(e); found {
			return j
		}
		if all, err := e.itemsOf(plain); err == nil && len(items) < len(all) {
			return Passed(x.Label, plain.Label).Noting(call + " gives " + evidence.Count(len(items), "item") + ": small sizes are raised, as the document says")
		}
		return Inapplicable("the document says that small page sizes are raised, and the list has too few items to show it").Seen(x.Label, plain.Label)
	case len(items) > size:
		return expect(x, "at most "+evidence.Count(size, "item")).failed(call+" gives "+evidence.Count(len(items), "item"), evidence.Count(len(items), "item"))
	}
	if j, found := findOversizedPage(e); found {
		return j
	}
	all, err := e.itemsOf(plain)
	if usual, ok := defaultSize(e); ok && err == nil && success(plain) && len(all) > usual {
		return expect(plain, "at most "+evidence.Count(usual, "item")).failed(fmt.Sprintf("the document says that a page has %s by default, and the list without parameters has %d", evidence.Count(usual, "item"), len(all)), evidence.Count(len(all), "item"))
	}
	switch {
	case err != nil || !success(plain):
		return expect(plain, "a list").unclear("the list without parameters cannot be compared", describe(plain))
	// A list with fewer than two items, or with fewer than the smallest page holds, may be correct. A repeated run would not show more.
	case len(all) < 2:
		return Inapplicable(fmt.Sprintf("the list has %s, too few for two pages, so it cannot show that a page size limits it", evidence.Count(len(all), "item"))).Seen(x.Label, plain.Label)
	case len(all) <= size && size > smallestPage:
		return Inapplicable(fmt.Sprintf("the list has %s, and the smallest page that the document allows has %d", evidence.Count(len(all), "item"), size)).Seen(x.Label, plain.Label)
	case len(all) <= size:
		return expect(x, "more than "+evidence.Count(size, "item")+" in all").unclear(fmt.Sprintf("the list has only %s, so a page of %d proves nothing", evidence.Count(len(all), "item"), size), strconv.Itoa(len(all))).
			Hinting("put more funding calls into the tested system, then repeat the run")
	case len(items) == 0:
		return expect(x, "up to "+evidence.Count(size, "item")).warned(call+" gives an empty page although the list has items", "no items")
	}
	return Passed(x.Label, plain.Label)
}

// defaultSize returns the documented default of the size parameter.
func defaultSize(e Evidence) (n int, ok bool) {
	o, _ := operation(e, e.Roles.List)
	p, described := o.QueryWithRole(openapi.SizeRole)
	if !described || p.Schema.Default == nil {
		return 0, false
	}
	n, err := strconv.Atoi(string(p.Schema.Default))
	return n, err == nil && n > 0
}

// findOversizedPage finds an answer of the list with more items than the page size that was requested, or than the size to which the node raises it.
func findOversizedPage(e Evidence) (j Judgement, found bool) {
	largest := largestPage(e)
	for _, x := range listAnswers(e) {
		size, err := strconv.Atoi(x.Given["size"])
		if err != nil || !success(x) {
			continue
		}
		items, errItems := e.itemsOf(x)
		if errItems != nil || len(items) <= largest(size) {
			continue
		}
		call := fmt.Sprintf("%s=%d", clip(x.Given["sizeParameter"]), size)
		if x.Given["parameter"] != "" {
			call += " with " + clip(x.Given["parameter"]) + "=" + clip(x.Given["value"])
		}
		expected := "at most " + evidence.Count(size, "item")
		return expect(x, expected).failed(call+" gives "+evidence.Count(len(items), "item"), evidence.Count(len(items), "item")), true
	}
	return Judgement{}, false
}

// listAnswers returns the answers of the list operation to calls with a good token, in the order of the log.
func listAnswers(e Evidence) []evidence.Exchange {
	var out []evidence.Exchange
	for _, x := range e.Exchanges {
		if x.Answered() && e.Roles.List != "" && x.Label.Resource() == e.Roles.List && isOrdinaryCall(x) {
			out = append(out, x)
		}
	}
	return out
}

// countOf names the number of items of a list, or says that there is no list.
func countOf(items [][]byte, err error) string {
	if err != nil {
		return "no list"
	}
	return evidence.Count(len(items), "item")
}

// declaresQuery reports whether the list operation declares the query parameter, by its name or as a member of a deep object ("page[size]" as
// the member size of page). It returns true if there is no document.
func declaresQuery(e Evidence, name string) bool {
	o, ok := operation(e, e.Roles.List)
	if !ok {
		return true
	}
	object, member, deep := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	for _, p := range o.Parameters {
		if p.In != "query" {
			continue
		}
		_, has := p.Schema.Properties[member]
		if p.Name == name || deep && p.Name == object && has {
			return true
		}
	}
	return false
}

// judgeBrackets is the check of PAG-05.
func judgeBrackets(e Evidence) Judgement {
	raw, encoded := e.exchange(evidence.ListOperation.With("size-raw")), e.exchange(evidence.ListOperation.With("size-2"))
	for _, x := range []evidence.Exchange{raw, encoded} {
		if j, unclear := inconclusiveAnswer(x); unclear && !serverError(x) {
			return j
		}
	}
	allItems, _ := e.itemsOf(e.exchange(evidence.ListOperation.With(evidence.OK)))
	withRaw, withEncoded := readSizedPage(e, raw, allItems), readSizedPage(e, encoded, allItems)
	name := clip(raw.Given["parameter"])
	if !declaresQuery(e, raw.Given["parameter"]) && !withRaw.limited && !withEncoded.limited {
		return Inapplicable(name + " is neither declared nor effective")
	}
	const expected = "the same page for both spellings"
	spelled := "encoded: " + withEncoded.got + ", raw: " + withRaw.got
	switch {
	case withRaw.listed && withEncoded.listed && slices.Equal(withRaw.items, withEncoded.items):
		return Passed(raw.Label, encoded.Label)
	case withRaw.limited && withEncoded.limited && len(withRaw.items) == len(withEncoded.items) && (listChanged(e) || e.unsteady()):
		return Passed(raw.Label, encoded.Label).Noting("the list changed meanwhile, so the items of the two pages differ")
	case withRaw.limited && !withEncoded.limited:
		return expect(encoded, expected).failed(name+" works with raw brackets only", spelled).
			Hinting("decode the names of query parameters before they are looked up: clients and proxies encode brackets")
	case withEncoded.listed && !withRaw.listed:
		return expect(raw, expected).warned("raw brackets are refused; the network's client sends them", spelled)
	case withEncoded.limited && !withRaw.limited:
		return expect(raw, expected).warned("raw brackets are ignored; the network's client sends them", spelled)
	case !withEncoded.listed && !withRaw.listed:
		return Inapplicable("the size parameter is refused in both spellings, which PAG-02 judges")
	}
	return expect(raw, expected).warned("raw and encoded brackets give different pages", spelled)
}

// listChanged reports whether the list had other items when it was read again.
func listChanged(e Evidence) bool {
	first, _ := walkOf(e, evidence.FirstWalk)
	again, _ := walkOf(e, evidence.SecondWalk)
	return len(again.Unpaged) > 0 && !slices.Equal(slices.Sorted(slices.Values(first.Unpaged)), slices.Sorted(slices.Values(again.Unpaged)))
}

// sizedPage is the result of a call with a page size.
type sizedPage struct {
	items           []string
	listed, limited bool   // limited: fewer items than the whole list
	got             string // for people
}

// readSizedPage reads the answer to a call with a page size. allItems has the items of the list without parameters.
func readSizedPage(e Evidence, x evidence.Exchange, allItems [][]byte) sizedPage {
	items, err := e.itemsOf(x)
	p := sizedPage{listed: success(x) && err == nil, got: describe(x)}
	if p.listed {
		p.items, p.got = e.identities(items), evidence.Count(len(items), "item")
		p.limited = len(items) < len(allItems)
	}
	return p
}

// judgeBadValues is the check of PAG-06.
func judgeBadValues(e Evidence) Judgement {
	var parts []Judgement
	for _, c := range []evidence.Case{"size-negative", "size-zero", "size-text", "size-huge",
		"page-negative", "page-text", "filter-bad", "unknown-query"} {
		label := e.Roles.List.With(c)
		if x, sent := e.Get(label); sent {
			parts = append(parts, judgeBadValue(e, x))
			continue
		}
		if j, missing := e.missingAnswer(label); missing && j.Outcome == Inconclusive {
			parts = append(parts, j)
		}
	}
	for _, c := range []evidence.Case{"page-huge", "page-last", "page-end", "range-exchanged"} {
		if x, sent := e.Get(e.Roles.List.With(c)); sent { // older evidence lacks these calls
			parts = append(parts, judgeBadValue(e, x))
		}
	}
	parts = append(parts, findForbiddenValueCrashes(e)...)
	return gather(slices.Concat(parts, findDroppedValues(e), findDroppedCursors(e))...)
}

// judgeBadValue judges one call with a bad value.
func judgeBadValue(e Evidence, x evidence.Exchange) Judgement {
	want := expect(x, "4xx, or the default instead of the value")
	call := clip(x.Given["parameter"] + "=" + x.Given["value"])
	switch {
	case x.Failure != nil && x.Failure.Kind == evidence.FailureTimeout:
		return want.failed(call+" is not answered in time", describe(x))
	case serverError(x):
		return want.failed(call+" breaks the node", describe(x))
	case clientError(x) && !rateLimited(x):
		return Passed(x.Label) // a firewall in front of the node may refuse it, too
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	items, err := e.itemsOf(x)
	if x.Label.Case() == "filter-bad" && success(x) && err == nil && len(items) > 0 {
		return expect(x, "400 or an empty list").warned(fmt.Sprintf("%s, which is not in the vocabulary, gives %s as if it had not been sent", call, evidence.Count(len(items), "item")), evidence.Count(len(items), "item")).
			Hinting("answer 400 and name the values that are allowed: a client with a misspelt filter takes the whole list for the result")
	}
	return Passed(x.Label)
}
