// Package account keeps the books of a node and does the steps by which a party gets access (NET-R18): the party asks for access, the operator
// of the authorization server creates a client (NET-R16), the operator of the funding service grants role and affiliation (NET-R17), and the
// party receives the credentials.
//
// A book is the list of clients or accounts that one service keeps. The two services keep separate books. [Clients] is the book of the
// authorization server: ids, salted hashes of secrets, Service Account User IDs. [Accounts] is the book of the funding service: role and
// affiliation by Service Account User ID. A client may be in the first book only: then it gets tokens, but the funding service refuses it with 403.
//
// [Books] does the steps. It saves a step in a [Store] before it returns; readers see all of a step or nothing, and never wait for it.
// A secret is in plain text only in the result of the step that generated it.
package account

import (
	"fmt"
	"io"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// maxEntries limits each book of a node. A revoked client stays in its book, and counts, until its id is used again.
const maxEntries = 10_000

// Config configures books.
type Config struct {
	// Store keeps the books; nil keeps them in memory only.
	Store Store
	// Now returns the current time.
	Now func() time.Time
	// Random is the source of secrets, salts and ids.
	Random io.Reader
}

// Books are the two books of one node, with the requests for access. They are safe for concurrent use.
type Books struct {
	clients  *Clients
	accounts *Accounts
	requests table[Request]

	// mu serializes the steps. A step holds it until its change is in the store and in the tables.
	mu     sync.Mutex
	store  Store
	now    func() time.Time
	random io.Reader
	// initial is the snapshot that Reset restores.
	initial snapshot
}

// snapshot is the content of the tables at one time. It is immutable.
type snapshot struct {
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
	records, err := b.store.Load()
	if err != nil {
		return nil, err
	}
	b.initial = snapshot{clients: map[string]*Client{}, accounts: map[string]Permission{}, requests: map[string]Request{}}
	for _, client := range records.Clients {
		b.initial.clients[client.ID] = &client
	}
	maps.Copy(b.initial.accounts, records.Accounts)
	for _, request := range records.Requests {
		b.initial.requests[request.ID] = request
	}
	b.restore(b.initial)
	return b, nil
}

func (b *Books) restore(s snapshot) {
	b.clients.entries.restore(s.clients)
	b.accounts.entries.restore(s.accounts)
	b.requests.restore(s.requests)
}

// Clients returns the authorization server's book.
func (b *Books) Clients() *Clients { return b.clients }

// Accounts returns the funding service's book.
func (b *Books) Accounts() *Accounts { return b.accounts }

// save saves a change in the store, and then shows it to readers.
func (b *Books) save(c Change) error {
	if err := b.store.Save(c); err != nil {
		return fmt.Errorf("save the change: %w; nothing was changed", err)
	}
	// The account is removed last, after its client is revoked, so that readers never see a registered client without its account.
	if c.Request != nil {
		b.requests.put(c.Request.ID, *c.Request)
	}
	if c.Account != nil {
		b.accounts.entries.put(c.Subject, *c.Account)
	}
	if c.Client != nil {
		b.clients.entries.put(c.Client.ID, c.Client)
	}
	if c.ClosedAccount != "" {
		b.accounts.entries.remove(c.ClosedAccount)
	}
	return nil
}

// Reset restores the books to their state after [Books.Enter], if they are in memory only. Books in a store stay as they are.
func (b *Books) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.store == (memory{}) {
		b.restore(b.initial)
	}
}

// table is a map that each change replaces by a changed copy. So readers need no lock, which matters because each protected request reads a table.
// Only one writer may run at a time.
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
	// Load reads the books.
	Load() (Records, error)
	// Save stores a change completely or not at all. After it returned nil, the change survives a crash.
	Save(Change) error
}

// Records are the content of the books, as a store loads it.
type Records struct {
	Clients []Client
	// Accounts are the permissions by Service Account User ID.
	Accounts map[string]Permission
	Requests []Request
}

// Change is what a step writes into the books; nil and empty fields change nothing.
type Change struct {
	// Client and Request replace the entry with the same id, or are added.
	Client  *Client
	Request *Request
	// Account is the new permission of the service account Subject.
	Account *Permission
	Subject string
	// ClosedAccount is the Service Account User ID of an account that is removed.
	ClosedAccount string
}

// memory is a store that keeps nothing.
type memory struct{}

// Load implements Store.
func (memory) Load() (Records, error) { return Records{}, nil }

// Save implements Store.
func (memory) Save(Change) error { return nil }
