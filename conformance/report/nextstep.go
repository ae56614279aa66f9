package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// repeatRun is the next step if only another run can help.
const repeatRun = "repeat the run"

// Steps that help only if nothing else keeps the run from being judged.
const (
	guardResource  = "let a resource refuse calls without a token"
	longerDeadline = "give a longer --deadline"
)

// nextStep says in a few words what settles an open verdict: what the operator or the node's engineer must do, or that the run must be repeated
// if nothing else can help. It counts the further steps; the findings describe them.
func nextStep(v verdict.Verdict) string {
	var steps []string
	var missing []string // flags
	for _, reason := range v.Reasons {
		if reason.Kind.Weight() != verdict.Open {
			continue
		}
		if flags := flagName().FindAllString(reason.Text, -1); reason.Kind == verdict.NotProven && len(flags) > 0 {
			missing = append(missing, flags...)
			continue
		}
		if step := stepFor(reason, v); step != "" && !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		steps = append(steps, "give "+strings.Join(slices.Compact(missing), ", "))
	}
	// Repeating the run helps only if nothing else is left to do. What was not proven often follows from the other causes.
	for _, weak := range []string{repeatRun, guardResource, longerDeadline} {
		if others := slices.DeleteFunc(slices.Clone(steps), func(s string) bool { return s == weak }); len(others) > 0 {
			steps = others
		}
	}
	switch len(steps) {
	case 0:
		return repeatRun
	case 1:
		return steps[0]
	}
	return fmt.Sprintf("%s (and %d more to do)", steps[0], len(steps)-1)
}

// flagName matches a flag in a text.
func flagName() *regexp.Regexp { return regexp.MustCompile(`--[a-z][a-z0-9-]+[a-z0-9]`) }

// stepFor returns the step for one reason; empty if another reason says more.
func stepFor(reason verdict.Reason, v verdict.Verdict) string {
	switch reason.Kind {
	case verdict.Incomplete, verdict.NothingSeen:
		if strings.Contains(reason.Text, "the deadline") {
			return longerDeadline
		}
		return repeatRun
	case verdict.Unprotected:
		return guardResource
	}
	for _, id := range reason.Requirements {
		if step := settle(id, v); step != "" {
			return step
		}
	}
	return ""
}

// settle says what settles one requirement; for a blocked one that is what settles the requirement that blocks it.
func settle(id requirement.ID, v verdict.Verdict) string {
	i := slices.IndexFunc(v.Results, func(r verdict.Result) bool { return r.Requirement.ID == id })
	if i < 0 {
		return ""
	}
	q, j := v.Results[i].Requirement, v.Results[i].Judgement
	switch {
	case j.Outcome == requirement.Blocked && j.BlockedBy != "" && j.BlockedBy != id:
		before := slices.IndexFunc(v.Results, func(r verdict.Result) bool { return r.Requirement.ID == j.BlockedBy })
		if before < 0 || v.Results[before].Judgement.Outcome == requirement.NotApplicable {
			return imperative(j.Hint) // nothing settles a requirement that is not judged
		}
		return settle(j.BlockedBy, v)
	case j.Fault == requirement.Suite:
		return "report a fault of rin"
	case j.Hint != "":
		return imperative(j.Hint)
	case j.Outcome == requirement.Fail, j.Outcome == requirement.Warn:
		return "fix " + string(id)
	case j.Outcome == requirement.NotApplicable:
		return "see " + string(q.ID)
	}
	return repeatRun
}

// longestStep bounds the next step in bytes: a headline is one or two lines.
const longestStep = 110

// imperative shortens a hint to its first clause.
func imperative(hint string) string {
	step := strings.TrimSuffix(strings.TrimSpace(hint), ".")
	for _, end := range []string{", then repeat the run", "; ", ": ", " ("} {
		step, _, _ = strings.Cut(step, end)
	}
	for len(step) > longestStep {
		at := strings.LastIndexAny(step[:longestStep], ",")
		if at <= 0 {
			return shorten(step)
		}
		step = step[:at]
	}
	if step != "" && len(step) > 1 && strings.ToLower(step[1:2]) == step[1:2] { // the first word is not in capitals, as the name of a product is
		step = strings.ToLower(step[:1]) + step[1:]
	}
	return step
}
