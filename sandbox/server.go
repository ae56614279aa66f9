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
	"github.com/rin-network/rin/sandbox/cors"
	"github.com/rin-network/rin/sandbox/flavour"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/info"
	"github.com/rin-network/rin/sandbox/metrics"
	"github.com/rin-network/rin/sandbox/problem"
	"github.com/rin-network/rin/sandbox/registry"
	"github.com/rin-network/rin/sandbox/scenario"
	"github.com/rin-network/rin/sandbox/spec"
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

// build connects the parts; c is complete.
func build(c Config) (*Server, error) {
	places := address.Map{Root: c.Root, Prefix: c.Prefix, Realm: c.Realm, Grants: c.Flavour.Grants, Provider: c.Flavour.Provider, PublicURL: c.PublicURL}
	books, credentials, err := openBooks(c)
	if err != nil {
		return nil, err
	}
	issuer, err := auth.NewIssuer(c.TokenFormat, c.TokenTTL, c.Clock, c.Random)
	if err != nil {
		return nil, err
	}
	issuer.Speak(c.Flavour.Dialect)
	foreign, err := foreignIssuers(c.Issuers)
	if err != nil {
		return nil, err
	}
	server := auth.NewServer(books.Clients(), issuer, places, c.Logger)
	guard := auth.NewGuard(auth.NewVerifier(issuer, books.Clients(), foreign, places, c.Clock, c.VerifiedTokens), places)
	records, asOf, err := newRecords(c)
	if err != nil {
		return nil, err
	}
	store, fundings, err := newFundings(c, records, asOf, newPermissions(books.Accounts(), c.Issuers), guard)
	if err != nil {
		return nil, err
	}
	api, err := newDescribed(c, places, func(next http.Handler) http.Handler { return guard.Protect(fundings.Permit(next)) })
	if err != nil {
		return nil, err
	}
	beside, err := newStaging(c, places)
	if err != nil {
		return nil, err
	}
	s := &Server{authority: server, books: books, credentials: credentials, issuer: issuer, staging: beside, log: c.Logger, places: places, member: c.Member, flavour: c.Flavour, store: store, fundings: fundings, api: api, configured: slices.Clone(c.Deviations)}
	s.neighbours = []*Server{s}
	s.routes = append(routes(places, describer{c.Paging, c.ErrorShape, records}, server, guard, fundings, api, s.registry), beside.routes()...)
	s.routes = append(s.routes, s.pages(c.Loopback)...)
	env := newEnv(c, places, issuer, books, credentials)
	// The make of the node is behind the seam: it stays, whatever deviations come and go.
	made, err := newSeam(api.before(newMux(s.routes, places, http.HandlerFunc(server.WrongRealm), api)), env, c.Flavour.Habits)
	if err != nil {
		return nil, fmt.Errorf("flavour %q: %w", c.Flavour.Name, err)
	}
	s.seam, err = newSeam(made, env, c.Deviations)
	if err != nil {
		return nil, err
	}
	pages, err := cors.Parse(c.CORS)
	if err != nil {
		return nil, fmt.Errorf("CORS: %w", err)
	}
	s.limits, err = newLimits(c, places, guard, server)
	if err != nil {
		return nil, err
	}
	s.stage, err = newStage(c, places, server, guard, issuer)
	if err != nil {
		return nil, err
	}
	s.handler = s.stage.Before(s.seam.noted())
	if c.AskedByHeader {
		s.asked = newAsked(s.stage.Asked(s.handler), env)
		s.handler = s.asked
	}
	s.handler = pages.Handler(s.limits.handler(s.handler), c.Logger)
	s.watch = &watch{
		next: c.Journal.Watch(watched(c, places), s.handler), node: c.Member.ID, log: c.Logger, now: c.Clock,
		classify: purposes(places).of, api: places.API() + "/", requests: metrics.NewRequests(operations()...),
	}
	s.handler = s.watch
	if c.ErrorShape != problem.ShapeProblem {
		s.handler = problem.In(c.ErrorShape, s.handler)
	}
	s.identity, err = identify(c)
	return s, err
}

// routes is the whole route table.
func routes(places address.Map, describe describer, server *auth.Server, guard *auth.Guard, fundings *funding.Service, api *describedAPI, entries func(string) model.Registry) []Route {
	tryOut := places.TryOut()
	get := func(path string, h http.Handler) Route { return Route{Method: http.MethodGet, Path: path, handler: h} }
	guarded := func(path string, h http.Handler) Route {
		return Route{Method: http.MethodGet, Path: path, Protected: true, handler: guard.Protect(h)}
	}
	var all []Route
	for _, e := range places.Endpoints() {
		metadata := server.Metadata(e.Issuer, e.Token)
		all = append(all,
			Route{Method: http.MethodPost, Path: e.Token, handler: server.Token(e.Issuer), denied: http.HandlerFunc(server.MethodNotAllowed)},
			get(places.Metadata(e.Issuer), metadata),
			get(e.Issuer+"/.well-known/openid-configuration", metadata),
		)
	}
	return append(all,
		get(places.Certs(), http.HandlerFunc(server.Certs)),

		guarded(places.Info(), info.Resource(places, false, api.further)),
		get(places.Spec(), spec.Resource(places.Origin, describe.api(places))),
		guarded(places.Fundings(), fundings.List()),
		guarded(places.Funding(), fundings.Detail()),

		get(tryOut.Info(), info.Resource(tryOut, true, api.further)),
		get(tryOut.Spec(), spec.Resource(tryOut.Origin, describe.tryOut(tryOut))),
		get(tryOut.Fundings(), fundings.OpenList()),
		get(tryOut.Funding(), fundings.OpenDetail()),

		get(places.Registry(), registry.Document(places, entries)),
		get(places.Health(), http.HandlerFunc(health)),
	)
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

// Addresses are where the parts of a node are: absolute URLs, as a caller sees them.
type Addresses struct {
	// Token and RealmToken are the two token endpoints (NET-R10). Listed is the one that the registry has, the first one if it has both.
	Token, RealmToken, Listed string
	// StagingToken is the token endpoint of the staging environment.
	StagingToken string
	// Info is the info resource, Spec the OpenAPI document, Fundings the list (NET-R13, NET-R14).
	Info, Spec, Fundings string
	// Base is the base URL of the API, TryOut that of the try-out space: a client changes nothing else (NET-R4).
	Base, TryOut string
	// TryOutFundings is the list without a token.
	TryOutFundings string
	// Registry is the registry document, which lists the node (NET-R6).
	Registry string
	// Home is the start page, Docs the reference page (NET-R3): for people.
	Home, Docs string
}

// Addresses returns where everything is for callers who reach the node at origin, such as "http://127.0.0.1:8080".
// The configured public URL takes precedence.
func (s *Server) Addresses(origin string) Addresses {
	if s.places.PublicURL != "" {
		origin = s.places.PublicURL
	}
	p := s.places
	return Addresses{
		Token: origin + p.Token(), RealmToken: origin + p.RealmToken(), Listed: origin + p.Listed().Token,
		StagingToken: origin + p.Staging().Token(), Info: origin + p.Info(), Spec: origin + p.Spec(),
		Fundings: origin + p.Fundings(), Base: origin + p.API(), TryOut: origin + p.TryOut().API(), TryOutFundings: origin + p.TryOut().Fundings(), Registry: origin + p.Registry(),
		Home: origin + p.Home(), Docs: origin + p.Docs(),
	}
}
