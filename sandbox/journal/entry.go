package journal

import (
	"context"
	"time"
)

// Operation is what a request was for.
type Operation string

// The operations.
const (
	Token    Operation = "token"
	Keys     Operation = "keys"
	Metadata Operation = "metadata"
	Registry Operation = "registry"
	Info     Operation = "info"
	Document Operation = "document"
	List     Operation = "list"
	Detail   Operation = "detail"
	// Call is an operation of an API that is neither a list nor one of its items.
	Call Operation = "call"
	// ElsewhereToken and ElsewhereInfo are the token endpoint and the info resource of the other environment beside a node.
	ElsewhereToken Operation = "elsewhere-token"
	ElsewhereInfo  Operation = "elsewhere-info"
	Health         Operation = "health"
	Docs           Operation = "docs"
	Other          Operation = "other"
)

// Entry is one request with its answer, as JSON in the journal of the control listener.
type Entry struct {
	// Number counts the requests since the start or the last clearing, from 1.
	Number uint64 `json:"number"`
	// Time is when it came and Ended when it was answered, by the node's clock.
	Time  time.Time `json:"time"`
	Ended time.Time `json:"ended"`
	// Node is the member id of the node; empty when no node is at the path.
	Node      string    `json:"node,omitempty"`
	Operation Operation `json:"operation"`
	// TryOut tells that it went to the space that needs no token, whose callers are rarely programs.
	TryOut bool `json:"tryOut,omitempty"`

	// Origin is where it was sent to, as the client spelled it: "http://127.0.0.1:8080".
	Origin string `json:"origin"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	// Peer is the address of the connection's other end.
	Peer string `json:"peer"`
	// Agent, Accept, ContentType and IfNoneMatch are fields of its header.
	Agent       string `json:"userAgent,omitempty"`
	Accept      string `json:"accept,omitempty"`
	ContentType string `json:"contentType,omitempty"`
	IfNoneMatch string `json:"ifNoneMatch,omitempty"`
	// Authorization is what was left of its credentials.
	Authorization Authorization `json:"authorization,omitzero"`
	// Exposed lists the credentials in its URL, each by the name of the parameter.
	Exposed []Exposure `json:"exposed,omitempty"`

	// Client is the id of the client; Proven tells that it was authenticated, not just claimed.
	Client string `json:"client,omitempty"`
	Proven bool   `json:"proven,omitempty"`
	// Secret is the fingerprint of the client secret in a token request.
	Secret string `json:"secret,omitempty"`
	// TokenPath is the path of the node's token endpoint, for a command that does it right.
	TokenPath string `json:"tokenPath,omitempty"`

	// Status is the status of the answer; 0 when there was none, or when a deviation wrote to the connection itself.
	Status int `json:"status"`
	// Cut tells that the answer was not sent to its end.
	Cut bool `json:"cut,omitempty"`
	// Bytes is the size of its body as sent.
	Bytes int64 `json:"bytes"`
	// ResponseType, RetryAfter and Location are fields of its header.
	ResponseType string `json:"responseType,omitempty"`
	RetryAfter   string `json:"retryAfter,omitempty"`
	Location     string `json:"location,omitempty"`
	// Issued is the token that it brought.
	Issued *Issued `json:"issued,omitempty"`
	// Page is what part of a list it brought.
	Page *Page `json:"page,omitempty"`
	// Refusal is what was wrong with the request.
	Refusal *Refusal `json:"refusal,omitempty"`
	// Ignored names parameters that the document does not have.
	Ignored []string `json:"ignored,omitempty"`
	// Deviations names what the node did on purpose otherwise than a good one, while the request was answered.
	Deviations []string `json:"deviations,omitempty"`
}

// Authorization is an Authorization field without its credentials.
type Authorization struct {
	// Fields is the number of such fields; a request has at most one.
	Fields int `json:"fields,omitempty"`
	// Scheme is its first word: "Bearer". Empty when the field began with the credentials.
	Scheme string `json:"scheme,omitempty"`
	// Print is the fingerprint of the token, or of the secret within Basic credentials.
	Print string `json:"print,omitempty"`
}

// Exposure is a credential where it is read by others.
type Exposure struct {
	Parameter string `json:"parameter"`
	Print     string `json:"print"`
}

// Issued is a token that a client was given.
type Issued struct {
	Print   string    `json:"print"`
	Expires time.Time `json:"expires"`
}

// Page is a part of a list.
type Page struct {
	// Start is the number of items before the page, Size how many were asked for; 0 is the whole list.
	Start int `json:"start"`
	Size  int `json:"size"`
	// Items is the number of items on it, Next whether more come after it.
	Items int  `json:"items"`
	Next  bool `json:"next"`
}

// Refusal is why a request was not served.
type Refusal struct {
	// Code is the error code of RFC 6749 or RFC 6750, if it has one.
	Code string `json:"code,omitempty"`
	// Detail says what was wrong, Hint how to do it right.
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
	// Unreadable tells that the credential of the request could not be read as a token at all.
	Unreadable bool `json:"unreadable,omitempty"`
	// Parameter names the query parameter at fault.
	Parameter string `json:"parameter,omitempty"`
}

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
