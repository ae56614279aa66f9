package journal

import (
	"context"
	"time"
)

// Note collects what is learned of one request while it is answered. It belongs to the goroutine of the request. The methods of a nil
// Note do nothing, so that whoever learns something need not ask whether there is a journal.
type Note struct {
	entry  Entry
	prints *printer
}

type noteKey struct{}

// Of returns the note of the request whose context is given; nil without a journal.
func Of(ctx context.Context) *Note {
	n, _ := ctx.Value(noteKey{}).(*Note)
	return n
}

// Operate tells what the request is for, where its path alone does not tell.
func (n *Note) Operate(o Operation) {
	if n != nil {
		n.entry.Operation = o
	}
}

// Claim tells who the client says it is.
func (n *Note) Claim(client string) {
	if n != nil && !n.entry.Proven {
		n.entry.Client = n.prints.scrub(bounded(client, maxClient))
	}
}

// Prove tells who the client is.
func (n *Note) Prove(client string) {
	if n != nil {
		n.entry.Client, n.entry.Proven = bounded(client, maxClient), true
	}
}

// Authenticate tells the secret that came in a token request.
func (n *Note) Authenticate(secret string) {
	if n != nil && secret != "" {
		n.entry.Secret = n.prints.of(secret)
	}
}

// Issue tells which token the client was given, and until when it is good.
func (n *Note) Issue(token string, expires time.Time) {
	if n != nil {
		n.entry.Issued = &Issued{Print: n.prints.of(token), Expires: expires}
	}
}

// Refuse tells why the request was not served. What was told first stays: it is nearest to the cause.
func (n *Note) Refuse(why Refusal) {
	if n == nil {
		return
	}
	// An explanation may quote what the client sent.
	why.Detail, why.Hint = bounded(n.prints.scrub(why.Detail), maxText), bounded(n.prints.scrub(why.Hint), maxText)
	why.Parameter = bounded(n.prints.scrub(why.Parameter), maxName)
	if n.entry.Refusal == nil {
		n.entry.Refusal = &why
		return
	}
	first := n.entry.Refusal
	if first.Hint == "" {
		first.Hint = why.Hint
	}
	if first.Detail == "" {
		first.Detail = why.Detail
	}
}

// Serve tells which part of a list was served.
func (n *Note) Serve(page Page) {
	if n != nil {
		n.entry.Page = &page
	}
}

// Ignore names parameters that the document does not have.
func (n *Note) Ignore(names []string) {
	if n == nil {
		return
	}
	for _, name := range names[:min(len(names), maxIgnored)] {
		n.entry.Ignored = append(n.entry.Ignored, n.prints.scrub(bounded(name, maxName)))
	}
}

// Deviate names what the node does on purpose otherwise than a good one. The names are not copied.
func (n *Note) Deviate(names ...string) {
	if n == nil || len(names) == 0 {
		return
	}
	if n.entry.Deviations == nil {
		n.entry.Deviations = names[:len(names):len(names)]
		return
	}
	n.entry.Deviations = append(n.entry.Deviations, names...)
}
