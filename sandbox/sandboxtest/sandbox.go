// Package sandboxtest runs a sandbox in a Go test, as httptest does for a handler: a network of nodes on its own port, which ends with the
// test.
//
//	func TestImport(t *testing.T) {
//		sandbox := sandboxtest.New(t)
//		client := sandbox.Node.Credential()
//		importer := importer.New(sandbox.Addresses.Registry, client.ClientID, client.Secret)
//
//		sandbox.Play("429-then-ok") // the first two calls of each client are answered 429, with Retry-After
//		... run the importer, look at what it imported ...
//		sandbox.ExpectNoFindings()  // it waited as long as Retry-After says, fetched one token, and read no page twice
//	}
//
// Data, keys, client ids and secrets are a function of the seed, so that a failed test can be repeated. Tests may run in parallel, each with
// its own sandbox.
package sandboxtest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/configfile"
	"github.com/rin-network/rin/sandbox/devtls"
)

// TB is the part of testing.TB that a sandbox needs. *testing.T, *testing.B, *testing.F and GinkgoT() implement it.
type TB interface {
	Helper()
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Sandbox is a network that serves until the test ends. The methods of Node apply to its first node.
type Sandbox struct {
	*Node
	// Network is the network itself, for everything without a method here.
	Network *sandbox.Network
	// URL is the base URL of the network.
	URL   string
	nodes []*Node
	t     TB

	open   *openRequests
	failOn clientrules.Level // the mildest level that fails a test
}

// New starts a sandbox. Invalid options end the test.
func New(t TB, options ...Option) *Sandbox {
	t.Helper()
	chosen := settings{nodes: 1, failOn: clientrules.Waste, first: sandbox.Config{Seed: 1, Loopback: true}}
	for _, option := range options {
		option(&chosen)
	}
	if chosen.err != nil {
		t.Fatalf("sandboxtest: %v", chosen.err)
	}
	if chosen.nodes < 1 || chosen.nodes > configfile.MaxNodes {
		t.Fatalf("sandboxtest: %d nodes: want 1 to %d", chosen.nodes, configfile.MaxNodes)
	}
	config := sandbox.NetworkConfig{
		Nodes: configfile.Nodes(chosen.first, chosen.nodes), Random: randomness(chosen.first.Seed),
		Logger: slog.New(slog.NewTextHandler(logWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if !chosen.start.IsZero() {
		config.Clock = func() time.Time { return chosen.start }
	}
	server := httptest.NewUnstartedServer(nil)
	scheme := "http://"
	if chosen.first.TLS != nil {
		scheme = "https://"
	}
	config.Origin = scheme + server.Listener.Addr().String()
	network, err := sandbox.NewNetwork(config)
	if err != nil {
		_ = server.Listener.Close()
		t.Fatalf("sandboxtest: %v", err)
	}
	// Apply the same limits as rin sandbox.
	server.Config, server.Listener = sandbox.HTTPServer(network), sandbox.Listen(server.Listener, network)
	s := &Sandbox{Network: network, URL: config.Origin, t: t, open: &openRequests{}, failOn: chosen.failOn}
	server.Config.Handler = s.open.wrap(server.Config.Handler)
	server.Start()
	transport := clientTransport(network)
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	})
	for _, node := range network.Nodes() {
		s.nodes = append(s.nodes, &Node{Server: node, Addresses: node.Addresses(s.URL), sandbox: s, transport: transport})
	}
	s.Node = s.nodes[0]
	return s
}

// Nodes lists the nodes. The first is at the root of the host.
func (s *Sandbox) Nodes() []*Node { return s.nodes }

// Now returns the time of the nodes.
func (s *Sandbox) Now() time.Time { return s.Network.Clock().Now() }

// Advance moves the time of the nodes, so that tokens expire and funding calls close.
func (s *Sandbox) Advance(d time.Duration) {
	s.t.Helper()
	if err := s.Network.Clock().Move(d); err != nil {
		s.t.Fatalf("sandboxtest: %v", err)
	}
}

// Reset returns the network to its start: time, deviations, scenarios, accounts and journal.
func (s *Sandbox) Reset() { s.Network.Reset() }

// randomness returns a source that depends on the seed only.
func randomness(seed uint64) *rand.ChaCha8 {
	var key [32]byte
	copy(key[8:], "sandboxtest")
	binary.BigEndian.PutUint64(key[:], seed)
	return rand.NewChaCha8(key)
}

// clientTransport makes a transport that trusts the certificate authority of the network.
func clientTransport(network *sandbox.Network) *http.Transport {
	transport := &http.Transport{ForceAttemptHTTP2: true}
	if authority := network.Nodes()[0].Authority(); authority != nil {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(authority)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	return transport
}

// logWriter writes the log of the sandbox to the log of the test.
type logWriter struct{ t TB }

// Write implements io.Writer.
func (l logWriter) Write(p []byte) (int, error) {
	l.t.Logf("sandbox: %s", strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

// Option changes the sandbox that [New] makes.
type Option func(*settings)

// settings are the values that options change.
type settings struct {
	nodes  int
	first  sandbox.Config // of the first node; configfile.Nodes derives the others
	start  time.Time
	failOn clientrules.Level
	err    error // the error of an option, which New reports
}

// Seed sets the seed of data, keys and secrets. The default is 1.
func Seed(seed uint64) Option { return func(s *settings) { s.first.Seed = seed } }

// Nodes makes a network of n nodes, as rin sandbox --nodes does.
func Nodes(n int) Option { return func(s *settings) { s.nodes = n } }

// Calls sets the number of funding calls of each node.
func Calls(n int) Option { return func(s *settings) { s.first.Calls = n } }

// FailOn sets the mildest level of findings that [Sandbox.ExpectNoFindings] reports. The default is [clientrules.Waste].
func FailOn(level clientrules.Level) Option { return func(s *settings) { s.failOn = level } }

// Preset gives the nodes a preset, such as "keycloak".
func Preset(name string) Option {
	return func(s *settings) {
		preset, err := sandbox.FindPreset(name)
		if err != nil {
			s.err = err
			return
		}
		s.first.Preset = preset
	}
}

// TLS makes the sandbox serve https. The HTTP clients of the sandbox trust its certificate authority.
func TLS() Option {
	return func(s *settings) { s.first.TLS = &devtls.Settings{Clock: time.Now} } // clients check certificates against the real time
}

// At sets the clock of the sandbox. Only [Sandbox.Advance] moves it. Without At, the sandbox uses the real time.
func At(start time.Time) Option { return func(s *settings) { s.start = start } }

// Configure changes the configuration of the nodes, for everything without an option.
func Configure(change func(*sandbox.Config)) Option {
	return func(s *settings) { change(&s.first) }
}
