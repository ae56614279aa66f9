package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/problem"
)

// sandboxFlags are the flags of rin sandbox, before they mean anything.
type sandboxFlags struct {
	addr, asOf             string
	config                 sandbox.Config
	format, paging, errors string
	issuer, jwks, audience string
	clients                []string
	affiliation            string
	tls                    tlsFlags
	control                controlFlags
	journal                journalFlags
	file                   configFlags
	network                networkFlags
	credentials            credentialsFlags
	data                   dataFlags
	operation              operationFlags
	spec                   specFlags
	scenarios              scenarioFlags
	list                   bool
}

// groups are the flags by what they are about, as help shows them. A topic with a file of its own stands here by its register alone.
func (s *sandboxFlags) groups() []flagGroup {
	return []flagGroup{
		group("Where it listens", s.registerAddresses, s.tls.register, s.control.register, s.registerPages),
		group("The network", s.file.register, s.network.register, s.credentials.register, s.data.register),
		group("The data", s.registerData),
		group("Any API, from its document", s.spec.register),
		group("Tokens and errors", s.registerForms),
		group("Misbehaviour", s.registerDeviations, s.scenarios.register),
		group("Accounts of another authorization server", s.registerIssuer),
		group("Operation", s.operation.register, s.journal.register),
	}
}

func (s *sandboxFlags) registerAddresses(f *pflag.FlagSet) {
	f.StringVar(&s.addr, "addr", "127.0.0.1:8080", "address to listen on; port 0 takes a free one")
	f.StringVar(&s.config.PublicURL, "public-url", "", "base URL that clients use, when it is another than --addr")
	f.StringVar(&s.config.Prefix, "prefix", "", "service prefix of the paths (default "+sandbox.DefaultPrefix+", with several nodes one of each)")
	f.StringVar(&s.config.Realm, "realm", "", "realm of the identity provider's paths (default "+sandbox.DefaultRealm+", with several nodes one of each)")
}

func (s *sandboxFlags) registerPages(f *pflag.FlagSet) {
	f.StringSliceVar(&s.config.CORS, "cors", nil, "let pages of this origin call from a browser (CORS), such as http://localhost:5173; * for all; may be repeated (its token endpoint too, for trials: a page keeps no secret)")
}

func (s *sandboxFlags) registerData(f *pflag.FlagSet) {
	f.Uint64Var(&s.config.Seed, "seed", 1, "chooses the sample data")
	f.IntVar(&s.config.Calls, "calls", sandbox.DefaultCalls, "number of funding calls")
	f.StringVar(&s.asOf, "as-of", "", "day around which calls run, 2026-03-01 (default today)")
	f.StringVar(&s.paging, "paging", string(funding.PagingOffset), "meaning of page[page]: offset (of records) or number (of pages)")
}

func (s *sandboxFlags) registerForms(f *pflag.FlagSet) {
	f.DurationVar(&s.config.TokenTTL, "token-ttl", sandbox.DefaultTokenTTL, "lifetime of access tokens")
	f.StringVar(&s.format, "token-format", "", fmt.Sprintf("form of access tokens, one of %v (default that of the flavour, else %s)", auth.Formats(), auth.ES256))
	f.StringVar(&s.errors, "error-shape", "", "errors of the API: problem (application/problem+json) or text ({\"error\":\"401 Error: Unauthorized\"}) (default that of the flavour, else problem)")
}

func (s *sandboxFlags) registerDeviations(f *pflag.FlagSet) {
	f.StringSliceVar(&s.config.Deviations, "deviate", nil, "misbehave in this way, or behave in this unusual one; may be repeated")
	f.BoolVar(&s.list, "deviations", false, "list the ways to misbehave and the unusual ones that are right, and end")
}

func (s *sandboxFlags) registerIssuer(f *pflag.FlagSet) {
	f.StringVar(&s.issuer, "issuer", "", "also accept tokens of this authorization server")
	f.StringVar(&s.jwks, "jwks", "", "its keys, URL or file")
	f.StringVar(&s.audience, "audience", "", "audience that its tokens must name (default: this node's API)")
	f.StringSliceVar(&s.clients, "issuer-client", nil, "client id of that server with the role "+model.RoleExternalAPIClient)
	f.StringVar(&s.affiliation, "issuer-affiliation", sandbox.DemoAffiliation, "affiliation of those clients")
}

// read turns the flags, and what the file of --config adds to them, into the configurations of the nodes.
func (s *sandboxFlags) read(ctx context.Context, w world, given *pflag.FlagSet) ([]sandbox.Config, error) {
	file, err := s.file.read(ctx, w, given)
	if err != nil {
		return nil, err
	}
	first, err := s.first(ctx, w)
	if err != nil {
		return nil, err
	}
	nodes, err := s.network.configure(first, file)
	if err != nil {
		return nil, err
	}
	api, err := s.spec.config()
	if nodes[0].API.File == "" {
		nodes[0].API = api
	}
	return nodes, err
}

// first is the configuration of the first node.
func (s *sandboxFlags) first(ctx context.Context, w world) (sandbox.Config, error) {
	c := s.config
	c.TokenFormat, c.Paging, c.ErrorShape = auth.Format(s.format), funding.Paging(s.paging), problem.Shape(s.errors)
	var err error
	if c.RateLimit, err = s.operation.limit(); err != nil {
		return c, err
	}
	if c.TLS, err = s.tls.settings(); err != nil {
		return c, err
	}
	if c.AsOf, err = day("--as-of", s.asOf); err != nil {
		return c, err
	}
	if err = s.scenarios.configure(&c); err != nil {
		return c, err
	}
	switch {
	case s.issuer == "" && s.jwks == "":
		return c, nil
	case s.issuer == "" || s.jwks == "":
		return c, usage(errors.New("--issuer and --jwks belong together"), "name the issuer and where its keys are")
	}
	keys, err := readKeys(ctx, w, s.jwks)
	if err != nil {
		return c, err
	}
	accounts := map[string]funding.Account{}
	for _, id := range s.clients {
		accounts[id] = funding.Account{Role: model.RoleExternalAPIClient, Affiliation: s.affiliation}
	}
	c.Issuers = []sandbox.IssuerConfig{{Issuer: s.issuer, JWKS: keys, Audience: s.audience, Accounts: accounts}}
	return c, nil
}

// day reads a date; the zero time for none.
func day(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return t, usage(fmt.Errorf("%s: %q is no day", flag, text), "write year, month and day: 2026-03-01")
	}
	return t, nil
}

const maxKeys = 1 << 20 // bytes of a JWK Set

// readKeys reads the JWK Set of --jwks.
func readKeys(ctx context.Context, w world, place string) ([]byte, error) {
	keys, err := keysAt(ctx, w, place)
	if err != nil {
		return nil, usage(fmt.Errorf("--jwks: %w", err), "give the URL of a JWK Set, or a readable file; is the authorization server up?")
	}
	return keys, nil
}

// keysAt reads a JWK Set from a URL or a file.
func keysAt(ctx context.Context, w world, place string) ([]byte, error) {
	if !isURL(place) {
		return w.readFile(place)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("expected status 200, got %d", answer.StatusCode)
	}
	return io.ReadAll(io.LimitReader(answer.Body, maxKeys))
}
