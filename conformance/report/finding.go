package report

import (
	"fmt"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// sourceOf keeps the source with a link to each of its places.
func sourceOf(s requirement.Source) Source {
	out := Source{Text: s.Text(), URL: s.URL(), Derived: s.Derived, Citations: []Citation{}}
	for _, c := range s.Citations {
		out.Citations = append(out.Citations, Citation(c))
	}
	return out
}

// maxSubjects bounds the subjects of one requirement: a node with 10,000 bad items is no better known by the last of them.
const maxSubjects = 100

// brief bounds one text of a finding.
func brief(s string) string { return cut(s, 2000) }

// finding is one result as the report tells it.
func finding(r verdict.Result, p requirement.Profile, e requirement.Evidence) Requirement {
	q, j := r.Requirement, r.Judgement
	out := Requirement{
		ID: q.ID, Title: q.Title, Level: q.Level, Gate: r.Gate, Profile: q.Profile, Extra: r.Extra,
		Outcome: j.Outcome, Costs: r.Costs(p),
		Reason: brief(j.Reason), Expected: brief(j.Expected), Got: brief(j.Got), Fault: j.Fault, BlockedBy: j.BlockedBy,
		Source: sourceOf(q.Source), Quote: q.Quote,
		Subjects: []Subject{}, Notes: []string{},
	}
	for _, n := range j.Notes[:min(len(j.Notes), maxSubjects)] {
		out.Notes = append(out.Notes, brief(n))
	}
	for _, s := range j.Subjects[:min(len(j.Subjects), maxSubjects)] {
		told := Subject{Name: brief(s.Name), Label: s.Label, Expected: brief(s.Expected), Got: brief(s.Got)}
		if told.bare = s.Label != "" && s.Name == string(s.Label); told.bare {
			told.Name = brief(e.Asked(s.Label))
		}
		out.Subjects = append(out.Subjects, told)
	}
	if r.Known != nil {
		out.Known = &Known{Reason: brief(r.Known.Reason), Until: r.Known.Until}
	}
	out.SubjectsCut = len(j.Subjects) - len(out.Subjects) + j.Unlisted
	switch j.Outcome {
	case requirement.Warn, requirement.Fail:
		out.Fix = q.Fix
	}
	if j.Hint != "" {
		out.Fix = brief(j.Hint)
	}
	if out.Fix == "" && j.Outcome == requirement.Inconclusive {
		out.Fix = settle(q.ID, j.Fault)
	}
	if tells(j.Outcome) {
		out.Seen, out.Curl = shown(j.Subjects, e.Log)
	}
	return out
}

// settle says how to settle what could not be judged, by whose doing that was.
func settle(id requirement.ID, fault requirement.Fault) string {
	if fault == requirement.Suite {
		return "This is a fault of rin, not of the node: please report it with evidence.jsonl."
	}
	return fmt.Sprintf("Look at what stood between rin and the node (network, gateway, rate limit, an outage), then judge it again: rin certify with --only %s.", id)
}

// shaken tells a handshake in one line.
func shaken(h exchange.Handshake) string {
	told := "TLS handshake with " + h.Address
	if !h.Completed() {
		return told + ": not completed"
	}
	return told + ": " + h.Version
}

// seen tells an exchange in one line.
func seen(x exchange.Exchange) string {
	told := x.Request.Method + " " + x.Request.URL
	if x.Response == nil {
		return told + ": no answer"
	}
	return fmt.Sprintf("%s: %d", told, x.Response.Status)
}

// tells reports whether somebody has to look at an outcome.
func tells(o requirement.Outcome) bool {
	return o == requirement.Warn || o == requirement.Fail || o == requirement.Inconclusive
}

// shown tells the exchange or the handshake that shows the finding, and how to repeat it.
func shown(subjects []requirement.Subject, log *exchange.Log) (seenIn, curl string) {
	for _, s := range subjects {
		for _, label := range log.Resolve(s.Label) {
			if x, ok := log.Get(label); ok {
				return brief(seen(x)), exchange.Curl(x)
			}
			if h, ok := log.Handshake(label); ok {
				return brief(shaken(h)), h.Curl()
			}
		}
	}
	return "", ""
}

// withOutcome lists the requirements with an outcome, in catalogue order; those that cost the certificate come first.
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

// told is a requirement that is told in full, with those that have the very same reason.
type told struct {
	Requirement
	Also []requirement.ID
}

// tell lists the requirements with an outcome that somebody has to look at. What could not be judged for the same reason is told once:
// a node that is down needs no seventy paragraphs.
func (r Report) tell(o requirement.Outcome) []told {
	var out []told
	at := map[string]int{}
	for _, q := range r.withOutcome(o) {
		if i, known := at[q.Reason]; known && o == requirement.Inconclusive {
			out[i].Also = append(out[i].Also, q.ID)
			continue
		}
		at[q.Reason] = len(out)
		out = append(out, told{Requirement: q})
	}
	return out
}

// further lists the subjects that say more than which exchange was looked at.
func (q Requirement) further() []Subject {
	var out []Subject
	for _, s := range q.Subjects {
		if !s.bare || q.adds(s) != (Subject{}) {
			out = append(out, s)
		}
	}
	return out
}

// adds is what a subject expects and got beyond the finding itself.
func (q Requirement) adds(s Subject) Subject {
	var out Subject
	if s.Expected != q.Expected {
		out.Expected = s.Expected
	}
	if s.Got != q.Got {
		out.Got = s.Got
	}
	return out
}

// line is a subject in one line.
func (q Requirement) line(s Subject) string {
	out, more := s.Name, q.adds(s)
	if more.Expected != "" {
		out += ", expected " + more.Expected
	}
	if more.Got != "" {
		out += ", got " + more.Got
	}
	return out
}
