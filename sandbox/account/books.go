// Package account keeps the books of a node in which clients and their accounts are entered, and knows the steps by which a party gets
// one (NET-R18): it asks for access, the operator of the authorization server creates the client (NET-R16), the operator of the funding
// service grants role and affiliation (NET-R17), and both are handed over.
//
// The two services keep separate books. [Clients] is the authorization server's: ids, salted hashes of secrets, Service Account
// User IDs. [Accounts] is the funding service's: role and affiliation by Service Account User ID. A client may be in the first and not in
// the second: it gets tokens, and is refused with 403.
//
// [Books] does the steps. A step is kept in a [Store] before it is acknowledged; readers see all of it or nothing, and never wait for it.
// A secret in plain text is only in the answer of the step that generated it.
package account

import (
	"fmt"
	"io"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// maxEntries limits each book of a node; revoked clients count until their ids are used again.
const maxEntries = 10_000

// Config is what books need from outside.
type Config struct {
	// Store keeps the books; they are in memory alone when nil.
	Store Store
	// Now returns the current time.
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

// rows are the tables at some time. They are immutable.
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

// Clients returns the authorization server's book.
func (b *Books) Clients() *Clients { return b.clients }

// Accounts returns the funding service's book.
func (b *Books) Accounts() *Accounts { return b.accounts }

// keep stores a change before readers see it.
func (b *Books) keep(c Change) error {
	if err := b.store.Keep(c); err != nil {
		return fmt.Errorf("keep the change, nothing was changed: %w", err)
	}
	// A closed account goes last, so that readers never see a client without its account.
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

// Reset restores the initial books, if they are in memory. Books in a store stay.
func (b *Books) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.store == (memory{}) {
		b.restore(b.start)
	}
}

// table is a map that is copied when it changes, so that readers, who come with each guarded request, need no lock. Writers take turns.
type table[V any] struct {
	current atomic.Pointer[map[string]V]
}

func (t *table[V]) rows() map[string]V {
	if rows := t.current.Load(); rows != nil {
		return *rows
	}
	return nil
}

func (t *table[V]) get(key string) (V, bool) {
	row, ok := t.rows()[key]
	return row, ok
}

func (t *table[V]) put(key string, row V) {
	next := make(map[string]V, len(t.rows())+1)
	maps.Copy(next, t.rows())
	next[key] = row
	t.current.Store(&next)
}

func (t *table[V]) remove(key string) {
	next := maps.Clone(t.rows())
	delete(next, key)
	t.current.Store(&next)
}

// restore replaces all rows.
func (t *table[V]) restore(rows map[string]V) { t.current.Store(&rows) }

// Store keeps the books of one node beyond the life of the process.
type Store interface {
	// Load reads everything that was kept.
	Load() (Records, error)
	// Keep stores a change completely or not at all. After it returned nil, the change survives a crash.
	Keep(Change) error
}

// Records are the books as they were kept.
type Records struct {
	Clients []Client
	// Accounts are the settings by Service Account User ID.
	Accounts map[string]Permission
	Requests []Request
}

// Change is what a step writes into the books; nil and empty members change nothing.
type Change struct {
	// Client and Request take the place of what has the same id.
	Client  *Client
	Request *Request
	// Account is the new setting of the service account Subject.
	Account *Permission
	Subject string
	// Closed is the Service Account User ID of an account that is removed.
	Closed string
}

// memory is a store that keeps nothing.
type memory struct{}

// Load implements Store.
func (memory) Load() (Records, error) { return Records{}, nil }

// Keep implements Store.
func (memory) Keep(Change) error { return nil }
