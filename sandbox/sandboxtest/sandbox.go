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
	"github.com/rin-network/rin/sandbox/setup"
)

// TB is what a sandbox needs of a test: *testing.T, *testing.B, *testing.F and GinkgoT() have it.
type TB interface {
	Helper()
	Cleanup(func())
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Sandbox is a network that serves until the test ends. Its first node stands for it where one is meant.
type Sandbox struct {
	*Node
	// Network is the network itself, for what has no method here.
	Network *sandbox.Network
	// URL is the base URL of the network.
	URL   string
	nodes []*Node
	t     TB

	running *running
}

// New starts a sandbox. What it can't be made of ends the test.
func New(t TB, options ...Option) *Sandbox {
	t.Helper()
	chosen := settings{nodes: 1, first: sandbox.Config{Seed: 1, Loopback: true}}
	for _, option := range options {
		option(&chosen)
	}
	if chosen.err != nil {
		t.Fatalf("sandboxtest: %v", chosen.err)
	}
	if chosen.nodes < 1 || chosen.nodes > setup.MaxNodes {
		t.Fatalf("sandboxtest: %d nodes: want 1 to %d", chosen.nodes, setup.MaxNodes)
	}
	config := sandbox.NetworkConfig{
		Nodes: setup.Many(chosen.first, chosen.nodes), Random: randomness(chosen.first.Seed),
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
	// The limits of a sandbox that is served as a program hold here, too.
	server.Config, server.Listener = sandbox.HTTPServer(network), sandbox.Listen(server.Listener, network)
	s := &Sandbox{Network: network, URL: config.Origin, t: t, running: &running{}}
	server.Config.Handler = s.running.around(server.Config.Handler)
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

// Nodes lists the nodes, the first of which is at the root of the host.
func (s *Sandbox) Nodes() []*Node { return s.nodes }

// Now is the time of the nodes.
func (s *Sandbox) Now() time.Time { return s.Network.Clock().Now() }

// Advance moves the time of the nodes: tokens expire, calls close, waits are over.
func (s *Sandbox) Advance(d time.Duration) {
	s.t.Helper()
	if err := s.Network.Clock().Move(d); err != nil {
		s.t.Fatalf("sandboxtest: %v", err)
	}
}

// Reset puts the network back to its start: time, deviations, scenarios, accounts, journal.
func (s *Sandbox) Reset() { s.Network.Reset() }

// randomness is the same for the same seed.
func randomness(seed uint64) *rand.ChaCha8 {
	var key [32]byte
	copy(key[8:], "sandboxtest")
	binary.BigEndian.PutUint64(key[:], seed)
	return rand.NewChaCha8(key)
}

// clientTransport knows the authority of the network.
func clientTransport(network *sandbox.Network) *http.Transport {
	transport := &http.Transport{ForceAttemptHTTP2: true}
	if authority := network.Nodes()[0].Authority(); authority != nil {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(authority)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	return transport
}

// logWriter shows what the sandbox has to say in the log of the test.
type logWriter struct{ t TB }

// Write implements io.Writer.
func (l logWriter) Write(p []byte) (int, error) {
	l.t.Logf("sandbox: %s", strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}
