package auth

import (
	"fmt"
	"io"
)

// Client is what the authorization server is told about a client at its registration (NET-R16).
type Client struct {
	// ID identifies the client, printable ASCII (RFC 6749 appendix A.1).
	ID string
	// Secret is the client secret in plain text; the book keeps a salted hash of it only.
	Secret string
	// Subject is the Service Account User ID, the "sub" of the client's tokens.
	Subject string
	// Audience is what the client's tokens are meant for; the node's API when empty.
	Audience string
}

// Clients is the authorization server's book of clients. It does not change after NewClients.
type Clients struct {
	known map[string]registration
	// nobody is hashed against for unknown ids, so that an answer's time does not tell which ids exist.
	nobody digest
}

type registration struct {
	secret            digest
	subject, audience string
}

// NewClients registers clients, drawing salts from random. It refuses empty or unprintable ids, empty secrets and
// ids given twice.
func NewClients(random io.Reader, clients []Client) (*Clients, error) {
	book := &Clients{known: make(map[string]registration, len(clients))}
	var err error
	if book.nobody, err = newDigest(random, ""); err != nil {
		return nil, err
	}
	for _, c := range clients {
		if err := checkClient(c); err != nil {
			return nil, err
		}
		if _, twice := book.known[c.ID]; twice {
			return nil, fmt.Errorf("client %q is registered twice: give each client an id of its own", c.ID)
		}
		d, err := newDigest(random, c.Secret)
		if err != nil {
			return nil, err
		}
		book.known[c.ID] = registration{secret: d, subject: c.Subject, audience: c.Audience}
	}
	return book, nil
}

func checkClient(c Client) error {
	if c.ID == "" || len(c.ID) > 255 {
		return fmt.Errorf("client id of %d characters: want 1 to 255", len(c.ID))
	}
	for _, r := range c.ID {
		if r < 0x20 || r > 0x7e {
			return fmt.Errorf("client id %q: want printable ASCII only", c.ID)
		}
	}
	if c.Secret == "" {
		return fmt.Errorf("client %q has no secret: a client id alone authenticates nobody", c.ID)
	}
	return nil
}

// authenticate returns the registration of the client with this id and secret. Unknown ids cost the same work.
func (b *Clients) authenticate(id, secret string) (client registration, ok bool) {
	r, known := b.known[id]
	if !known {
		r.secret = b.nobody
	}
	ok = r.secret.matches(secret) && known
	return r, ok
}
