package evidence

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// kind says which member of an entry is set.
type kind string

const (
	kindRun       kind = "run"
	kindPlan      kind = "plan"
	kindRoles     kind = "roles"
	kindDocument  kind = "document"
	kindRegistry  kind = "registry"
	kindBody      kind = "body"
	kindExchange  kind = "exchange"
	kindHandshake kind = "handshake"
	kindNotSent   kind = "not-sent"
	kindFindings  kind = "findings"
	kindEnded     kind = "ended"
)

// entry is one line of evidence. An exchange has its findings on the same line, so that a crash does not separate them. Lines of version 1
// are entries as they are; those of version 2 are [storedEntry].
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

// check returns an error if an entry that was read lacks the member of its kind. The reader handles entries of kind body before.
func (e entry) check() error {
	missing := false
	switch e.Kind {
	case kindRun:
		missing = e.Run == nil
	case kindPlan, kindFindings, kindRegistry: // these members may be empty
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

// storedEntry is one line of version 2. It says when it was written, and names bodies by their digests.
type storedEntry struct {
	At time.Time `json:"at,omitzero"` // absent in the line of a body, because its exchange has the time
	entry
	Body     *storedBody     `json:"body,omitempty"`
	Exchange *storedExchange `json:"exchange,omitempty"`
}

// storedBody is one body. It has a line of its own before the first exchange that names it.
type storedBody struct {
	Digest  digest     `json:"digest"`
	Size    int        `json:"size"`
	Parts   []partName `json:"parts,omitempty"` // bodies that make up this one; then Content is empty
	Content Body       `json:"content"`         // see writeBody
}

type storedExchange struct {
	*Exchange
	Request  storedRequest   `json:"request"`
	Response *storedResponse `json:"response,omitempty"`
}

type storedRequest struct {
	*Request
	Body digest `json:"body,omitempty"`
}

type storedResponse struct {
	*Response
	Body digest `json:"body,omitempty"`
}

// stored returns the exchange with digests in place of its bodies.
func (x *Exchange) stored(digestOf func(Body) digest) *storedExchange {
	out := &storedExchange{Exchange: x, Request: storedRequest{&x.Request, digestOf(x.Request.Body)}}
	if a := x.Response; a != nil {
		out.Response = &storedResponse{a, digestOf(a.Body)}
	}
	return out
}

// loaded returns the exchange with its bodies. body finds one by its digest.
func (s *storedExchange) loaded(body func(digest) (Body, error)) (*Exchange, error) {
	x := cmp.Or(s.Exchange, &Exchange{})
	x.Request = *cmp.Or(s.Request.Request, &Request{})
	var err error
	x.Request.Body, err = body(s.Request.Body)
	if err != nil || s.Response == nil {
		return x, err
	}
	x.Response = cmp.Or(s.Response.Response, &Response{})
	x.Response.Body, err = body(s.Response.Body)
	return x, err
}

// digest names a body by [DigestOf].
type digest string

func digestOf(b Body) digest { return digest(DigestOf(b)) }

// DigestOf returns "sha256:" and the digest of some bytes in hexadecimal; "" if there are none.
func DigestOf(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// line returns a record as one line of JSON, harmless on a terminal.
func line(record any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // evidence is read by people, too
	if err := enc.Encode(record); err != nil {
		return nil, err
	}
	return EscapeDeceptive(b.Bytes()), nil
}
