package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
)

// This file sorts the requirements into the sections that the formats share: findings, habits of products, and skipped requirements.

// withOutcome returns the requirements with the given outcome: first those that cost the certificate, then the others, each in catalogue order.
func (r Report) withOutcome(o requirement.Outcome) []Requirement {
	var costs, rest []Requirement
	for _, q := range r.Requirements {
		switch {
		case q.Outcome != o:
		case q.Costs:
			costs = append(costs, q)
		default:
			rest = append(rest, q)
		}
	}
	return append(costs, rest...)
}

// attentionItem is a requirement that is described in full, with the ids of those that have the same reason.
type attentionItem struct {
	Requirement
	Also []requirement.ID
}

// attention returns the requirements with the given outcome as items to describe. Inconclusive ones with the same reason are merged: a node that is
// down needs one paragraph, not seventy.
func (r Report) attention(o requirement.Outcome) []attentionItem {
	var out []attentionItem
	index := map[string]int{}
	for _, q := range r.withOutcome(o) {
		if q.Maker != "" {
			continue // habits lists these
		}
		if i, known := index[q.Reason]; known && o == requirement.Inconclusive {
			out[i].Also = append(out[i].Also, q.ID)
			continue
		}
		index[q.Reason] = len(out)
		out = append(out, attentionItem{Requirement: q})
	}
	return out
}

// habit has the warnings that a known product always causes.
type habit struct {
	Maker    string
	Warnings []Requirement
}

// Title returns the heading of the block: "7 warnings are Keycloak's own".
func (h habit) Title() string {
	if len(h.Warnings) == 1 {
		return "1 warning is " + h.Maker + "'s own"
	}
	return fmt.Sprintf("%d warnings are %s's own", len(h.Warnings), h.Maker)
}

// habits lists the warnings that known products always cause, by product.
func (r Report) habits() []habit {
	var out []habit
	for _, q := range r.withOutcome(requirement.Warn) {
		if q.Maker == "" {
			continue
		}
		i := slices.IndexFunc(out, func(h habit) bool { return h.Maker == q.Maker })
		if i < 0 {
			i = len(out)
			out = append(out, habit{Maker: q.Maker})
		}
		out[i].Warnings = append(out[i].Warnings, q)
	}
	return out
}

// skippedGroup has the requirements that are blocked, or not applicable, for the same reason.
type skippedGroup struct {
	Outcome requirement.Outcome
	IDs     []requirement.ID
	Because string
}

// skippedGroups groups the blocked requirements, then those that do not apply, by their reason, in catalogue order of the first.
func (r Report) skippedGroups() []skippedGroup {
	var out []skippedGroup
	for _, o := range []requirement.Outcome{requirement.Blocked, requirement.NotApplicable} {
		at := map[string]int{}
		for _, q := range r.Requirements {
			if q.Outcome != o {
				continue
			}
			because := q.Reason
			if q.BlockedBy != "" {
				because = "waits for " + string(q.BlockedBy)
			}
			i, ok := at[because]
			if !ok {
				i = len(out)
				at[because] = i
				out = append(out, skippedGroup{Outcome: o, Because: because})
			}
			out[i].IDs = append(out[i].IDs, q.ID)
		}
	}
	return out
}

// skippedHeading returns the heading of the blocked and not-applicable requirements.
func (r Report) skippedHeading() string {
	var words []string
	for _, s := range r.skippedGroups() {
		if word := Word(s.Outcome); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return sentence(strings.Join(words, " and "))
}

// failedTitle returns the heading of the failures.
func (r Report) failedTitle() string {
	for _, q := range r.withOutcome(requirement.Fail) {
		if !strings.HasSuffix(q.Consequence(), costsFull) {
			return "What failed"
		}
	}
	return "What failed as advice (" + costsFull + ")"
}

// MatrixSentence describes the kill matrix, and says whether the operator attested the requirements that no deviation can prove.
func (r Report) MatrixSentence() string {
	var attested []requirement.ID
	for _, q := range r.withOutcome(requirement.Pass) {
		attested = append(attested, q.ID)
	}
	return r.Suite.Matrix.Sentence(r.Suite.Version, r.Catalogue.Version, attested)
}

// ContactSentence says what the suite noticed of nodes that it had never tested before; "" before the first round of first contact.
func (r Report) ContactSentence() string {
	if r.Suite.Contact == nil {
		return ""
	}
	return r.Suite.Contact.Sentence()
}

// suiteSentences says what the suite notices: of the deviations that its authors made, and of the nodes that others wrote.
func (r Report) suiteSentences() []string {
	lines := []string{r.MatrixSentence()}
	if contact := r.ContactSentence(); contact != "" {
		lines = append(lines, contact)
	}
	return lines
}
