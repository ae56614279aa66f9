package account

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxEntries bounds each book of a node; revoked clients count, until their ids are used again.
const maxEntries = 10_000

// Config is what books need from outside.
type Config struct {
	// Store keeps them; nil for memory alone.
	Store Store
	// Now tells the time.
	Now func() time.Time
	// Random is the source of secrets, salts and ids.
	Random io.Reader
}

// Books are the two books of one node, with the requests that wait for an answer. They are safe for concurrent use.
type Books struct {
	clients  *Clients
	accounts *Accounts
	requests table[Request]

	// mu is held by one step at a time, also while it is kept.
	mu     sync.Mutex
	store  Store
	now    func() time.Time
	random io.Reader
	start  rows
}

// rows are the tables at some time; they are never written to again.
type rows struct {
	clients  map[string]*Client
	accounts map[string]Permission
	requests map[string]Request
}

// Open reads the books from their store.
func Open(c Config) (*Books, error) {
	clients, err := newClients(c.Random)
	if err != nil {
		return nil, err
	}
	b := &Books{clients: clients, accounts: &Accounts{}, store: c.Store, now: c.Now, random: c.Random}
	if b.store == nil {
		b.store = memory{}
	}
	kept, err := b.store.Load()
	if err != nil {
		return nil, err
	}
	b.start = rows{clients: map[string]*Client{}, accounts: map[string]Permission{}, requests: map[string]Request{}}
	for _, client := range kept.Clients {
		b.start.clients[client.ID] = &client
	}
	maps.Copy(b.start.accounts, kept.Accounts)
	for _, request := range kept.Requests {
		b.start.requests[request.ID] = request
	}
	b.restore(b.start)
	return b, nil
}

func (b *Books) restore(r rows) {
	b.clients.entries.restore(r.clients)
	b.accounts.entries.restore(r.accounts)
	b.requests.restore(r.requests)
}

// Clients is the authorization server's book.
func (b *Books) Clients() *Clients { return b.clients }

// Accounts is the funding service's book.
func (b *Books) Accounts() *Accounts { return b.accounts }

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
	with.Client = &Client{ID: issued.ID, Secret: digest, Subject: issued.Subject, Audience: r.Client.Audience, Request: r.Client.Request, Unseen: r.Unseen, Created: b.now().UTC().Truncate(time.Second)}
	if r.Permission != (Permission{}) {
		with.Account, with.Subject = &r.Permission, issued.Subject
	}
	return issued, b.keep(with)
}

// keep makes a change outlive the process, and only then shows it.
func (b *Books) keep(c Change) error {
	if err := b.store.Keep(c); err != nil {
		return fmt.Errorf("keep the change, nothing was changed: %w", err)
	}
	// A closed account goes last: nobody may meet the client of a closed account.
	if c.Request != nil {
		b.requests.put(c.Request.ID, *c.Request)
	}
	if c.Account != nil {
		b.accounts.entries.put(c.Subject, *c.Account)
	}
	if c.Client != nil {
		b.clients.entries.put(c.Client.ID, c.Client)
	}
	if c.Closed != "" {
		b.accounts.entries.remove(c.Closed)
	}
	return nil
}

// Reset puts books that are kept in memory back to how the node began. What a store keeps was promised to outlive more than that, and stays.
func (b *Books) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.store == (memory{}) {
		b.restore(b.start)
	}
}

// Entry is a client as the lists show it: with its account, and without its secret.
type Entry struct {
	Client
	Permission
	State State
}

// State is how far a client got.
type State string

// The states of a client.
const (
	// Registered clients get tokens; the funding service refuses them.
	Registered State = "registered"
	// Permitted clients have role and affiliation besides.
	Permitted State = "permitted"
	// Revoked clients get nothing, and their tokens open nothing.
	Revoked State = "revoked"
)

// Entry is what the books say of one client; ok is false for an id that is not in them.
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

// List is what the books say of all clients, by id.
func (b *Books) List() []Entry {
	all := b.clients.entries.rows()
	entries := make([]Entry, 0, len(all))
	for _, id := range slices.Sorted(maps.Keys(all)) {
		entries = append(entries, b.entry(all[id]))
	}
	return entries
}

// Request is one request; ok is false for an id that is not in the book.
func (b *Books) Request(id string) (r Request, ok bool) { return b.requests.get(id) }

// Requests are those of the node, in the order in which they came.
func (b *Books) Requests() []Request {
	return slices.SortedFunc(maps.Values(b.requests.rows()), func(x, y Request) int {
		return number(x.ID) - number(y.ID)
	})
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
		return "", errors.Join(errors.New("draw a service account user id"), err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	x := hex.EncodeToString(b[:])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:], nil
}
