// Package verdict decides what the judgements of one run mean: certified, not certified, repeat, or partial. It also holds an operator's
// baseline of known failures, and the record of the kill matrix.
//
// An outcome is what was seen, a gate is what it costs; only this package combines the two. [Decide] is a pure function of the catalogue, the
// judgements and the evidence, so everyone with the evidence reaches the same decision.
package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
)

// Decision is the result of a run for its profile.
type Decision string

// The decisions.
const (
	// Certified means that every gating requirement of the profile is pass, warn or not-applicable, that a protected resource was found, and that
	// the profile's own rules hold.
	Certified Decision = "certified"
	// NotCertified means that the node broke a rule of the profile.
	NotCertified Decision = "not-certified"
	// Repeat means that no rule was seen broken, but that a required one could not be judged.
	Repeat Decision = "repeat"
	// Partial is the decision of every run that was restricted or had a baseline.
	Partial Decision = "partial"
)

// Verdict is the decision with its reasons and results.
type Verdict struct {
	Profile  requirement.Profile
	Decision Decision
	// Reasons say why the profile is not certified, the most serious first. A partial run has the reasons that a full run would have.
	Reasons []Reason
	// Notes are facts that the reader of a certificate must know. They do not change the decision.
	Notes []string
	// Results holds every judged requirement in catalogue order.
	Results []Result
	Totals  Totals
	// Excused sorts the entries of the baseline by their results; nil without a baseline.
	Excused *Excused
}

// Failed reports whether the node broke a rule of the profile. It holds for partial runs, too.
func (v Verdict) Failed() bool { return v.has(Broken) }

// Unsettled reports whether a required rule could not be judged. It holds for partial runs, too.
func (v Verdict) Unsettled() bool { return v.has(Open) }

func (v Verdict) has(weight Weight) bool {
	return slices.ContainsFunc(v.Reasons, func(r Reason) bool { return r.Kind.Weight() == weight })
}

// Result is one requirement with its judgement.
type Result struct {
	Requirement requirement.Requirement
	Judgement   requirement.Judgement
	// Gate is the weight of the outcome.
	Gate requirement.Gate
	// Extra marks a requirement beyond the profile that was judged because the operator named it or its opt-in probe was requested.
	Extra bool
	// Named marks a requirement that a partial run is about. It must be judged, or the run is open.
	Named bool
	// Known is the baseline entry that excuses this failure, or the failure that blocks this requirement. It may be nil.
	Known *KnownFailure
}

// Costs reports whether this result keeps the profile from being certified and is not excused by the baseline.
func (r Result) Costs(p requirement.Profile) bool {
	if r.Known != nil {
		return false
	}
	if r.Gate == requirement.Gating {
		return requirement.Blocks(r.Gate, r.Judgement.Outcome)
	}
	return p == requirement.Full && r.Gate == requirement.Advice && r.Judgement.Outcome == requirement.Fail
}

// Totals counts results by outcome.
type Totals struct {
	Pass          int `json:"pass"`
	Warn          int `json:"warn"`
	Fail          int `json:"fail"`
	NotApplicable int `json:"notApplicable"`
	Blocked       int `json:"blocked"`
	Inconclusive  int `json:"inconclusive"`
}

// Count adds one outcome.
func (t *Totals) Count(o requirement.Outcome) { *t.counter(o)++ }

// Of returns the count of one outcome.
func (t Totals) Of(o requirement.Outcome) int { return *t.counter(o) }

// counter returns the field that counts an outcome. An unknown outcome counts as inconclusive.
func (t *Totals) counter(o requirement.Outcome) *int {
	switch o {
	case requirement.Pass:
		return &t.Pass
	case requirement.Warn:
		return &t.Warn
	case requirement.Fail:
		return &t.Fail
	case requirement.NotApplicable:
		return &t.NotApplicable
	case requirement.Blocked:
		return &t.Blocked
	}
	return &t.Inconclusive
}

// Sum returns the number of results.
func (t Totals) Sum() int {
	return t.Pass + t.Warn + t.Fail + t.NotApplicable + t.Blocked + t.Inconclusive
}

// Outcomes lists the outcomes from best to worst.
func Outcomes() []requirement.Outcome {
	return []requirement.Outcome{
		requirement.Pass, requirement.NotApplicable, requirement.Warn,
		requirement.Blocked, requirement.Inconclusive, requirement.Fail,
	}
}

// Worse reports whether outcome a is worse than b in the order of [Outcomes]. An unknown outcome is the worst.
func Worse(a, b requirement.Outcome) bool { return rank(a) > rank(b) }

func rank(o requirement.Outcome) int {
	if i := slices.Index(Outcomes(), o); i >= 0 {
		return i
	}
	return len(Outcomes())
}

// Reason is one thing that keeps a profile from being certified.
type Reason struct {
	Kind ReasonKind
	// Requirements lists the ids concerned, in catalogue order. It is empty for a reason about the run itself.
	Requirements []requirement.ID
	// Text is one sentence without the ids, in lower case and without a final dot.
	Text string
}

// String returns the first ids with the reason.
func (r Reason) String() string {
	if len(r.Requirements) == 0 {
		return r.Text
	}
	return ListIDs(r.Requirements, 3) + ": " + r.Text
}

// ListIDs lists at most limit ids and counts the rest.
func ListIDs(ids []requirement.ID, limit int) string {
	shown := make([]string, 0, limit)
	for _, id := range ids[:min(limit, len(ids))] {
		shown = append(shown, string(id))
	}
	list := strings.Join(shown, ", ")
	if more := len(ids) - len(shown); more > 0 {
		return fmt.Sprintf("%s and %d more", list, more)
	}
	return list
}

// ReasonKind classifies reasons.
type ReasonKind string

// The kinds of reason.
const (
	GatingFailed ReasonKind = "gating-failed" // a gating requirement failed
	AdviceFailed ReasonKind = "advice-failed" // profile full allows no failed advice
	Blocked      ReasonKind = "blocked"       // a gating requirement waits for another one
	Inconclusive ReasonKind = "inconclusive"  // a gating requirement could not be judged
	NotProven    ReasonKind = "not-proven"    // the profile does not accept not-applicable here
	Unprotected  ReasonKind = "unprotected"   // no protected resource was found
	Incomplete   ReasonKind = "incomplete"    // the evidence ends early
	NothingSeen  ReasonKind = "nothing-seen"  // no gating requirement was judged at all

	BaselinePassed  ReasonKind = "baseline-mended"  // the baseline lists what passed
	BaselineExpired ReasonKind = "baseline-expired" // an excuse of the baseline has ended
)

// Weight says to which decision a reason leads. A reason that is Broken outweighs one that is Open.
type Weight int

// The weights.
const (
	Broken Weight = iota // not certified
	Open                 // to be repeated
)

// Weight returns Broken if the node broke a rule, and Open if something could not be judged.
func (k ReasonKind) Weight() Weight {
	switch k {
	case GatingFailed, AdviceFailed, BaselinePassed, BaselineExpired:
		return Broken
	}
	return Open
}

// reasons collects reasons and merges requirements with the same reason.
type reasons struct{ list []Reason }

func (rs *reasons) add(kind ReasonKind, text string, ids ...requirement.ID) {
	for i := range rs.list {
		if rs.list[i].Kind == kind && rs.list[i].Text == text {
			rs.list[i].Requirements = append(rs.list[i].Requirements, ids...)
			return
		}
	}
	rs.list = append(rs.list, Reason{Kind: kind, Requirements: ids, Text: text})
}

// sorted returns broken rules before open ones, in their order otherwise.
func (rs *reasons) sorted() []Reason {
	var out []Reason
	for _, weight := range []Weight{Broken, Open} {
		for _, r := range rs.list {
			if r.Kind.Weight() == weight {
				out = append(out, r)
			}
		}
	}
	return out
}
