package journal

import "strings"

// The bounds of what is kept of a request, in bytes, and in names.
const (
	maxClient   = 120
	maxPath     = 300
	maxQuery    = 600
	maxField    = 200
	maxText     = 800
	maxName     = 60
	maxIgnored  = 8
	maxExposed  = 8
	entryStruct = 900 // the entry itself, with what its pointers lead to
)

// bounded cuts text, and lets go of the memory of a longer one.
func bounded(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// size is about the memory of an entry.
func (e *Entry) size() int {
	n := entryStruct + len(e.Origin) + len(e.Method) + len(e.Path) + len(e.Query) + len(e.Peer) + len(e.Agent) + len(e.Accept) + len(e.ContentType) +
		len(e.IfNoneMatch) + len(e.Client) + len(e.ResponseType) + len(e.RetryAfter) + len(e.Location)
	for _, name := range e.Ignored {
		n += 16 + len(name)
	}
	for _, x := range e.Exposed {
		n += 48 + len(x.Parameter)
	}
	if e.Refusal != nil {
		n += len(e.Refusal.Detail) + len(e.Refusal.Hint)
	}
	return n
}
