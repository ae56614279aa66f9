package sandbox

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/flavour"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/registry"
	"github.com/rin-network/rin/sandbox/scenario"
	"github.com/rin-network/rin/sandbox/transport"
)

// Server is a node of the network. It is an http.Handler, safe for concurrent use, and holds no goroutine.
type Server struct {
	handler     http.Handler
	seam        *seam
	stage       *scenario.Stage
	asked       *asked // nil unless requests may ask
	store       *funding.Store
	fundings    *funding.Service
	limits      *limits       // nil for none
	api         *describedAPI // nil for none
	watch       *watch
	authority   *auth.Server
	member      registry.Member
	flavour     flavour.Flavour
	neighbours  []*Server // of its network, itself among them; only itself otherwise
	routes      []Route
	places      address.Map
	books       *account.Books
	credentials []Credential
	issuer      *auth.Issuer
	staging     staging
	identity    *transport.Identity
	configured  []string // names of the deviations that it started with
	log         *slog.Logger
}

// New makes a node. Its errors name the field of the configuration and what it takes.
func New(config Config) (*Server, error) {
	c, err := config.complete()
	if err != nil {
		return nil, fmt.Errorf("configure the sandbox: %w", err)
	}
	s, err := build(c)
	if err != nil {
		return nil, fmt.Errorf("configure the sandbox: %w", err)
	}
	return s, nil
}

// build makes the parts of a node, from its authorization server to the way that requests take; c is complete.
func build(c Config) (*Server, error) {
	s := &Server{
		log: c.Logger, member: c.Member, flavour: c.Flavour, configured: slices.Clone(c.Deviations),
		places: address.Map{Root: c.Root, Prefix: c.Prefix, Realm: c.Realm, Grants: c.Flavour.Grants, Provider: c.Flavour.Provider, PublicURL: c.PublicURL},
	}
	s.neighbours = []*Server{s}
	guard, err := s.openAuthority(c)
	if err != nil {
		return nil, err
	}
	describe, err := s.openData(c, guard)
	if err != nil {
		return nil, err
	}
	s.routes = slices.Concat(routes(s.places, describe, s.authority, guard, s.fundings, s.api, s.registry), s.staging.routes(), s.pages(c.Loopback))
	if err := s.openWay(c, guard); err != nil {
		return nil, err
	}
	s.identity, err = identify(c)
	return s, err
}

// openAuthority makes the books, the authorization server, the guard of its tokens, and the staging environment beside them.
func (s *Server) openAuthority(c Config) (*auth.Guard, error) {
	var err error
	if s.books, s.credentials, err = openBooks(c); err != nil {
		return nil, err
	}
	if s.issuer, err = auth.NewIssuer(c.TokenFormat, c.TokenTTL, c.Clock, c.Random); err != nil {
		return nil, err
	}
	s.issuer.Speak(c.Flavour.Dialect)
	foreign, err := foreignIssuers(c.Issuers)
	if err != nil {
		return nil, err
	}
	if s.staging, err = newStaging(c, s.places); err != nil {
		return nil, err
	}
	clients := s.books.Clients()
	s.authority = auth.NewServer(clients, s.issuer, s.places, c.Logger)
	return auth.NewGuard(auth.NewVerifier(s.issuer, clients, foreign, s.places, c.Clock, c.VerifiedTokens), s.places), nil
}

// openData makes the sample data, the funding service over it and the API of a document, if the node has one.
func (s *Server) openData(c Config, guard *auth.Guard) (describer, error) {
	records, asOf, err := newRecords(c)
	if err != nil {
		return describer{}, err
	}
	if s.store, s.fundings, err = newFundings(c, records, asOf, newPermissions(s.books.Accounts(), c.Issuers), guard); err != nil {
		return describer{}, err
	}
	s.api, err = newDescribed(c, s.places, func(next http.Handler) http.Handler { return guard.Protect(s.fundings.Permit(next)) })
	return describer{c.Paging, c.ErrorShape, records}, err
}

func foreignIssuers(configured []IssuerConfig) ([]auth.Foreign, error) {
	trusted := make([]auth.Foreign, 0, len(configured))
	for _, issuer := range configured {
		f, err := auth.NewForeign(issuer.Issuer, issuer.JWKS, issuer.Audience)
		if err != nil {
			return nil, err
		}
		trusted = append(trusted, f)
	}
	return trusted, nil
}

// registry lists the nodes of the network for a caller at origin.
func (s *Server) registry(origin string) model.Registry {
	var all model.Registry
	for _, node := range s.neighbours {
		all.Member = append(all.Member, node.entries(origin)...)
	}
	return all
}

// entries are those of the node itself: one if it is of some make.
func (s *Server) entries(origin string) []model.Member {
	if s.flavour.Name == "" {
		return s.member.Entries(s.places, origin)
	}
	return []model.Member{s.member.Entry(origin+s.places.Listed().Token, origin+s.places.Info())}
}

// ServeHTTP answers a request to the node.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Member is who runs the node, as its registry entry says.
func (s *Server) Member() registry.Member { return s.member }

// UntilClosing is how long it takes by the node's clock until the first of its running calls closes; ok is false when none ever does.
func (s *Server) UntilClosing() (d time.Duration, ok bool) { return s.fundings.UntilClosing() }

// TokenTTL is the lifetime of the node's access tokens.
func (s *Server) TokenTTL() time.Duration { return s.issuer.Lifetime() }

// Prepare makes what the filters of a large node need, which takes about a second for each million of calls; the first request that
// filters does it otherwise. [Serve] calls it.
func (s *Server) Prepare() { s.store.Prepare() }

// Flavour is the make of the node.
func (s *Server) Flavour() flavour.Flavour { return s.flavour }

// Reset puts the node back to what it was configured to be. What a [Ledger] keeps of its accounts stays.
func (s *Server) Reset() {
	s.books.Reset()
	s.issuer.Restore()
	s.stage.Reset()
	s.asked.reset()
	// The names were good when the node was made.
	_ = s.Deviate(s.configured...)
	s.limits.reset()
}

// Books are the node's books of clients and service accounts, for whoever runs it: create clients, grant, rotate, revoke.
func (s *Server) Books() *account.Books { return s.books }

// Credentials lists the clients that the node was configured with and that were in use when it began, with their secrets in plain text: for
// whoever started the sandbox, to print or to test with. A secret is empty when a [Ledger] has kept only its hash since an earlier start.
// With the default clients, the first may read fundings, the second has no role, and the tokens of the third are meant for another
// service.
func (s *Server) Credentials() []Credential { return slices.Clone(s.credentials) }

// Shown tells a node with a [Ledger] that the secrets among its Credentials are shown to whom they are for; call it before. A secret that was
// drawn and never shown is drawn anew with the next start.
func (s *Server) Shown() error { return s.books.Seen() }

// Staging is the client of the staging environment's authorization server, whose tokens this node refuses.
func (s *Server) Staging() Credential { return s.staging.client }

// TokenAt makes an access token as this node at origin issued it to a registered client at some time: one that has expired,
// for instance.
func (s *Server) TokenAt(at time.Time, origin, clientID string) (string, error) {
	subject, ok := s.books.Clients().Subject(clientID)
	if !ok {
		return "", fmt.Errorf("client %q is unknown", clientID)
	}
	if s.places.PublicURL != "" {
		origin = s.places.PublicURL
	}
	return s.issuer.IssueAt(at, origin+s.places.Listed().Issuer, origin+s.places.API(), clientID, subject, auth.Scope)
}

// Routes is the route table.
func (s *Server) Routes() []Route { return slices.Clone(s.routes) }
