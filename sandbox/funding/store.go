package funding

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rin-network/rin/fixtures/generate"
	"github.com/rin-network/rin/sandbox/representation"
)

// cachedBytes bounds the encoded records that are kept.
const cachedBytes = 1 << 20

// Store serves the records of a generator as JSON. Records are pure functions of their index, so that nothing is
// stored but what filters look at and the most recently used encodings.
type Store struct {
	records *generate.Generator
	facets  func() []generate.Facets
	// identity tells this store's content from any other's.
	identity [sha256.Size]byte
	encoded  *representation.Cache[recordKey]
}

// recordKey is a record as one affiliation sees it; the empty affiliation sees no annotations.
type recordKey struct {
	index       int
	affiliation string
}

// NewStore makes a store. identity is anything that changes when the content does: seed, as-of day and number.
func NewStore(records *generate.Generator, identity string) (*Store, error) {
	s := &Store{records: records, encoded: representation.NewCache[recordKey](cachedBytes)}
	s.facets = sync.OnceValue(func() []generate.Facets {
		all := make([]generate.Facets, records.Len())
		for i := range all {
			all[i] = records.Facets(i)
		}
		return all
	})
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
func (s *Store) detail(id, affiliation string) (body *representation.Body, found bool, err error) {
	index, found := s.records.Index(id)
	if !found {
		return nil, false, nil
	}
	key := recordKey{index, affiliation}
	body, err = s.encoded.Get(key, func() (*representation.Body, error) {
		plain, err := s.encode(key)
		if err != nil {
			return nil, err
		}
		return representation.New("application/json", plain), nil
	})
	return body, true, err
}

// selection is a page of the records that a query asks for, in the order of their ids.
type selection struct {
	// indices lists the records; nil means the run from first to end.
	indices    []int
	first, end int
	// total is the number of records on all pages.
	total int
}

func (c selection) len() int { return c.end - c.first }

func (c selection) at(n int) int {
	if c.indices == nil {
		return c.first + n
	}
	return c.indices[c.first+n]
}

// find selects the page of q at the time now.
func (s *Store) find(q query, now time.Time) selection {
	var c selection
	total := s.records.Len()
	if q.filtered() {
		c.indices = []int{}
		for i, f := range s.facets() {
			if q.accepts(f, now) {
				c.indices = append(c.indices, i)
			}
		}
		total = len(c.indices)
	}
	c.first, c.end, c.total = min(q.offset, total), total, total
	if q.size > 0 {
		c.end = min(c.first+q.size, total)
	}
	return c
}

// seed identifies the bytes that write makes of the selection for the affiliation.
func (s *Store) seed(c selection, affiliation string) []byte {
	h := sha256.New()
	h.Write(s.identity[:])
	var number [8]byte
	for n := range c.len() {
		binary.BigEndian.PutUint64(number[:], uint64(c.at(n)))
		h.Write(number[:])
	}
	io.WriteString(h, affiliation)
	return h.Sum(nil)
}

// write sends the selection as a JSON array, one record at a time.
func (s *Store) write(w io.Writer, c selection, affiliation string) error {
	for n := range c.len() {
		separator := ",\n"
		if n == 0 {
			separator = "["
		}
		encoded, err := s.encode(recordKey{c.at(n), affiliation})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, separator); err != nil {
			return fmt.Errorf("send the list: %w", err)
		}
		if _, err := w.Write(encoded); err != nil {
			return fmt.Errorf("send the list: %w", err)
		}
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
