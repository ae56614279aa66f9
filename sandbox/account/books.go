package account

import (
	"fmt"
	"io"
	"maps"
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
