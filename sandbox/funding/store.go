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

// The limits of the caches and of what they hold.
const (
	recordBytes = 1 << 20 // bytes of encoded records
	pageBytes   = 2 << 20 // bytes of encoded pages
	pageRecords = 100     // records on a page that is cached
)

// Store serves the records of a generator as JSON. Records are pure functions of their index, so that only the index of the filters and the most
// recently used encodings are in memory.
type Store struct {
	records *generate.Generator
	index   func() *index
	// identity identifies the content of this store.
	identity [sha256.Size]byte
	encoded  *content.Cache[recordKey, *content.Body]
	pages    *content.Cache[pageKey, *page]
}

// recordKey identifies a record as one affiliation sees it. The empty affiliation sees no annotations.
type recordKey struct {
	index       int
	affiliation string
}

// NewStore makes a store. identity must differ for different content, so the caller puts the seed, the as-of day and the number of records into it.
func NewStore(records *generate.Generator, identity string) (*Store, error) {
	s := &Store{
		records: records,
		encoded: content.NewCache[recordKey, *content.Body](recordBytes),
		pages:   content.NewCache[pageKey, *page](pageBytes),
		index:   sync.OnceValue(func() *index { return newIndex(records) }),
	}
	// The first record is part of the identity, so that another version of the generator gives other entity tags.
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

// preparedRecords limits the records that are indexed in advance: a larger store is indexed only when the first filter needs it.
const preparedRecords = 2_000_000

// Prepare builds the index of the filters, which takes a second for each million records. Without it the first filter waits.
func (s *Store) Prepare() {
	if s.records.Len() <= preparedRecords {
		s.index()
	}
}

// selection is a page of the records that match a query, in the order of their ids.
type selection struct {
	// set holds the records of all pages; nil means every record.
	set set
	// first and end are the bounds of the page within the set; end is excluded.
	first, end int
	// total is the number of records on all pages.
	total int
	// since is when the set of open calls last changed, in Unix seconds, for a query that filters by it.
	since int64
}

// journalPage describes the page for the journal.
func (c selection) journalPage(q query) journal.Page {
	return journal.Page{Start: q.offset, Size: q.size, Items: c.len(), Next: c.end < c.total}
}

func (c selection) len() int { return c.end - c.first }

// indices lists the numbers of the records of the page.
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
		for i := range c.set.members(c.first) {
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
	if q.hasFilter() {
		c.set = s.index().choose(q, now)
		total = c.set.len()
	}
	if q.running != "" {
		c.since = s.index().runningAt(now).since
	}
	c.first, c.end, c.total = min(q.offset, total), total, total
	if q.size > 0 {
		c.end = min(c.first+q.size, total)
	}
	return c
}

// seed identifies the content of a page for an affiliation, for its entity tag. Records never change, and since identifies the set of open calls.
func (s *Store) seed(q query, since int64, affiliation string) []byte {
	h := sha256.New()
	h.Write(s.identity[:])
	fmt.Fprintf(h, "%#v %d %q", q, since, affiliation)
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

// page is a short page. It is cached, because clients request the same short pages again and again.
type page struct {
	*content.Body
	selection selection
}

// pageKey has all values that the content of a page depends on.
type pageKey struct {
	query       query
	since       int64 // as in selection
	affiliation string
}

// isShort reports whether the page of q is worth caching.
func (q query) isShort() bool { return q.size > 0 && q.size <= pageRecords }

// page returns the short page of q at the time now, as the affiliation sees it.
func (s *Store) page(q query, now time.Time, affiliation string) (*page, error) {
	key := pageKey{query: q, affiliation: affiliation}
	if q.running != "" {
		key.since = s.index().runningAt(now).since
	}
	return s.pages.Get(key, func() (*page, error) {
		c := s.find(q, now)
		var out bytes.Buffer
		if err := s.write(&out, c, affiliation); err != nil {
			return nil, err
		}
		c.set = nil // large, and no longer needed
		return &page{content.NewBody("application/json", out.Bytes()), c}, nil
	})
}
