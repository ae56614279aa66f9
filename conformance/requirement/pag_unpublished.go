package requirement

import (
	"github.com/rin-network/rin/conformance/evidence"
)

// unpublishedCases returns the cases of the list with parameters that show unpublished records in other software.
func unpublishedCases() []evidence.Case { return []evidence.Case{"unpublished-1", "unpublished-2"} }

// unpublishedLabels returns the labels of [unpublishedCases] on the list of calls.
func unpublishedLabels() []evidence.Label {
	var out []evidence.Label
	for _, c := range unpublishedCases() {
		out = append(out, evidence.ListOperation.With(c))
	}
	return out
}

// findUnpublishedRecords finds records that the list has only with a parameter that the document does not describe. A record that says itself that it is
// hidden is a failure. The list may leave out other records, such as archived ones, for another reason: they are a warning.
func findUnpublishedRecords(e Evidence) []Judgement {
	whole, complete := wholeList(e)
	if !complete || e.Roles.List == "" || e.unsteady() {
		return nil
	}
	listed := map[string]bool{}
	for _, id := range e.identities(whole) {
		listed[id] = true
	}
	var parts []Judgement
	for _, c := range unpublishedCases() {
		x, sent := e.Get(e.Roles.List.With(c))
		if !sent || !success(x) {
			continue
		}
		items, err := e.itemsOf(x)
		if err != nil {
			continue
		}
		want := expect(x, "the records of the list")
		surplus, why := 0, ""
		for _, item := range items {
			id := e.identity(item)
			if id == "" || listed[id] || listedAgain(e, id) {
				continue
			}
			if surplus++; why == "" {
				why = hidingMember(item, whole, answeredAt(x))
			}
		}
		switch {
		case why != "":
			parts = append(parts, want.failed("a parameter that the document does not describe shows a record that no list holds: "+why, describe(x)).Hinting(switchHint))
		case surplus > 0:
			parts = append(parts, want.warned("a parameter that the document does not describe shows "+evidence.Count(surplus, "record")+" that no list holds", describe(x)).Hinting(switchHint))
		}
	}
	return parts
}

const switchHint = "ignore the switch for clients of the API, or tie it to a permission: in Strapi publicationState and status, in own code includeDrafts, preview or debug"
