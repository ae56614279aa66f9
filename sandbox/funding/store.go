package funding

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/rin-network/rin/fixtures/generate"
	"github.com/rin-network/rin/sandbox/representation"
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
	encoded  *representation.Cache[recordKey, *representation.Body]
	pages    *representation.Cache[pageKey, *page]
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
		encoded: representation.NewCache[recordKey, *representation.Body](cachedBytes),
		pages:   representation.NewCache[pageKey, *page](pageBytes),
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

// preparedRecords is how many records are made ready for filters before one is asked for: beyond that, memory is kept for who needs it.
const preparedRecords = 2_000_000

// Prepare makes what filters need, which takes a second for each million of records. The first filter does it otherwise.
func (s *Store) Prepare() {
	if s.records.Len() <= preparedRecords {
		s.index()
	}
}
