package account

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rin-network/rin/fixtures/model"
)

// Client is an entry of the authorization server's book (NET-R16).
type Client struct {
	// ID is the Client ID.
	ID string `json:"id"`
	// Secret is the hash of the Client Secret.
	Secret Digest `json:"secret"`
	// Subject is the Service Account User ID, the "sub" of the client's tokens.
	Subject string `json:"subject"`
	// Audience is the audience of the client's tokens; the node's API when empty.
	Audience string `json:"audience,omitempty"`
	// Request is the id of the request for access for which the client was created; empty without one.
	Request string `json:"request,omitempty"`
	// Unseen reports that the sandbox generated the secret, because the configuration has none, and has not shown it yet.
	Unseen bool `json:"unseen,omitempty"`
	// Created, Rotated and Revoked are the times of these steps; zero if a step has not happened.
	Created time.Time `json:"created,omitzero"`
	Rotated time.Time `json:"rotated,omitzero"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// Clients is the authorization server's book of clients. It is safe for concurrent use.
type Clients struct {
	entries table[*Client]
	// unknownClient is a hash to compare with when the id is unknown, so that the time of an answer does not reveal which ids exist.
	unknownClient Digest
}

func newClients(random io.Reader) (*Clients, error) {
	unknownClient, err := NewDigest(random, "")
	return &Clients{unknownClient: unknownClient}, err
}

// Authenticate returns the service account and the audience of the client with this id and secret. Unknown and revoked ids take as long as a wrong
// secret.
func (c *Clients) Authenticate(id, secret string) (subject, audience string, ok bool) {
	client, known := c.registeredClient(id)
	digest := c.unknownClient
	if known {
		digest = client.Secret
	}
	if !digest.Matches(secret) || !known {
		return "", "", false
	}
	return client.Subject, client.Audience, true
}

// Registered reports whether the client is in the book with this service account and was not revoked.
func (c *Clients) Registered(id, subject string) bool {
	client, known := c.registeredClient(id)
	return known && client.Subject == subject
}

// Subject returns the service account of a client that is in the book and was not revoked; ok is false for other ids.
func (c *Clients) Subject(id string) (subject string, ok bool) {
	client, known := c.registeredClient(id)
	if !known {
		return "", false
	}
	return client.Subject, true
}

// registeredClient returns a client that is in the book and was not revoked; ok is false for other ids.
func (c *Clients) registeredClient(id string) (client *Client, ok bool) {
	client, known := c.entries.get(id)
	if !known || !client.Revoked.IsZero() {
		return nil, false
	}
	return client, true
}

// Permission is the entry of a service account in the funding service's book (NET-R17).
type Permission struct {
	// Role must be EXTERNAL_API_CLIENT to read fundings.
	Role string `json:"role"`
	// Affiliation is the client's affiliation ID, an opaque string; it must be set.
	Affiliation string `json:"affiliation"`
}

// suffices reports whether the permission is enough to read fundings.
func (p Permission) suffices() bool {
	return p.Role == model.RoleExternalAPIClient && p.Affiliation != ""
}

// Accounts is the funding service's book of service accounts. It is safe for concurrent use.
type Accounts struct {
	entries table[Permission]
}

// Permission returns the permission of a service account; ok is false for an account that is not in the book.
func (a *Accounts) Permission(subject string) (p Permission, ok bool) { return a.entries.get(subject) }

// Entry is a client as lists show it: with the permission of its account, and without its secret.
type Entry struct {
	Client
	Permission
	State State
}

// State is the state of a client.
type State string

const (
	// Registered clients get tokens, but the funding service refuses them.
	Registered State = "registered"
	// Permitted clients also have the right role and an affiliation, so that the funding service serves them.
	Permitted State = "permitted"
	// Revoked clients get no tokens, and their tokens are refused.
	Revoked State = "revoked"
)

// Entry returns the entry of one client; ok is false for an unknown id.
func (b *Books) Entry(id string) (e Entry, ok bool) {
	client, ok := b.clients.entries.get(id)
	if !ok {
		return Entry{}, false
	}
	return b.entry(client), true
}

func (b *Books) entry(client *Client) Entry {
	e := Entry{Client: *client, State: Registered}
	e.Secret = Digest{}
	e.Permission, _ = b.accounts.Permission(client.Subject)
	switch {
	case !client.Revoked.IsZero():
		e.State = Revoked
	case e.suffices():
		e.State = Permitted
	}
	return e
}

// List returns the entries of all clients, by id.
func (b *Books) List() []Entry {
	all := b.clients.entries.rows()
	entries := make([]Entry, 0, len(all))
	for _, id := range slices.Sorted(maps.Keys(all)) {
		entries = append(entries, b.entry(all[id]))
	}
	return entries
}

// Request returns one request; ok is false for an unknown id.
func (b *Books) Request(id string) (r Request, ok bool) { return b.requests.get(id) }

// Requests lists the requests in the order in which they came.
func (b *Books) Requests() []Request {
	return slices.SortedFunc(maps.Values(b.requests.rows()), func(x, y Request) int {
		return requestNumber(x.ID) - requestNumber(y.ID)
	})
}

// Request is a request for access from the contact form.
type Request struct {
	// ID is "R-" and a number that counts the requests of the node.
	ID string `json:"id"`
	// Party asks for access, Contact is where it is reached, and Purpose is what the access is for.
	Party   string `json:"party"`
	Contact string `json:"contact"`
	Purpose string `json:"purpose"`
	// Received is when the request came.
	Received time.Time `json:"asked"`
	// Client is the id of the client that was created for the request; empty while the request waits.
	Client string `json:"client,omitempty"`
}

// maxText limits the characters of each text in a request, and of roles, affiliations and audiences.
const maxText = 500

// check returns a refusal unless each text is one short line.
func (r Request) check() error {
	for _, field := range []struct{ name, text string }{{"party", r.Party}, {"contact", r.Contact}, {"purpose", r.Purpose}} {
		switch {
		case strings.TrimSpace(field.text) == "":
			return invalidError("the request has no "+field.name, "say who asks, where to reach them, and what they want the access for")
		case !isLine(field.text):
			return invalidError(fmt.Sprintf("the %s of the request: expected one line of up to %d characters", field.name, maxText), "write it shorter, without line ends")
		}
	}
	return nil
}

// isLine reports whether text is one line of UTF-8 with up to maxText characters. It may be empty.
func isLine(text string) bool {
	control := func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= maxText && strings.IndexFunc(text, control) < 0
}

// Kind says why a step was refused.
type Kind int

const (
	// Invalid is a step with a malformed value.
	Invalid Kind = iota
	// Unknown is a client or request that is not in the book.
	Unknown
	// Conflict is a step that the state of the book forbids.
	Conflict
)

// Refusal is a refused step; nothing was changed.
type Refusal struct {
	Kind Kind
	// Detail says why, Hint what to do.
	Detail, Hint string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Detail + ": " + r.Hint }

func invalidError(detail, hint string) error { return &Refusal{Invalid, detail, hint} }

func unknownError(detail, hint string) error { return &Refusal{Unknown, detail, hint} }

func conflictError(detail, hint string) error { return &Refusal{Conflict, detail, hint} }
