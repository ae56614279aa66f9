package fault

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/journal"
)

// Env is what a deviation may know of its node and ask from it.
type Env struct {
	// Places are the addresses of the node.
	Places address.Map
	// Clients tells the clients that are registered at the moment, those that the node was configured with first.
	Clients func() []Client
	// Now is the node's clock.
	Now func() time.Time
	// Pause waits for d, or until ctx ends, whose error it then returns.
	Pause func(ctx context.Context, d time.Duration) error
	// Issue makes a valid access token for a client, as the staging token endpoint at the origin of r would.
	Issue func(r *http.Request, clientID string) (string, error)
	// Sign makes a token of any header and claims, signed with the node's key; alg, kid and typ are those of a good token unless
	// the header has them. It fails where tokens are opaque.
	Sign func(header, claims map[string]any) (string, error)
}

// Client is a registered client as its owner knows it.
type Client struct {
	// ID and Subject are the client id and the Service Account User ID.
	ID, Subject string
	// Secret is the secret in plain text. It is empty for clients whose secret the node does not know itself, since it keeps a hash: those
	// that were created or got another secret while it served, or before. Deviations that need it leave such clients alone.
	Secret string
}

// Kind is what a request is for.
type Kind = journal.Operation

// The kinds of requests that deviations tell apart.
const (
	Other         = journal.Other
	Token         = journal.Token
	Info          = journal.Info
	Spec          = journal.Document
	FundingList   = journal.List
	FundingDetail = journal.Detail
	Registry      = journal.Registry
)

// Classify tells what r is for, by its path alone. Metadata, keys and pages are Other, and so is the whole try-out space: it promises nothing
// that can be broken.
func (e Env) Classify(r *http.Request) Kind {
	class := e.Places.Classify(r.URL.Path)
	if class.TryOut || class.Elsewhere {
		return Other
	}
	switch class.Operation {
	case Token, Info, Spec, FundingList, FundingDetail, Registry:
		return class.Operation
	}
	return Other
}

// isProtected reports whether requests of a kind need an access token.
func isProtected(k Kind) bool { return k == Info || k == FundingList || k == FundingDetail }

// Client returns the registered client with the id.
func (e Env) Client(id string) (Client, bool) {
	for _, c := range e.Clients() {
		if c.ID == id {
			return c, true
		}
	}
	return Client{}, false
}

// first is the first client, if there is one.
func (e Env) first() (Client, bool) {
	clients := e.Clients()
	if len(clients) == 0 {
		return Client{}, false
	}
	return clients[0], true
}

// exposed is the first client whose secret the node knows, if there is one.
func (e Env) exposed() (Client, bool) {
	for _, c := range e.Clients() {
		if c.Secret != "" {
			return c, true
		}
	}
	return Client{}, false
}

// admit returns r with the Authorization header of the first client, which by convention has all permissions.
func (e Env) admit(r *http.Request) *http.Request {
	first, ok := e.first()
	if !ok {
		return r
	}
	return e.admitAs(r, first.ID)
}

// admitAs returns r with a fresh access token of the client; r itself when none can be made.
func (e Env) admitAs(r *http.Request, clientID string) *http.Request {
	token, err := e.Issue(r, clientID)
	if err != nil {
		return r
	}
	admitted := r.Clone(r.Context())
	admitted.Header.Set("Authorization", "Bearer "+token)
	return admitted
}

// ScenarioEnv is what scenarios may know of their node and ask from it.
type ScenarioEnv struct {
	// Places are the addresses of the node.
	Places address.Map
	// Now is the node's clock.
	Now func() time.Time
	// Pause waits for d, or until ctx ends, whose error it then returns.
	Pause func(ctx context.Context, d time.Duration) error
	// Caller returns the client whose good access token a request has, "" without one, and the request to go on with, which remembers that its
	// token was verified.
	Caller func(r *http.Request) (client string, verified *http.Request)
	// Refuse refuses the access token of a request, as the node does, because of detail.
	Refuse func(w http.ResponseWriter, r *http.Request, detail string)
	// Later answers a token request that is good at another time, with a status.
	Later func(w http.ResponseWriter, r *http.Request, status int, description string)
	// Rotate gives the node new keys. Tokens of the ones before stay good until the overlap has passed.
	Rotate func(overlap time.Duration) error
}

// The kinds of requests that are no operations of the journal.
const (
	TryOut Kind = "try-out" // the whole try-out space
	API    Kind = "api"     // everything else below the service prefix
)

// mayNeedToken lists the kinds that need an access token, or may.
func mayNeedToken() []Kind { return []Kind{Info, FundingList, FundingDetail, API} }

// open lists the kinds that do not.
func open() []Kind { return []Kind{Token, journal.Keys, journal.Metadata, Registry, Spec, TryOut} }

// kindOf tells what a request to a path is for.
func kindOf(places address.Map, path string) Kind {
	class := places.Classify(path)
	switch {
	case class.TryOut:
		return TryOut
	case class.Elsewhere:
		return Other
	case class.Operation == Other && class.API:
		return API
	}
	return class.Operation
}

// isBelow tells whether a path is that of a place, or below it.
func isBelow(path, place string) bool {
	rest, ok := strings.CutPrefix(path, place)
	return ok && (rest == "" || rest[0] == '/')
}
