package auth

// Clients is the authorization server's book of clients (NET-R16), as the token endpoint and the guard read it. It may change while
// they do, is safe for concurrent use, and is quick to answer: the guard asks for each call.
type Clients interface {
	// Authenticate returns the service account and the audience of the client with this id and secret; an empty audience is the node's
	// API. The time that it takes does not tell whether id or secret is wrong.
	Authenticate(id, secret string) (subject, audience string, ok bool)
	// Registered tells whether the client is in the book with this service account, and may act for it.
	Registered(id, subject string) bool
}
