package sandbox

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/rin-network/rin/fixtures/generate"
	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/devtls"
	"github.com/rin-network/rin/sandbox/edge"
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/journal"
	"github.com/rin-network/rin/sandbox/spec"
)

// Server is a node of the network. It is an http.Handler, safe for concurrent use, and starts no goroutine.
type Server struct {
	handler      http.Handler
	observer     *observer
	limits       *limits // nil without a rate limit
	faults       *fault.Injector
	api          *mockAPI // nil without an API from a document
	store        *funding.Store
	fundings     *funding.Service
	verifier     *auth.Verifier
	authority    *auth.Server
	member       funding.Member
	preset       Preset
	networkNodes []*Server // all nodes of its network, including this one
	control      string    // the base URL of the network's control listener; "" without one
	routes       []Route
	places       address.Map
	books        *account.Books
	credentials  []Credential
	issuer       *auth.Issuer
	elsewhere    elsewhere
	identity     *devtls.Identity
	log          *slog.Logger
	journal      *journal.Journal // nil when requests are not recorded
}

// New makes a node. An error names the field of the configuration and the allowed values.
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

// build makes the parts of a node from a complete configuration.
func build(c Config) (*Server, error) {
	s := &Server{
		log: c.Logger, journal: c.Journal, member: c.Member, preset: c.Preset,
		places: address.Map{Root: c.Root, Prefix: c.Prefix, Realm: c.Realm, Grants: c.Preset.Grants, Provider: c.Preset.Provider, PublicURL: c.PublicURL},
	}
	s.networkNodes = []*Server{s}
	guard, err := s.openAuthority(c)
	if err != nil {
		return nil, err
	}
	describe, err := s.openData(c, guard)
	if err != nil {
		return nil, err
	}
	s.routes = slices.Concat(routes(s.places, describe, s.authority, guard, s.fundings, s.api, s.registry), s.elsewhere.routes(), s.pages(c.Loopback))
	if err := s.chain(c, guard); err != nil {
		return nil, err
	}
	s.identity, err = newIdentity(c)
	return s, err
}

// openAuthority makes the books, the authorization server, the guard that verifies its tokens, and the other environment beside the node.
func (s *Server) openAuthority(c Config) (*auth.Guard, error) {
	var err error
	if s.books, s.credentials, err = openBooks(c); err != nil {
		return nil, err
	}
	if s.issuer, err = auth.NewIssuer(c.TokenFormat, c.TokenTTL, c.Clock, c.keySource("keys"), c.Random); err != nil {
		return nil, err
	}
	s.issuer.SetDialect(c.Preset.Dialect)
	foreign, err := foreignIssuers(c.Issuers)
	if err != nil {
		return nil, err
	}
	if s.elsewhere, err = newElsewhere(c, s.places); err != nil {
		return nil, err
	}
	clients := s.books.Clients()
	s.authority = auth.NewServer(clients, s.issuer, s.places, c.Logger)
	s.verifier = auth.NewVerifier(s.issuer, clients, foreign, s.places, c.Clock, c.VerifiedTokens)
	return auth.NewGuard(s.verifier, s.places), nil
}

// openData makes the sample data, the funding service, and the API from a document if one is configured.
func (s *Server) openData(c Config, guard *auth.Guard) (describer, error) {
	records, asOf, err := newRecords(c)
	if err != nil {
		return describer{}, err
	}
	if s.store, s.fundings, err = newFundings(c, records, asOf, newPermissions(s.books.Accounts(), c.Issuers), guard); err != nil {
		return describer{}, err
	}
	s.api, err = newMockAPI(c, s.places, func(next http.Handler) http.Handler { return guard.Protect(s.fundings.Permit(next)) })
	return describer{c.Paging, c.ErrorShape, c.RateLimit != edge.Rate{}, records}, err
}

// foreignIssuers reads the configured foreign authorization servers.
func foreignIssuers(configured []IssuerConfig) ([]auth.ForeignIssuer, error) {
	trusted := make([]auth.ForeignIssuer, 0, len(configured))
	for _, issuer := range configured {
		f, err := auth.NewForeignIssuer(issuer.Issuer, issuer.JWKS, issuer.Audience)
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
	for _, node := range s.networkNodes {
		all.Member = append(all.Member, node.entries(origin)...)
	}
	return all
}

// entries lists the registry entries of the node: one for each token endpoint, or a single one with a preset.
func (s *Server) entries(origin string) []model.Member {
	if s.preset.Name == "" {
		return s.member.Entries(s.places, origin)
	}
	return []model.Member{s.member.Entry(origin+s.places.ListedEndpoint().Token, origin+s.places.Info())}
}

// ServeHTTP answers a request to the node.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Member returns the institution that runs the node.
func (s *Server) Member() funding.Member { return s.member }

// UntilClosing returns how long it takes by the node's clock until the first of its open calls closes; ok is false when no open call has an end.
func (s *Server) UntilClosing() (d time.Duration, ok bool) { return s.fundings.UntilClosing() }

// TokenTTL returns the lifetime of the node's access tokens.
func (s *Server) TokenTTL() time.Duration { return s.issuer.Lifetime() }

// Prepare builds the index that filters of a large node need, which takes about a second per million calls. [Serve] calls it; without it the
// first filtered request waits.
func (s *Server) Prepare() { s.store.Prepare() }

// Preset returns the preset of the node.
func (s *Server) Preset() Preset { return s.preset }

// Reset restores the configured state of the node. Accounts that a [Ledger] keeps stay.
func (s *Server) Reset() {
	s.books.Reset()
	s.issuer.Restore()
	s.faults.Reset()
	s.limits.reset()
	if s.api != nil {
		s.api.live.Current().Reset()
	}
}

// Books returns the node's books of clients and service accounts, to create, grant, rotate and revoke.
func (s *Server) Books() *account.Books { return s.books }

// Credentials lists the configured clients that were in use when the node started, with their secrets in plain text, to print or to test with. A
// secret is empty when a [Ledger] has kept only its hash since an earlier start. With the default clients, the first may read fundings, the second
// has no role, and the tokens of the third are meant for another service.
func (s *Server) Credentials() []Credential { return slices.Clone(s.credentials) }

// RecordShown records in the [Ledger] that the secrets of Credentials were shown. Call it just before showing them. A secret that was generated but never
// shown is generated again at the next start.
func (s *Server) RecordShown() error { return s.books.RecordShown() }

// ElsewhereClient returns the client of the other environment, whose tokens this node refuses.
func (s *Server) ElsewhereClient() Credential { return s.elsewhere.client }

// TokenAt makes the access token that the node would have issued to a registered client at the given time, for instance an expired one. origin is the
// base URL at which callers reach the node.
func (s *Server) TokenAt(at time.Time, origin, clientID string) (string, error) {
	subject, ok := s.books.Clients().Subject(clientID)
	if !ok {
		return "", fmt.Errorf("client %q is unknown", clientID)
	}
	if s.places.PublicURL != "" {
		origin = s.places.PublicURL
	}
	return s.issuer.IssueAt(at, origin+s.places.ListedEndpoint().Issuer, origin+s.places.API(), clientID, subject, auth.Scope)
}

// Routes returns the route table.
func (s *Server) Routes() []Route { return slices.Clone(s.routes) }

// Addresses are the absolute URLs of the parts of a node, as a caller sees them.
type Addresses struct {
	// Token and RealmToken are the two token endpoints (NET-R10). ListedToken is the one in the registry, or the first if the registry has both.
	Token, RealmToken, ListedToken string
	// ElsewhereToken and ElsewhereInfo are the token endpoint and the info resource of the other environment, whose tokens the node refuses.
	ElsewhereToken, ElsewhereInfo string
	// Info is the info resource, Spec the OpenAPI document, Fundings the list (NET-R13, NET-R14).
	Info, Spec, Fundings string
	// Base is the base URL of the API, TryOut that of the try-out space: a client switches between them by the base URL alone (NET-R4).
	Base, TryOut string
	// TryOutFundings is the list without a token.
	TryOutFundings string
	// Registry is the registry document, which lists the node (NET-R6).
	Registry string
	// Home is the start page, Docs the reference page (NET-R3): for people.
	Home, Docs string
}

// Addresses returns the URLs for callers who reach the node at origin, such as "http://127.0.0.1:8080". A configured public URL takes precedence.
func (s *Server) Addresses(origin string) Addresses {
	if s.places.PublicURL != "" {
		origin = s.places.PublicURL
	}
	p := s.places
	addresses := Addresses{
		Token: origin + p.Token(), RealmToken: origin + p.RealmToken(), ListedToken: origin + p.ListedEndpoint().Token,
		ElsewhereToken: origin + p.Elsewhere().Token(), ElsewhereInfo: origin + p.Elsewhere().Info(), Info: origin + p.Info(), Spec: origin + p.Spec(),
		Fundings: origin + p.Fundings(), Base: origin + p.API(), TryOut: origin + p.TryOut().API(), TryOutFundings: origin + p.TryOut().Fundings(), Registry: origin + p.Registry(),
		Home: origin + p.Home(), Docs: origin + p.Docs(),
	}
	if s.api.replacesNode() {
		addresses.Spec = origin + s.api.spaces[ownSpace].Base + s.api.live.Current().DocumentPath()
		addresses.Fundings, addresses.TryOutFundings = addresses.Base, addresses.TryOut
		if lists := s.api.live.Current().Endpoints(); len(lists) > 0 {
			addresses.Fundings, addresses.TryOutFundings = addresses.Base+lists[0].Path, addresses.TryOut+lists[0].Path
		}
	}
	return addresses
}

const day = 24 * time.Hour

// newRecords makes the generator of the sample data, and returns its as-of day, around which the calls run.
func newRecords(c Config) (*generate.Generator, time.Time, error) {
	asOf := c.AsOf
	if asOf.IsZero() {
		asOf = c.Clock()
	}
	asOf = asOf.UTC().Truncate(day)
	records, err := generate.New(generate.Config{Seed: c.Seed, AsOf: asOf, Calls: c.Calls})
	return records, asOf, err
}

// newFundings makes the store of the sample data and the funding service, whose clock starts on the as-of day at the current time of day.
func newFundings(c Config, records *generate.Generator, asOf time.Time, accounts funding.Accounts, guard *auth.Guard) (*funding.Store, *funding.Service, error) {
	store, err := funding.NewStore(records, fmt.Sprintf("%d %d %s", c.Seed, c.Calls, asOf.Format(time.DateOnly)))
	if err != nil {
		return nil, nil, err
	}
	shift := asOf.Sub(c.Clock().UTC().Truncate(day))
	now := func() time.Time { return c.Clock().Add(shift) }
	return store, funding.NewService(store, accounts, guard, c.Paging, now, c.Logger), nil
}

// describer makes the descriptions of the OpenAPI documents, with examples from the records of the node.
type describer struct {
	paging  funding.Paging
	errors  content.ErrorShape
	limited bool // by a rate limit
	records *generate.Generator
}

// describe returns a function that describes the API or the try-out space for callers who see the node at an origin.
func (d describer) describe(places address.Map, tryOut bool) func(string) (spec.Description, error) {
	return func(origin string) (spec.Description, error) {
		samples, err := d.samples()
		samples.Info = funding.InfoDocument(places, origin, funding.MoreEndpoints{})
		return spec.Description{
			Places: places, Origin: origin, TryOut: tryOut, Paging: d.paging, Errors: d.errors, Limited: d.limited, Samples: samples,
		}, err
	}
}

// samples returns the first call and the first programme as examples, with the ids of the call and its first funder.
func (d describer) samples() (spec.Samples, error) {
	var s spec.Samples
	for i := range d.records.Len() {
		facets := d.records.Facets(i)
		target := &s.Call
		switch facets.Type {
		case model.TypeCall:
			s.FundingID, s.FunderID = facets.ID, facets.FunderIDs[0]
		case model.TypeProgramme:
			target = &s.Programme
		default:
			continue
		}
		if *target == nil {
			encoded, err := json.Marshal(d.records.At(i))
			if err != nil {
				return s, fmt.Errorf("encode an example: %w", err)
			}
			*target = encoded
		}
		if s.Call != nil && s.Programme != nil {
			break
		}
	}
	return s, nil
}
