package worker

import (
	"time"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
)

// Job is everything the child needs to know; it holds secrets and is only ever written to the child's stdin.
type Job struct {
	Target target.Target `json:"target"`
	// Evidence is the path of the evidence file that the child creates.
	Evidence string `json:"evidence"`
	// Suite is the version of rin that goes into the evidence.
	Suite string `json:"suite"`
	// Memory is the child's limit in bytes; 0 is [DefaultMemory].
	Memory int64 `json:"memory"`
}

// Event is one line from the child.
type Event struct {
	Kind EventKind `json:"kind"`
	// Done of Planned labels have ended (progress); Budget is the number of requests at most (planned).
	Done    int `json:"done,omitempty"`
	Planned int `json:"planned,omitempty"`
	Budget  int `json:"budget,omitempty"`
	// Politeness is how the budget will be spent (planned).
	Politeness *target.Politeness `json:"politeness,omitempty"`
	Label      exchange.Label     `json:"label,omitempty"`
	// ID and Judgement are set for a judged requirement.
	ID        requirement.ID         `json:"id,omitempty"`
	Judgement *requirement.Judgement `json:"judgement,omitempty"`
	// Cause says why the child gave up (exhausted).
	Cause string `json:"cause,omitempty"`
}

// EventKind says what happened.
type EventKind string

// The kinds of event. The plan comes before the first request; what is judged without one may be judged before it.
const (
	Planned   EventKind = "planned"
	Progress  EventKind = "progress"
	Judged    EventKind = "judged"
	Exhausted EventKind = "exhausted"
	Finished  EventKind = "finished"
)

// whole reports an event with all that its kind promises.
func (e Event) whole() bool {
	switch e.Kind {
	case Planned:
		return e.Politeness != nil
	case Judged:
		return e.Judgement != nil
	case Exhausted:
		return e.Cause != ""
	case Progress, Finished:
		return true
	}
	return false
}

// Ending says how the child came to its end.
type Ending struct {
	// Finished is true when the child said so and left with status 0, or had to be helped out.
	Finished bool
	// Cause is empty for a finished child; otherwise one sentence for the report.
	Cause string
	// Stderr is the redacted tail of what the child wrote to stderr.
	Stderr string
	Took   time.Duration
}
