// Package tuitest is what tests of the tour stand on: a node to walk on with a clock that they move, the suite in this process, keys by their
// names, commands that run as a program runs them, and what every frame must hold to. Only tests import it: it starts a sandbox, of which the
// tour itself knows nothing.
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
func (g *Ground) Walk(t testing.TB, to target.Target, suite Suite) *flow.Walk {
	t.Helper()
	w, err := flow.New(flow.Options{Suite: "test", Clock: g.Clock.Now, Pause: g.Clock.pause, Certify: suite, Target: to})
	if err != nil {
		t.Fatalf("begin a walk: %v", err)
	}
	return w
}

// Arrive reads the registry and chooses the node.
func Arrive(t testing.TB, w *flow.Walk) {
	t.Helper()
	if read := w.ReadRegistry(context.Background()); !read.OK() {
		t.Fatalf("read the registry: %+v", read.Trouble)
	}
	if err := w.ChooseNode("XA"); err != nil {
		t.Fatalf("choose the node: %v", err)
	}
}

// Suite is what a walk certifies a node with.
type Suite = func(ctx context.Context, t target.Target, heard func(worker.Event)) (report.Report, *evidence.Log, error)

// Suite is the real one, without a child.
func (g *Ground) Suite() Suite {
	return func(ctx context.Context, t target.Target, heard func(worker.Event)) (report.Report, *evidence.Log, error) {
		result, err := conformance.Certify(ctx, t, conformance.Options{Suite: "test", Clock: g.Clock.Now, Heard: heard})
		return result.Report, result.Log, err
	}
}

// Scripted is a suite that asks nothing: it tells its news, and ends.
func Scripted(result report.Report, log *evidence.Log, err error, news ...worker.Event) Suite {
	return func(_ context.Context, _ target.Target, heard func(worker.Event)) (report.Report, *evidence.Log, error) {
		for _, n := range news {
			heard(n)
		}
		return result, log, err
	}
}

// Instead lets something else answer where a path ends in this, and the node everywhere else.
func Instead(end string, answer http.HandlerFunc) func(http.Handler) http.Handler {
	return func(node http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, end) {
				answer(w, r)
				return
			}
			node.ServeHTTP(w, r)
		})
	}
}

// Answer is always the same, at the time at which the clock begins unless the header has another.
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

// Now is the time.
func (c *Clock) Now() time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(c.after.Load()))
}

// Add lets time pass.
func (c *Clock) Add(d time.Duration) { c.after.Add(int64(d)) }

// pause lets the time pass that somebody waits for.
func (c *Clock) pause(ctx context.Context, d time.Duration) error {
	c.Add(d)
	return context.Cause(ctx)
}
