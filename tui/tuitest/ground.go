package tuitest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/walk"
)

// Ground is a node to walk on.
type Ground struct {
	*sandbox.Server
	// URL is where it answers, until the test ends.
	URL string
	// Clock is the time of the node, and of those who walk on it.
	Clock *Clock
}

// NewGround starts a node, which answers through change when it is given. Without a number of calls in its configuration it has those of three
// pages, the last of which is not full.
func NewGround(t testing.TB, config sandbox.Config, change func(http.Handler) http.Handler) *Ground {
	t.Helper()
	clock := &Clock{}
	config.Clock, config.Loopback = clock.Now, true
	if config.Calls == 0 {
		config.Calls = 45
	}
	node, err := sandbox.New(config)
	if err != nil {
		t.Fatalf("start a node: %v", err)
	}
	var handler http.Handler = node
	if change != nil {
		handler = change(node)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &Ground{node, server.URL, clock}
}

// Target is what a person who comes here knows: the registry, a client that may do everything and one without the role.
func (g *Ground) Target() target.Target {
	var known []target.Credentials
	for _, c := range g.Credentials() {
		known = append(known, target.Credentials{ClientID: c.ClientID, ClientSecret: target.NewSecret(c.Secret)})
	}
	return target.Target{Registry: g.URL + "/registry/registry.json", Credentials: known[0], Second: &known[1]}
}

// Walk begins a walk to a target, with a suite for its end.
func (g *Ground) Walk(t testing.TB, to target.Target, suite Suite) *walk.Walk {
	t.Helper()
	w, err := walk.New(walk.Options{Suite: "test", Clock: g.Clock.Now, Pause: g.Clock.pause, Certify: suite, Target: to})
	if err != nil {
		t.Fatalf("begin a walk: %v", err)
	}
	return w
}

// Arrive reads the registry and chooses the node.
func Arrive(t testing.TB, w *walk.Walk) {
	t.Helper()
	if scene, _ := w.ReadRegistry(context.Background()); !scene.Well() {
		t.Fatalf("read the registry: %+v", scene.Trouble)
	}
	if err := w.Choose("XA"); err != nil {
		t.Fatalf("choose the node: %v", err)
	}
}
