package account

import (
	"io"
	"time"
)

// Client is an entry of the authorization server's book (NET-R16).
type Client struct {
	// ID is the Client ID.
	ID string `json:"id"`
	// Secret is the hash of the Client Secret.
	Secret Digest `json:"secret"`
	// Subject is the Service Account User ID, the "sub" of the client's tokens.
	Subject string `json:"subject"`
	// Audience is what the client's tokens are meant for; the node's API when empty.
	Audience string `json:"audience,omitempty"`
	// Request is the id of the request that it answered; empty for none.
	Request string `json:"request,omitempty"`
	// Unseen tells that the secret was drawn for a configured client and that nobody has been shown it yet.
	Unseen bool `json:"unseen,omitempty"`
	// Created, Rotated and Revoked are when the last of these steps was done; zero for never.
	Created time.Time `json:"created,omitzero"`
	Rotated time.Time `json:"rotated,omitzero"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// Clients is the authorization server's book of clients. It is safe for concurrent use.
type Clients struct {
	entries table[*Client]
	// nobody is hashed against for unknown ids, so that an answer's time does not tell which ids exist.
	nobody Digest
}

func newClients(random io.Reader) (*Clients, error) {
	nobody, err := NewDigest(random, "")
	return &Clients{nobody: nobody}, err
}

// Authenticate returns the service account and the audience of the client with this id and secret. Unknown and revoked ids cost the same
// work as a wrong secret.
func (c *Clients) Authenticate(id, secret string) (subject, audience string, ok bool) {
	client, known := c.registered(id)
	digest := c.nobody
	if known {
		digest = client.Secret
	}
	if !digest.Matches(secret) || !known {
		return "", "", false
	}
	return client.Subject, client.Audience, true
}

// Registered tells whether the client is in the book with this service account, and was not revoked.
func (c *Clients) Registered(id, subject string) bool {
	client, known := c.registered(id)
	return known && client.Subject == subject
}

// Subject is the service account of a client that is in the book and was not revoked.
func (c *Clients) Subject(id string) (string, bool) {
	client, known := c.registered(id)
	if !known {
		return "", false
	}
	return client.Subject, true
}

func (c *Clients) registered(id string) (*Client, bool) {
	client, known := c.entries.get(id)
	if !known || !client.Revoked.IsZero() {
		return nil, false
	}
	return client, true
}
