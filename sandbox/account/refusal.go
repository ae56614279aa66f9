package account

// Kind is why a step can't be done.
type Kind int

// The kinds of refusals.
const (
	// Invalid is a message that says what no book takes.
	Invalid Kind = iota
	// Unknown is a client or request that is not in the book.
	Unknown
	// Conflict is a step that the state of the book forbids.
	Conflict
)

// Refusal is a step that can't be done as asked; nothing was changed.
type Refusal struct {
	Kind Kind
	// Detail says why, Hint what to do.
	Detail, Hint string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Detail + ": " + r.Hint }

func invalid(detail, hint string) error  { return &Refusal{Invalid, detail, hint} }
func unknown(detail, hint string) error  { return &Refusal{Unknown, detail, hint} }
func conflict(detail, hint string) error { return &Refusal{Conflict, detail, hint} }
