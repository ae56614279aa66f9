package funding

import (
	"bytes"
	"time"

	"github.com/rin-network/rin/sandbox/representation"
)

// page is a short page, kept because clients ask for the same ones again and again.
type page struct {
	*representation.Body
	place selection
}

// pageKey is what a page is a function of.
type pageKey struct {
	query       fixedQuery
	since       int64 // as in selection
	affiliation string
}

// fixedQuery is a query without a pointer, which can be compared.
type fixedQuery struct {
	query
	asksRunning, running bool
}

func (q query) fixed() fixedQuery {
	f := fixedQuery{query: q, asksRunning: q.running != nil, running: q.running != nil && *q.running}
	f.query.running = nil
	return f
}

// short tells whether the page of q is worth keeping.
func (q query) short() bool { return q.size > 0 && q.size <= pageRecords }

// page returns the short page of q at the time now, as the affiliation sees it.
func (s *Store) page(q query, now time.Time, affiliation string) (*page, error) {
	key := pageKey{query: q.fixed(), affiliation: affiliation}
	if q.running != nil {
		key.since = s.index().runningAt(now).since
	}
	return s.pages.Get(key, func() (*page, error) {
		c := s.find(q, now)
		var out bytes.Buffer
		if err := s.write(&out, c, affiliation); err != nil {
			return nil, err
		}
		c.set = nil // it served, and is large
		return &page{representation.New("application/json", out.Bytes()), c}, nil
	})
}
