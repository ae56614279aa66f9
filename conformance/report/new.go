package report

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// New builds the report of a verdict and the evidence that was judged. suite is the version of rin that judged.
func New(v verdict.Verdict, e requirement.Evidence, suite string) Report {
	log := e.Log
	r := Report{
		Schema:     Version,
		Suite:      Suite{Name: "rin", Version: suite, RecordedBy: log.Run.Suite, Matrix: verdict.RecordedMatrix().Score(), Contact: verdict.LastContact()},
		Catalogue:  catalogueOf(v),
		Date:       log.Run.Started.UTC().Truncate(time.Second),
		Profile:    v.Profile,
		Target:     targetOf(log),
		Made:       madeOf(e),
		Verdict:    verdictOf(v, e),
		Totals:     v.Totals,
		Budget:     Budget{Planned: log.Run.Budget},
		Run:        Run{Cause: "the evidence is cut off before the end of the run", Partial: log.Run.Partial, NotSent: []NotSent{}},
		Operations: operations(e),
		Uncovered:  uncovered(),
	}
	r.Run.Baseline = baselineOf(v.Excused)
	if log.Ended != nil {
		r.Budget.Sent = log.Ended.Requests
		r.Run.Complete, r.Run.Cause = log.Ended.Complete, log.Ended.Cause
	} else {
		r.Budget.Sent = attempts(log)
	}
	r.Budget.Kept = r.Budget.Sent <= r.Budget.Planned
	for _, n := range log.NotSent {
		r.Run.NotSent = append(r.Run.NotSent, NotSent{n.Label, n.Kind, n.Because})
	}
	r.Requirements = make([]Requirement, 0, len(v.Results))
	for _, result := range v.Results {
		r.Requirements = append(r.Requirements, finding(result, v.Profile, e))
	}
	r.Notes = append(slices.Clone(v.Notes), gapNotes(r.Made.Gaps)...)
	if log.Ended != nil && log.Ended.Slowdown != nil {
		r.Notes = append(r.Notes, sentence(log.Ended.Slowdown.String())+".")
	}
	r.Notes = append(r.Notes, r.Made.Unused...)
	r.Notes = append(r.Notes, validityNotes(v, r.Date)...)
	return r
}

// gapNotes names the operations that were not called, and whose gap the operator accepts.
func gapNotes(gaps []evidence.Gap) []string {
	var out []string
	for _, g := range gaps {
		out = append(out, fmt.Sprintf("The operator accepts that %s was not called: %s.", evidence.Clip(g.Operation, 160), strings.TrimSuffix(evidence.Clip(g.Reason, 300), ".")))
	}
	return out
}

// baselineOf describes a baseline; nil without one.
func baselineOf(e *verdict.Excused) *Baseline {
	if e == nil {
		return nil
	}
	ids := func(entries []verdict.KnownFailure) []requirement.ID {
		out := make([]requirement.ID, 0, len(entries))
		for _, e := range entries {
			out = append(out, e.ID)
		}
		return out
	}
	return &Baseline{Known: ids(e.Known), Passed: ids(e.Passed), Expired: ids(e.Expired), NotJudged: ids(e.NotJudged)}
}

// attempts counts the requests of a run that did not record its end.
func attempts(log *evidence.Log) int {
	n := 0
	for _, x := range log.Exchanges {
		n += x.Attempts
	}
	for _, h := range log.Handshakes {
		n += h.Attempts
	}
	return n
}

func catalogueOf(v verdict.Verdict) Catalogue {
	c := Catalogue{Version: requirement.Version, Digest: "sha256:" + requirement.CatalogueDigest(), Judged: len(v.Results)}
	for _, g := range requirement.Groups() {
		group := Group{Name: g.Name, Title: g.Title, Size: len(g.Requirements)}
		c.Size += group.Size
		for _, r := range v.Results {
			if r.Requirement.ID.Group() == g.Name {
				group.Totals.Count(r.Judgement.Outcome)
			}
		}
		c.Groups = append(c.Groups, group)
	}
	return c
}

func targetOf(log *evidence.Log) Target {
	run := log.Run
	return Target{
		TokenURL: withoutUserinfo(run.TokenURL), InfoURL: withoutUserinfo(run.InfoURL),
		SpecURL: withoutUserinfo(run.SpecURL), BaseURL: withoutUserinfo(run.BaseURL),
		Registry: withoutUserinfo(run.Registry), NodeID: run.NodeID, ClientID: run.ClientID,
		SecondClient: run.Second, Loopback: run.Loopback,
		ProbeTarget: log.Roles.ProbeTarget, OperationBase: withoutUserinfo(log.Roles.OperationBase),
	}
}

// withoutUserinfo removes user and password from a URL.
func withoutUserinfo(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.User == nil {
		return raw
	}
	u.User = nil
	return u.String()
}

func verdictOf(v verdict.Verdict, e requirement.Evidence) Verdict {
	out := Verdict{
		Decision: v.Decision, Headline: headline(v, e), Reasons: []Reason{},
		Failed: v.Failed(), Unsettled: v.Unsettled(),
	}
	for _, r := range v.Reasons {
		ids := slices.Clone(r.Requirements)
		if ids == nil {
			ids = []requirement.ID{}
		}
		out.Reasons = append(out.Reasons, Reason{Kind: r.Kind, Requirements: ids, Text: r.Text})
	}
	return out
}

// headline returns the decision in words. The profile comes from an evidence file that anyone may have written, so only a known one is named.
func headline(v verdict.Verdict, e requirement.Evidence) string {
	profile := v.Profile
	if !slices.Contains(requirement.Profiles(), profile) {
		profile = "unknown"
	}
	switch v.Decision {
	case verdict.Certified:
		return fmt.Sprintf("Certified for profile %s", profile) + unseenEndpoints(v, e) + comparedWithNothing(v, e)
	case verdict.NotCertified:
		return fmt.Sprintf("Not certified for profile %s", profile)
	case verdict.Repeat:
		if outages := e.Outages(); len(outages) > 0 {
			return fmt.Sprintf("Not certified for profile %s yet: %s", profile, describeOutages(outages))
		}
		return fmt.Sprintf("Not certified for profile %s yet: %s", profile, nextStep(v))
	}
	if v.Excused != nil {
		return baselineHeadline(v, profile)
	}
	return fmt.Sprintf("Partial run of profile %s: %s", profile, partialResult(v))
}

// partialResult says in words what a partial run found. If nothing failed, it lists the requirements that the operator had named.
func partialResult(v verdict.Verdict) string {
	found := "nothing failed"
	switch {
	case v.Failed():
		return "something failed"
	case v.Totals.Fail > 0:
		found = "only advice failed"
	}
	if v.Unsettled() {
		return found + ", something is open"
	}
	var named []string
	for _, r := range v.Results {
		if r.Named {
			named = append(named, string(r.Requirement.ID))
		}
	}
	if len(named) == 0 || v.Totals.Fail > 0 {
		return found
	}
	const limit = 5
	if n := len(named) - limit; n > 0 {
		named = append(named[:limit], evidence.Count(n, "other"))
	}
	return found + " in " + strings.Join(named, ", ") + ". Now certify the whole node"
}

// describeOutages names the origins that stopped answering, two at most; for a single origin, it says what happened.
func describeOutages(outages []evidence.Outage) string {
	var origins []string
	for _, o := range outages {
		if !slices.Contains(origins, o.Origin) {
			origins = append(origins, o.Origin)
		}
	}
	switch len(origins) {
	case 1:
		what, _, _ := strings.Cut(outages[0].Cause, ": ")
		return cut(what, 2*maxName)
	case 2:
		return origins[0] + " and " + origins[1] + " stopped answering"
	}
	return fmt.Sprintf("%s and %d other addresses stopped answering", origins[0], len(origins)-1)
}

// unseenEndpoints says that nothing of what info lists was called; "" if something was.
func unseenEndpoints(v verdict.Verdict, e requirement.Evidence) string {
	for _, r := range v.Results {
		if r.Requirement.ID != "INF-05" {
			continue
		}
		if unseen := requirement.UnseenEndpoints(e, r.Judgement); unseen != "" {
			return "; " + unseen
		}
	}
	return ""
}

// comparedWithNothing names the operations whose schemas say nothing about their answers; "" without any.
func comparedWithNothing(v verdict.Verdict, e requirement.Evidence) string {
	if !v.Profile.Includes(requirement.API) {
		return ""
	}
	names := requirement.UncomparedOperations(e)
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > 2 {
		more = fmt.Sprintf(" and %d more", len(names)-2)
	}
	return "; compared with nothing: " + cut(strings.Join(names[:min(len(names), 2)], ", "), maxName) + more
}

// baselineHeadline returns the headline of a run with a baseline.
func baselineHeadline(v verdict.Verdict, profile requirement.Profile) string {
	switch {
	case v.Failed():
		return fmt.Sprintf("Profile %s does not match the baseline", profile)
	case v.Unsettled():
		return fmt.Sprintf("Profile %s matches the baseline so far: something is open", profile)
	}
	return fmt.Sprintf("Profile %s matches the baseline: nothing new failed", profile)
}

// validityNotes returns notes that say when a verdict holds.
func validityNotes(v verdict.Verdict, at time.Time) []string {
	out := []string{fmt.Sprintf("This is a snapshot: it says what the node answered on %s and nothing about any other time.", at.Format("2 January 2006 at 15:04 UTC"))}
	switch {
	case v.Excused != nil:
		out = append(out, "A run with a baseline is never a certificate: certify the node without it.")
	case v.Decision == verdict.Certified:
		out = append(out, fmt.Sprintf("Proposed validity: until %s, or until a URL of the node's registry entry changes.", at.AddDate(1, 0, 0).Format("2 January 2006")))
	}
	return out
}
