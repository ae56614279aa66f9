package account

import (
	"maps"
	"slices"
)

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
