package requirement

import (
	"fmt"

	"github.com/rin-network/rin/conformance/evidence"
)

// Outcome is what was seen; the gate says what it costs.
type Outcome string

// The outcomes.
const (
	Pass          Outcome = "pass"
	Warn          Outcome = "warn"
	Fail          Outcome = "fail"
	NotApplicable Outcome = "not-applicable"
	Blocked       Outcome = "blocked"
	Inconclusive  Outcome = "inconclusive"
)

// Blocks reports whether an outcome at a gate costs the certificate of a profile that holds the requirement.
func Blocks(g Gate, o Outcome) bool {
	return g == Gating && (o == Fail || o == Blocked || o == Inconclusive)
}

// Fault says whose mistake a finding likely is.
type Fault string

// Whose mistake.
const (
	Node            Fault = "node"
	NodeDocument    Fault = "node's document"
	NetworkDocument Fault = "network's published document"
	Environment     Fault = "environment"
	Suite           Fault = "suite"
)

// Judgement is what a check says of the evidence. Every outcome but pass has a reason.
type Judgement struct {
	Outcome  Outcome `json:"outcome"`
	Reason   string  `json:"reason,omitempty"`   // one sentence, lower-case, without a final dot
	Expected string  `json:"expected,omitempty"` // what the source asks for
	Got      string  `json:"got,omitempty"`      // what came, short and redacted
	Fault    Fault   `json:"fault,omitempty"`
	// Hint replaces the requirement's Fix when the check knows the particular cause.
	Hint      string    `json:"hint,omitempty"`
	BlockedBy ID        `json:"blockedBy,omitempty"`
	Subjects  []Subject `json:"subjects,omitempty"`
	// Unlisted counts the subjects that were left out of a very long list.
	Unlisted int `json:"unlisted,omitempty"`
	// Notes are further observations that change nothing.
	Notes []string `json:"notes,omitempty"`
}

// Subject is one thing that a judgement is about, with the exchange that shows it. The first subject of a failure is the one
// whose exchange is shown.
type Subject struct {
	Name     string         `json:"name"` // "GET /fundings/{id}", "$[3].id", "header Cache-Control"
	Label    evidence.Label `json:"label,omitempty"`
	Expected string         `json:"expected,omitempty"`
	Got      string         `json:"got,omitempty"`
}

// Passed is a judgement without anything to say.
func Passed(labels ...evidence.Label) Judgement { return Judgement{Outcome: Pass}.Seen(labels...) }

// Failed is a failure of the node.
func Failed(reason, expected, got string) Judgement {
	return Judgement{Outcome: Fail, Reason: reason, Expected: expected, Got: got, Fault: Node}
}

// Warned is a pass with something to mend.
func Warned(reason, expected, got string) Judgement {
	return Judgement{Outcome: Warn, Reason: reason, Expected: expected, Got: got, Fault: Node}
}

// Missing is a precondition that is absent by design.
func Missing(reason string) Judgement { return Judgement{Outcome: NotApplicable, Reason: reason} }

// Unclear could not be judged.
func Unclear(reason string) Judgement {
	return Judgement{Outcome: Inconclusive, Reason: reason, Fault: Environment}
}

// Seen adds the exchanges that the judgement rests on, as subjects named by their labels, unless a subject has them already.
func (j Judgement) Seen(labels ...evidence.Label) Judgement {
next:
	for _, l := range labels {
		for _, s := range j.Subjects {
			if s.Label == l {
				continue next
			}
		}
		j.Subjects = append(j.Subjects, Subject{Name: string(l), Label: l})
	}
	return j
}

// About adds subjects.
func (j Judgement) About(s ...Subject) Judgement { j.Subjects = append(j.Subjects, s...); return j }

// Hinting sets a fix for the particular cause.
func (j Judgement) Hinting(hint string) Judgement { j.Hint = hint; return j }

// Blaming sets whose mistake it is.
func (j Judgement) Blaming(f Fault) Judgement { j.Fault = f; return j }

// Noting adds an observation.
func (j Judgement) Noting(notes ...string) Judgement { j.Notes = append(j.Notes, notes...); return j }

// maxSubjects bounds what one judgement lists; the rest is counted.
const maxSubjects = 20

// gather joins the judgements of several answers: a failure outweighs one that is unclear, that a warning, that a pass, that what
// is not applicable. The reason is the first of the gravest, their subjects are listed together.
func gather(parts ...Judgement) Judgement {
	if len(parts) == 0 {
		return Missing("there is nothing to judge")
	}
	grave := parts[0]
	for _, p := range parts[1:] {
		if gravity(p.Outcome) > gravity(grave.Outcome) {
			grave = p
		}
	}
	out, more := grave, 0
	out.Subjects, out.Unlisted, out.Notes = nil, 0, nil
	for _, p := range parts {
		out.Notes = append(out.Notes, p.Notes...)
		if p.Outcome != grave.Outcome {
			continue
		}
		out.Subjects, out.Unlisted = append(out.Subjects, p.Subjects...), out.Unlisted+p.Unlisted
		more++
	}
	if more > 1 && grave.Outcome != Pass && grave.Outcome != NotApplicable { // nothing was wrong there, so there is no more of it
		out.Reason = fmt.Sprintf("%s (and %d more of this kind)", grave.Reason, more-1)
	}
	return out.bounded()
}

func gravity(o Outcome) int {
	switch o {
	case Fail:
		return 5
	case Blocked:
		return 4
	case Inconclusive:
		return 3
	case Warn:
		return 2
	case Pass:
		return 1
	}
	return 0
}

// bounded cuts the list of subjects and counts what it leaves out.
func (j Judgement) bounded() Judgement {
	if over := len(j.Subjects) - maxSubjects; over > 0 {
		j.Subjects = j.Subjects[:maxSubjects:maxSubjects]
		j.Unlisted += over
	}
	return j
}

// lacking tells why there is no answer behind a label, as [Judging] does for a requirement's needs.
func (e Evidence) lacking(label evidence.Label) (Judgement, bool) {
	return NewJudge(nil, e).unanswered(label)
}

// standing asks how an earlier requirement of a group stands. It is for those that go on when the earlier one does not apply, or
// that look at it in part of the cases only; otherwise After does.
func (e Evidence) standing(group []Requirement, id ID) (Judgement, bool) {
	switch j := e.judgedOnce(group, id); j.Outcome {
	case Pass, Warn:
		return j, true
	case NotApplicable:
		return Missing(j.Reason), false
	default:
		return Judgement{Outcome: Blocked, BlockedBy: id, Reason: fmt.Sprintf("needs %s, which is %s", id, j.Outcome)}, false
	}
}

// judgedOnce judges a requirement of a group, and remembers it: several others ask, and it may mean reading every answer.
func (e Evidence) judgedOnce(group []Requirement, id ID) Judgement {
	if e.stood == nil {
		return NewJudge(group, e).Of(id)
	}
	if known, ok := e.stood.Load(id); ok {
		return known.(Judgement)
	}
	j := NewJudge(group, e).Of(id)
	e.stood.Store(id, j)
	return j
}
