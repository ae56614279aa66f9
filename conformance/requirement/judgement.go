package requirement

import "github.com/rin-network/rin/conformance/exchange"

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
	Label    exchange.Label `json:"label,omitempty"`
	Expected string         `json:"expected,omitempty"`
	Got      string         `json:"got,omitempty"`
}

// Passed is a judgement without anything to say.
func Passed(labels ...exchange.Label) Judgement { return Judgement{Outcome: Pass}.Seen(labels...) }

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
func (j Judgement) Seen(labels ...exchange.Label) Judgement {
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
