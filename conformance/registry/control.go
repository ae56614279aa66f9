package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/target"
)

// This file asks for the proof that an operator controls their node.

// Method is a way to prove control of a node.
type Method string

// The methods.
const (
	// ByClient draws a client id. The node must refuse it at first, and accept it after its operator has created the client.
	ByClient Method = "client"
	// ByWellKnown looks for a drawn text at each origin of the entry, ByDNS in a TXT record of each host.
	ByWellKnown Method = "well-known"
	ByDNS       Method = "dns"
)

// Methods lists the methods.
func Methods() []Method { return []Method{ByClient, ByWellKnown, ByDNS} }

// Prover asks a node for the proofs of control.
type Prover struct {
	// Token asks the token endpoint with client credentials; it returns the token and the status.
	Token func(ctx context.Context, at, id, secret string) (token string, status int, err error)
	// Get reads a URL with some header fields, without following redirects. It returns the first [MaxReply] bytes of the body.
	Get func(ctx context.Context, at string, header map[string]string) (status int, body []byte, err error)
	// TXT reads TXT records.
	TXT func(ctx context.Context, name string) ([]string, error)
}

// MaxReply bounds the bodies that a [Prover] reads, in bytes.
const MaxReply = 1 << 20

// ErrNoSecret says that the secret of the drawn client is missing on the registry's side, or was not handed over yet.
var ErrNoSecret = errors.New("the registry has no secret of the drawn client")

// ErrWaiting says that the admission waits for the node's operator.
var ErrWaiting = errors.New("waiting for the node's operator")

// ControlError is an answer of a node that keeps its operator from showing control. A request without an answer is not such an error: the registry's own network may be
// at fault.
type ControlError struct {
	Request string // the request that was answered wrongly
	Fault   string
}

// Error implements error.
func (e *ControlError) Error() string { return e.Fault }

// Prove asks for the proof of control. secret is the secret of the drawn client; zero until the node's operator has handed it over. The error wraps
// [ErrWaiting] while that operator has something left to do, and a [*ControlError] if the node answered wrongly.
func (o Operator) Prove(ctx context.Context, a *Admission, e Entry, p Prover, secret target.Secret) error {
	if !a.Proved.IsZero() {
		return nil
	}
	var err error
	switch a.Method {
	case ByClient:
		err = o.proveByClient(ctx, a, e, p, secret)
	case ByWellKnown:
		for _, origin := range originsOf(e) {
			status, body, getErr := p.Get(ctx, origin+wellKnownPath+a.Token, nil)
			if getErr != nil || status != 200 || strings.TrimSpace(string(body)) != a.Answer {
				err = errors.Join(err, fmt.Errorf("%w: %s%s%s does not answer 200 with the text alone", ErrWaiting, origin, wellKnownPath, a.Token))
			}
		}
	case ByDNS:
		for _, origin := range originsOf(e) {
			name := dnsName(origin)
			records, lookupErr := p.TXT(ctx, name)
			if lookupErr != nil || !contains(records, a.Answer) {
				err = errors.Join(err, fmt.Errorf("%w: the TXT record %s does not hold the text", ErrWaiting, name))
			}
		}
	}
	if err != nil {
		return err
	}
	a.Proved = o.Now().UTC().Truncate(time.Second)
	return o.saveAdmission(a)
}

const wellKnownPath = "/.well-known/rin-challenge/"

func contains(records []string, text string) bool {
	for _, r := range records {
		if strings.TrimSpace(r) == text {
			return true
		}
	}
	return false
}

func dnsName(origin string) string {
	return "_rin-challenge." + evidence.HostOf(origin)
}

func originsOf(e Entry) []string {
	out := []string{evidence.OriginOf(e.TokenURL)}
	if info := evidence.OriginOf(e.InfoURL); info != out[0] {
		out = append(out, info)
	}
	return out
}

// proveByClient expects the node to refuse the drawn client before its operator creates it, and to accept it afterwards, at the token endpoint and at info.
func (o Operator) proveByClient(ctx context.Context, a *Admission, e Entry, p Prover, secret target.Secret) error {
	wasRefused := !a.Refused.IsZero()
	if !wasRefused {
		// The secret is made up, and differs in each admission.
		sum := sha256.Sum256([]byte(a.Answer))
		token, status, err := p.Token(ctx, e.TokenURL, a.ClientID, hex.EncodeToString(sum[:16]))
		wrong := &ControlError{Request: "the token request of the client " + a.ClientID + ", which nobody had created"}
		switch {
		case err != nil:
			return fmt.Errorf("ask the token endpoint with the drawn client: %w", err)
		case token != "" || status < 400:
			wrong.Fault = fmt.Sprintf("expected the token endpoint to refuse the drawn client %s, which nobody has created, got status %d (hint: the node gives tokens to unknown clients)", a.ClientID, status)
			return wrong
		case status >= 500:
			wrong.Fault = fmt.Sprintf("expected the token endpoint to refuse the drawn client, got status %d (hint: is the node up?)", status)
			return wrong
		}
		a.Refused = o.Now().UTC().Truncate(time.Second)
		if err := o.saveAdmission(a); err != nil {
			return err
		}
	}
	if secret.IsZero() && wasRefused {
		return fmt.Errorf("%w, %s; the node refused it on %s, as it must before it exists", ErrNoSecret, a.ClientID, minuteOf(a.Refused, "-"))
	}
	if secret.IsZero() {
		return fmt.Errorf("%w: the client %s was refused, as it must be before it exists", ErrWaiting, a.ClientID)
	}
	token, status, err := p.Token(ctx, e.TokenURL, a.ClientID, secret.Reveal())
	switch {
	case err != nil:
		return fmt.Errorf("ask the token endpoint with the client that was created: %w", err)
	case token == "":
		return fmt.Errorf("%w: the token endpoint refuses the client %s with the secret that was given (status %d): the client does not exist yet, or this is not its secret", ErrWaiting, a.ClientID, status)
	}
	switch status, _, err = p.Get(ctx, e.InfoURL, map[string]string{"Authorization": "Bearer " + token}); {
	case err != nil:
		return fmt.Errorf("ask info with the token of the client that was created: %w", err)
	case status != 200:
		return fmt.Errorf("%w: the token endpoint accepts the client, but info does not accept its token (status %d)", ErrWaiting, status)
	}
	return nil
}
