package sandbox

import (
	"maps"
	"math"
	"slices"

	"github.com/rin-network/rin/sandbox/journal"
	"github.com/rin-network/rin/sandbox/metrics"
)

// fromDocument is what is below the service prefix and not the node's own: an API that is served from its document.
const fromDocument journal.Operation = "described"

// operations are the names under which requests are counted; the last one is for all others.
func operations() []string {
	var names []string
	for _, o := range []journal.Operation{
		journal.Token, journal.Staging, journal.Keys, journal.Metadata, journal.Registry, journal.Info, journal.Document, journal.List, journal.Detail,
		journal.Health, journal.Docs, fromDocument, journal.Other,
	} {
		names = append(names, string(o))
	}
	return names
}

// Figures writes what the network did since its start: a reset leaves them, as scrapers expect.
func (n *Network) Figures(p *metrics.Page) {
	var nodes []metrics.Node
	var issued, refused, limited []metrics.Sample
	for _, s := range n.nodes {
		id := s.member.ID
		nodes = append(nodes, metrics.Node{ID: id, Requests: s.watch.requests})
		tally := s.authority.Tally()
		issued = append(issued, sample(tally.Issued, "node", id))
		for _, code := range slices.Sorted(maps.Keys(tally.Refused)) {
			refused = append(refused, sample(tally.Refused[code], "node", id, "error", code))
		}
		if s.limits != nil {
			limited = append(limited, sample(s.limits.refused.Load(), "node", id))
		}
	}
	p.Requests(nodes...)
	p.Counter("rin_tokens_issued_total", "Access tokens that a node's authorization server issued.", issued...)
	p.Counter("rin_token_requests_refused_total", "Token requests that it refused, by error code (RFC 6749 section 5.2).", refused...)
	p.Counter("rin_requests_limited_total", "Requests that were answered 429 for the rate limit.", limited...)
	// No entry has so high a number: only the counts are copied.
	record := n.journal.Record(math.MaxUint64)
	p.Counter("rin_journal_requests_total", "Requests that the journal has counted since it was last cleared.", sample(record.Counted))
	p.Gauge("rin_journal_entries", "Requests that the journal holds.", sample(record.Counted-record.Dropped))
	p.Gauge("rin_clock_offset_seconds", "How far the network's clock has been moved.", metrics.Sample{Value: n.clock.Offset().Seconds()})
}

func sample(count uint64, labels ...string) metrics.Sample {
	return metrics.Sample{Value: float64(count), Labels: labels}
}
