package requirement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// filters returns PAG-07.
func filters() []Requirement {
	list, after := evidence.ListOperation, afterDocument()
	return []Requirement{{
		ID: "PAG-07", Title: "Declared enum filters are applied",
		Level: Network, Gate: Gating, Profile: API,
		Source:   NET("R15"),
		Quote:    definedByDocument,
		Probe:    "The list operation with each declared filter that names a member of the items: with values seen in the data and with others of the vocabulary; for ids also with one that no item has; together with a page; two filters at once; and runningCalls with true and false. Searches for a word of the data, also in another case, in part, and with % or _ in it, and for a word that no item has. Values of the data for each parameter that bounds a number or a date, among them days just before and after midnight; and a range whose ends are exchanged, which no item fits. Two far values of each date and number: one of them must leave out something. Values of each other described filter that names no member: they must not all give the whole list. The documented default of each text and boolean, which must give the list without it. One instant with several offsets from UTC for each date with a time. The records of a filtered list with those of the whole one: the filter must neither cut them nor give them other values.",
		Forgives: "Members of another name than the parameter; items that match through an array, or that lack the member; a 404 for a value that matches nothing; items of one kind only, where the declared vocabulary has no other; two filters that are joined by or, or refused together (warnings); any reading of runningCalls that does not contradict itself; whether a bound itself is within, and in which time zone its day lies, where the document does not say it and all answers agree.",
		Fix:      "Apply the filter that the document declares. Where a framework drops unknown parameters, check that the code reads the declared name. If a parameter means something else than the member of its name, or selects nothing, say so in its description. Add each filter to the query as a further condition: code that rebuilds the query for each filter loses the others.",
		Breaks:   "The filter is ignored and all items come back.",
		Needs:    []evidence.Label{list.With("filter-seen")},
		Reads:    []evidence.Label{list.With("filter-other"), list.With(evidence.OK), evidence.WholeRun}, After: after, Check: onList(judgeFilters), Breach: uselessFilter,
	}}
}

// judgeFilters is the check of PAG-07.
func judgeFilters(e Evidence) Judgement {
	calls := []evidence.Exchange{e.exchange(evidence.ListOperation.With("filter-seen"))}
	for _, x := range e.Exchanges {
		if x.Label.Resource() == e.Roles.List && isMemberFilter(x) {
			calls = append(calls, x)
		}
	}
	all, err := e.itemsOf(e.exchange(evidence.ListOperation.With(evidence.OK)))
	var parts []Judgement
	proven := false // some call shows that the filter leaves out items
	for i, x := range calls {
		j := judgeFilterCall(e, x, i == 0 || x.Given["seen"] == "true")
		parts = append(parts, j)
		// If all items have one value, a call with another value shows that the filter works: its answer is an empty list or 404.
		proven = proven || (j.Outcome == Pass || i > 0 && x.Status() == 404) && excludes(e, all, x)
	}
	for _, x := range e.Exchanges {
		if x.Label.Resource() == e.Roles.List && isJoint(x.Label.Case()) {
			parts = append(parts, judgeJoinedFilters(e, x.Label.Case())...)
		}
	}
	paged, _ := judgeFilteredReadings(e)
	parts = slices.Concat(parts, paged, judgeBounds(e), judgeSearches(e), findIneffectiveParameters(e), findUnmatchedFilters(e), findIgnoredFilters(e), judgeExchangedRange(e), findWrongDefaults(e), findDifferentInstants(e), judgeRunningCalls(e), findCutRecords(e), findDifferingViews(e))
	j := gather(withoutRepeats(parts)...)
	why, skipped := e.Skipped(e.Roles.List.With("filter-other"))
	switch {
	case j.Outcome != Pass || proven:
		return j
	case err == nil && skipped && why.Kind == evidence.NotApplicable:
		return Inapplicable("all items have the value of the filter, and no other value excludes them: " + clip(why.Because)).Seen(calls[0].Label)
	case err != nil:
		return Unclear("the list without a filter cannot be compared: " + clip(err.Error())).Seen(calls[0].Label)
	}
	member, value := clip(calls[0].Given["member"]), quote(calls[0].Given["value"])
	return expect(calls[0], "items of more than one kind").unclear("all items have the value of the filter, so they cannot show that it works", member+" is "+value+" in all items").
		Hinting("put funding calls of more than one kind into the tested system, then repeat the run")
}

// isMemberFilter reports whether a call has one filter whose effect shows in a member of the items. It returns false for filter-seen, which the caller adds
// itself.
func isMemberFilter(x evidence.Exchange) bool {
	c := x.Label.Case()
	return c != "filter-seen" && !isJoint(c) && strings.HasPrefix(string(c), "filter-") && x.Given["member"] != ""
}

// isJoint reports whether a case has two or three filters.
func isJoint(c evidence.Case) bool {
	return c == "filter-both" || c == "filter-three" || strings.HasPrefix(string(c), "filter-pair-")
}

// excludes reports whether the list has items that the filter must exclude. Only then does the answer show that the filter works.
func excludes(e Evidence, all [][]byte, x evidence.Exchange) bool {
	return slices.ContainsFunc(all, func(item []byte) bool {
		return !containsFold(e.memberValues(item, x.Given["member"]), x.Given["value"])
	})
}

// judgeFilterCall judges one filtered list. exist is true if items with the value are known to exist.
func judgeFilterCall(e Evidence, x evidence.Exchange, exist bool) Judgement {
	c := condition{parameter: x.Given["parameter"], member: x.Given["member"], value: x.Given["value"], or: x.Given["or"]}
	filter, member := c.String(), c.member
	if !exist {
		c = c.asDescribed(e)
	}
	if member == "" {
		return Unclear("the recording does not name the member of the filter").Blaming(Suite).Seen(x.Label)
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	if refusedByNode(x) && !exist {
		return Judgement{Outcome: NotApplicable, Reason: filter + " is answered " + describe(x)}.Noting(filter + ", which matches nothing, is answered " + describe(x))
	}
	if order := x.Given["order"]; order != "" && !success(x) {
		return expect(x, "2xx with the items that match, in order").warned(filter+" is refused together with the order "+quote(order)+", although each is declared", describe(x))
	}
	if !success(x) {
		return expect(x, "2xx with the items that match").failed(filter+" is refused although the document declares it", describe(x))
	}
	if !exist && openapi.MeansAll(c.value) {
		return Passed(x.Label).Noting(filter + " may mean that the filter is off")
	}
	items, err := e.itemsOf(x)
	if err != nil {
		return expect(x, "a list").unclear("the filtered items cannot be read: "+clip(err.Error()), describe(x))
	}
	var wrong []Subject
	without := 0
	for i, item := range items {
		values := e.memberValues(item, member)
		switch {
		case len(values) == 0:
			without++
		case x.Given["open"] == "true" && containsPart(values, c.value):
		default:
			if has, contradicts := c.contradictedBy(e, item); contradicts {
				wrong = append(wrong, Subject{Name: fmt.Sprintf("%s $[%d].%s", callInWords(x), i, clip(member)), Label: x.Label, Expected: c.expected(), Got: quote(strings.Join(has, ", "))})
			}
		}
	}
	switch {
	case len(wrong) > 0:
		return Failed(fmt.Sprintf("%s gives %d of %d items that contradict it", filter, len(wrong), len(items)), clip(member)+" "+c.expected(), wrong[0].Got).About(wrong...).bounded()
	case without > 0 && !includesOthers(e, c.parameter):
		return expect(x, clip(member)+" "+c.expected()).warned(fmt.Sprintf("%s gives %s without %s", filter, evidence.Count(without, "item"), clip(member)), "no "+clip(member))
	case len(items) == 0 && exist:
		return e.judgeEmpty(x, expect(x, "the items that match").failed(filter+" gives nothing although the list has such items", "an empty list"), c)
	}
	if c.group != nil && !slices.ContainsFunc(items, func(item []byte) bool {
		return slices.ContainsFunc(c.group, func(v string) bool { return containsFold(e.memberValues(item, member), v) })
	}) {
		return Passed(x.Label) // the words may define the value, rather than name what else it brings
	}
	if surplus := e.filteredSurplus(x, items, c); surplus != nil {
		return e.blockIfPagesLose(*surplus)
	}
	if lost := e.filteredLoss(x, items, c); lost != nil {
		return e.blockIfPagesLose(*lost)
	}
	if len(items) == openapi.MaxItems {
		return Passed(x.Label).Noting(fmt.Sprintf("of the answer to %s the first %d items were compared", filter, len(items)))
	}
	return Passed(x.Label)
}

// includesOthers reports whether the document says of a filter that items without a value match, too.
func includesOthers(e Evidence, parameter string) bool {
	o, _ := operation(e, e.Roles.List)
	p, known := queryParameter(o, parameter)
	return known && regexp.MustCompile(`(?i)\b(without|with no|that have no|lacking|for all|open to all|in all|nationwide)\b|\balways (includ|list|shown|answer|return|part)|(^|\s)(ohne|immer|stets|alle|überall|bundesweit|österreichweit)`).MatchString(p.Description)
}

// filteredLoss returns the failure of a filtered list that lacks items of the complete list, or nil.
func (e Evidence) filteredLoss(x evidence.Exchange, items [][]byte, all ...condition) *Judgement {
	if x.Given["page"] != "" || !isCompleteAnswer(e, x) { // only a part of the list
		return nil
	}
	fits := func(item []byte) bool {
		return !slices.ContainsFunc(all, func(c condition) bool { return !c.fits(e, item) })
	}
	lost := lostItems(e, x, e.identities(items), fits)
	if len(lost) == 0 {
		return nil
	}
	j := itemLoss(x, conditionNames(all), lost, len(lost)+len(items))
	return &j
}

// conditionNames names the conditions of a request.
func conditionNames(all []condition) string {
	var names []string
	for _, c := range all {
		names = append(names, c.String())
	}
	return strings.Join(names, " together with ")
}

// containsPart reports whether a value is a part of one of the values. A filter without a vocabulary may match parts.
func containsPart(values []string, value string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return strings.Contains(strings.ToLower(v), strings.ToLower(value)) })
}

// blockIfPagesLose returns the judgement of a filter. If pages lose items without a filter, too, the fault is in the paging, and the result is blocked by
// PAG-03.
func (e Evidence) blockIfPagesLose(j Judgement) Judgement {
	p, _ := walkOf(e, evidence.FirstWalk)
	_, calls := readingOf(e, "whole")
	if len(p.Faults().Lost) == 0 && len(calls) == 0 || e.judge("PAG-03").Outcome != Fail {
		return j
	}
	return Judgement{Outcome: Blocked, BlockedBy: "PAG-03", Reason: "needs PAG-03, which is fail: pages lose items without a filter, too, and " + j.Reason, Subjects: j.Subjects}
}

// condition is a filter with its value, or a bound.
type condition struct {
	parameter, member, value string
	bound                    string   // "least" or "most", or "" for the value itself
	or                       string   // another value that matches, "" for none
	but                      string   // the only value that does not match, "" for none
	group                    []string // the other values that the value may mean, nil for none
	complete                 bool     // the value surely means the whole group
}

// conditionsOf returns the filters and bounds of a call from its recorded inputs.
func conditionsOf(x evidence.Exchange) []condition {
	var out []condition
	for _, prefix := range []string{"", "and", "third"} {
		name := func(n string) string {
			if prefix != "" {
				n = prefix + strings.ToUpper(n[:1]) + n[1:]
			}
			return x.Given[n]
		}
		if c := (condition{parameter: name("parameter"), member: name("member"), value: name("value"), bound: name("bound"), or: name("or")}); c.parameter != "" && c.member != "" {
			out = append(out, c)
		}
	}
	return out
}

// fits reports whether an item has the value, or lies within the bound.
func (c condition) fits(e Evidence, item []byte) bool {
	values := e.memberValues(item, c.member)
	if c.bound != "" {
		return len(values) > 0 && !slices.ContainsFunc(values, func(v string) bool { return side(v, c.value, c.bound, edge{}) <= 0 })
	}
	if c.but != "" {
		return len(values) > 0 && !slices.Contains(values, c.but)
	}
	matching := c.values()
	if c.complete {
		matching = slices.Concat(matching, c.group)
	}
	return slices.ContainsFunc(matching, func(v string) bool { return slices.Contains(values, v) })
}

// values returns the values that the filter names: an item matches if it has one of them.
func (c condition) values() []string {
	if c.or == "" {
		return []string{c.value}
	}
	return []string{c.value, c.or}
}

// isIn reports whether the values of the parameter in a URL contain those of the condition, separately or joined by commas.
func (c condition) isIn(values []string) bool {
	if slices.Contains(values, c.value) && (c.or == "" || slices.Contains(values, c.or)) {
		return true
	}
	joined := strings.Join(values, ",")
	return c.or != "" && strings.Contains(joined, c.value) && strings.Contains(joined, c.or)
}

func (c condition) String() string { return clip(c.parameter + "=" + strings.Join(c.values(), " or ")) }

// expected says what value an item must have.
func (c condition) expected() string {
	switch {
	case c.but != "":
		return "other than " + quote(c.but)
	case c.group != nil:
		return quote(strings.Join(append([]string{c.value}, c.group...), " or "))
	}
	if c.or == "" {
		return quote(c.value)
	}
	return quote(c.value) + " or " + quote(c.or)
}

// contradictedBy reports whether an item has the member without the value, or beyond the bound. Items without the member are not wrong here: [judgeFilterCall]
// judges them in the call with this filter alone.
func (c condition) contradictedBy(e Evidence, item []byte) (has []string, wrong bool) {
	has = e.memberValues(item, c.member)
	if form := formInList(e, c.member); form.Differs || form.Rounded && c.bound != "" {
		return has, false // the filter sees the value of the record, and the list shows another
	}
	if c.bound != "" {
		return has, len(has) > 0 && !slices.ContainsFunc(has, func(v string) bool { return side(v, c.value, c.bound, edge{}) >= 0 })
	}
	if c.but != "" {
		return has, len(has) == 1 && containsFold(has, c.but)
	}
	return has, len(has) > 0 && !slices.ContainsFunc(slices.Concat(c.values(), c.group), func(v string) bool { return containsFold(has, v) })
}

// judgeJoinedFilters judges the call with two filters, or three: a filter that the items contradict was not applied. The published document does not say
// that filters are joined by "and", so a node that joins them by "or" gets a warning.
func judgeJoinedFilters(e Evidence, together evidence.Case) []Judgement {
	x, sent := e.Get(e.Roles.List.With(together))
	if !sent {
		return nil
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return []Judgement{j}
	}
	all := conditionsOf(x)
	if len(all) < 2 {
		return []Judgement{Unclear("the recording does not name the members of the filters").Blaming(Suite).Seen(x.Label)}
	}
	if !success(x) {
		return []Judgement{expect(x, "2xx with the items that match both").warned(fmt.Sprintf("%s is refused together with %s, although each is declared", all[0], all[1]), describe(x))}
	}
	items, err := e.itemsOf(x)
	switch {
	case err != nil:
		return []Judgement{expect(x, "a list").unclear("the items that match two filters cannot be read: "+clip(err.Error()), describe(x))}
	case len(items) == 0:
		j := expect(x, "the items that match both").failed(fmt.Sprintf("%s together with %s gives nothing although the list has such items", all[0], all[1]), "an empty list")
		return []Judgement{e.judgeEmpty(x, j, all...)}
	}
	j := judgeJoin(e, x, all, items)
	if surplus := e.filteredSurplus(x, items, all...); surplus != nil && j.Outcome == Pass {
		return []Judgement{e.blockIfPagesLose(*surplus)}
	}
	if lost := e.filteredLoss(x, items, all...); lost != nil && j.Outcome == Pass {
		j = e.blockIfPagesLose(*lost)
	}
	return []Judgement{j}
}

// joinsByOr reports whether the node joins filters by "or": the answer has all items that fit one of them. A filter that replaces the others leaves out
// items that fit only the others. If the complete list is not known, each filter must contradict some item of the answer.
func joinsByOr(e Evidence, x evidence.Exchange, all []condition, items [][]byte, complete bool) bool {
	fits := func(item []byte) bool {
		return slices.ContainsFunc(all, func(c condition) bool { return c.fits(e, item) })
	}
	if _, known := wholeList(e); known && complete {
		return len(lostItems(e, x, e.identities(items), fits)) == 0
	}
	for _, c := range all {
		if !slices.ContainsFunc(items, func(item []byte) bool { _, isContradicted := c.contradictedBy(e, item); return isContradicted }) {
			return false
		}
	}
	return true
}

// saysAnd reports whether the document joins filters by "and".
func saysAnd(e Evidence) bool {
	o, _ := operation(e, e.Roles.List)
	text := o.Description
	for _, p := range o.QueryParameters() {
		text += ". " + p.Description
	}
	return regexp.MustCompile(`(?i)\bfilters?\b[^.]{0,60}\b(and|together|conjunction)\b|\ball (of the )?(filters|conditions|criteria)\b`).MatchString(text) &&
		!regexp.MustCompile(`(?i)\bfilters?\b[^.]{0,60}(\bOR\b|\bany of\b)`).MatchString(text)
}

// judgeJoin judges how two or three filters were joined.
func judgeJoin(e Evidence, x evidence.Exchange, all []condition, items [][]byte) Judgement {
	wrong := make([][]Subject, len(all)) // the items that contradict each filter
	anyFits := true                      // each item fits at least one of them
	for i, item := range items {
		misses := 0
		for n, c := range all {
			if has, isContradicted := c.contradictedBy(e, item); isContradicted {
				misses++
				wrong[n] = append(wrong[n], Subject{Name: fmt.Sprintf("%s $[%d].%s", callInWords(x), i, clip(c.member)), Label: x.Label,
					Expected: quote(c.value), Got: quote(strings.Join(has, ", "))})
			}
		}
		anyFits = anyFits && misses < len(all)
	}
	ignored, other := 0, 1 // the filter that most items contradict, and the next one
	for n := range wrong[1:] {
		if len(wrong[n+1]) > len(wrong[ignored]) {
			ignored, other = n+1, ignored
		} else if len(wrong[n+1]) > len(wrong[other]) || other == ignored {
			other = n + 1
		}
	}
	c, found := all[ignored], wrong[ignored]
	switch {
	case len(found) == 0:
		return Passed(x.Label)
	case anyFits && !saysAnd(e) && joinsByOr(e, x, all, items, isCompleteAnswer(e, x)):
		return Warned(fmt.Sprintf("%s together with %s gives items that fit only one of them", all[0], all[1]), "items that match both", found[0].Got).
			Hinting("join filters by \"and\", as clients of the network expect; or document that they are joined by \"or\"").About(found...).bounded()
	}
	return Failed(fmt.Sprintf("%s is not applied together with %s: %d of %s contradict it", c, all[other], len(found), evidence.Count(len(items), "item")),
		clip(c.member)+" "+quote(c.value), found[0].Got).About(found...).bounded()
}
