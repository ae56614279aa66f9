// Package sandbox is a node of a research-information network that runs anywhere: an authorization server, the info resource, the funding service
// with generated data, the OpenAPI document that describes it, and a registry that lists it. It follows the rules of the network and the RFCs behind
// them, unless a deviation or a scenario of package fault is in force. Comments cite the rules of the network by their numbers in the network's
// interface document: NET-R10.
//
// A request takes this path; middleware.go lists every layer:
//
//	request -> middleware (journal, CORS, rate limit, faults) -> auth.Guard (except for try-out paths) -> handler -> store -> response
//
// The journal records requests and answers, and package clientrules judges clients by it.
//
// Package sandboxtest runs a whole network inside a Go test. New makes the http.Handler of one node:
//
//	node, err := New(Config{})
//	server := httptest.NewServer(node)
//	client := node.Credentials()[0] // id, secret, and what the client may do
//
// NewNetwork makes one handler for several nodes, each below its own root, with one registry and one clock; a [Preset] makes a node resemble a
// well-known product, and package configfile reads the configurations of a network from a file.
//
// Serve runs either on a listener. Every field of Config has a default, and a node with the defaults follows all rules. The Config also supplies the
// clock and the randomness; nothing is read from the environment.
package sandbox

import (
	"cmp"
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
	// DefaultCalls is the number of funding calls; a list without paging parameters has all of them.
	DefaultCalls = 200
	// DefaultTokenTTL is the lifetime of access tokens.
	DefaultTokenTTL = 300 * time.Second
	// DefaultVerifiedTokens is the number of verified tokens that a node caches.
	DefaultVerifiedTokens = 4096
)

// Config holds all settings of a sandbox. The zero value configures a node that follows all rules.
type Config struct {
	// Member is the institution that runs the node, as the registry lists it; funding.FirstMember when its id is empty.
	Member funding.Member
	// Preset is the product that the node resembles in the form of its tokens and errors, unless they are set here. With the zero value the node
	// follows the interface document, with both token endpoints in the registry.
	Preset Preset
	// Root is the path below which the node serves everything, its authorization server included: "/xb"; empty for the root of the host.
	Root string
	// Prefix is the service prefix, one or more path segments; DefaultPrefix when empty.
	Prefix string
	// Realm is the identity provider's realm, one path segment; DefaultRealm when empty.
	Realm string
	// PublicURL is the base URL that clients use when it differs from the one in their requests, as behind a proxy: absolute, http or https,
	// without query and fragment. When empty it is taken from the Host of each request.
	PublicURL string

	// Seed chooses the sample data; every number is a valid seed, and the same seed gives the same data.
	Seed uint64
	// Calls is the number of funding calls; DefaultCalls when 0. The sample data also has fundings of other types.
	Calls int
	// AsOf is the day around which calls run; today by the clock when zero. The clock of the funding service is
	// shifted to this day, so that the calls that run on that day run now.
	AsOf time.Time

	// Clock returns the current time; time.Now when nil.
	Clock func() time.Time
	// Pause waits for d; if the context ends earlier, Pause returns its error. When nil, it waits in real time. Slow deviations and scenarios use it.
	Pause func(ctx context.Context, d time.Duration) error
	// Random is the source of secrets and keys; crypto/rand when nil. One goroutine reads it at a time.
	Random io.Reader

	// Derived makes the generated secrets and subjects of Clients and the signing keys a function of Seed, so that they are the same in each run of a
	// test. It needs Loopback, because anyone who knows the seed knows the secrets. The keys of TLS and the ids of tokens stay random.
	Derived bool
	// KeySeed determines the signing keys, so that they are the same after a restart. It is a secret; nil for new keys
	// at each start.
	KeySeed []byte
	// SecretSeed determines the generated secrets and subjects of Clients, so that replicas have the same clients. It is a secret; nil for
	// random secrets and subjects.
	SecretSeed []byte

	// TokenTTL is the lifetime of access tokens, in whole seconds; DefaultTokenTTL when 0.
	TokenTTL time.Duration
	// TokenFormat is the form of access tokens; that of the preset when empty, else auth.ES256.
	TokenFormat auth.Format
	// VerifiedTokens is the number of verified tokens to cache, so that a repeated token is not verified again; DefaultVerifiedTokens when 0. A
	// negative number switches the cache off.
	VerifiedTokens int

	// Paging is the meaning of page[page]; funding.PagingOffset when empty.
	Paging funding.Paging

	// ErrorShape is the form of the API's error bodies; that of the preset when empty, else content.ShapeProblem.
	ErrorShape content.ErrorShape

	// Clients are the registered clients. When nil, the node has the three of [DemoClients]: the first with role and
	// affiliation, the second without a role, the third with both and an audience that is not this node's API.
	Clients []ClientConfig
	// Loopback declares that only this machine can connect, which permits weak configured secrets.
	Loopback bool
	// Ledger keeps the books of clients and service accounts across restarts; nil keeps them in memory. A client that is
	// already in the ledger is not changed by Clients. A generated secret is kept once it has been shown, see [Server.RecordShown].
	Ledger Ledger
	// Issuers are foreign authorization servers whose tokens are accepted.
	Issuers []IssuerConfig

	// TLS makes [Serve] offer https with a certificate that the node makes for itself; the node serves http when nil.
	TLS *devtls.Settings

	// CORS lists the origins whose pages may call the node and its token endpoint, as browsers send them: "http://localhost:5173"; "*" alone for
	// all origins. When empty, pages may not call.
	CORS []string

	// RateLimit limits the requests of each client, and of each address that calls without a valid token; the zero value is unlimited.
	RateLimit edge.Rate

	// API is another API that the node serves, from its OpenAPI document; the node serves no other API when File is empty.
	API APIConfig

	// Deviations lists the names of the deviations in force; the first sees requests first.
	Deviations []string

	// Scenarios are played from the start; the first sees requests first.
	Scenarios []fault.Play

	// FaultHeaders lets a request name deviations in the header [fault.DeviateHeader] and scenarios in [fault.ScenarioHeader]. Otherwise both
	// headers are ignored.
	FaultHeaders bool

	// Journal records the requests; they are not recorded when nil.
	Journal *journal.Journal

	// Logger receives faults at level Error or Warn and each request at level Debug; nothing is logged when nil.
	Logger *slog.Logger
}

// ClientConfig configures a client and its service account.
type ClientConfig struct {
	// ID is the client id.
	ID string
	// Secret is the client secret; generated with 256 bits when empty. Outside loopback it needs 128 bits.
	Secret string
	// Subject is the Service Account User ID (NET-R16); generated when empty.
	Subject string
	// Role is the role of the service account; EXTERNAL_API_CLIENT permits reading fundings (NET-R17).
	Role string
	// Affiliation is the affiliation ID of the service account.
	Affiliation string
	// Audience is the service for which the client's tokens are meant; this node's API when empty. The API refuses tokens for any other audience.
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
	// Accounts maps the client ids of its tokens ("client_id", else "azp") to permissions.
	Accounts map[string]funding.Account
}

// Credential holds the id and the secret of a registered client, and the permissions of its account.
type Credential struct {
	// ClientID, Secret and Subject are what the client was given at its registration (NET-R16).
	ClientID, Secret, Subject string
	// Role and Affiliation are the permissions of its service account (NET-R17); empty if it lacks them.
	Role, Affiliation string
	// Audience is the service for which its tokens are meant; empty for this node's API.
	Audience string
	// Configured reports that the secret comes from the configuration. Its owner knows it, so that it need not be shown.
	Configured bool
}

// Validate returns an error that names each setting that is invalid on its own. [New] finds further
// faults.
func (c Config) Validate() error {
	_, err := c.complete()
	return err
}

// complete fills in the defaults and checks each setting on its own.
func (c Config) complete() (Config, error) {
	c.Root = strings.TrimSuffix(c.Root, "/")
	if c.Member.ID == "" {
		c.Member = funding.FirstMember()
	}
	c.Prefix = cmp.Or(strings.Trim(c.Prefix, "/"), DefaultPrefix)
	c.Realm = cmp.Or(c.Realm, DefaultRealm)
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	c.Calls = cmp.Or(c.Calls, DefaultCalls)
	c.TokenTTL = cmp.Or(c.TokenTTL, DefaultTokenTTL)
	c.TokenFormat = cmp.Or(c.TokenFormat, c.Preset.Tokens, auth.ES256)
	c.Paging = cmp.Or(c.Paging, funding.PagingOffset)
	c.ErrorShape = cmp.Or(c.ErrorShape, c.Preset.Errors, content.ShapeProblem)
	c.VerifiedTokens = max(cmp.Or(c.VerifiedTokens, DefaultVerifiedTokens), 0)
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
	var derived error
	if c.Derived && !c.Loopback {
		derived = errors.New("derived secrets: want a node on loopback, because anyone who knows the seed knows the secrets")
	}
	return c, errors.Join(
		derived,
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

// checkSegments requires that each segment has 1 to 64 characters that need no escape in a path (RFC 3986 §2.3), and not only dots.
func checkSegments(what string, segments []string) error {
	for _, segment := range segments {
		wrong := strings.IndexFunc(segment, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~", r))
		})
		if segment == "" || len(segment) > 64 || wrong >= 0 || strings.Trim(segment, ".") == "" {
			return fmt.Errorf("%s %q: want path segments of 1 to 64 letters, digits, '-', '_', '.' and '~'", what, segment)
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
		if strings.Contains(text, "@") { // what comes before may be a password
			text = "…" + text[strings.LastIndex(text, "@"):]
		}
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

// lockedReader lets several goroutines share a source of randomness.
type lockedReader struct {
	mu     sync.Mutex
	source io.Reader
}

// Read implements io.Reader.
func (l *lockedReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.source.Read(p)
}
