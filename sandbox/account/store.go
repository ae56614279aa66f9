package account

// Store keeps the books of one node beyond the life of the process.
type Store interface {
	// Load reads all that was kept.
	Load() (Records, error)
	// Keep keeps a change, all of it or nothing. When it returns nil, no crash loses it.
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
	// Closed is the Service Account User ID of an account that leaves the book.
	Closed string
}

// memory keeps nothing: what it is told is lost with the process.
type memory struct{}

// Load implements Store.
func (memory) Load() (Records, error) { return Records{}, nil }

// Keep implements Store.
func (memory) Keep(Change) error { return nil }
