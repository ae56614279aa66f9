package funding

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/rin-network/rin/fixtures/generate"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/journal"
)

// The bounds of what is kept encoded, in bytes: single records, and pages of up to so many records.
const (
	cachedBytes = 1 << 20
	pageBytes   = 2 << 20
	pageRecords = 100
)

// Store serves the records of a generator as JSON. Records are pure functions of their index, so that nothing is
// stored but what filters look at and the most recently used encodings.
type Store struct {
	records *generate.Generator
	index   func() *index
	// identity tells this store's content from any other's.
	identity [sha256.Size]byte
	encoded  *content.Cache[recordKey, *content.Body]
	pages    *content.Cache[pageKey, *page]
}

// recordKey is a record as one affiliation sees it; the empty affiliation sees no annotations.
type recordKey struct {
	index       int
	affiliation string
}

// NewStore makes a store. identity is anything that changes when the content does: seed, as-of day and number.
func NewStore(records *generate.Generator, identity string) (*Store, error) {
	s := &Store{
		records: records,
		encoded: content.NewCache[recordKey, *content.Body](cachedBytes),
		pages:   content.NewCache[pageKey, *page](pageBytes),
		index:   sync.OnceValue(func() *index { return newIndex(records) }),
	}
	// A sample of the content joins the identity: a later version that words its records differently gets new tags.
	sample := []byte{}
	if records.Len() > 0 {
		var err error
		if sample, err = s.encode(recordKey{}); err != nil {
			return nil, err
		}
	}
	s.identity = sha256.Sum256(append([]byte(identity+"\x00"), sample...))
	return s, nil
}

// encode makes the JSON of one record with the annotations of the affiliation.
func (s *Store) encode(key recordKey) ([]byte, error) {
	record := s.records.At(key.index)
	if key.affiliation != "" {
		record.Annotate(s.records.Annotations(key.index, key.affiliation))
	}
	encoded, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("encode record %d: %w", key.index, err)
	}
	return encoded, nil
}

// detail returns the body of the record with the id.
func (s *Store) detail(id, affiliation string) (body *content.Body, found bool, err error) {
	index, found := s.records.Index(id)
	if !found {
		return nil, false, nil
	}
	key := recordKey{index, affiliation}
	body, err = s.encoded.Get(key, func() (*content.Body, error) {
		plain, err := s.encode(key)
		if err != nil {
			return nil, err
		}
		return content.NewBody("application/json", plain), nil
	})
	return body, true, err
}

// preparedRecords is how many records are made ready for filters before one is asked for: beyond that, memory is kept for who needs it.
const preparedRecords = 2_000_000

// Prepare makes what filters need, which takes a second for each million of records. The first filter does it otherwise.
func (s *Store) Prepare() {
	if s.records.Len() <= preparedRecords {
		s.index()
	}
}

// selection is a page of the records that a query asks for, in the order of their ids.
type selection struct {
	// set holds the records of all pages; nil means every record.
	set set
	// first to before end are the places of the page among them.
	first, end int
	// total is the number of records on all pages.
	total int
	// since is when the calls that run last changed, in Unix seconds, for a query that asks for them.
	since int64
}

// noted is what the journal keeps of the page.
func (c selection) noted(q query) journal.Page {
	return journal.Page{Start: q.offset, Size: q.size, Items: c.len(), Next: c.end < c.total}
}

func (c selection) len() int { return c.end - c.first }

// indices lists the records of the page.
func (c selection) indices() iter.Seq[int] {
	return func(yield func(int) bool) {
		if c.set == nil {
			for i := c.first; i < c.end; i++ {
				if !yield(i) {
					return
				}
			}
			return
		}
		left := c.len()
		if left == 0 {
			return
		}
		for i := range c.set.from(c.first) {
			if !yield(i) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// find selects the page of q at the time now.
func (s *Store) find(q query, now time.Time) selection {
	var c selection
	total := s.records.Len()
	if q.filtered() {
		c.set = s.index().choose(q, now)
		total = c.set.len()
	}
	if q.running != nil {
		c.since = s.index().runningAt(now).since
	}
	c.first, c.end, c.total = min(q.offset, total), total, total
	if q.size > 0 {
		c.end = min(c.first+q.size, total)
	}
	return c
}

// seed identifies the bytes that write makes of the selection of q for the affiliation: records never change, and which calls run
// is the same from one turn to the next.
func (s *Store) seed(q query, since int64, affiliation string) []byte {
	h := sha256.New()
	h.Write(s.identity[:])
	fmt.Fprintf(h, "%#v %d %q", q.fixed(), since, affiliation)
	return h.Sum(nil)
}

// write sends the selection as a JSON array, one record at a time.
func (s *Store) write(w io.Writer, c selection, affiliation string) error {
	separator := "["
	for i := range c.indices() {
		encoded, err := s.encode(recordKey{i, affiliation})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, separator); err != nil {
			return fmt.Errorf("send the list: %w", err)
		}
		if _, err := w.Write(encoded); err != nil {
			return fmt.Errorf("send the list: %w", err)
		}
		separator = ",\n"
	}
	end := "]"
	if c.len() == 0 {
		end = "[]"
	}
	if _, err := io.WriteString(w, end); err != nil {
		return fmt.Errorf("send the list: %w", err)
	}
	return nil
}

// page is a short page, kept because clients ask for the same ones again and again.
type page struct {
	*content.Body
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
		return &page{content.NewBody("application/json", out.Bytes()), c}, nil
	})
}
