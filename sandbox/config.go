// Package sandbox is a node of a research-information network that runs anywhere: an authorization server, the info
// resource, the funding service with believable data, the OpenAPI document that describes it and a registry that
// lists it. It behaves as the rules of the network and the RFCs behind them ask, unless it is told to deviate,
// for good or for some requests (package scenario).
//
// A request takes this way:
//
//	request -> watch -> journal -> CORS -> rate limit -> fault.Injector -> deviation.Wrap -> auth.Guard (try-out paths pass) -> handler -> store -> response
//
// Watch dates, counts and logs; the journal remembers what was asked and answered, and package conduct judges clients by it. CORS and
// rate limit are there when they are configured.
//
// Package sandboxtest runs a whole network inside a Go test. New makes the http.Handler of one node:
//
//	node, err := New(Config{})
//	server := httptest.NewServer(node)
//	client := node.Credentials()[0] // id, secret, and what the client may do
//
// NewNetwork makes a handler of several nodes below roots of their own, with one registry and one clock; package flavour has the makes that
// a node may be of, package setup makes their configurations.
//
// Serve runs either on a listener. Everything that a Config leaves out has a default that makes a good node; clock and
// randomness come from it, nothing is read from the environment.
package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/devtls"
	"github.com/rin-network/rin/sandbox/edge"
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/journal"
)

// The defaults of a Config.
const (
	// DefaultPrefix is the service prefix of the paths (NET-R13).
	DefaultPrefix = "ris-synergy"
	// DefaultRealm is the realm of the identity provider's paths (NET-R10).
	DefaultRealm = "ris"
	// DefaultCalls is the number of funding calls; a list without paging has all of them.
	DefaultCalls = 200
	// DefaultTokenTTL is the lifetime of access tokens.
	DefaultTokenTTL = 300 * time.Second
	// DefaultVerifiedTokens is the number of verified tokens that are remembered.
	DefaultVerifiedTokens = 4096
)

// Config holds every knob of a sandbox. The zero value is a good node.
type Config struct {
	// Member is who runs the node, as its registry entry says; funding.FirstMember when its id is empty.
	Member funding.Member
	// Flavour is the make of the node, which the form of its tokens and of its errors follows unless they are set here. The zero value is no make:
	// what the interface document says, with both token endpoints in the registry.
	Flavour Preset
	// Root is the path below which the whole node is, its authorization server too: "/xb"; empty for the root of the host.
	Root string
	// Prefix is the service prefix, one or more path segments; DefaultPrefix when empty.
	Prefix string
	// Realm is the identity provider's realm, one path segment; DefaultRealm when empty.
	Realm string
	// PublicURL is the base URL that clients use when it is not the one in their requests, as behind a proxy:
	// absolute, http or https, without query and fragment. Empty: taken from the Host of each request.
	PublicURL string

	// Seed chooses the sample data; every number is a valid seed, and the same seed gives the same data.
	Seed uint64
	// Calls is the number of funding calls, other fundings come on top; DefaultCalls when 0.
	Calls int
	// AsOf is the day around which calls run; today by the clock when zero. The funding service's clock is shifted
	// with it, so that calls of another day run as they would on that day.
	AsOf time.Time

	// Clock tells the time; time.Now when nil.
	Clock func() time.Time
	// Pause waits for d or until the context ends, whose error it then returns; in real time when nil. Deviations and
	// scenarios that are slow use it.
	Pause func(ctx context.Context, d time.Duration) error
	// Random is the source of secrets and keys; crypto/rand when nil. It is read by one goroutine at a time.
	Random io.Reader

	// TokenTTL is the lifetime of access tokens, in whole seconds; DefaultTokenTTL when 0.
	TokenTTL time.Duration
	// TokenFormat is the form of access tokens; that of the flavour when empty, else auth.ES256.
	TokenFormat auth.Format
	// VerifiedTokens is the number of verified tokens to remember, so that a reused token is not verified again;
	// DefaultVerifiedTokens when 0, none when negative.
	VerifiedTokens int

	// Paging is the meaning of page[page]; funding.PagingOffset when empty.
	Paging funding.Paging

	// ErrorShape is the form of the API's error bodies; that of the flavour when empty, else content.ShapeProblem.
	ErrorShape content.ErrorShape

	// Clients are the registered clients. When nil, three are made: the first with role and affiliation, the second
	// without a role, the third with both and an audience that is not this node's API.
	Clients []ClientConfig
	// Loopback declares that only this machine can connect, which permits weak configured secrets.
	Loopback bool
	// Ledger keeps the books of clients and service accounts across restarts; nil keeps them in memory. A client that it holds already is
	// as it became there, whatever Clients says of it. A secret that was drawn for a client stays once it was shown, see [Server.Shown].
	Ledger Ledger
	// Issuers are foreign authorization servers whose tokens are accepted.
	Issuers []IssuerConfig

	// TLS makes [Serve] offer https with a certificate that the node makes for itself; nil is cleartext.
	TLS *devtls.Settings

	// CORS lists the origins whose pages browsers let call the node, its token endpoint too, as browsers send them: "http://localhost:5173";
	// "*" alone for all. None when empty.
	CORS []string

	// RateLimit is how often each client, and each address that calls without a good token, may ask; the zero value is no limit.
	RateLimit edge.Rate

	// API is an API that is served from its OpenAPI document besides the node's own; none when its File is empty.
	API APIConfig

	// Deviations names the ways in which the node misbehaves; the first sees requests first.
	Deviations []string

	// Scenarios are played from the start; the first sees requests first.
	Scenarios []fault.Play
	// AskedByHeader lets a request ask for what is done to it: for deviations in the field [fault.DeviateHeader], for scenarios in [fault.ScenarioHeader].
	// The fields are ignored without.
	AskedByHeader bool

	// Journal remembers the requests; none when nil.
	Journal *journal.Journal

	// Logger receives faults at level Error or Warn and each request at level Debug; none when nil.
	Logger *slog.Logger
}

// ClientConfig is a client with its service account, in the books of both servers.
type ClientConfig struct {
	// ID is the client id.
	ID string
	// Secret is the client secret; generated with 256 bits when empty. Outside loopback it needs 128 bits.
	Secret string
	// Subject is the Service Account User ID (NET-R16); drawn when empty.
	Subject string
	// Role is the role of the service account; EXTERNAL_API_CLIENT permits reading fundings (NET-R17).
	Role string
	// Affiliation is the affiliation ID of the service account.
	Affiliation string
	// Audience is what the client's tokens are meant for; this node's API when empty, which refuses all others.
	Audience string
}

// IssuerConfig is a trusted foreign authorization server.
type IssuerConfig struct {
	// Issuer is the value of "iss" in its tokens.
	Issuer string
	// JWKS is its JWK Set as JSON (RFC 7517 §5), fetched by the caller.
	JWKS []byte
	// Audience must be among "aud" of its tokens; the base URL of this node's API when empty.
	Audience string
	// Accounts maps its client ids ("client_id", else "azp") to permissions.
	Accounts map[string]funding.Account
}

// Credential is what the owner of a registered client holds, with the permissions of its account.
type Credential struct {
	// ClientID, Secret and Subject are what the client was given at its registration (NET-R16).
	ClientID, Secret, Subject string
	// Role and Affiliation are the permissions of its service account (NET-R17); empty for none.
	Role, Affiliation string
	// Audience is what its tokens are meant for; empty for this node's API.
	Audience string
	// Given tells that the secret was configured and not made here: whoever started the node knows it, and nobody has to be told.
	Given bool
}

// Validate says what of a configuration can't be, as far as that shows before a node is made of it.
func (c Config) Validate() error {
	_, err := c.complete()
	return err
}

// complete fills in the defaults and checks what can be checked alone.
func (c Config) complete() (Config, error) {
	c.Root = strings.TrimSuffix(c.Root, "/")
	if c.Member.ID == "" {
		c.Member = funding.FirstMember()
	}
	c.Prefix = orDefault(strings.Trim(c.Prefix, "/"), DefaultPrefix)
	c.Realm = orDefault(c.Realm, DefaultRealm)
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	c.Calls = orDefault(c.Calls, DefaultCalls)
	c.TokenTTL = orDefault(c.TokenTTL, DefaultTokenTTL)
	c.TokenFormat = orDefault(c.TokenFormat, orDefault(c.Flavour.Tokens, auth.ES256))
	c.Paging = orDefault(c.Paging, funding.PagingOffset)
	c.ErrorShape = orDefault(c.ErrorShape, orDefault(c.Flavour.Errors, content.ShapeProblem))
	c.VerifiedTokens = max(orDefault(c.VerifiedTokens, DefaultVerifiedTokens), 0)
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Pause == nil {
		c.Pause = pause
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	c.Random = &lockedReader{source: c.Random}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, errors.Join(
		checkRoot(c.Root),
		checkSegments("service prefix", strings.Split(c.Prefix, "/")),
		checkSegments("realm", []string{c.Realm}),
		checkPublicURL(c.PublicURL),
		checkChoice("token format", c.TokenFormat, auth.Formats()),
		checkChoice("paging", c.Paging, []funding.Paging{funding.PagingOffset, funding.PagingNumber}),
		checkChoice("error shape", c.ErrorShape, content.ErrorShapes()),
	)
}

// pause waits in real time.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// checkSegments allows the characters that need no escape in a path (RFC 3986 §2.3), and no dots alone.
func checkSegments(what string, segments []string) error {
	for _, segment := range segments {
		wrong := strings.IndexFunc(segment, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~", r))
		})
		if segment == "" || len(segment) > 64 || wrong >= 0 || strings.Trim(segment, ".") == "" {
			return fmt.Errorf("%s %q: want path segments of letters, digits, '-', '_', '.' and '~'", what, segment)
		}
	}
	return nil
}

func checkRoot(root string) error {
	if root == "" {
		return nil
	}
	below, absolute := strings.CutPrefix(root, "/")
	if !absolute {
		return fmt.Errorf("root %q: want a path that begins with a slash, such as /xb", root)
	}
	return checkSegments("root", strings.Split(below, "/"))
}

func checkPublicURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("public URL %q: want an absolute http or https URL without user, query and fragment, such as https://node.example", text)
	}
	return nil
}

func checkChoice[T ~string](what string, value T, allowed []T) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s %q: want one of %v", what, value, allowed)
}

// lockedReader lets goroutines share a source of randomness that may not be safe for it.
type lockedReader struct {
	mu     sync.Mutex
	source io.Reader
}

// Read implements io.Reader.
func (o *lockedReader) Read(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.source.Read(p)
}
