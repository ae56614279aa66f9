package fault

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/journal"
)

// Env gives faults access to their node: its data, its clock, and what its authorization server and guard do.
type Env struct {
	// Seed is the seed of the random decisions of plays.
	Seed uint64
	// Serves reports whether the node serves a path, or a path below it; nil if that is unknown.
	Serves func(path string) bool
	// IsForeign reports whether a client of a foreign authorization server may call the node; nil if no such server exists.
	IsForeign func(clientID string) bool
	// Places are the addresses of the node.
	Places address.Map
	// Clients lists the clients that are registered at the moment, those of the configuration first.
	Clients func() []Client
	// Now is the node's clock.
	Now func() time.Time
	// Pause waits for d. If ctx ends earlier, it returns the error of ctx.
	Pause func(ctx context.Context, d time.Duration) error
	// Issue makes a valid access token for a client, as the node's token endpoint would if it were called at the origin of r.
	Issue func(r *http.Request, clientID string) (string, error)
	// Sign makes a JWT of header and claims, signed with the node's key. It adds alg, kid and typ of a good token if the header lacks them. It fails if
	// the node's tokens are opaque.
	Sign func(header, claims map[string]any) (string, error)
	// Caller returns the client whose valid access token a request has, or "". It also returns the request to pass on, which remembers that its token
	// was verified.
	Caller func(r *http.Request) (client string, verified *http.Request)
	// Refuse refuses the access token of a request in the node's way.
	Refuse func(w http.ResponseWriter, r *http.Request, detail string)
	// TokenUnavailable refuses a token request with an error that asks the client to try again later.
	TokenUnavailable func(w http.ResponseWriter, r *http.Request, status int, description string)
	// Rotate replaces the node's keys. Tokens of the old keys stay good for the overlap.
	Rotate func(overlap time.Duration) error
}

// Client is a registered client.
type Client struct {
	// ID and Subject are the client id and the Service Account User ID.
	ID, Subject string
	// Secret is empty if the node has only its hash, as for clients that were created, or whose secret was rotated, while it served.
	// Deviations that need the secret do not affect such clients.
	Secret string
}

// Kind says what a request is for, such as the list of fundings.
type Kind = journal.Operation

// The kinds of requests.
const (
	Other    = journal.Other
	Token    = journal.Token
	Keys     = journal.Keys
	Metadata = journal.Metadata
	Registry = journal.Registry
	Info     = journal.Info
	Document = journal.Document
	List     = journal.List
	Detail   = journal.Detail

	TryOut Kind = "try-out" // the try-out space, where no deviation applies
	API    Kind = "api"     // everything else below the service prefix
)

// protectedKinds lists the kinds that need an access token.
func protectedKinds() []Kind { return []Kind{Info, List, Detail} }

// everyKind lists the kinds of requests that a certification makes.
func everyKind() []Kind { return []Kind{Token, Info, Document, List, Detail, Registry} }

// isProtected reports whether requests of the kind need an access token.
func isProtected(k Kind) bool { return slices.Contains(protectedKinds(), k) }

// Classify returns the kind of r.
func (e Env) Classify(r *http.Request) Kind { return kindOf(e.Places, r.URL.Path) }

// kindOf returns the kind of requests to a path. The other environment, health and the pages for people are Other.
func kindOf(places address.Map, path string) Kind {
	class := places.Classify(path)
	switch {
	case class.TryOut:
		return TryOut
	case class.Elsewhere, class.Operation == journal.Health, class.Operation == journal.Docs:
		return Other
	case class.Operation == Other && class.API:
		return API
	}
	return class.Operation
}

// isBelow reports whether a path is base itself, or below it.
func isBelow(path, base string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(base, "/"))
	return ok && (rest == "" || rest[0] == '/')
}

// Client returns the registered client with the id.
func (e Env) Client(id string) (Client, bool) {
	return e.findClient(func(c Client) bool { return c.ID == id })
}

// clientWithSecret returns the first client whose secret the node knows.
func (e Env) clientWithSecret() (Client, bool) {
	return e.findClient(func(c Client) bool { return c.Secret != "" })
}

func (e Env) findClient(fits func(Client) bool) (Client, bool) {
	clients := e.Clients()
	if i := slices.IndexFunc(clients, fits); i >= 0 {
		return clients[i], true
	}
	return Client{}, false
}

// admit returns r with an access token of the first client, which has all permissions.
func (e Env) admit(r *http.Request) *http.Request {
	if clients := e.Clients(); len(clients) > 0 {
		return e.admitAs(r, clients[0].ID)
	}
	return r
}

// admitAs returns r with a new access token of the client, or r itself if the client is unknown.
func (e Env) admitAs(r *http.Request, clientID string) *http.Request {
	token, err := e.Issue(r, clientID)
	if err != nil {
		return r
	}
	return withAuthorization(r, "Bearer "+token)
}
