// Package registry certifies the nodes of a whole registry, every night, and keeps the results.
//
//	policy    registry.yaml: which nodes, with whose credentials, how politely, and what the operator makes of the outcomes
//	document  the registry document, which may be hostile: entries may be missing, doubled or moved
//	run       a night: every node once, several at a time; a shard takes a part, and [Merge] joins the parts
//	history   one bbolt file: each night of each node is one transaction, so that nothing is counted twice
//	status    what follows from the nights: valid, expiring, stale, suspended, withdrawn
//	publish   what the operator signs: certificate, status list, trust marks; and badges
//	admit     the admission of a node, with proof of control
//	try       what another catalogue or policy would change, judged from kept evidence
//
// A node that fails is a result, not an error of the run; a node that could not be tested has not failed.
package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// Night names a night by the day of its evening, in UTC: "2026-11-25". A run that starts before noon belongs to the night that began the day before.
type Night string

const nightLayout = time.DateOnly

// NightOf returns the night of a time.
func NightOf(at time.Time) Night { return Night(at.UTC().Add(-12 * time.Hour).Format(nightLayout)) }

// Start returns the noon at which the night begins.
func (n Night) Start() time.Time {
	day, err := time.Parse(nightLayout, string(n))
	if err != nil {
		return time.Time{}
	}
	return day.Add(12 * time.Hour)
}

// ParseNight reads the name of a night.
func ParseNight(text string) (Night, error) {
	if _, err := time.Parse(nightLayout, text); err != nil {
		return "", fmt.Errorf("expected a night such as 2026-11-25, got %.40q", text)
	}
	return Night(text), nil
}

// Result is what a night showed of a node.
type Result string

// The results.
const (
	// Passed means that the node was certified for its profile.
	Passed Result = "passed"
	// Failed means that the node broke a gating rule.
	Failed Result = "failed"
	// Untested means that the node could not be tested: it is down or hangs, its credentials are missing, or its entry cannot be used. It never
	// counts as a bad night.
	Untested Result = "untested"
)

// Outcome is the outcome of one node in one night. It is kept for every night, so it is small: the outcomes of the requirements are in [Node].
type Outcome struct {
	Node    string    `json:"node"`
	Night   Night     `json:"night"`
	Started time.Time `json:"started"`
	// Seconds is how long the run took, Requests how many requests were sent.
	Seconds  float64 `json:"seconds"`
	Requests int     `json:"requests"`
	Result   Result  `json:"result"`
	// Headline is the decision in words. Why says for what reasons a node did not pass.
	Headline string              `json:"headline"`
	Why      string              `json:"why,omitempty"`
	Profile  requirement.Profile `json:"profile,omitempty"`
	Seed     string              `json:"seed,omitempty"`
	// Suite and Catalogue are the versions that judged, Digest is the digest of the catalogue.
	Suite     string `json:"suite,omitempty"`
	Catalogue string `json:"catalogue,omitempty"`
	Digest    string `json:"digest,omitempty"`
	// Document is the digest of the registry document.
	Document string `json:"document,omitempty"`
	// Status is the status of the node after this night.
	Status Status `json:"status"`
	// Changes lists the requirements whose outcome differs from the last night in which the node was judged.
	Changes []Change `json:"changes,omitempty"`
	// DelayedCheck is what the node showed some minutes after the run; nil if there was no check.
	DelayedCheck *DelayedCheck `json:"delayedCheck,omitempty"`
	// Evidence is true while the files of the run are kept, in [Dir.RunDir].
	Evidence bool `json:"evidence,omitempty"`
}

// confirmedBy reports whether a night for a profile tests all that the certificate of the node is about.
func (n Node) confirmedBy(p requirement.Profile) bool {
	return n.Certified.IsZero() || n.CertifiedProfile == "" || p.Includes(n.CertifiedProfile)
}

// Change is a requirement whose outcome changed.
type Change struct {
	ID   requirement.ID      `json:"id"`
	From requirement.Outcome `json:"from,omitempty"` // empty for a requirement that was not judged before
	To   requirement.Outcome `json:"to,omitempty"`   // empty for one that is not judged any more
	Gate requirement.Gate    `json:"gate,omitempty"`
}

// Worse reports whether a gating requirement failed that did not fail before.
func (c Change) Worse() bool { return c.To == requirement.Fail && c.Gate == requirement.Gating }

// Judged is the outcome of a requirement in the last night in which the node was judged.
type Judged struct {
	ID      requirement.ID      `json:"id"`
	Gate    requirement.Gate    `json:"gate"`
	Outcome requirement.Outcome `json:"outcome"`
	Costs   bool                `json:"costs,omitempty"`
	Reason  string              `json:"reason,omitempty"`
	// Since is the first night with this outcome.
	Since Night `json:"since"`
}

// Group sums up the requirements of a group.
type Group struct {
	Name, Title string
	Totals      verdict.Totals
	// Worst is the most serious outcome. Costs reports whether an outcome of the group keeps the node from its certificate.
	Worst requirement.Outcome
	Costs bool
	// Since is the night of the latest change in the group.
	Since Night
}

// Node is what is known of a node now.
type Node struct {
	ID string `json:"id"`
	// Name is the name of the institution in the entry.
	Name string `json:"name,omitempty"`
	// InfoURL and TokenURL are the URLs of its entry when the node was last tested.
	InfoURL  string `json:"infoUrl,omitempty"`
	TokenURL string `json:"tokenUrl,omitempty"`
	// Status follows from the nights and the policy; Since is the night from which it holds, Reason says why.
	Status Status `json:"status"`
	Since  Night  `json:"since"`
	Reason string `json:"reason,omitempty"`
	// First and Last are the first and the last night of the node, Tested the last in which it was judged, Good the last in which it passed.
	First  Night `json:"first"`
	Last   Night `json:"last"`
	Tested Night `json:"tested,omitempty"`
	Good   Night `json:"good,omitempty"`
	// TestedAt and GoodAt are when the runs of Tested and Good began; zero in older histories. A night has the date of its evening, so the date of a run
	// that began in the morning is a day later.
	TestedAt time.Time `json:"testedAt,omitzero"`
	GoodAt   time.Time `json:"goodAt,omitzero"`
	// Bad counts the nights in a row in which the node failed. A night without a test changes nothing.
	Bad int `json:"bad,omitempty"`
	// Control is when the node's operator last proved control; zero if never. Certified is when the certificate was made.
	Control   time.Time `json:"control,omitzero"`
	Certified time.Time `json:"certified,omitzero"`
	// CertifiedRun is the night whose files the certificate is about.
	CertifiedRun Night `json:"certifiedRun,omitempty"`
	// CertifiedProfile is the profile of the certificate; empty in older histories. A night for a smaller profile does not confirm the certificate.
	CertifiedProfile requirement.Profile `json:"certifiedProfile,omitempty"`
	// CertifiedURLs are the URLs of the entry for which the node was certified: credentials go to their origins only.
	CertifiedURLs []string `json:"certifiedUrls,omitempty"`
	// Missing is the night since which the registry document lacks the entry.
	Missing Night `json:"missing,omitempty"`
	// Admission is what the last admission showed; nil without one, and in older histories. Its night is the one in which it began.
	Admission *Outcome `json:"admission,omitempty"`
	// Outcome is the last outcome.
	Outcome Outcome `json:"outcome"`
	// Requirements has the outcome of each requirement in the night Tested, in catalogue order.
	Requirements []Judged `json:"requirements,omitempty"`
	// Drawn lists the kinds of values that earlier nights drew, by family. The next night draws others first.
	Drawn map[string][]string `json:"drawn,omitempty"`
}

// IsGone reports whether nothing is left to say about the node: its entry is gone, and it never had a certificate.
func (n Node) IsGone() bool { return n.Missing != "" && n.Certified.IsZero() }

// isAdmission reports whether the run that began at that time was the run of the admission that the certificate is about.
func (n Node) isAdmission(started time.Time) bool {
	return strings.HasSuffix(string(n.CertifiedRun), admissionSuffix) && started.Truncate(time.Second).Equal(n.Certified)
}

// lastRun returns the run in which the node was last judged, for [Dir.RunDir]: the run of a night, or of its admission.
func (n Node) lastRun() Night {
	if n.isAdmission(n.TestedAt) {
		return n.CertifiedRun
	}
	return n.Tested
}

// admission returns what the last admission showed. An older history keeps only that the node passed then.
func (n Node) admission() (Outcome, bool) {
	night, admitted := strings.CutSuffix(string(n.CertifiedRun), admissionSuffix)
	switch {
	case n.Admission != nil:
		return *n.Admission, true
	case admitted:
		return Outcome{Node: n.ID, Night: Night(night), Started: n.Certified, Result: Passed, Headline: "Certified", Status: Valid}, true
	}
	return Outcome{}, false
}

// Groups sums up the requirements by group, in the order of the catalogue. Groups of which nothing was judged are left out.
func (n Node) Groups() []Group {
	return slices.DeleteFunc(n.groups(requirement.Groups()), func(g Group) bool { return g.Worst == "" })
}

// groups sums up the requirements for each of the given groups. Worst is empty if nothing of the group was judged.
func (n Node) groups(wanted []requirement.Group) []Group {
	out := make([]Group, len(wanted))
	at := make(map[string]*Group, len(wanted))
	for i, g := range wanted {
		out[i] = Group{Name: g.Name, Title: g.Title}
		at[g.Name] = &out[i]
	}
	for _, q := range n.Requirements {
		g, known := at[q.ID.Group()]
		if !known {
			continue
		}
		g.Totals.Count(q.Outcome)
		g.Costs = g.Costs || q.Costs
		g.Since = max(g.Since, q.Since)
		if g.Worst == "" || seriousness(q.Outcome) > seriousness(g.Worst) {
			g.Worst = q.Outcome
		}
	}
	return out
}

// seriousness orders outcomes, so that the cell of a matrix shows the most serious one.
func seriousness(o requirement.Outcome) int {
	order := []requirement.Outcome{requirement.NotApplicable, requirement.Pass, requirement.Warn, requirement.Blocked, requirement.Inconclusive, requirement.Fail}
	return slices.Index(order, o)
}

// judgedOf lists the requirements of a report.
func judgedOf(r report.Report, night Night) []Judged {
	var out []Judged
	for _, q := range r.Requirements {
		j := Judged{ID: q.ID, Gate: q.Gate, Outcome: q.Outcome, Costs: q.Costs, Since: night}
		if q.Outcome != requirement.Pass && q.Outcome != requirement.NotApplicable {
			j.Reason = report.Plain(clip(q.Reason))
		}
		out = append(out, j)
	}
	return out
}

// maxText bounds a text that is kept for every night, in characters.
const maxText = 300

// clip bounds a text that is kept for every night.
func clip(text string) string { return evidence.Clip(text, maxText) }
