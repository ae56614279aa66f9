package report

import (
	"fmt"
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

// shorten shortens one text of a finding.
func shorten(s string) string { return cut(s, 2000) }

// finding converts one result into a requirement of the report.
func finding(r verdict.Result, p requirement.Profile, e requirement.Evidence) Requirement {
	q, j := r.Requirement, r.Judgement
	out := Requirement{
		ID: q.ID, Title: q.Title, Level: q.Level, Gate: r.Gate, Profile: q.Profile, Extra: r.Extra,
		Outcome: j.Outcome, Costs: r.Costs(p),
		Reason: shorten(j.Reason), Expected: shorten(j.Expected), Got: shorten(j.Got), Fault: j.Fault, BlockedBy: j.BlockedBy,
		Source: sourceOf(q.Source), Quote: q.Quote,
		Subjects: []Subject{}, Notes: []string{},
	}
	out.Maker = requirement.Maker(e, j)
	for _, n := range j.Notes[:min(len(j.Notes), maxSubjects)] {
		out.Notes = append(out.Notes, shorten(n))
	}
	for _, s := range j.Subjects[:min(len(j.Subjects), maxSubjects)] {
		subject := Subject{Name: shorten(s.Name), Label: s.Label, Expected: shorten(s.Expected), Got: shorten(s.Got), Pointer: shorten(pointerOf(e, s.Label))}
		if subject.bare = s.Label != "" && s.Name == string(s.Label); subject.bare {
			subject.Name = shorten(e.RequestName(s.Label))
		}
		out.Subjects = append(out.Subjects, subject)
	}
	if r.Known != nil {
		out.Known = &Known{Reason: shorten(r.Known.Reason), Until: r.Known.Until}
	}
	out.SubjectsCut = len(j.Subjects) - len(out.Subjects) + j.Unlisted
	switch {
	case j.Hint != "":
		out.Fix = shorten(j.Hint)
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

// pointerOf returns the pointer of the operation that a label asks; "" for other requests.
func pointerOf(e requirement.Evidence, label evidence.Label) string {
	if e.Spec == nil {
		return ""
	}
	for _, l := range e.Resolve(label) {
		if key, ok := strings.CutPrefix(string(l.Resource()), "op/"); ok {
			if o, ok := e.Spec.Operation(key); ok {
				return o.Pointer
			}
		}
	}
	return ""
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
				return shorten(exchangeLine(x)), evidence.Curl(x)
			}
			if h, ok := log.Handshake(label); ok {
				return shorten(handshakeLine(h)), h.Curl()
			}
		}
	}
	return "", ""
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

// link returns the address of a source that readers may not have at hand; empty for an RFC, which everybody finds.
func (q Requirement) link() string {
	if strings.HasPrefix(q.Source.Text, "RFC ") {
		return ""
	}
	return q.Source.URL
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

// details returns the lines that explain an outcome.
func (q Requirement) details() []string {
	var out []string
	add := func(name, value string) {
		if value != "" {
			out = append(out, name+": "+value)
		}
	}
	add("expected", q.Expected)
	add("got", q.Got)
	add("seen in", q.Seen)
	for _, s := range q.furtherSubjects() {
		add("subject", q.subjectLine(s))
	}
	add("source", q.cite())
	for _, c := range q.Source.Citations {
		add("link", c.URL)
	}
	add("cause", q.Cause())
	add(remedy(q.Outcome), q.Fix)
	for _, n := range q.Notes {
		add("note", n)
	}
	add("curl", q.Curl)
	return out
}
