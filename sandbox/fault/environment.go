package fault

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/address"
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
type Kind int

// The kinds of requests. The try-out space is Other: it promises nothing that can be broken.
const (
	Other Kind = iota
	Token
	Info
	Spec
	FundingList
	FundingDetail
	Registry
)

// Classify tells what r is for, by its path alone; a trailing slash makes no difference.
func (e Env) Classify(r *http.Request) Kind {
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch path {
	case e.Places.Token(), e.Places.RealmToken():
		return Token
	case strings.TrimSuffix(e.Places.Info(), "/"):
		return Info
	case e.Places.Spec():
		return Spec
	case e.Places.Fundings():
		return FundingList
	case e.Places.Registry():
		return Registry
	}
	if strings.HasPrefix(path, e.Places.Fundings()+"/") {
		return FundingDetail
	}
	return Other
}

// Protected tells whether the kind asks for an access token.
func (k Kind) Protected() bool { return k == Info || k == FundingList || k == FundingDetail }

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
	// Caller tells which client's good access token a request has; "" without one.
	Caller func(r *http.Request) string
	// Refuse refuses the access token of a request, as the node does, because of detail.
	Refuse func(w http.ResponseWriter, r *http.Request, detail string)
	// Later answers a token request that is good at another time, with a status.
	Later func(w http.ResponseWriter, r *http.Request, status int, description string)
	// Rotate gives the node new keys. Tokens of the ones before stay good until the overlap has passed.
	Rotate func(overlap time.Duration) error
}

// PathKind is what a request is for.
type PathKind string

// The kinds of requests.
const (
	OtherPath    PathKind = ""
	TokenPath    PathKind = "token"
	Keys         PathKind = "keys"
	Metadata     PathKind = "metadata"
	RegistryPath PathKind = "registry"
	InfoPath     PathKind = "info"
	Document     PathKind = "document"
	List         PathKind = "list"
	Detail       PathKind = "detail"
	TryOut       PathKind = "try-out" // whatever is below it
	API          PathKind = "api"     // whatever else is below the service prefix
)

// mayNeedToken lists the kinds that ask for an access token, or may.
func mayNeedToken() []PathKind { return []PathKind{InfoPath, List, Detail, API} }

// open lists the kinds that do not.
func open() []PathKind { return []PathKind{TokenPath, Keys, Metadata, RegistryPath, Document, TryOut} }

// kindOf tells what a request to a path is for; a slash at its end makes no difference.
func kindOf(places address.Map, path string) PathKind {
	path = strings.TrimSuffix(path, "/")
	switch path {
	case places.Token(), places.RealmToken():
		return TokenPath
	case places.Certs():
		return Keys
	case places.Registry():
		return RegistryPath
	case strings.TrimSuffix(places.Info(), "/"):
		return InfoPath
	case places.Spec():
		return Document
	case places.Fundings():
		return List
	case places.Metadata(places.Root), places.Metadata(places.RealmIssuer()):
		return Metadata
	}
	switch {
	case strings.HasSuffix(path, "/.well-known/openid-configuration"):
		return Metadata
	case isBelow(path, places.Fundings()):
		return Detail
	case isBelow(path, places.TryOut().API()):
		return TryOut
	case isBelow(path, places.API()):
		return API
	}
	return OtherPath
}

// isBelow tells whether a path is that of a place, or below it.
func isBelow(path, place string) bool {
	rest, ok := strings.CutPrefix(path, place)
	return ok && (rest == "" || rest[0] == '/')
}
