package verdict

import (
	"github.com/rin-network/rin/conformance/baseline"
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
	Known *baseline.Entry
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
