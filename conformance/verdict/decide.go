package verdict

import (
	"fmt"
	"slices"

	"github.com/rin-network/rin/conformance/baseline"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
)

// Decide weighs the judgements of one run for the profile that its evidence names. A requirement of the profile without a
// judgement is inconclusive; one that a partial run did not ask for is left out.
func Decide(catalogue []requirement.Requirement, judgements map[requirement.ID]requirement.Judgement, log *exchange.Log) Verdict {
	return DecideKnowing(nil, catalogue, judgements, log)
}

// DecideKnowing is [Decide] for an operator who knows of some failures: what the baseline lists is not counted as new, and what it lists
// without need is. Such a run is partial, whatever it saw. A nil baseline is none.
func DecideKnowing(known *baseline.Baseline, catalogue []requirement.Requirement, judgements map[requirement.ID]requirement.Judgement, log *exchange.Log) Verdict {
	v := Verdict{Profile: requirement.Profile(log.Run.Profile)}
	for _, r := range catalogue {
		if result, ok := weigh(r, judgements, log); ok {
			v.Results = append(v.Results, result)
			v.Totals.Count(result.Judgement.Outcome)
		}
	}
	if known != nil {
		v.excuse(*known, baseline.DayOf(log.Run.Started))
	}
	v.Coverage = cover(catalogue, len(v.Results))
	v.Preview = v.Coverage.Covered < v.Coverage.Size
	v.Reasons = because(v, log)
	if v.Excused != nil {
		v.Reasons = append(v.Excused.reasons(), v.Reasons...)
	}
	v.Notes = notes(v)
	switch {
	case log.Run.Partial != "" || v.Excused != nil:
		v.Decision = Partial
	case v.Failed():
		v.Decision = NotCertified
	case len(v.Reasons) > 0:
		v.Decision = Repeat
	default:
		v.Decision = Certified
	}
	return v
}

// weigh makes the result of one requirement; false when this run has nothing to say about it.
func weigh(r requirement.Requirement, judgements map[requirement.ID]requirement.Judgement, log *exchange.Log) (Result, bool) {
	j, judged := judgements[r.ID]
	result := Result{Requirement: r, Judgement: j, Gate: r.Gate}
	if only := log.Run.Only; len(only) > 0 && !slices.Contains(only, string(r.ID)) {
		return result, false
	} else if len(only) == 0 && log.Run.Partial != "" && !(judged && asked(r, log)) {
		return result, false
	}
	switch {
	case !requirement.Profile(log.Run.Profile).Includes(r.Profile):
		// Only the opt-in rows reach below their own profile, and only when their probe was sent.
		result.Extra = true
		if r.ID != expired {
			result.Gate = atMostAdvice(r.Gate)
		}
		seen := j.Outcome == requirement.Pass || j.Outcome == requirement.Warn || j.Outcome == requirement.Fail
		return result, seen && r.Profile == requirement.Full
	case !judged:
		result.Judgement = requirement.Unclear("it was not judged").Blaming(requirement.Suite)
	}
	return result, true
}

func atMostAdvice(g requirement.Gate) requirement.Gate {
	if g == requirement.Gating {
		return requirement.Advice
	}
	return g
}

// asked reports whether a partial run asked for a requirement: nothing that it needs was left out of the plan, and something that it
// reads was in it.
func asked(r requirement.Requirement, log *exchange.Log) bool {
	for _, need := range r.Needs {
		for _, l := range log.Resolve(need) {
			if need != exchange.WholeRun && !planned(l, log) {
				return false
			}
		}
	}
	for _, label := range slices.Concat(r.Needs, r.Reads) {
		if label == exchange.WholeRun || slices.ContainsFunc(log.Resolve(label), func(l exchange.Label) bool { return planned(l, log) }) {
			return true
		}
	}
	return false
}

// planned reports whether the run meant to send a label; a recording that was cut off may lack the plan and hold the exchange.
func planned(l exchange.Label, log *exchange.Log) bool {
	_, sent := log.Get(l)
	return sent || slices.Contains(log.Planned, l)
}

// because collects what keeps the profile from being certified.
func because(v Verdict, log *exchange.Log) []Reason {
	rs := &reasons{}
	switch {
	case log.Ended == nil:
		rs.add(Incomplete, "the evidence is cut off before the end of the run")
	case !log.Ended.Complete:
		rs.add(Incomplete, "the run ended early: "+log.Ended.Cause)
	}
	gating, failedAnonymous := 0, false
	for _, r := range v.Results {
		id, outcome := r.Requirement.ID, r.Judgement.Outcome
		if r.Gate == requirement.Gating {
			gating++
		}
		failedAnonymous = failedAnonymous || id == anonymous && outcome == requirement.Fail
		if !r.Costs(v.Profile) {
			unproven(rs, r, v.Profile, log.Run)
			continue
		}
		switch {
		case outcome == requirement.Fail && r.Gate == requirement.Advice:
			rs.add(AdviceFailed, "profile full allows no failed advice: "+r.Judgement.Reason, id)
		case outcome == requirement.Fail:
			rs.add(GatingFailed, r.Judgement.Reason, id)
		case outcome == requirement.Blocked && r.Judgement.BlockedBy != "":
			rs.add(Blocked, fmt.Sprintf("blocked by %s", r.Judgement.BlockedBy), id)
		case outcome == requirement.Blocked:
			rs.add(Blocked, r.Judgement.Reason, id)
		default:
			rs.add(Inconclusive, r.Judgement.Reason, id)
		}
	}
	if gating == 0 {
		rs.add(NothingSeen, "no gating requirement was judged")
	} else if log.Roles.ProbeTarget == "" && !failedAnonymous {
		rs.add(Unprotected, "no protected resource was found: nothing that was asked refused an anonymous call")
	}
	return rs.sorted()
}

// unproven looks for what the profile does not accept although it costs nothing by itself: not-applicable where something has to be shown,
// and rows of the profile full that were not executed.
func unproven(rs *reasons, r Result, p requirement.Profile, run exchange.Run) {
	id, outcome := r.Requirement.ID, r.Judgement.Outcome
	switch {
	case r.Extra || r.Known != nil:
	case outcome == requirement.NotApplicable && slices.Contains(proven(p), id):
		rs.add(NotProven, fmt.Sprintf("profile %s does not accept not-applicable here: %s", p, r.Judgement.Reason), id)
	case outcome == requirement.NotApplicable && slices.Contains(withheld(run), id):
		rs.add(NotProven, fmt.Sprintf("profile %s asks for this to be executed: %s", p, r.Judgement.Reason), id)
	case r.Requirement.Profile == requirement.Full && r.Gate == requirement.Advice && (outcome == requirement.Blocked || outcome == requirement.Inconclusive):
		rs.add(NotProven, fmt.Sprintf("profile %s asks for this to be executed, and it is %s: %s", p, outcome, r.Judgement.Reason), id)
	}
}

// notes collects what a certificate does not say by itself.
func notes(v Verdict) []string {
	var out []string
	for _, r := range v.Results {
		if r.Requirement.ID == role && r.Judgement.Outcome == requirement.NotApplicable {
			out = append(out, fmt.Sprintf("Role separation was not tested, see %s.", role))
		}
		if r.Extra {
			weight := "was judged as advice"
			if r.Gate == requirement.Gating {
				weight = "gates all the same"
			}
			out = append(out, fmt.Sprintf("%s is beyond profile %s and %s, because its probe was asked for.", r.Requirement.ID, v.Profile, weight))
		}
	}
	return out
}
