package sandbox

import (
	"fmt"
	"net/http"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
)

// staging is the authorization server of the operator's staging environment: an issuer, keys and a client of its own, which the
// node does not trust.
type staging struct {
	client Credential
	server *auth.Server
	places address.Map
}

func newStaging(c Config, places address.Map) (staging, error) {
	s := staging{client: Credential{ClientID: DemoStagingClient}, places: places.Staging()}
	var err error
	if s.client.Secret, err = auth.NewSecret(c.Random); err != nil {
		return s, err
	}
	if s.client.Subject, err = newUserID(c.Random); err != nil {
		return s, err
	}
	clients, err := auth.NewClients(c.Random, []auth.Client{{ID: s.client.ClientID, Secret: s.client.Secret, Subject: s.client.Subject}})
	if err != nil {
		return s, fmt.Errorf("register the staging client: %w", err)
	}
	issuer, err := auth.NewIssuer(c.TokenFormat, c.TokenTTL, c.Clock, c.Random)
	if err != nil {
		return s, fmt.Errorf("make the staging issuer: %w", err)
	}
	s.server = auth.NewServer(clients, issuer, s.places, c.Logger)
	return s, nil
}

// routes are its token endpoint, its keys and its metadata.
func (s staging) routes() []Route {
	issuer := s.places.Root
	metadata := s.server.Metadata(issuer, s.places.Token())
	get := func(path string, h http.Handler) Route { return Route{Method: http.MethodGet, Path: path, handler: h} }
	return []Route{
		{Method: http.MethodPost, Path: s.places.Token(), handler: s.server.Token(issuer), denied: http.HandlerFunc(s.server.MethodNotAllowed)},
		get(s.places.Certs(), http.HandlerFunc(s.server.Certs)),
		get(s.places.Metadata(issuer), metadata),
		get(issuer+"/.well-known/openid-configuration", metadata),
	}
}
