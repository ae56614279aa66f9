package requirement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges records that the list of one client has and that of another lacks, for PAG-09: a client must not get a record by its id that is not
// for that client (OWASP API1).

// maxForeignIDs bounds the ids of one client's list that the other client asks for.
const maxForeignIDs = 4

// foreignRecords finds records that a client reads by an id that only the list of the other client has.
func foreignRecords(e Evidence) []Judgement {
	theirs, own := e.exchange(e.Roles.List.With(evidence.ForeignList)), e.exchange(e.Roles.List.With(evidence.OwnList))
	whole, complete := wholeList(e)
	if !success(theirs) || !complete || e.unsteady() {
		return nil
	}
	listed := slices.Concat(e.identities(whole), e.unfilteredIDs(), e.identities(itemsOrNone(e, own)))
	foreign := e.identities(itemsOrNone(e, theirs))
	promised := keepsApart(e)
	var parts []Judgement
	for n := 1; n <= maxForeignIDs; n++ {
		if x, sent := e.Get(e.Roles.Detail.With(evidence.ForeignIDCase(n))); sent && !slices.Contains(listed, x.Given["asked"]) {
			parts = append(parts, foreignRecord(e, x, promised, "the list of the first client lacks a record that it gets by its id, and that the list of another client has")...)
		}
		if x, sent := e.Get(e.Roles.Detail.With(evidence.OwnIDCase(n))); sent && completeAnswer(e, theirs) && !slices.Contains(foreign, x.Given["asked"]) &&
			slices.Contains(e.identities(itemsOrNone(e, own)), x.Given["asked"]) {
			parts = append(parts, foreignRecord(e, x, promised, "the list of another client lacks a record that it gets by its id, and that the list of the first client has")...)
		}
	}
	return parts
}

// foreignRecord judges a detail that a client got although its list lacks the record.
func foreignRecord(e Evidence, x evidence.Exchange, promised bool, reason string) []Judgement {
	text, err := e.jsonText(x)
	if !success(x) || err != nil || len(x.Redirects) > 0 {
		return nil
	}
	record := unwrapped(text, "id")
	if got := openapi.MemberValues(record, "id"); len(got) != 1 || got[0] != x.Given["asked"] {
		return nil
	}
	want, got := expect(x, "404, or 403"), "the record of "+quote(x.Given["asked"])
	why := restriction(record)
	switch {
	case why != "":
		return []Judgement{want.failed(reason+": "+why, got).Hinting(hiddenHint)}
	case promised:
		return []Judgement{want.failed(reason+", although the document says that it is not for others", got).Hinting(hiddenHint)}
	}
	return []Judgement{want.warned(reason+fmt.Sprintf("; the document does not say whether %s is for every client", resourceName(e, x.Label.Resource())), got).Hinting(hiddenHint)}
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
