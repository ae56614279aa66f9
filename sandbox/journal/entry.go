package journal

import (
	"context"
	"time"
)

// Operation is the purpose of a request.
type Operation string

const (
	Token    Operation = "token"
	Keys     Operation = "keys"
	Metadata Operation = "metadata"
	Registry Operation = "registry"
	Info     Operation = "info"
	Document Operation = "document"
	List     Operation = "list"
	Detail   Operation = "detail"
	// Call is an operation of an API from an OpenAPI document that serves neither a list nor one item of a list.
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
	// Earliest is the number that the next entry would have got when the request came, or when its new connection was opened: only requests with lower
	// numbers had been answered then. 0 means unknown.
	Earliest uint64 `json:"earliest,omitempty"`
	// Time is when the request came and Ended when it was answered, by the node's clock.
	Time  time.Time `json:"time"`
	Ended time.Time `json:"ended"`
	// Node is the member id of the node; empty when no node is at the path.
	Node      string    `json:"node,omitempty"`
	Operation Operation `json:"operation"`
	// TryOut reports that the request went to the try-out space, which needs no tokens and is mostly used by people.
	TryOut bool `json:"tryOut,omitempty"`

	// Origin is the base URL that the request was sent to, as the client spelled it: "http://127.0.0.1:8080".
	Origin string `json:"origin"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	// Peer is the address of the connection's other end.
	Peer string `json:"peer"`
	// Agent, Accept, ContentType, IfNoneMatch and IfModifiedSince are header fields of the request.
	Agent           string `json:"userAgent,omitempty"`
	Accept          string `json:"accept,omitempty"`
	ContentType     string `json:"contentType,omitempty"`
	IfNoneMatch     string `json:"ifNoneMatch,omitempty"`
	IfModifiedSince string `json:"ifModifiedSince,omitempty"`
	// Authorization is the request's Authorization header without the credentials.
	Authorization Authorization `json:"authorization,omitzero"`
	// Exposed lists the credentials in the request's URL, each by the name of its parameter.
	Exposed []Exposure `json:"exposed,omitempty"`
	// Fields lists the fingerprints of header fields in which a client secret may be: Cookie, those whose name begins with X-, and those with the name
	// of a credential.
	Fields []Exposure `json:"fields,omitempty"`

	// Client is the id of the client; Proven reports that it was authenticated, not just claimed.
	Client string `json:"client,omitempty"`
	Proven bool   `json:"proven,omitempty"`
	// Secret is the fingerprint of the client secret in a token request.
	Secret string `json:"secret,omitempty"`
	// TokenPath is the path of the node's token endpoint, for the correct command in a report.
	TokenPath string `json:"tokenPath,omitempty"`

	// Status is the status of the answer; 0 without an answer, or when a deviation wrote to the connection itself.
	Status int `json:"status"`
	// Cut reports that the answer ended early.
	Cut bool `json:"cut,omitempty"`
	// Spoilt reports that a fault made the body unreadable.
	Spoilt bool `json:"spoilt,omitempty"`
	// Bytes is the size of the answer's body as sent.
	Bytes int64 `json:"bytes"`
	// ResponseType, ETag, RetryAfter and Location are header fields of the answer.
	ResponseType string `json:"responseType,omitempty"`
	ETag         string `json:"etag,omitempty"`
	RetryAfter   string `json:"retryAfter,omitempty"`
	Location     string `json:"location,omitempty"`
	// Issued is the token in the answer.
	Issued *IssuedToken `json:"issued,omitempty"`
	// Page says which part of a list the answer holds.
	Page *Page `json:"page,omitempty"`
	// Refusal says why the request was refused.
	Refusal *Refusal `json:"refusal,omitempty"`
	// Described reports that the document of the API describes this answer for every valid request, and describes no successful answer.
	Described bool `json:"described,omitempty"`
	// Ignored lists the query parameters that the document of the API does not describe.
	Ignored []string `json:"ignored,omitempty"`
	// Deviations lists the names of the faults that were injected while the request was answered.
	Deviations []string `json:"deviations,omitempty"`
}

// Authorization is an Authorization header without its credentials.
type Authorization struct {
	// Fields is the number of Authorization headers; a correct request has at most one.
	Fields int `json:"fields,omitempty"`
	// Scheme is the first word of the header: "Bearer". It is empty when the header began with the credentials.
	Scheme string `json:"scheme,omitempty"`
	// Print is the fingerprint of the token, or of the secret within Basic credentials.
	Print string `json:"print,omitempty"`
}

// Exposure is a credential, or what may be one, in a place where it does not belong: the name of the query parameter or header field, and the fingerprint
// of its value.
type Exposure struct {
	Parameter string `json:"parameter"`
	Print     string `json:"print"`
}

// IssuedToken is a token that a client got.
type IssuedToken struct {
	Print   string    `json:"print"`
	Expires time.Time `json:"expires"`
}

// Page is a part of a list.
type Page struct {
	// Start is the number of items before the page, Size the requested page size; a Size of 0 means the whole list.
	Start int `json:"start"`
	Size  int `json:"size"`
	// Items is the number of items on the page; Next reports that more items follow.
	Items int  `json:"items"`
	Next  bool `json:"next"`
}

// Refusal says why a request was refused.
type Refusal struct {
	// Code is the error code of RFC 6749 or RFC 6750, if it has one.
	Code string `json:"code,omitempty"`
	// Detail says what was wrong, Hint how to correct it.
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
	// Unreadable reports that the credential of the request could not be read as a token.
	Unreadable bool `json:"unreadable,omitempty"`
	// Parameter names the query parameter at fault.
	Parameter string `json:"parameter,omitempty"`
}

// Note collects what the handlers learn about one request. It belongs to the goroutine of the request. The methods of a nil Note do
// nothing, so that callers need not know whether there is a journal.
type Note struct {
	entry         Entry
	fingerprinter *fingerprinter
}

type noteKey struct{}

// FromContext returns the note of the request with this context; nil without a journal.
func FromContext(ctx context.Context) *Note {
	n, _ := ctx.Value(noteKey{}).(*Note)
	return n
}

// SetOperation sets the operation, if the path alone does not determine it.
func (n *Note) SetOperation(o Operation) {
	if n != nil {
		n.entry.Operation = o
	}
}

// Claim sets the client id that the request names.
func (n *Note) Claim(client string) {
	if n != nil && !n.entry.Proven {
		n.entry.Client = n.fingerprinter.scrub(truncate(client, maxClient))
	}
}

// Prove sets the authenticated client id.
func (n *Note) Prove(client string) {
	if n != nil {
		n.entry.Client, n.entry.Proven = truncate(client, maxClient), true
	}
}

// Authenticate sets the fingerprint of the secret in a token request.
func (n *Note) Authenticate(secret string) {
	if n != nil && secret != "" {
		n.entry.Secret = n.fingerprinter.fingerprint(secret)
	}
}

// Issue sets the issued token and its expiry.
func (n *Note) Issue(token string, expires time.Time) {
	if n != nil {
		n.entry.Issued = &IssuedToken{Print: n.fingerprinter.fingerprint(token), Expires: expires}
	}
}

// Refuse sets why the request was refused. The first reason is kept, because it is nearest to the cause; later ones only fill its empty texts.
func (n *Note) Refuse(why Refusal) {
	if n == nil {
		return
	}
	// The texts may quote what the client sent, and with it a credential.
	why.Detail, why.Hint = truncate(n.fingerprinter.scrub(why.Detail), maxText), truncate(n.fingerprinter.scrub(why.Hint), maxText)
	why.Parameter = truncate(n.fingerprinter.scrub(why.Parameter), maxName)
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

// Describe records that the document describes this answer and no successful one.
func (n *Note) Describe() {
	if n != nil {
		n.entry.Described = true
	}
}

// Serve sets which part of a list was served.
func (n *Note) Serve(page Page) {
	if n != nil {
		n.entry.Page = &page
	}
}

// Spoil records that a fault made the body unreadable.
func (n *Note) Spoil() {
	if n != nil {
		n.entry.Spoilt = true
	}
}

// Shorten records that a fault left only so many items on the page that was served.
func (n *Note) Shorten(items int) {
	if n != nil && n.entry.Page != nil {
		page := *n.entry.Page
		page.Items = items
		n.entry.Page = &page
	}
}

// Ignore adds query parameters that the document of the API does not describe.
func (n *Note) Ignore(names []string) {
	if n == nil {
		return
	}
	for _, name := range names[:min(len(names), maxIgnored)] {
		n.entry.Ignored = append(n.entry.Ignored, n.fingerprinter.scrub(truncate(name, maxName)))
	}
}

// Deviate adds the names of injected faults. It keeps the slice, so the caller must not change it afterwards.
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
