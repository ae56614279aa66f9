package requirement

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file finds items that a list has only with a filter, for PAG-07: a filter narrows a list. A query that is built for each filter often lacks a
// condition of the list, so that it gives drafts or the records of other clients (OWASP API1).

// filteredSurplus returns the failure of a filtered list that has items which the complete list lacks, or nil. Each filter must fit some item of the
// complete list: a list may leave out all records of one kind until a filter asks for them.
func (e Evidence) filteredSurplus(x evidence.Exchange, items [][]byte, all ...condition) *Judgement {
	whole, ok := wholeList(e)
	if !ok || len(items) == 0 {
		return nil
	}
	surplus := openapi.Missing(e.identities(items), e.identities(whole))
	if len(surplus) == 0 || e.unsteady() || e.leavesOutByDefault() || slices.ContainsFunc(items, e.isAnonymous) || slices.ContainsFunc(whole, e.isAnonymous) {
		return nil
	}
	for _, c := range all {
		if c.bound != "" || !slices.ContainsFunc(whole, func(item []byte) bool { return c.fits(e, item) }) {
			return nil
		}
	}
	if surplus = openapi.Missing(surplus, e.unfilteredIDs()); len(surplus) == 0 {
		return nil
	}
	words := ""
	for i, c := range all {
		if i > 0 {
			words += " together with "
		}
		words += c.String()
	}
	count := evidence.Count(len(surplus), "item")
	j := expect(x, "items of the list without a filter").failed(words+" gives "+count+" that the list without a filter does not have", "item "+quote(surplus[0])).
		Hinting("add the filter to the query of the list, and keep its other conditions, such as the affiliation of the client or the state of the record")
	for _, item := range surplus {
		j = j.About(Subject{Name: fmt.Sprintf("%s, item %s", callInWords(x), quote(item)), Label: x.Label, Expected: "in the list without a filter", Got: "missing there"})
	}
	j = j.bounded()
	return &j
}

// unfilteredIDs returns the ids of all items in answers of the list without a filter or a search.
func (e Evidence) unfilteredIDs() []string {
	o, _ := operation(e, e.Roles.List)
	var out []string
	for _, x := range operationAnswers(e) {
		i := slices.IndexFunc(o.QueryParameters(), func(p openapi.Parameter) bool { return p.Name == x.Given["parameter"] })
		narrowed := len(conditionsOf(x)) > 0 || x.Given["search"] != "" || x.Given["parameter"] != "" && (i < 0 || openapi.RoleOf(o.QueryParameters()[i]) == "")
		if x.Label.Resource() == e.Roles.List && success(x) && asGoodClient(x) && !narrowed {
			out = append(out, e.identities(itemsOrNone(e, x))...)
		}
	}
	return out
}

// leavesOutByDefault reports whether the document says that the list leaves out some records until a call asks for them.
func (e Evidence) leavesOutByDefault() bool {
	o, known := operation(e, e.Roles.List)
	if !known {
		return false
	}
	const kinds = `(archived?|closed|past|expired|ended|withdrawn|former|inactive|finished|older?|superseded)`
	const records = `(calls?|records?|fundings?|programmes?|projects?|entries|items|ones)`
	const these = `\b(` + kinds + ` ` + records + `|` + records + ` (that |which )?(are|is|have|has) ` + kinds + `)\b`
	const absent = `\b(by default|unless|only (with|if|when)|left out|leaves? out|excluded?|not (listed|shown|included|returned)|omitted|hidden)\b`
	said := regexp.MustCompile(`(?i)` + these + `[^.]{0,100}` + absent + `|` + absent + `[^.]{0,100}` + these)
	return e.Spec.Says(o, said) || e.Spec.SaysOfAll(said)
}
