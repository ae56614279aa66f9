package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// This file says what the report of one run means for the night: passed, failed, or not tested.

// record describes a run that ended with a report and its evidence.
func (o Operator) record(r Record, got report.Report, log *evidence.Log, d Document, e Entry, night Night, started time.Time) Record {
	r.Outcome = Outcome{
		Node: e.ID, Night: night, Started: started.UTC(), Seconds: seconds(started, o.Now()), Requests: got.Budget.Sent,
		Headline: report.Plain(clip(got.Verdict.Headline)), Profile: got.Profile, Seed: got.Made.Seed,
		Suite: got.Suite.Version, Catalogue: got.Catalogue.Version, Digest: requirement.CatalogueDigest(), Document: d.Digest(), Evidence: true,
	}
	switch got.Verdict.Decision {
	case verdict.Certified:
		r.Result = Passed
	case verdict.NotCertified:
		r.Result = Failed
	default:
		r.Result = Untested
	}
	if refused := cmp.Or(RefusedClient(got), unreachable(got, log)); refused != "" {
		r.Result, r.Headline, r.Why = Untested, "Not tested", report.Plain(clip(refused))
	} else if r.Result != Passed {
		r.Why = report.Plain(describeReasons(got))
	}
	if r.Result != Untested {
		r.Requirements = judgedOf(got, night)
	}
	if r.Result == Passed {
		r.Drawn, r.Protected = drawnOf(got), protectedURLs(log, e)
	}
	return r
}

// seconds returns the time between two times; a clock that was set back meanwhile gives 0.
func seconds(from, to time.Time) float64 { return max(0, to.Sub(from).Seconds()) }

// tokenRequest is the requirement on the good token request.
const tokenRequest requirement.ID = "TOK-01"

// RefusedClient says that the node refused the registry's client at the first request; "" if it did not. A secret that was rotated tells nothing about
// the node, so it must not suspend a certificate. A node that refuses its client for long becomes stale.
func RefusedClient(r report.Report) string {
	for _, q := range r.Requirements {
		if q.ID != tokenRequest || q.Outcome != requirement.Fail && q.Outcome != requirement.Inconclusive {
			continue
		}
		for _, status := range []string{": 400", ": 401", ": 403"} {
			if strings.HasSuffix(q.Seen, status) {
				return "the node refuses the registry's client, so that nothing could be tested (" + string(tokenRequest) + status + "); was its secret rotated?"
			}
		}
	}
	return ""
}

// unreachable says why no request for a token was answered; "" if one was answered, or if another answer broke a rule. It also names the rules that the entry
// breaks, but these alone do not make a node fail.
func unreachable(r report.Report, log *evidence.Log) string {
	i := slices.IndexFunc(r.Requirements, func(q report.Requirement) bool { return q.ID == tokenRequest })
	if i < 0 || r.Requirements[i].Outcome != requirement.Inconclusive {
		return ""
	}
	x, _ := log.Get(evidence.TokenEndpoint.With(evidence.OK))
	if x.Failure == nil {
		return ""
	}
	var why string
	switch at := evidence.OriginOf(x.Request.URL); x.Failure.Kind {
	case evidence.FailureResolve:
		why = fmt.Sprintf("the name of its host does not resolve: %s (%s)", at, x.Failure.Message)
	case evidence.FailureConnect:
		why = fmt.Sprintf("the node refuses connections: %s (%s)", at, x.Failure.Message)
	case evidence.FailureTimeout:
		why = fmt.Sprintf("the node does not answer in time: %s (%s)", at, x.Failure.Message)
	case evidence.FailureReset:
		why = fmt.Sprintf("the node closes connections without an answer: %s (%s)", at, x.Failure.Message)
	default: // faults of TLS or HTTP are judged
		return ""
	}
	var broken []string
	for _, q := range r.Requirements {
		if !(q.Costs && q.Outcome == requirement.Fail) {
			continue
		}
		if q.Seen != "" && q.ID.Group() != "REG" {
			return ""
		}
		broken = append(broken, string(q.ID)+": "+q.Reason)
	}
	if len(broken) > 0 {
		why += "; besides, its entry breaks " + strings.Join(broken, "; ")
	}
	return why
}

// maxReasons bounds the reasons that are kept of a night.
const maxReasons = 3

// describeReasons names the broken rules that keep a node from passing, or the other reasons if there are none. Requirements that wait for others are the last
// choice.
func describeReasons(r report.Report) string {
	var reasons []report.Reason
	for _, fits := range []func(verdict.ReasonKind) bool{
		func(k verdict.ReasonKind) bool { return k.Weight() == verdict.Broken },
		func(k verdict.ReasonKind) bool { return k != verdict.Blocked },
		func(verdict.ReasonKind) bool { return true },
	} {
		for _, reason := range r.Verdict.Reasons {
			if fits(reason.Kind) {
				reasons = append(reasons, reason)
			}
		}
		if len(reasons) > 0 {
			break
		}
	}
	if len(reasons) == 0 {
		return clip(r.Verdict.Headline)
	}
	shown := reasons[:min(len(reasons), maxReasons)]
	var parts []string
	for _, reason := range shown {
		text := strings.TrimPrefix(strings.Join(names(reason.Requirements), ", ")+": "+reason.Text, ": ")
		parts = append(parts, evidence.Clip(text, maxText/len(shown)))
	}
	if more := len(reasons) - len(shown); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

func names(ids []requirement.ID) []string {
	var out []string
	for _, id := range ids[:min(len(ids), 3)] {
		out = append(out, string(id))
	}
	return out
}

func drawnOf(r report.Report) map[string][]string {
	out := map[string][]string{}
	for _, f := range r.Made.Families {
		if len(f.Drawn) > 0 {
			out[f.Name] = f.Drawn
		}
	}
	return out
}
