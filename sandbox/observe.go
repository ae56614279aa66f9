package sandbox

import (
	"log/slog"
	"maps"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/edge"
	"github.com/rin-network/rin/sandbox/journal"
)

// observer sets the Date header by the node's clock, counts requests, logs each at level Debug, and turns a panic into a 500 and a log entry. It does
// not log queries and headers, because they may hold credentials.
type observer struct {
	next     http.Handler
	node     string
	log      *slog.Logger
	now      func() time.Time
	places   address.Map
	requests *edge.RequestCounts
}

func newObserver(c Config, places address.Map) *observer {
	return &observer{node: c.Member.ID, log: c.Logger, now: c.Clock, places: places, requests: edge.NewRequestCounts(countedOperations()...)}
}

// wrap puts the observer before a node.
func (o *observer) wrap(next http.Handler) http.Handler {
	o.next = next
	return o
}

// ServeHTTP implements http.Handler.
func (o *observer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started := o.now()
	w.Header().Set("Date", started.UTC().Format(http.TimeFormat))
	sent := &answerObserver{ResponseWriter: w}
	defer func() {
		fault := recover()
		if fault != nil && fault != http.ErrAbortHandler {
			o.log.Error("handler panicked", "node", o.node, "method", r.Method, "path", loggedPath(r.URL.Path), "panic", fault, "stack", string(debug.Stack()))
			content.Internal().Write(sent, r)
		}
		if fault == nil && sent.status == 0 {
			sent.status = http.StatusOK // net/http sends it for a handler that wrote nothing
		}
		o.record(r, sent, o.now().Sub(started))
		if fault == http.ErrAbortHandler {
			panic(fault)
		}
	}()
	o.next.ServeHTTP(sent, r)
}

// record counts and logs a request that has ended.
func (o *observer) record(r *http.Request, sent *answerObserver, took time.Duration) {
	o.requests.Count(string(countedOperation(o.places.Classify(r.URL.Path))), r.Method, sent.status, took)
	if !o.log.Enabled(r.Context(), slog.LevelDebug) {
		return
	}
	o.log.LogAttrs(r.Context(), slog.LevelDebug, "answered", slog.String("node", o.node), slog.String("method", content.Clip(r.Method, 20)), slog.String("path", loggedPath(r.URL.Path)),
		slog.Int("status", sent.status), slog.Int64("bytes", sent.bytes), slog.Float64("ms", float64(took.Microseconds())/1000))
}

// The limits of a logged path. A longer segment may be a secret or a token that a client put into the path by mistake; the segments of a node's own
// paths are shorter.
const (
	maxLoggedPath    = 256 // characters
	maxLoggedSegment = 40  // bytes
)

// loggedPath shortens a path, and replaces its long segments with "...".
func loggedPath(path string) string {
	if len(path) <= maxLoggedSegment {
		return path
	}
	segments := strings.Split(content.Clip(path, maxLoggedPath), "/")
	for i, segment := range segments {
		if len(segment) > maxLoggedSegment {
			segments[i] = "..."
		}
	}
	return strings.Join(segments, "/")
}

// answerObserver records the status and the size of an answer.
type answerObserver struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader implements http.ResponseWriter. It does not record a status below 200, because the final status follows it.
func (a *answerObserver) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (a *answerObserver) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answerObserver) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteMetrics writes the metrics of the network since its start. A reset does not clear them, as scrapers expect.
func (n *Network) WriteMetrics(p *edge.MetricsPage) {
	var nodes []edge.NodeMetrics
	var issued, refused, verified, limited []edge.Sample
	for _, s := range n.nodes {
		id := s.member.ID
		nodes = append(nodes, edge.NodeMetrics{ID: id, Requests: s.observer.requests})
		tally := s.authority.Tally()
		issued = append(issued, measurement(tally.Issued, "node", id))
		for _, code := range slices.Sorted(maps.Keys(tally.Refused)) {
			refused = append(refused, measurement(tally.Refused[code], "node", id, "error", code))
		}
		verified = append(verified, measurement(s.verifier.Calls(), "node", id))
		if s.limits != nil {
			limited = append(limited, measurement(s.limits.refused.Load(), "node", id))
		}
	}
	p.Requests(nodes...)
	p.Counter("rin_tokens_issued_total", "Access tokens that a node's authorization server issued.", issued...)
	p.Counter("rin_token_requests_refused_total", "Token requests that a node's authorization server refused, by error code (RFC 6749 section 5.2).", refused...)
	p.Counter("rin_token_verifications_total", "Access tokens that a node verified: one for each request with a token.", verified...)
	p.Counter("rin_requests_limited_total", "Requests that the rate limit refused with 429.", limited...)
	// No entry has a number above this one, so Record copies only the counts.
	record := n.journal.Record(math.MaxUint64)
	p.Counter("rin_journal_requests_total", "Requests that the journal has counted since it was last cleared.", measurement(record.Counted))
	p.Gauge("rin_journal_entries", "Requests that the journal holds.", measurement(record.Counted-record.Dropped))
	p.Gauge("rin_clock_offset_seconds", "How far the network's clock has been moved.", edge.Sample{Value: n.clock.Offset().Seconds()})
}

func measurement(count uint64, labels ...string) edge.Sample {
	return edge.Sample{Value: float64(count), Labels: labels}
}

// journalPlace describes the node to the journal.
func journalPlace(c Config, places address.Map) journal.Place {
	return journal.Place{Node: c.Member.ID, TokenPath: places.ListedEndpoint().Token, Now: c.Clock, Origin: places.Origin, Classify: func(path string) (journal.Operation, bool) {
		class := places.Classify(path)
		return class.Operation, class.TryOut
	}}
}

// classifyOutside classifies the paths outside all nodes of a network, where only the start page is served. No path there is a try-out.
func classifyOutside(path string) (operation journal.Operation, tryOut bool) {
	if path == "/" {
		return journal.Docs, false
	}
	return journal.Other, false
}

// mockOperation counts requests below the service prefix that are not for the node's own resources but for an API from a document.
const mockOperation journal.Operation = "described"

// countedOperation returns the operation under which the metrics count a request.
func countedOperation(c address.Class) journal.Operation {
	if c.Operation == journal.Other && c.API {
		return mockOperation
	}
	return c.Operation
}

// countedOperations lists the names under which requests are counted; the last one is for all others.
func countedOperations() []string {
	var names []string
	for _, o := range []journal.Operation{
		journal.Token, journal.ElsewhereToken, journal.ElsewhereInfo, journal.Keys, journal.Metadata, journal.Registry, journal.Info, journal.Document, journal.List, journal.Detail,
		journal.Health, journal.Docs, mockOperation, journal.Other,
	} {
		names = append(names, string(o))
	}
	return names
}
