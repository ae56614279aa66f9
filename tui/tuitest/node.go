// Package tuitest helps the tests of the tour: it has a node with a clock that tests move, the conformance suite in the same process, keys by
// their names, a runner for commands, goldens, and checks that hold for every frame. Only tests import it, because it starts a sandbox.
package tuitest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/flow"
)

// Node is a node for tests.
type Node struct {
	*sandbox.Server
	// URL of the node; it answers until the test ends.
	URL string
	// Clock shows a fixed time until a test moves it. It is safe for concurrent use.
	Clock *Clock
}

// NewNode starts a node. change may wrap its handler. By default it has calls for three pages, the last of which is not full.
func NewNode(t testing.TB, config sandbox.Config, change func(http.Handler) http.Handler) *Node {
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
	return &Node{node, server.URL, clock}
}

// Target returns the registry, a client with all permissions, and a second one without the role.
func (g *Node) Target() target.Target {
	var clients []target.Credentials
	for _, c := range g.Credentials() {
		clients = append(clients, target.Credentials{ClientID: c.ClientID, ClientSecret: target.NewSecret(c.Secret)})
	}
	return target.Target{Registry: g.URL + "/registry/registry.json", Credentials: clients[0], Second: &clients[1]}
}

// Walk starts a walk with a target and a suite.
func (g *Node) Walk(t testing.TB, to target.Target, suite Suite) *flow.Walk {
	t.Helper()
	w, err := flow.New(flow.Options{Suite: "test", Clock: g.Clock.Now, Pause: g.Clock.pause, Certify: suite, Target: to})
	if err != nil {
		t.Fatalf("begin a walk: %v", err)
	}
	return w
}

// ChooseNode reads the registry and chooses its first node.
func ChooseNode(t testing.TB, w *flow.Walk) {
	t.Helper()
	if read := w.ReadRegistry(context.Background()); !read.OK() {
		t.Fatalf("read the registry: %+v", read.Trouble)
	}
	if err := w.ChooseNode("XA"); err != nil {
		t.Fatalf("choose the node: %v", err)
	}
}

// Suite runs a certification.
type Suite = func(ctx context.Context, t target.Target, onEvent func(worker.Event)) (report.Report, *evidence.Log, error)

// Suite returns the real suite, without a child process.
func (g *Node) Suite() Suite {
	return func(ctx context.Context, t target.Target, onEvent func(worker.Event)) (report.Report, *evidence.Log, error) {
		result, err := conformance.Certify(ctx, t, conformance.Options{Suite: "test", Clock: g.Clock.Now, OnEvent: onEvent})
		return result.Report, result.Log, err
	}
}

// ScriptedSuite returns a suite that sends nothing: it reports events and returns its arguments.
func ScriptedSuite(result report.Report, log *evidence.Log, err error, events ...worker.Event) Suite {
	return func(_ context.Context, _ target.Target, onEvent func(worker.Event)) (report.Report, *evidence.Log, error) {
		for _, e := range events {
			onEvent(e)
		}
		return result, log, err
	}
}

// ReplaceAnswer answers requests whose path ends with a suffix; the node answers the others.
func ReplaceAnswer(suffix string, answer http.HandlerFunc) func(http.Handler) http.Handler {
	return func(node http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, suffix) {
				answer(w, r)
				return
			}
			node.ServeHTTP(w, r)
		})
	}
}

// Answer always answers the same. Its Date is the start time of the clock, unless the header has one already.
func Answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if w.Header().Get("Date") == "" {
			w.Header().Set("Date", new(Clock).Now().Format(http.TimeFormat))
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Clock is noon of a day in March until a test moves it. Requests that were answered may still look at it meanwhile.
type Clock struct{ after atomic.Int64 }

// Now returns the time.
func (c *Clock) Now() time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(c.after.Load()))
}

// Add moves the clock.
func (c *Clock) Add(d time.Duration) { c.after.Add(int64(d)) }

// pause moves the clock instead of waiting.
func (c *Clock) pause(ctx context.Context, d time.Duration) error {
	c.Add(d)
	return context.Cause(ctx)
}
