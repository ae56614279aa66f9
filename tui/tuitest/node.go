// Package tuitest holds helpers for the tests of the tour: a node with a clock that tests move, the conformance suite in the same process, key
// presses, a runner for commands, goldens, and checks that hold for every frame. Only tests import it, because it starts a sandbox.
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
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/tui/flow"
)

// Node is a node for tests.
type Node struct {
	*sandbox.Server
	// URL is the base URL of the node, which answers until the test ends.
	URL string
	// RestartCommand is the command that restarts the node, for a node that ends with the tour; see [flow.Options].
	RestartCommand string
	// Clock shows a fixed time until a test moves it. It is safe for concurrent use.
	Clock *Clock
}

// NewNode starts a node. If change is not nil, it wraps the handler of the node. By default the node has three pages of calls, the last one not
// full.
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
	return &Node{Server: node, URL: server.URL, Clock: clock}
}

// Target returns the registry of the node, a client that may read fundings, and a second one without the role EXTERNAL_API_CLIENT.
func (n *Node) Target() target.Target {
	var clients []target.Credentials
	for _, c := range n.Credentials() {
		clients = append(clients, target.Credentials{ClientID: c.ClientID, ClientSecret: target.NewSecret(c.Secret)})
	}
	return target.Target{Registry: n.URL + "/registry/registry.json", Credentials: clients[0], Second: &clients[1]}
}

// Walk starts a walk through the tour with a target and a suite.
func (n *Node) Walk(t testing.TB, to target.Target, suite Suite) *flow.Walk {
	t.Helper()
	w, err := flow.New(flow.Options{
		Suite: "test", Clock: n.Clock.Now, Pause: n.Clock.pause, Certify: suite, Target: to,
		RestartCommand: func(target.Target) string { return n.RestartCommand }, Play: n.play,
	})
	if err != nil {
		t.Fatalf("begin a walk: %v", err)
	}
	return w
}

// play makes the node fail by a scenario.
func (n *Node) play(_ target.Target, scenario string) (stop func(), err error) {
	p, err := fault.ParsePlay(scenario)
	if err != nil {
		return nil, err
	}
	return func() { _ = n.Stop() }, n.Play(p)
}

// ChooseNode reads the registry and chooses the node XA.
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
func (n *Node) Suite() Suite {
	return func(ctx context.Context, t target.Target, onEvent func(worker.Event)) (report.Report, *evidence.Log, error) {
		t.Seed = 1 // so that the number of requests is the same in each run
		result, err := conformance.Certify(ctx, t, conformance.Options{Inputs: conformance.Inputs{Suite: "test", Clock: n.Clock.Now}, OnEvent: onEvent})
		return result.Report, result.Log, err
	}
}

// ScriptedSuite returns a suite that sends nothing: it reports the events, and returns result, log and err.
func ScriptedSuite(result report.Report, log *evidence.Log, err error, events ...worker.Event) Suite {
	return func(_ context.Context, _ target.Target, onEvent func(worker.Event)) (report.Report, *evidence.Log, error) {
		for _, e := range events {
			onEvent(e)
		}
		return result, log, err
	}
}

// ReplaceAnswer returns a wrapper for [NewNode]: answer handles the requests whose path ends with suffix, and the node all others.
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

// Answer returns a handler that gives every request the same answer. Its Date is the start time of a [Clock], unless a Date is already set.
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

// Clock shows noon of 1 March 2026 until a test moves it. It is atomic, because the node may still read it after it has answered.
type Clock struct{ offset atomic.Int64 }

// Now returns the time.
func (c *Clock) Now() time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(c.offset.Load()))
}

// Add moves the clock.
func (c *Clock) Add(d time.Duration) { c.offset.Add(int64(d)) }

// pause moves the clock instead of waiting.
func (c *Clock) pause(ctx context.Context, d time.Duration) error {
	c.Add(d)
	return context.Cause(ctx)
}
