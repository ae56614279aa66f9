package verdict

import (
	"fmt"
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
)

// Decide weighs the judgements of one run for the profile that its evidence names. A requirement of the profile without a
// judgement is inconclusive; one that a partial run did not ask for is left out.
func Decide(catalogue []requirement.Requirement, judgements map[requirement.ID]requirement.Judgement, log *evidence.Log) Verdict {
	return DecideKnowing(nil, catalogue, judgements, log)
}

// DecideKnowing is [Decide] for an operator who knows of some failures: what the baseline lists is not counted as new, and what it lists
// without need is. Such a run is partial, whatever it saw. A nil baseline is none.
func DecideKnowing(known *Baseline, catalogue []requirement.Requirement, judgements map[requirement.ID]requirement.Judgement, log *evidence.Log) Verdict {
	v := Verdict{Profile: requirement.Profile(log.Run.Profile)}
	for _, r := range catalogue {
		if result, ok := weigh(r, judgements, log); ok {
			v.Results = append(v.Results, result)
			v.Totals.Count(result.Judgement.Outcome)
		}
	}
	if known != nil {
		v.excuse(*known, DayOf(log.Run.Started))
	}
	v.Coverage = countCoverage(catalogue, len(v.Results))
	v.Preview = v.Coverage.Covered < v.Coverage.Size
	v.Reasons = collectReasons(v, log)
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
func weigh(r requirement.Requirement, judgements map[requirement.ID]requirement.Judgement, log *evidence.Log) (Result, bool) {
	j, judged := judgements[r.ID]
	result := Result{Requirement: r, Judgement: j, Gate: r.Gate}
	if only := log.Run.Only; len(only) > 0 && !slices.Contains(only, string(r.ID)) {
		return result, false
	} else if len(only) == 0 && log.Run.Partial != "" && !(judged && isRequested(r, log)) {
		return result, false
	}
	switch {
	case !requirement.Profile(log.Run.Profile).Includes(r.Profile):
		// Only the opt-in rows reach below their own profile, and only when their probe was sent.
		result.Extra = true
		if r.ID != expiredRefusal {
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

// isRequested reports whether a partial run asked for a requirement: nothing that it needs was left out of the plan, and something that it
// reads was in it.
func isRequested(r requirement.Requirement, log *evidence.Log) bool {
	for _, need := range r.Needs {
		for _, l := range log.Resolve(need) {
			if need != evidence.WholeRun && !isPlanned(l, log) {
				return false
			}
		}
	}
	for _, label := range slices.Concat(r.Needs, r.Reads) {
		if label == evidence.WholeRun || slices.ContainsFunc(log.Resolve(label), func(l evidence.Label) bool { return isPlanned(l, log) }) {
			return true
		}
	}
	return false
}

// isPlanned reports whether the run meant to send a label; a recording that was cut off may lack the plan and hold the exchange.
func isPlanned(l evidence.Label, log *evidence.Log) bool {
	_, sent := log.Get(l)
	return sent || slices.Contains(log.Planned, l)
}

// collectReasons collects what keeps the profile from being certified.
func collectReasons(v Verdict, log *evidence.Log) []Reason {
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
		failedAnonymous = failedAnonymous || id == anonymousRefusal && outcome == requirement.Fail
		if !r.Costs(v.Profile) {
			addUnproven(rs, r, v.Profile, log.Run)
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

// addUnproven looks for what the profile does not accept although it costs nothing by itself: not-applicable where something has to be shown,
// and rows of the profile full that were not executed.
func addUnproven(rs *reasons, r Result, p requirement.Profile, run evidence.Run) {
	id, outcome := r.Requirement.ID, r.Judgement.Outcome
	switch {
	case r.Extra || r.Known != nil:
	case outcome == requirement.NotApplicable && slices.Contains(mustApply(p), id):
		rs.add(NotProven, fmt.Sprintf("profile %s does not accept not-applicable here: %s", p, r.Judgement.Reason), id)
	case outcome == requirement.NotApplicable && slices.Contains(mustExecute(run), id):
		rs.add(NotProven, fmt.Sprintf("profile %s asks for this to be executed: %s", p, r.Judgement.Reason), id)
	case r.Requirement.Profile == requirement.Full && r.Gate == requirement.Advice && (outcome == requirement.Blocked || outcome == requirement.Inconclusive):
		rs.add(NotProven, fmt.Sprintf("profile %s asks for this to be executed, and it is %s: %s", p, outcome, r.Judgement.Reason), id)
	}
}

// notes collects what a certificate does not say by itself.
func notes(v Verdict) []string {
	var out []string
	for _, r := range v.Results {
		if r.Requirement.ID == roleSeparation && r.Judgement.Outcome == requirement.NotApplicable {
			out = append(out, fmt.Sprintf("Role separation was not tested, see %s.", roleSeparation))
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

// roleSeparation is the requirement that shows whether roles are told apart; it needs a second client.
const roleSeparation requirement.ID = "BRR-18"

// anonymousRefusal is the requirement that finds the protected resource.
const anonymousRefusal requirement.ID = "BRR-01"

// expiredRefusal is the requirement that an expired token is refused. It needs a wait, so that it belongs to the profile full; wherever it is
// judged, it gates.
const expiredRefusal requirement.ID = "BRR-10"

// mustApply lists what a profile does not accept as not-applicable: a node without a document, without funding calls, or with
// nothing that could be called has not shown what the profile certifies.
func mustApply(p requirement.Profile) []requirement.ID {
	if p.Includes(requirement.Funding) {
		return []requirement.ID{"SPC-01", "SPC-08", "API-01", "API-08"}
	}
	return nil
}

// mustExecute lists the rows of profile full that are not-applicable because the operator left out what they need. The probes that put a token or
// a secret into a URL are the operator's to refuse; whatever else is not applicable is so by the nature of the node: opaque tokens have no
// signature.
func mustExecute(run evidence.Run) []requirement.ID {
	ids := []requirement.ID{"BRR-10"} // with an expired token, or with the time to wait for one, it always applies
	if run.StagingTokenURL == "" {
		ids = append(ids, "ISO-02")
	}
	if !run.Other {
		ids = append(ids, "ISO-03")
	}
	return ids
}

// Excused says what became of the entries of a baseline, each in exactly one list, in the order of the baseline.
type Excused struct {
	// Known failed as listed.
	Known []KnownFailure
	// Mended were listed and passed, with a warning perhaps.
	Mended []KnownFailure
	// Expired are entries whose last day is over, whatever was seen.
	Expired []KnownFailure
	// Unseen were not judged by this run, or in a way that tells nothing.
	Unseen []KnownFailure
}

// excuse marks what the baseline lists as known on that day.
func (v *Verdict) excuse(b Baseline, today Day) {
	v.Excused = &Excused{}
	at := map[requirement.ID]*Result{}
	for i := range v.Results {
		at[v.Results[i].Requirement.ID] = &v.Results[i]
	}
	for _, entry := range b.Known {
		result := at[entry.ID]
		switch {
		case entry.Until.Before(today):
			v.Excused.Expired = append(v.Excused.Expired, entry)
		case result == nil:
			v.Excused.Unseen = append(v.Excused.Unseen, entry)
		case result.Judgement.Outcome == requirement.Fail:
			result.Known = &entry
			v.Excused.Known = append(v.Excused.Known, entry)
		case result.Judgement.Outcome == requirement.Pass || result.Judgement.Outcome == requirement.Warn:
			v.Excused.Mended = append(v.Excused.Mended, entry)
		default:
			v.Excused.Unseen = append(v.Excused.Unseen, entry)
		}
	}
	for i := range v.Results {
		j := v.Results[i].Judgement
		if before := at[j.BlockedBy]; j.Outcome == requirement.Blocked && before != nil {
			v.Results[i].Known = before.Known // what waits for a known failure is not new either
		}
	}
}

// reasons say what is to be done about the baseline itself.
func (e *Excused) reasons() []Reason {
	rs := &reasons{}
	for _, entry := range e.Mended {
		rs.add(BaselineMended, "the baseline lists it as a known failure, and it passed: take the entry out", entry.ID)
	}
	for _, entry := range e.Expired {
		rs.add(BaselineExpired, fmt.Sprintf("the excuse of the baseline ended on %s: mend the node and take the entry out", entry.Until), entry.ID)
	}
	return rs.list
}
