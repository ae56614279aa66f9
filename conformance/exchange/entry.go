package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// kind says which member of an entry is filled.
type kind string

const (
	kindRun       kind = "run"
	kindPlan      kind = "plan"
	kindRoles     kind = "roles"
	kindDocument  kind = "document"
	kindRegistry  kind = "registry"
	kindExchange  kind = "exchange"
	kindHandshake kind = "handshake"
	kindNotSent   kind = "not-sent"
	kindFindings  kind = "findings"
	kindEnded     kind = "ended"
)

// entry is one line of evidence.jsonl. An exchange carries its findings on the same line, so that a crash never parts them.
type entry struct {
	Kind          kind             `json:"kind"`
	Run           *Run             `json:"run,omitempty"`
	Plan          []Label          `json:"plan,omitempty"`
	Roles         *Roles           `json:"roles,omitempty"`
	Document      *Document        `json:"document,omitempty"`
	Registry      json.RawMessage  `json:"registry,omitempty"`
	RegistryFacts *RegistryFacts   `json:"registryFacts,omitempty"`
	Exchange      *Exchange        `json:"exchange,omitempty"`
	Handshake     *Handshake       `json:"handshake,omitempty"`
	NotSent       *NotSent         `json:"notSent,omitempty"`
	Findings      []SchemaFindings `json:"findings,omitempty"`
	Ended         *Ended           `json:"ended,omitempty"`
}

// written is an entry as encoding/json writes it fast: bodies, which are most of a file, are plain strings to it and not the text of a
// Marshaler, which it would read once more.
type written struct {
	entry
	Exchange *writtenExchange `json:"exchange,omitempty"`
}

type writtenExchange struct {
	*Exchange
	Response *writtenResponse `json:"response,omitempty"`
}

type writtenResponse struct {
	*Response
	Body any `json:"body,omitempty"`
}

func (e entry) written() written {
	out := written{entry: e}
	if e.Exchange != nil {
		out.Exchange = &writtenExchange{Exchange: e.Exchange}
		if a := e.Exchange.Response; a != nil {
			out.Exchange.Response = &writtenResponse{a, a.Body.written()}
		}
	}
	return out
}

// line is the entry as NDJSON, with its line feed. Nothing in it acts on a terminal.
func (e entry) line() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // evidence is read by people, too
	if err := enc.Encode(e.written()); err != nil {
		return nil, fmt.Errorf("write %s record: %w", e.Kind, err)
	}
	return Inert(b.Bytes()), nil
}

// check tells what an entry read from a file lacks.
func (e entry) check() error {
	missing := false
	switch e.Kind {
	case kindRun:
		missing = e.Run == nil
	case kindPlan, kindFindings, kindRegistry:
	case kindRoles:
		missing = e.Roles == nil
	case kindDocument:
		missing = e.Document == nil
	case kindExchange:
		missing = e.Exchange == nil || e.Exchange.Label == ""
	case kindHandshake:
		missing = e.Handshake == nil || e.Handshake.Label == ""
	case kindNotSent:
		missing = e.NotSent == nil || e.NotSent.Label == ""
	case kindEnded:
		missing = e.Ended == nil
	default:
		return fmt.Errorf("unknown kind of record %.40q", e.Kind)
	}
	if missing {
		return fmt.Errorf("%s record without its %s member or label", e.Kind, e.Kind)
	}
	return nil
}
