package requirement

import (
	"fmt"

	"github.com/rin-network/rin/conformance/exchange"
)

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
func (e Evidence) lacking(label exchange.Label) (Judgement, bool) {
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
