// Package verdict decides what the judgements of one run are worth: certified, not certified, to be repeated, or partial.
//
// Outcome is what was seen, gate is what it costs; this package is the only place where the two meet. [Decide] is a pure function
// of the catalogue, the judgements and the evidence, so everybody who holds the evidence comes to the same decision.
package verdict

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
)

// Decision is what a run says about the certificate of its profile.
type Decision string

// The decisions.
const (
	// Certified means that every gating requirement of the profile is pass, warn or not-applicable, that a protected
	// resource was found, and that the rules of the profile hold.
	Certified Decision = "certified"
	// NotCertified means that the node was seen to break something that the profile demands.
	NotCertified Decision = "not-certified"
	// Repeat means that nothing was seen to be broken, and that something which the profile demands could not be judged.
	Repeat Decision = "repeat"
	// Partial is the decision of every run that its operator restricted or gave a baseline, whatever it saw.
	Partial Decision = "partial"
)

// Verdict is the decision with everything that it rests on.
type Verdict struct {
	Profile  requirement.Profile
	Decision Decision
	// Reasons say why the profile is not certified, the gravest first; empty when it is. A partial run has the reasons
	// that would have counted.
	Reasons []Reason
	// Notes are facts that a reader of the certificate has to know and that change nothing.
	Notes []string
	// Results holds every requirement that this run judged, in catalogue order.
	Results  []Result
	Totals   Totals
	Coverage Coverage
	// Preview is true as long as the catalogue is not covered as a whole: the decision then has no value as a certificate.
	Preview bool
	// Excused says what became of the operator's baseline; nil without one.
	Excused *Excused
}

// Failed reports whether the node was seen to break something that the profile demands, in a partial run too.
func (v Verdict) Failed() bool { return v.has(Broken) }

// Unsettled reports whether something that the profile demands could not be judged, in a partial run too.
func (v Verdict) Unsettled() bool { return v.has(Open) }

func (v Verdict) has(weight Weight) bool {
	for _, r := range v.Reasons {
		if r.Kind.Weight() == weight {
			return true
		}
	}
	return false
}

// Result is one requirement with its judgement.
type Result struct {
	Requirement requirement.Requirement
	Judgement   requirement.Judgement
	// Gate is what the outcome costs in this run: the requirement's own gate, or advice for an Extra.
	Gate requirement.Gate
	// Extra marks a requirement beyond the profile that was judged because its opt-in probe was asked for.
	Extra bool
	// Known is the entry of the operator's baseline by which this failure is not new, or by which what it waits for is not; nil
	// for none.
	Known *KnownFailure
}

// Costs reports whether this result keeps the profile from being certified, or is new to a baseline.
func (r Result) Costs(p requirement.Profile) bool {
	if r.Known != nil {
		return false
	}
	if r.Gate == requirement.Gating {
		return requirement.Blocks(r.Gate, r.Judgement.Outcome)
	}
	return p == requirement.Full && r.Gate == requirement.Advice && r.Judgement.Outcome == requirement.Fail
}

// Totals counts the results by outcome. Not applicable and blocked never count as pass.
type Totals struct {
	Pass          int `json:"pass"`
	Warn          int `json:"warn"`
	Fail          int `json:"fail"`
	NotApplicable int `json:"notApplicable"`
	Blocked       int `json:"blocked"`
	Inconclusive  int `json:"inconclusive"`
}

// Count adds one outcome.
func (t *Totals) Count(o requirement.Outcome) {
	switch o {
	case requirement.Pass:
		t.Pass++
	case requirement.Warn:
		t.Warn++
	case requirement.Fail:
		t.Fail++
	case requirement.NotApplicable:
		t.NotApplicable++
	case requirement.Blocked:
		t.Blocked++
	default:
		t.Inconclusive++
	}
}

// Of returns the count of one outcome.
func (t Totals) Of(o requirement.Outcome) int {
	switch o {
	case requirement.Pass:
		return t.Pass
	case requirement.Warn:
		return t.Warn
	case requirement.Fail:
		return t.Fail
	case requirement.NotApplicable:
		return t.NotApplicable
	case requirement.Blocked:
		return t.Blocked
	}
	return t.Inconclusive
}

// Sum is the number of results.
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

// Worse reports whether outcome a is worse than outcome b in the order of [Outcomes]. An outcome that is not among them is
// the worst of all.
func Worse(a, b requirement.Outcome) bool { return rank(a) > rank(b) }

func rank(o requirement.Outcome) int {
	all := Outcomes()
	for i, known := range all {
		if o == known {
			return i
		}
	}
	return len(all)
}

// Reason is one thing that keeps a profile from being certified.
type Reason struct {
	Kind ReasonKind
	// Requirements are the ids that it is about, in catalogue order; empty for a reason that is about the run.
	Requirements []requirement.ID
	// Text is one sentence without the ids, lower-case, without a final dot.
	Text string
}

// String names the ids and the reason; many ids are cut to the first three and a count.
func (r Reason) String() string {
	if len(r.Requirements) == 0 {
		return r.Text
	}
	return ListIDs(r.Requirements, 3) + ": " + r.Text
}

// ListIDs lists at most limit ids, and counts the rest.
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

// ReasonKind groups the reasons.
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

	BaselineMended  ReasonKind = "baseline-mended"  // the baseline lists what did not fail
	BaselineExpired ReasonKind = "baseline-expired" // an excuse of the baseline has ended
)

// Weight says which decision a reason leads to.
type Weight int

// The weights.
const (
	Broken Weight = iota // not certified
	Open                 // to be repeated
)

// Weight says whether the node was seen to break something or something stayed open.
func (k ReasonKind) Weight() Weight {
	switch k {
	case GatingFailed, AdviceFailed, BaselineMended, BaselineExpired:
		return Broken
	}
	return Open
}

// reasons collects reasons and puts requirements with the same reason together.
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

// sorted puts what is broken before what stayed open, and keeps the order otherwise.
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

// Coverage says how much of the whole catalogue a verdict rests on.
type Coverage struct {
	// Size is the number of requirements of the whole catalogue, Covered how many of them this version can judge,
	// Judged how many of those this run judged: the ones of its profile, or of its selection.
	Size, Covered, Judged int
	// Groups are the groups of the whole catalogue in its order, those without a covered requirement too.
	Groups []requirement.GroupInfo
}

// Notice is the sentence that has to stand near every verdict of an incomplete catalogue; empty for a complete one.
func (c Coverage) Notice() string {
	if c.Covered >= c.Size {
		return ""
	}
	var in []string
	for _, g := range c.Groups {
		if g.Covered > 0 {
			in = append(in, g.Name)
		}
	}
	from := ""
	if len(in) > 0 {
		from = " (of the groups " + strings.Join(in, ", ") + ")"
	}
	return fmt.Sprintf("This is a preview: it covers %d of the %d requirements of the catalogue%s and has no value as a certificate.", c.Covered, c.Size, from)
}

// countCoverage counts the catalogue at hand against the groups of the whole one.
func countCoverage(catalogue []requirement.Requirement, judged int) Coverage {
	held := map[string]int{}
	for _, r := range catalogue {
		held[r.ID.Group()]++
	}
	c := Coverage{Size: requirement.Size(), Covered: len(catalogue), Judged: judged}
	for _, g := range requirement.Groups() {
		g.Covered = held[g.Name]
		c.Groups = append(c.Groups, g)
	}
	return c
}
