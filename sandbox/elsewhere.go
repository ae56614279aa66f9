package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
)

// elsewhere is another environment beside the node: an authorization server with an issuer, keys and a client of its own, and an info resource that
// accepts its tokens. The node refuses those tokens, and that info resource refuses the node's tokens, so that a client which confuses the
// environments gets an error.
type elsewhere struct {
	client Credential
	server *auth.Server
	guard  *auth.Guard
	places address.Map
}

func newElsewhere(c Config, places address.Map) (elsewhere, error) {
	e := elsewhere{client: Credential{ClientID: DemoElsewhereClient}, places: places.Elsewhere()}
	var err error
	if e.client.Secret, err = account.NewSecret(c.Random); err != nil {
		return e, err
	}
	books, err := account.Open(account.Config{Now: c.Clock, Random: c.Random})
	if err == nil {
		err = books.Enter([]account.Registration{{Client: account.NewClient{ID: e.client.ClientID}, Secret: e.client.Secret}})
	}
	if err != nil {
		return e, fmt.Errorf("register the client of the other environment: %w", err)
	}
	e.client.Subject, _ = books.Clients().Subject(e.client.ClientID)
	issuer, err := auth.NewIssuer(c.TokenFormat, c.TokenTTL, c.Clock, c.Random)
	if err != nil {
		return e, fmt.Errorf("make the issuer of the other environment: %w", err)
	}
	e.server = auth.NewServer(books.Clients(), issuer, e.places, c.Logger)
	e.guard = auth.NewGuard(auth.NewVerifier(issuer, books.Clients(), nil, e.places, c.Clock, c.VerifiedTokens), e.places)
	return e, nil
}

// routes returns the routes of the other environment: token endpoint, keys, metadata and info.
func (e elsewhere) routes() []Route {
	issuer := e.places.Root
	metadata := e.server.Metadata(issuer, e.places.Token())
	get := func(path string, h http.Handler) Route { return Route{Method: http.MethodGet, Path: path, handler: h} }
	return []Route{
		{Method: http.MethodPost, Path: e.places.Token(), handler: e.server.Token(issuer), denied: http.HandlerFunc(e.server.MethodNotAllowed)},
		get(e.places.Certs(), http.HandlerFunc(e.server.Certs)),
		get(e.places.Metadata(issuer), metadata),
		get(e.places.OpenIDMetadata(issuer), metadata),
		{Method: http.MethodGet, Path: e.places.Info(), Protected: true, handler: e.guard.Protect(http.HandlerFunc(e.info))},
	}
}

// info serves an info resource without endpoints: the other environment has no data.
func (e elsewhere) info(w http.ResponseWriter, r *http.Request) {
	body, err := json.Marshal(model.Info{Endpoints: map[string][]model.Endpoint{"funding": {}}})
	if err != nil {
		content.Internal().Write(w, r)
		return
	}
	content.NewBody("application/json", body).Serve(w, r, content.ProtectedHeaders())
}
