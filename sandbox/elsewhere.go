package sandbox

import (
	"fmt"
	"net/http"

	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
)

// elsewhere is the authorization server of the operator's staging environment: an issuer, keys and a client of its own, which the
// node does not trust.
type elsewhere struct {
	client Credential
	server *auth.Server
	places address.Map
}

func newElsewhere(c Config, places address.Map) (elsewhere, error) {
	s := elsewhere{client: Credential{ClientID: DemoStagingClient}, places: places.Staging()}
	var err error
	if s.client.Secret, err = account.NewSecret(c.Random); err != nil {
		return s, err
	}
	books, err := account.Open(account.Config{Now: c.Clock, Random: c.Random})
	if err == nil {
		err = books.Enter([]account.Registration{{Client: account.NewClient{ID: s.client.ClientID}, Secret: s.client.Secret}})
	}
	if err != nil {
		return s, fmt.Errorf("register the staging client: %w", err)
	}
	s.client.Subject, _ = books.Clients().Subject(s.client.ClientID)
	issuer, err := auth.NewIssuer(c.TokenFormat, c.TokenTTL, c.Clock, c.Random)
	if err != nil {
		return s, fmt.Errorf("make the staging issuer: %w", err)
	}
	s.server = auth.NewServer(books.Clients(), issuer, s.places, c.Logger)
	return s, nil
}

// routes are its token endpoint, its keys and its metadata.
func (s elsewhere) routes() []Route {
	issuer := s.places.Root
	metadata := s.server.Metadata(issuer, s.places.Token())
	get := func(path string, h http.Handler) Route { return Route{Method: http.MethodGet, Path: path, handler: h} }
	return []Route{
		{Method: http.MethodPost, Path: s.places.Token(), handler: s.server.Token(issuer), denied: http.HandlerFunc(s.server.MethodNotAllowed)},
		get(s.places.Certs(), http.HandlerFunc(s.server.Certs)),
		get(s.places.Metadata(issuer), metadata),
		get(s.places.OpenIDMetadata(issuer), metadata),
	}
}
