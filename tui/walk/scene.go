package walk

import (
	"net/http"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
)

// Scene is what one action of a step came to.
type Scene struct {
	Step Step
	// Exchanges are what was sent and what came back, in order, with markers in the place of secrets.
	Exchanges []exchange.Exchange
	// Says are sentences on what it means, for a person.
	Says []string
	// Verdicts judge the answers by the catalogue.
	Verdicts []Verdict
	// Trouble is nil when the action reached its aim.
	Trouble *Trouble
}

// Verdict is how one requirement judges what was just seen.
type Verdict struct {
	ID      requirement.ID
	Title   string
	Outcome requirement.Outcome
	// Reason, Expected and Got explain every outcome but pass.
	Reason, Expected, Got string
	// Source and Quote are where the rule stands, and its sentence.
	Source, Quote string
	// Fix tells the node's engineer what to change; empty for a pass.
	Fix string
}

// Trouble is an action that did not reach its aim.
type Trouble struct {
	// What happened, in a sentence.
	What string
	// Causes are what usually lies behind it, the likeliest first; Try is what to do, in the same order where both belong together.
	Causes, Try []string
}

// Well reports that the action reached its aim.
func (s Scene) Well() bool { return s.Trouble == nil }

// Mend is the step where the usual cause of a trouble is edited: the credentials when they were answered with a refusal, else the node. ok is
// false where neither has to do with it.
func (s Scene) Mend() (to Step, ok bool) {
	if s.Well() || s.Step == TakeAway || s.Step == Certify {
		return 0, false
	}
	if len(s.Exchanges) == 0 {
		return Node, true
	}
	last := s.Exchanges[len(s.Exchanges)-1]
	if last.Response == nil {
		return Node, true
	}
	switch last.Response.Status {
	case http.StatusForbidden:
		return Credentials, true
	case http.StatusUnauthorized, http.StatusBadRequest:
		if strings.HasPrefix(string(last.Label), string(exchange.TokenEndpoint)) { // as either client
			return Credentials, true
		}
	}
	return Node, true
}
