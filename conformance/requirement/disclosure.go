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

// withoutGoodCredential reports a request without an access token of the run. A token that the request presents as bad does not count, and the
// tokens of other audiences and environments are left to ISO.
func withoutGoodCredential(x evidence.Exchange) bool {
	if p := x.Presented; p != nil {
		return !strings.HasPrefix(p.Name, "other_") && !strings.HasPrefix(p.Name, "staging_")
	}
	texts := append(headerTexts(x.Request.Header), x.Request.URL, string(x.Request.Body))
	return !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "[[access_token") })
}

// disclosed reports an answer with content that came without a good credential.
func disclosed(x evidence.Exchange) bool {
	return success(x) && x.Request.Method != "HEAD" && len(bytes.TrimSpace(x.Response.Body)) > 0 && withoutGoodCredential(x) && !inTryOut(x.Request.URL)
}

// disclosures returns the answers of a resource with the data of its good call that came without a good credential.
func disclosures(e Evidence, r evidence.Resource) []evidence.Exchange {
	good := e.exchange(r.With(evidence.OK))
	var out []evidence.Exchange
	for _, x := range e.Exchanges {
		if x.Label.Resource() == r && disclosed(x) && carriesData(x, good) {
			out = append(out, x)
		}
	}
	return out
}

// unclaimed returns the disclosures of the probe target and of the info endpoint for which no gating requirement asks. Requests with an
// Authorization header belong to BRR-06, the others to BRR-01.
func unclaimed(id ID) func(Evidence) (Judgement, bool) {
	return func(e Evidence) (Judgement, bool) {
		var parts []Judgement
		claimed := claimedLabels(e, id)
		for _, r := range slices.Compact([]evidence.Resource{e.Roles.ProbeTarget, evidence.Info}) {
			if r == "" || tryOut(e) || success(e.exchange(r.With(evidence.NoToken))) {
				continue // BRR-01 judges a resource that is open to everybody
			}
			for _, x := range disclosures(e, r) {
				bearer := len(evidence.Values(x.Request.Header, "Authorization")) > 0
				if claimed[x.Label] || bearer != (id == "BRR-06") {
					continue
				}
				parts = append(parts, expect(x, "a 4xx without data").failed("protected data came without a good token: the call "+variantInWords(x), describe(x)))
			}
		}
		if len(parts) == 0 {
			return Judgement{}, false
		}
		return gather(parts...), true
	}
}

// claimedLabels are the labels for which a gating requirement of the run's profile asks. BRR-10 gates in every profile in which it is judged. What
// BRR-06 reads beside its own request is left to the search.
func claimedLabels(e Evidence, searcher ID) map[evidence.Label]bool {
	out := map[evidence.Label]bool{}
	for _, r := range Catalogue() {
		if r.Gate != Gating || !Profile(e.Run.Profile).Includes(r.Profile) && r.ID != "BRR-10" {
			continue
		}
		asked := slices.Concat(r.Needs, r.Reads)
		if r.ID == searcher && searcher == "BRR-06" {
			asked = r.Needs
		}
		for _, label := range asked {
			for _, l := range e.Resolve(label) {
				out[l] = true
			}
		}
	}
	return out
}

// records holds the records of some answers by their identity.
type records map[string][][]byte

// guardedRecords are the records in the good answers of the operations that refuse calls without a token.
func guardedRecords(e Evidence) records {
	out := records{}
	guarded, _ := guardedOperations(e)
	for _, r := range guarded {
		if anonymous := e.exchange(r.With(evidence.NoToken)); turnedAway(anonymous) {
			out.add(e, e.exchange(r.With(evidence.OK)))
		}
	}
	return out
}

// add adds the records of a good answer.
func (r records) add(e Evidence, x evidence.Exchange) {
	for _, record := range recordsOf(e, x) {
		id := openapi.Identity(record)
		r[id] = append(r[id], record)
	}
}

// in returns the number of records in an answer that are among r.
func (r records) in(e Evidence, x evidence.Exchange) (count int) {
	if len(r) == 0 {
		return 0
	}
	for _, record := range recordsOf(e, x) {
		if slices.ContainsFunc(r[openapi.Identity(record)], func(known []byte) bool { return sameRecord(record, known) }) {
			count++
		}
	}
	return count
}

// recordsOf returns the objects that an answer lists, or the object that it is.
func recordsOf(e Evidence, x evidence.Exchange) [][]byte {
	if !success(x) {
		return nil
	}
	items, err := e.itemsOf(x)
	if err != nil {
		text, unread := e.jsonText(x)
		if unread != nil {
			return nil
		}
		items = [][]byte{unwrapped(text, "id")}
	}
	return slices.DeleteFunc(slices.Clone(items), func(item []byte) bool { return textType(item) != "object" || isHollow(item) })
}

// sameRecord reports whether two objects with one identity are the same record: they share content beyond the identity, and do not contradict
// each other. Small numbers are the ids of many things.
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
