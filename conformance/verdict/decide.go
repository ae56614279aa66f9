package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
)

// Decide weighs the judgements of one run for the profile that its evidence names. A requirement of the profile without a judgement is
// inconclusive. A partial run leaves out the requirements that it did not ask for.
//
// known is the operator's baseline, or nil. Listed failures do not count as new; listed requirements that pass count against the run. A run
// with a baseline is always partial.
func Decide(catalogue []requirement.Requirement, judgements map[requirement.ID]requirement.Judgement, log *evidence.Log, known *Baseline) Verdict {
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

// weigh returns the result of one requirement. ok is false if the run is not about it.
func weigh(r requirement.Requirement, judgements map[requirement.ID]requirement.Judgement, log *evidence.Log) (Result, bool) {
	j, judged := judgements[r.ID]
	result := Result{Requirement: r, Judgement: j, Gate: r.Gate, Named: isNamed(r.ID, log.Run)}
	isChosen := slices.Contains(log.Run.Only, string(r.ID))
	if len(log.Run.Only) == 0 {
		isChosen = log.Run.Partial == "" || judged && isRequested(r, log)
	}
	if !isChosen {
		return result, false
	}
	if !judged {
		result.Judgement = requirement.Unclear("it was not judged").Blaming(requirement.Suite)
	}
	if requirement.Profile(log.Run.Profile).Includes(r.Profile) {
		return result, true
	}
	// A requirement beyond the profile counts if the operator named it, or if it is one of the profile full whose opt-in probe was sent. It then has its full
	// weight.
	result.Extra = true
	return result, result.Named || j.Outcome.Settled() && r.Profile == requirement.Full
}

// isNamed reports whether the operator named a requirement, by itself or by the report in which it had not passed. A label filter names groups.
func isNamed(id requirement.ID, run evidence.Run) bool {
	return slices.Contains(run.Only, string(id)) && !strings.Contains(run.Partial, "--label-filter")
}

// isExcused reports whether a repeated run may leave a requirement not applicable: one that had been blocked may never have applied.
func isExcused(r Result, run evidence.Run) bool {
	isRerun := strings.Contains(run.Partial, "--rerun-failed")
	hadFailed := slices.Contains(run.Failed, string(r.Requirement.ID))
	return r.Judgement.Outcome == requirement.NotApplicable && isRerun && !hadFailed
}

// isRequested reports whether a partial run asked for a requirement: everything that it needs was planned, and something that it reads was
// planned.
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

// isPlanned reports whether the run planned or sent a label. A truncated recording may have the exchange but not the plan.
func isPlanned(l evidence.Label, log *evidence.Log) bool {
	_, sent := log.Get(l)
	return sent || slices.Contains(log.Planned, l)
}

// collectReasons lists what keeps the profile from being certified.
func collectReasons(v Verdict, log *evidence.Log) []Reason {
	rs := &reasons{}
	switch {
	case log.Ended == nil:
		rs.add(Incomplete, "the evidence is cut off before the end of the run")
	case !log.Ended.Complete:
		rs.add(Incomplete, "the run ended early: "+log.Ended.Cause)
	}
	for _, o := range log.Outages() {
		rs.add(Incomplete, fmt.Sprintf("%s; %s", o.Cause, notSentText(o.NotSent)))
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
	if gating == 0 && len(log.Run.Only) == 0 { // an operator who names requirements may name advice alone
		rs.add(NothingSeen, "no gating requirement was judged")
	} else if log.Roles.ProbeTarget == "" && !failedAnonymous {
		rs.add(Unprotected, "no protected resource was found: no resource refused an anonymous call")
	}
	return rs.sorted()
}

// notSentText says how many requests were not sent.
func notSentText(requests int) string {
	if requests == 1 {
		return "1 request was not sent"
	}
	return fmt.Sprintf("%d requests were not sent", requests)
}

// addUnproven adds outcomes that cost nothing by themselves and that the profile still does not accept: not-applicable where the node must show
// something, and requirements of the profile full that were not executed.
func addUnproven(rs *reasons, r Result, p requirement.Profile, run evidence.Run) {
	id, outcome := r.Requirement.ID, r.Judgement.Outcome
	isAdviceOfFull := r.Requirement.Profile == requirement.Full && r.Gate == requirement.Advice
	switch {
	case r.Named && !outcome.Settled() && !isExcused(r, run):
		rs.add(NotProven, fmt.Sprintf("asked for, and not judged: %s", r.Judgement.Reason), id)
	case r.Extra || r.Known != nil: // the profile asks for neither
	case outcome == requirement.NotApplicable && slices.Contains(mustApply(p), id):
		rs.add(NotProven, fmt.Sprintf("profile %s does not accept not-applicable here: %s", p, r.Judgement.Reason), id)
	case outcome == requirement.NotApplicable && slices.Contains(mustExecute(run), id):
		rs.add(NotProven, fmt.Sprintf("profile %s asks for this to be executed: %s", p, r.Judgement.Reason), id)
	case isAdviceOfFull && (outcome == requirement.Blocked || outcome == requirement.Inconclusive):
		rs.add(NotProven, fmt.Sprintf("profile %s asks for this to be executed, and it is %s: %s", p, outcome, r.Judgement.Reason), id)
	}
}

// notes returns facts that the reader of a certificate must know.
func notes(v Verdict) []string {
	var out []string
	for _, r := range v.Results {
		if r.Requirement.ID == roleSeparation && r.Judgement.Outcome == requirement.NotApplicable {
			out = append(out, fmt.Sprintf("Role separation was not tested, see %s.", roleSeparation))
		}
		if r.Requirement.ID == pagesComplete && r.Judgement.Outcome == requirement.NotApplicable {
			out = append(out, "Paging was not seen: "+r.Judgement.Reason+".")
		}
		for _, note := range r.Judgement.Notes {
			if strings.HasSuffix(note, requirement.UnreadSuffix) {
				out = append(out, "Of the list, "+note+".")
			}
		}
		if r.Extra && r.Judgement.Outcome != requirement.Pass {
			weight := "was judged as advice"
			if r.Gate == requirement.Gating {
				weight = "gates all the same"
			}
			cause := "the run sent the requests for it"
			if r.Named {
				cause = "the operator named it"
			}
			out = append(out, fmt.Sprintf("%s is beyond profile %s and %s, because %s.", r.Requirement.ID, v.Profile, weight, cause))
		}
	}
	return out
}

// roleSeparation is the requirement that needs a second client to show that roles are checked.
const roleSeparation requirement.ID = "BRR-18"

// pagesComplete is the requirement that reads the list page by page.
const pagesComplete requirement.ID = "PAG-03"

// anonymousRefusal is the requirement that finds the protected resource.
const anonymousRefusal requirement.ID = "BRR-01"

// mustApply lists the requirements that a profile does not accept as not-applicable: a node without a document, without a callable operation, or,
// from the profile funding on, without funding calls has not shown what the profile certifies.
func mustApply(p requirement.Profile) []requirement.ID {
	var ids []requirement.ID
	if p.Includes(requirement.API) {
		ids = append(ids, "SPC-01", "API-01", "API-08")
	}
	if p.Includes(requirement.Funding) {
		ids = append(ids, "SPC-08")
	}
	return ids
}

// mustExecute lists the requirements of the profile full that are not-applicable only because the operator left out an input. The operator may
// refuse the probes that put a token or a secret into a URL. Everything else is not-applicable by the nature of the node, as signatures are
// for opaque tokens.
func mustExecute(run evidence.Run) []requirement.ID {
	ids := []requirement.ID{"BRR-10"} // applies whenever there is an expired token, or time to wait for one
	if run.StagingTokenURL == "" {
		ids = append(ids, "ISO-02")
	}
	if !run.Other {
		ids = append(ids, "ISO-03")
	}
	if !run.Second && run.Profile == string(requirement.Full) {
		ids = append(ids, roleSeparation)
	}
	return ids
}

// Excused sorts the entries of a baseline by their results. Each entry is in one list.
type Excused struct {
	// Known lists entries that failed as expected.
	Known []KnownFailure
	// Passed lists entries that passed, possibly with a warning.
	Passed []KnownFailure
	// Expired lists entries whose last day has passed, whatever the outcome.
	Expired []KnownFailure
	// NotJudged lists entries without a conclusive judgement in this run.
	NotJudged []KnownFailure
}

// excuse applies the baseline: it marks the failures that the baseline excuses on the given day, and the requirements that these block.
func (v *Verdict) excuse(b Baseline, today Day) {
	v.Excused = &Excused{}
	results := map[requirement.ID]*Result{}
	for i := range v.Results {
		results[v.Results[i].Requirement.ID] = &v.Results[i]
	}
	for _, entry := range b.Known {
		result := results[entry.ID]
		switch {
		case entry.Until.Before(today):
			v.Excused.Expired = append(v.Excused.Expired, entry)
		case result == nil:
			v.Excused.NotJudged = append(v.Excused.NotJudged, entry)
		case result.Judgement.Outcome == requirement.Fail:
			result.Known = &entry
			v.Excused.Known = append(v.Excused.Known, entry)
		case result.Judgement.Outcome == requirement.Pass || result.Judgement.Outcome == requirement.Warn:
			v.Excused.Passed = append(v.Excused.Passed, entry)
		default:
			v.Excused.NotJudged = append(v.Excused.NotJudged, entry)
		}
	}
	for i := range v.Results {
		j := v.Results[i].Judgement
		if blocker := results[j.BlockedBy]; j.Outcome == requirement.Blocked && blocker != nil {
			v.Results[i].Known = blocker.Known // a requirement that is blocked by a known failure is not new either
		}
	}
}

// reasons returns why the baseline must change.
func (e *Excused) reasons() []Reason {
	rs := &reasons{}
	for _, entry := range e.Passed {
		rs.add(BaselinePassed, "the baseline lists it as a known failure, and it passed: remove the entry", entry.ID)
	}
	for _, entry := range e.Expired {
		rs.add(BaselineExpired, fmt.Sprintf("the excuse of the baseline ended on %s: fix the node and remove the entry", entry.Until), entry.ID)
	}
	return rs.list
}
