package account

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// Registration is a client that a node is configured with, in both books.
type Registration struct {
	Client NewClient
	Secret string
	// Unseen tells that the secret was drawn and will have to be shown, see [Books.Seen].
	Unseen     bool
	Subject    string
	Permission Permission
}

// Enter writes the clients that a node is configured with into the books. One that is in them already stays as it is, revoked ones too: a
// store knows better what became of a client than the configuration that it began with. Only a secret that nobody has seen gives way to
// another: the process was killed, or failed, before it was shown. What the books hold then is what Reset goes back to.
func (b *Books) Enter(configured []Registration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	named := map[string]bool{}
	for _, r := range configured {
		if err := checkID(r.Client.ID); err != nil {
			return err
		}
		if named[r.Client.ID] {
			return conflict(fmt.Sprintf("client %q is registered twice", r.Client.ID), "give each client an id of its own")
		}
		named[r.Client.ID] = true
		before, known := b.clients.entries.get(r.Client.ID)
		if known && !before.Unseen {
			continue
		}
		if known {
			r.Subject, r.Permission = before.Subject, Permission{}
		}
		if _, err := b.enter(r, Change{}); err != nil {
			return err
		}
	}
	b.start = rows{b.clients.entries.rows(), b.accounts.entries.rows(), b.requests.rows()}
	return nil
}

// Seen tells that the secrets of the configured clients are shown. From then on they stay.
func (b *Books) Seen() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, client := range b.clients.entries.rows() {
		if !client.Unseen {
			continue
		}
		seen := *client
		seen.Unseen = false
		if err := b.keep(Change{Client: &seen}); err != nil {
			return err
		}
	}
	return nil
}

// enter makes the entries of a client and keeps them with what else changes.
func (b *Books) enter(r Registration, with Change) (Issued, error) {
	issued := Issued{ID: r.Client.ID, Secret: r.Secret, Subject: r.Subject}
	var err error
	if issued.Secret == "" {
		issued.Secret, err = NewSecret(b.random)
	}
	if err == nil && issued.Subject == "" {
		issued.Subject, err = newUserID(b.random)
	}
	if err != nil {
		return Issued{}, err
	}
	digest, err := NewDigest(b.random, issued.Secret)
	if err != nil {
		return Issued{}, err
	}
	with.Client = &Client{ID: issued.ID, Secret: digest, Subject: issued.Subject, Audience: r.Client.Audience, Request: r.Client.Request, Unseen: r.Unseen, Created: b.time()}
	if r.Permission != (Permission{}) {
		with.Account, with.Subject = &r.Permission, issued.Subject
	}
	return issued, b.keep(with)
}

// checkID wants printable ASCII (RFC 6749 appendix A.1).
func checkID(id string) error {
	if id == "" || len(id) > 255 {
		return invalid(fmt.Sprintf("client id of %d characters: want 1 to 255", len(id)), "name the client")
	}
	if strings.IndexFunc(id, func(r rune) bool { return r < 0x20 || r > 0x7e }) >= 0 {
		return invalid(fmt.Sprintf("client id %q: want printable ASCII only", id), "use letters, digits and '-'")
	}
	return nil
}

// newUserID draws a Service Account User ID in the form of a UUID of version 4 (RFC 9562 §5.4).
func newUserID(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("draw a service account user id: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	x := hex.EncodeToString(b[:])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:], nil
}
