package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// sourceOf converts a source with all its citations.
func sourceOf(s requirement.Source) Source {
	out := Source{Text: s.Text(), URL: s.URL(), Derived: s.Derived, Citations: []Citation{}}
	for _, c := range s.Citations {
		out.Citations = append(out.Citations, Citation(c))
	}
	return out
}

// maxSubjects bounds the subjects of one requirement. Nobody reads a list of 10,000 faulty items.
const maxSubjects = 100

// brief shortens one text of a finding.
func brief(s string) string { return cut(s, 2000) }

// finding converts one result into a requirement of the report.
func finding(r verdict.Result, p requirement.Profile, e requirement.Evidence) Requirement {
	q, j := r.Requirement, r.Judgement
	out := Requirement{
		ID: q.ID, Title: q.Title, Level: q.Level, Gate: r.Gate, Profile: q.Profile, Extra: r.Extra,
		Outcome: j.Outcome, Costs: r.Costs(p),
		Reason: brief(j.Reason), Expected: brief(j.Expected), Got: brief(j.Got), Fault: j.Fault, BlockedBy: j.BlockedBy,
		Source: sourceOf(q.Source), Quote: q.Quote,
		Subjects: []Subject{}, Notes: []string{},
	}
	out.Maker = requirement.Maker(e, j)
	for _, n := range j.Notes[:min(len(j.Notes), maxSubjects)] {
		out.Notes = append(out.Notes, brief(n))
	}
	for _, s := range j.Subjects[:min(len(j.Subjects), maxSubjects)] {
		subject := Subject{Name: brief(s.Name), Label: s.Label, Expected: brief(s.Expected), Got: brief(s.Got)}
		if subject.bare = s.Label != "" && s.Name == string(s.Label); subject.bare {
			subject.Name = brief(e.RequestName(s.Label))
		}
		out.Subjects = append(out.Subjects, subject)
	}
	if r.Known != nil {
		out.Known = &Known{Reason: brief(r.Known.Reason), Until: r.Known.Until}
	}
	out.SubjectsCut = len(j.Subjects) - len(out.Subjects) + j.Unlisted
	switch {
	case j.Hint != "":
		out.Fix = brief(j.Hint)
	case j.Outcome == requirement.Warn, j.Outcome == requirement.Fail:
		out.Fix = q.Fix
	case j.Outcome == requirement.Inconclusive:
		out.Fix = advise(q.ID, j.Fault)
	}
	if needsAttention(j.Outcome) {
		out.Seen, out.Curl = evidenceOf(j.Subjects, e.Log)
	}
	return out
}

// advise says what to do about an inconclusive outcome, depending on who caused it.
func advise(id requirement.ID, fault requirement.Fault) string {
	if fault == requirement.Suite {
		return "This is a fault of rin, not of the node: please report it with evidence.jsonl.gz."
	}
	return fmt.Sprintf("Look at what stood between rin and the node (network, gateway, rate limit, an outage), then run it again: rin certify with --only %s.", id)
}

// handshakeLine describes a handshake in one line.
func handshakeLine(h evidence.Handshake) string {
	line := "TLS handshake with " + h.Address
	if !h.Completed() {
		return line + ": not completed"
	}
	return line + ": " + h.Version
}

// exchangeLine describes an exchange in one line.
func exchangeLine(x evidence.Exchange) string {
	line := x.Request.Method + " " + x.Request.URL
	if x.Response == nil {
		return line + ": no answer"
	}
	return line + ": " + x.StatusText()
}

// needsAttention reports whether a person must look at an outcome.
func needsAttention(o requirement.Outcome) bool {
	return o == requirement.Warn || o == requirement.Fail || o == requirement.Inconclusive
}

// evidenceOf describes the exchange or handshake that shows the finding, and how to repeat it.
func evidenceOf(subjects []requirement.Subject, log *evidence.Log) (seenIn, curl string) {
	for _, s := range subjects {
		for _, label := range log.Resolve(s.Label) {
			if x, ok := log.Get(label); ok {
				return brief(exchangeLine(x)), evidence.Curl(x)
			}
			if h, ok := log.Handshake(label); ok {
				return brief(handshakeLine(h)), h.Curl()
			}
		}
	}
	return "", ""
}

// withOutcome returns the requirements with the given outcome: first those that cost the certificate, then the others, each in catalogue order.
func (r Report) withOutcome(o requirement.Outcome) []Requirement {
	var costs, rest []Requirement
	for _, q := range r.Requirements {
		switch {
		case q.Outcome != o:
		case q.Costs:
			costs = append(costs, q)
		default:
			rest = append(rest, q)
		}
	}
	return append(costs, rest...)
}

// MatrixSentence describes the kill matrix, and says whether the operator attested the requirements that no deviation can prove.
func (r Report) MatrixSentence() string {
	var attested []requirement.ID
	for _, q := range r.withOutcome(requirement.Pass) {
		attested = append(attested, q.ID)
	}
	return r.Suite.Matrix.Sentence(attested)
}

// attentionItem is a requirement that is described in full, with the ids of those that have the same reason.
type attentionItem struct {
	Requirement
	Also []requirement.ID
}

// attention returns the requirements with the given outcome as items to describe. Inconclusive ones with the same reason are merged: a node that is
// down needs one paragraph, not seventy.
func (r Report) attention(o requirement.Outcome) []attentionItem {
	var out []attentionItem
	index := map[string]int{}
	for _, q := range r.withOutcome(o) {
		if q.Maker != "" {
			continue // see habits
		}
		if i, known := index[q.Reason]; known && o == requirement.Inconclusive {
			out[i].Also = append(out[i].Also, q.ID)
			continue
		}
		index[q.Reason] = len(out)
		out = append(out, attentionItem{Requirement: q})
	}
	return out
}

// habit is a block of warnings that are a known product's own.
type habit struct {
	Maker    string
	Warnings []Requirement
}

// Title is the heading of the block: "7 warnings are Keycloak's own".
func (h habit) Title() string {
	if len(h.Warnings) == 1 {
		return "1 warning is " + h.Maker + "'s own"
	}
	return fmt.Sprintf("%d warnings are %s's own", len(h.Warnings), h.Maker)
}

// habits folds the warnings that are a known product's own, by product.
func (r Report) habits() []habit {
	var out []habit
	for _, q := range r.withOutcome(requirement.Warn) {
		if q.Maker == "" {
			continue
		}
		i := slices.IndexFunc(out, func(h habit) bool { return h.Maker == q.Maker })
		if i < 0 {
			i = len(out)
			out = append(out, habit{Maker: q.Maker})
		}
		out[i].Warnings = append(out[i].Warnings, q)
	}
	return out
}

// furtherSubjects returns the subjects without those that only name a judged exchange.
func (q Requirement) furtherSubjects() []Subject {
	var out []Subject
	for _, s := range q.Subjects {
		if !s.bare || q.difference(s) != (Subject{}) {
			out = append(out, s)
		}
	}
	return out
}

// difference returns the Expected and Got of a subject where they differ from those of the requirement.
func (q Requirement) difference(s Subject) Subject {
	var out Subject
	if s.Expected != q.Expected {
		out.Expected = s.Expected
	}
	if s.Got != q.Got {
		out.Got = s.Got
	}
	return out
}

// subjectLine describes a subject in one line.
func (q Requirement) subjectLine(s Subject) string {
	out, more := s.Name, q.difference(s)
	if more.Expected != "" {
		out += ", expected " + more.Expected
	}
	if more.Got != "" {
		out += ", got " + more.Got
	}
	return out
}

// presentation is how an outcome looks: its mark for output without colour, its word in a sentence, and its colour on a terminal.
type presentation struct{ symbol, word, style string }

func present(o requirement.Outcome) presentation {
	switch o {
	case requirement.Pass:
		return presentation{"✓", "passed", green}
	case requirement.Warn:
		return presentation{"!", "warning", yellow}
	case requirement.Fail:
		return presentation{"✗", "failed", red}
	case requirement.NotApplicable:
		return presentation{"–", "not applicable", ""}
	case requirement.Blocked:
		return presentation{"⊘", "blocked", ""}
	case requirement.Inconclusive:
		return presentation{"?", "inconclusive", magenta}
	}
	return presentation{"?", string(o), ""}
}

// symbol returns the mark of an outcome for output without colour.
func symbol(o requirement.Outcome) string { return present(o).symbol }

// Word returns an outcome as a word of a sentence.
func Word(o requirement.Outcome) string { return present(o).word }

// bestFirst lists the outcomes in the order in which totals are shown.
func bestFirst() []requirement.Outcome {
	return []requirement.Outcome{
		requirement.Pass, requirement.Warn, requirement.Fail, requirement.Inconclusive, requirement.Blocked, requirement.NotApplicable,
	}
}

// remedy returns the label of the fix.
func remedy(o requirement.Outcome) string {
	if o == requirement.Inconclusive {
		return "to do"
	}
	return "fix"
}

// costsFull says what failed advice costs in a run for a profile other than full.
const costsFull = "costs only the profile full"

// Price says what the outcome costs.
func (q Requirement) Price() string {
	switch {
	case q.Known != nil:
		return fmt.Sprintf("known until %s (%s)", q.Known.Until, q.Known.Reason)
	case q.Costs:
		return "costs the certificate"
	case q.Outcome == requirement.Warn:
		return "costs nothing"
	case q.Extra && q.Outcome == requirement.Fail:
		return "advice beyond the profile, " + costsFull
	case q.Extra:
		return "advice beyond the profile"
	case q.Gate == requirement.Advice && q.Outcome == requirement.Fail:
		return "advice, " + costsFull
	case q.Gate == requirement.Information:
		return "information only"
	}
	return string(q.Gate)
}

// mark returns the outcome whose symbol stands for a decision.
func mark(d verdict.Decision, failed bool) requirement.Outcome {
	switch {
	case d == verdict.Certified:
		return requirement.Pass
	case d == verdict.NotCertified || failed:
		return requirement.Fail
	case d == verdict.Repeat:
		return requirement.Inconclusive
	}
	return requirement.Warn
}

// counts lists the outcomes that occur, the best first: "16 passed, 1 warning, 2 not applicable".
func counts(t verdict.Totals) string {
	var out []string
	for _, o := range bestFirst() {
		n := t.Of(o)
		if n == 0 {
			continue
		}
		w := Word(o)
		if o == requirement.Warn && n != 1 {
			w += "s"
		}
		out = append(out, fmt.Sprintf("%d %s", n, w))
	}
	if len(out) == 0 {
		return "nothing judged"
	}
	return strings.Join(out, ", ")
}

// failedTitle returns the heading of the failures.
func (r Report) failedTitle() string {
	for _, q := range r.withOutcome(requirement.Fail) {
		if !strings.HasSuffix(q.Price(), costsFull) {
			return "What failed"
		}
	}
	return "What failed as advice (" + costsFull + ")"
}

// tally lists the outcomes of a group, or of the whole run if group is empty. If no failure costs the certificate, it says what the failures
// cost instead: "16 passed, 1 failed (advice, costs only the profile full)".
func (r Report) tally(t verdict.Totals, group string) string {
	if prices := r.FailurePrices(group); prices != "" {
		return counts(t) + " (" + prices + ")"
	}
	return counts(t)
}

// FailurePrices says what the failures of a group cost, or those of the whole run if group is empty. It is empty if one of them costs the
// certificate, or if nothing failed.
func (r Report) FailurePrices(group string) string {
	var prices []string
	for _, q := range r.Requirements {
		if q.Outcome != requirement.Fail || group != "" && q.ID.Group() != group {
			continue
		}
		if q.Costs || q.Known != nil {
			return ""
		}
		if p := q.Price(); !slices.Contains(prices, p) {
			prices = append(prices, p)
		}
	}
	return strings.Join(prices, "; ")
}

// cite quotes the source: RFC 6749 §5.1: “…”; see also RFC 9111 §5.4. An implied rule has the mark (derived).
func (q Requirement) cite() string {
	s, also, _ := strings.Cut(q.Source.Text, "; ")
	if q.Source.Derived {
		s += " (derived)"
	}
	if q.Quote != "" {
		s += ": “" + q.Quote + "”"
	}
	if also != "" {
		s += "; see also " + also
	}
	return s
}

// String says how many requests were sent and how many were announced.
func (b Budget) String() string {
	s := fmt.Sprintf("%s sent, at most %d announced", evidence.Count(b.Sent, "request"), b.Planned)
	if !b.Kept {
		s += ": more than announced"
	}
	return s
}

// sentence capitalises a reason, unless it begins with a name whose case matters, such as that of a parameter.
func sentence(reason string) string {
	first, _, _ := strings.Cut(reason, " ")
	if first == "" || strings.Trim(first, "abcdefghijklmnopqrstuvwxyz,") != "" {
		return reason
	}
	return strings.ToUpper(first[:1]) + reason[1:]
}
