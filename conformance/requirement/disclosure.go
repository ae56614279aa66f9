package requirement

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file finds protected data in every recorded answer to a request without a good credential, whatever the request was sent for.

// lacksGoodToken reports whether a request has no access token of the run. A token that the request presents as bad does not count. The ISO
// requirements judge tokens of other audiences and environments.
func lacksGoodToken(x evidence.Exchange) bool {
	if p := x.Presented; p != nil {
		return !strings.HasPrefix(p.Name, "other_") && !strings.HasPrefix(p.Name, "staging_")
	}
	texts := append(headerTexts(x.Request.Header), x.Request.URL, string(x.Request.Body))
	return !slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(text, markerStart+"access_token") || strings.Contains(text, markerStart+spareToken)
	})
}

// spareToken is the name in evidence of the token of the client that may be locked out.
const spareToken = "spare_access_token"

// isDisclosure reports whether an answer gives content to a request without a good token.
func isDisclosure(x evidence.Exchange) bool {
	hasContent := success(x) && x.Request.Method != "HEAD" && len(bytes.TrimSpace(x.Response.Body)) > 0
	return hasContent && lacksGoodToken(x) && !isTryOutURL(x.Request.URL) && !isExpiredInRun(x) && !callsOtherVersion(x)
}

// isExpiredInRun reports whether a call presents a token that expired while the run waited. BRR-10 judges it and allows a cache of one minute.
func isExpiredInRun(x evidence.Exchange) bool {
	return strings.HasPrefix(string(x.Label.Case()), "expired") && x.Given["token"] != "given"
}

// disclosures returns the answers of a resource that give the data of its good call to a request without a good token.
func disclosures(e Evidence, r evidence.Resource) []evidence.Exchange {
	good := e.exchange(r.With(evidence.OK))
	var out []evidence.Exchange
	for _, x := range e.Exchanges {
		if x.Label.Resource() != r {
			continue
		}
		givesData := isDisclosure(x) && (e.carriesData(x, good) || hasDataOfVariant(e, x))
		if givesData || isConfirmation(e, x) {
			out = append(out, x)
		}
	}
	return out
}

// hasDataOfVariant reports whether an answer has the content of the good call in the same variant, such as another media type.
func hasDataOfVariant(e Evidence, x evidence.Exchange) bool {
	_, variant, _ := strings.Cut(string(x.Label.Case()), "-")
	good := e.exchange(x.Label.Resource().With(evidence.Case("good-" + variant)))
	return success(good) && (sameBody(x, good) || e.carriesData(x, good))
}

// isConfirmation reports whether a 304 came without a good token although the resource refuses calls without a token. The node evaluated the
// conditions before it checked the token (RFC 9110 §13.2.1), and so says whether a copy is still right.
func isConfirmation(e Evidence, x evidence.Exchange) bool {
	confirms := x.Status() == 304 && isConditional(x) && lacksGoodToken(x) && !isTryOutURL(x.Request.URL)
	return confirms && isRefusal(e.exchange(x.Label.Resource().With(evidence.NoToken)))
}

// isConditional reports whether a request is a GET or HEAD with a condition that 304 can answer.
func isConditional(x evidence.Exchange) bool {
	hasCondition := len(evidence.Values(x.Request.Header, "If-None-Match")) > 0 || len(evidence.Values(x.Request.Header, "If-Modified-Since")) > 0
	return (x.Request.Method == "GET" || x.Request.Method == "HEAD") && hasCondition
}

// disclosureInWords returns the part of a reason that says what an answer disclosed.
func disclosureInWords(x evidence.Exchange) string {
	if x.Status() == 304 {
		return "tells whether a copy of its data is still right (304), before the credential is checked,"
	}
	return "gives its data"
}

// disclosedFamilies returns the families of the requests that got the data of the probe target without a good token.
func disclosedFamilies(e Evidence) map[evidence.Family]bool {
	out := map[evidence.Family]bool{}
	if e.Roles.ProbeTarget != "" {
		for _, x := range disclosures(e, e.Roles.ProbeTarget) {
			out[x.Family] = true
		}
	}
	return out
}

// disclosureRequirement returns the requirement that judges a disclosure whose label no gating requirement claims.
func disclosureRequirement(e Evidence, x evidence.Exchange) ID {
	if x.Status() == 304 {
		return "BRR-15"
	}
	switch x.Family {
	case evidence.PathDetours:
		return "BRR-16"
	case evidence.MethodDetours, evidence.TraitDetours:
		return "BRR-15"
	case evidence.HeaderDetours:
		return "SEC-02"
	}
	if len(evidence.Values(x.Request.Header, "Authorization")) == 0 {
		return "BRR-01"
	}
	switch x.Family {
	case evidence.NeighbourTokens, evidence.ChangedClaims:
		return "BRR-09"
	case evidence.UnsignedTokens:
		return "JWT-09"
	case evidence.PublicSecrets:
		return "JWT-10"
	case evidence.NamedKeys:
		return "JWT-11"
	case evidence.ForeignTokens:
		return "ISO-01"
	}
	return "BRR-06"
}

// findUnclaimed returns a search for disclosures of the probe target and of the info endpoint. It skips those that a gating requirement claims, which means
// that the requirement needs or reads them, and those that [disclosureRequirement] assigns to another requirement.
func findUnclaimed(id ID) func(Evidence) (Judgement, bool) {
	return func(e Evidence) (Judgement, bool) {
		if id != "BRR-01" && id != "BRR-06" && e.judge("BRR-06").Outcome == Fail {
			return Judgement{}, false // the node accepts any token, which is the nearest cause
		}
		var parts []Judgement
		claimed := claimedLabels(e, id)
		for _, r := range slices.Compact([]evidence.Resource{e.Roles.ProbeTarget, evidence.Info}) {
			if r == "" || isTryOutRun(e) || success(e.exchange(r.With(evidence.NoToken))) {
				continue // BRR-01 judges a resource that is open to everybody
			}
			for _, x := range disclosures(e, r) {
				if claimed[x.Label] || disclosureRequirement(e, x) != id {
					continue
				}
				parts = append(parts, expect(x, "a 4xx without data").failed(leakReason(x), describe(x)))
			}
		}
		if len(parts) == 0 {
			return Judgement{}, false
		}
		return gather(parts...), true
	}
}

// findUnclaimedAfter is [findUnclaimed] for a requirement about one kind of forged tokens. It finds nothing if a requirement in before fails: then the node
// accepts other forgeries, too, and this kind is not the cause.
func findUnclaimedAfter(id ID, before ...ID) func(Evidence) (Judgement, bool) {
	search := findUnclaimed(id)
	return func(e Evidence) (Judgement, bool) {
		if slices.ContainsFunc(before, e.fails) {
			return Judgement{}, false
		}
		return search(e)
	}
}

// fails reports whether a requirement fails, or is blocked by one that fails.
func (e Evidence) fails(id ID) bool {
	j := e.judge(id)
	return j.Outcome == Fail || j.Outcome == Blocked && j.BlockedBy != "" && j.BlockedBy != id && e.fails(j.BlockedBy)
}

// leakReason returns the reason of a failure by one disclosure.
func leakReason(x evidence.Exchange) string {
	if x.Status() == 304 {
		return "a condition is evaluated before the token is checked, so that a 304 says whether a copy is still right: the call " + variantInWords(x)
	}
	return "protected data came without a good token: the call " + variantInWords(x)
}

// claimedLabels returns the labels that gating requirements of the run's profile need or read. BRR-10 gates in every profile in which it is judged.
// For BRR-06 itself, the labels that it only reads are not claimed.
func claimedLabels(e Evidence, id ID) map[evidence.Label]bool {
	out := map[evidence.Label]bool{}
	for _, r := range Catalogue() {
		if r.Gate != Gating || !Profile(e.Run.Profile).Includes(r.Profile) && r.ID != "BRR-10" {
			continue
		}
		labels := slices.Concat(r.Needs, r.Reads)
		if r.ID == id && id == "BRR-06" {
			labels = r.Needs
		}
		for _, label := range labels {
			for _, l := range e.Resolve(label) {
				out[l] = true
			}
		}
	}
	return out
}

// records holds the records of some answers by their identity.
type records map[string][][]byte

// guardedRecords returns the records in the good answers of the operations that refuse calls without a token.
func guardedRecords(e Evidence) records {
	out := records{}
	guarded, _ := guardedOperations(e)
	for _, r := range guarded {
		if anonymous := e.exchange(r.With(evidence.NoToken)); isRefusal(anonymous) {
			out.add(e, e.exchange(r.With(evidence.OK)))
		}
	}
	return out
}

// add adds the records of a good answer.
func (r records) add(e Evidence, x evidence.Exchange) {
	for _, record := range recordsOf(e, x) {
		id := e.identity(record)
		r[id] = append(r[id], record)
	}
}

// countIn returns the number of records in an answer that are among r.
func (r records) countIn(e Evidence, x evidence.Exchange) (count int) {
	if len(r) == 0 {
		return 0
	}
	for _, record := range recordsOf(e, x) {
		if slices.ContainsFunc(r[e.identity(record)], func(known []byte) bool { return sameRecord(record, known) }) {
			count++
		}
	}
	return count
}

// recordsOf returns the objects that an answer lists, or its only object.
func recordsOf(e Evidence, x evidence.Exchange) [][]byte {
	if !success(x) {
		return nil
	}
	items, err := e.itemsOf(x)
	if err != nil {
		text, errText := e.jsonText(x)
		if errText != nil {
			return nil
		}
		items = [][]byte{unwrap(text, e.identityMember())}
	}
	return slices.DeleteFunc(slices.Clone(items), func(item []byte) bool { return textType(item) != "object" || isHollow(item) })
}

// sameRecord reports whether two objects with one identity are the same record: they share content beyond the identity, and do not contradict
// each other. Equal ids alone prove nothing, since many things have small numbers as ids.
func sameRecord(a, b []byte) bool {
	mine, theirs := openapi.Object(a), openapi.Object(b)
	if len(mine) < 2 {
		return false
	}
	shared := 0
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		value, both := theirs[name]
		if !both || name == "id" || volatile(name) || isHollow(value) || isHollow(mine[name]) {
			continue
		}
		if !compatible(mine[name], value) && !compatible(value, mine[name]) {
			return false
		}
		shared++
	}
	return shared > 0
}
