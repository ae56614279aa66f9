package requirement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file finds records that a client gets and its own list lacks (OWASP API1). For PAG-07 it finds items that a list has only with a filter: a query that
// is built for each filter often lacks a condition of the list. For PAG-09 it finds records by the ids of another client's list.

// filteredSurplus returns the failure of a filtered list that has items which the complete list lacks, or nil. Each filter must fit some item of the
// complete list: a list may leave out all records of one kind until a filter asks for them.
func (e Evidence) filteredSurplus(x evidence.Exchange, items [][]byte, all ...condition) *Judgement {
	allItems, ok := wholeList(e)
	if !ok || len(items) == 0 {
		return nil
	}
	surplus := openapi.Missing(e.identities(items), e.identities(allItems))
	if len(surplus) == 0 || e.unsteady() || e.leavesOutByDefault() || slices.ContainsFunc(items, e.isAnonymous) || slices.ContainsFunc(allItems, e.isAnonymous) {
		return nil
	}
	for _, c := range all {
		if c.bound != "" || !slices.ContainsFunc(allItems, func(item []byte) bool { return c.fits(e, item) }) {
			return nil
		}
	}
	surplus = openapi.Missing(surplus, e.unfilteredIDs())
	if len(surplus) == 0 {
		return nil
	}
	count := evidence.Count(len(surplus), "item")
	j := expect(x, "items of the list without a filter").failed(conditionNames(all)+" gives "+count+" that the list without a filter does not have", "item "+quote(surplus[0])).
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
		isNarrowed := len(conditionsOf(x)) > 0 || x.Given["search"] != "" || x.Given["parameter"] != "" && (i < 0 || openapi.RoleOf(o.QueryParameters()[i]) == "")
		if x.Label.Resource() == e.Roles.List && success(x) && isOrdinaryCall(x) && !isNarrowed {
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

// maxForeignIDs bounds the ids from the list of one client that the other client requests.
const maxForeignIDs = 4

// findForeignRecords finds records that a client reads by an id that only the list of the other client has.
func findForeignRecords(e Evidence) []Judgement {
	// theirs is the list of the other client, own is that of the first client.
	theirs, own := e.exchange(e.Roles.List.With(evidence.ForeignList)), e.exchange(e.Roles.List.With(evidence.OwnList))
	allItems, complete := wholeList(e)
	if !success(theirs) || !complete || e.unsteady() {
		return nil
	}
	ownIDs, theirIDs := e.identities(itemsOrNone(e, own)), e.identities(itemsOrNone(e, theirs))
	allOwnIDs := slices.Concat(e.identities(allItems), e.unfilteredIDs(), ownIDs)
	promised := keepsApart(e)
	var parts []Judgement
	for n := 1; n <= maxForeignIDs; n++ {
		if x, sent := e.Get(e.Roles.Detail.With(evidence.ForeignIDCase(n))); sent && !slices.Contains(allOwnIDs, x.Given["asked"]) {
			parts = append(parts, judgeForeignRecord(e, x, promised, "the first client gets a record by its id that its own list lacks, and that the list of another client has")...)
		}
		if x, sent := e.Get(e.Roles.Detail.With(evidence.OwnIDCase(n))); sent && isCompleteAnswer(e, theirs) && !slices.Contains(theirIDs, x.Given["asked"]) &&
			slices.Contains(ownIDs, x.Given["asked"]) {
			parts = append(parts, judgeForeignRecord(e, x, promised, "another client gets a record by its id that its own list lacks, and that the list of the first client has")...)
		}
	}
	return parts
}

// judgeForeignRecord judges a detail that a client got although its list lacks the record. promised is true if the document says that records are for some
// clients only.
func judgeForeignRecord(e Evidence, x evidence.Exchange, promised bool, reason string) []Judgement {
	text, err := e.jsonText(x)
	if !success(x) || err != nil || len(x.Redirects) > 0 {
		return nil
	}
	record := unwrap(text, e.identityMember())
	if e.identity(record) != x.Given["asked"] {
		return nil
	}
	want, got := expect(x, "404, or 403"), "the record of "+quote(x.Given["asked"])
	why := restriction(record)
	switch {
	case why != "":
		return []Judgement{want.failed(reason+": "+why, got).Hinting(hiddenHint)}
	case promised:
		return []Judgement{want.failed(reason+", although the document says that records are not for other clients", got).Hinting(hiddenHint)}
	}
	return []Judgement{want.warned(reason+fmt.Sprintf("; the document does not say whether %s gives each client all records", resourceName(e, x.Label.Resource())), got).Hinting(hiddenHint)}
}

// restriction returns the member that says that a record is for some clients only, or "".
func restriction(record []byte) string {
	for _, name := range []string{"visibility", "access", "audience", "confidentiality", "sharing"} {
		text := strings.Join(openapi.MemberValues(record, name), ", ")
		if regexp.MustCompile(`(?i)affiliation|owner|private|internal|restricted|confidential|tenant|organi[sz]ation|own\b|members?`).MatchString(text) {
			return clip(name + " is " + text)
		}
	}
	return ""
}

// keepsApart reports whether the document says that records are for some clients only.
func keepsApart(e Evidence) bool {
	const whose = `\b(affiliations?|owners?|tenants?|organi[sz]ations?|(other|another|calling|own) clients?|service accounts?)\b`
	const alone = `\b(only|never|no other|others?|nobody else|not (shown|visible|found|listed))\b`
	said := regexp.MustCompile(`(?i)` + whose + `[^.]{0,140}` + alone + `|` + alone + `[^.]{0,140}` + whose)
	list, _ := operation(e, e.Roles.List)
	detail, _ := operation(e, e.Roles.Detail)
	return e.Spec.Says(list, said) || e.Spec.Says(detail, said) || e.Spec.SaysOfAll(said)
}
