// Package journal records what clients sent to a network and what they got, to answer "what did my client do, and what was wrong
// with it?". It holds the newest requests within limits of number and bytes, and counts those that it dropped.
//
// [Journal.Watch] wraps a node and puts a [Note] into the context of each request. The handlers (token endpoint, guard, problem answers, lists)
// write into the note what they learn, so that nothing is parsed twice. When the request ends, the note becomes one [Entry]. Instead of secrets and tokens,
// entries hold fingerprints, which are equal for equal values and useless outside this journal.
package journal

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// DefaultLimit is the number of entries that rin sandbox keeps.
	DefaultLimit = 10_000
	// MaxLimit is the largest number of entries of a journal.
	MaxLimit = 1_000_000
	// bytesPerEntry is the average size of an entry; a longer entry replaces several old ones.
	bytesPerEntry = 2 << 10
)

// Journal holds the newest entries. It is safe for concurrent use.
type Journal struct {
	fingerprinter *fingerprinter

	mu      sync.Mutex
	limit   int
	ring    []Entry
	oldest  int // index of the oldest entry
	length  int
	bytes   int
	counted uint64 // entries since the last Clear; also the number of the newest entry
}

// New makes a journal of at most limit entries, or [DefaultLimit] if limit is 0. The key of its fingerprints is read from random; nil means crypto/rand.
func New(limit int, random io.Reader) (*Journal, error) {
	limit = cmp.Or(limit, DefaultLimit)
	if limit < 0 || limit > MaxLimit {
		return nil, fmt.Errorf("limit of the journal: expected 1 to %d entries, got %d", MaxLimit, limit)
	}
	if random == nil {
		random = rand.Reader
	}
	fingerprinter, err := newFingerprinter(random)
	if err != nil {
		return nil, err
	}
	return &Journal{fingerprinter: fingerprinter, limit: limit}, nil
}

// Record is the content of a journal at one time.
type Record struct {
	// Entries are in the order in which their answers ended.
	Entries []Entry `json:"entries"`
	// Counted is the number of requests since the start or the last clearing, Dropped how many of them the journal no longer holds.
	Counted uint64 `json:"counted"`
	Dropped uint64 `json:"dropped"`
}

// Record returns a copy of the entries with a number above after; a nil journal is empty.
func (j *Journal) Record(after uint64) Record {
	if j == nil {
		return Record{Entries: []Entry{}}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	r := Record{Counted: j.counted, Dropped: j.counted - uint64(j.length)}
	// Entries are numbered without gaps, so the entries to skip can be counted from their numbers.
	skipped := min(max(after, r.Dropped), j.counted) - r.Dropped
	r.Entries = make([]Entry, uint64(j.length)-skipped)
	for i := range r.Entries {
		r.Entries[i] = j.ring[(j.oldest+int(skipped)+i)%len(j.ring)]
	}
	return r
}

// Clear drops all entries and counts from 1 again.
func (j *Journal) Clear() {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ring, j.oldest, j.length, j.bytes, j.counted = nil, 0, 0, 0, 0
}

// add appends an entry; it drops old entries to stay within the limits.
func (j *Journal) add(e *Entry) {
	size := e.size()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counted++
	e.Number = j.counted
	for j.isFull(size) {
		j.drop()
	}
	if j.length == len(j.ring) {
		j.grow()
	}
	j.ring[(j.oldest+j.length)%len(j.ring)] = *e
	j.length++
	j.bytes += size
}

// isFull reports whether an entry of a size needs the room of an old one.
func (j *Journal) isFull(size int) bool {
	return j.length == j.limit || j.length > 0 && j.bytes+size > j.limit*bytesPerEntry
}

// drop removes the oldest entry.
func (j *Journal) drop() {
	j.bytes -= j.ring[j.oldest].size()
	j.ring[j.oldest] = Entry{}
	j.oldest = (j.oldest + 1) % len(j.ring)
	j.length--
}

// grow makes room for twice as many entries, within the limit. The ring starts small, so that a journal of few requests needs little memory.
func (j *Journal) grow() {
	larger := make([]Entry, min(max(64, 2*len(j.ring)), j.limit))
	for i := range j.length {
		larger[i] = j.ring[(j.oldest+i)%len(j.ring)]
	}
	j.ring, j.oldest = larger, 0
}

// next returns the number that the next entry gets.
func (j *Journal) next() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.counted + 1
}

// connection holds the number of the next entry at the time when a connection was opened.
type connection struct {
	earliest uint64
	used     atomic.Bool // a request took the number
}

type connectionKey struct{}

// Connect returns the context of a new connection. It notes the number of the next entry: a client opens a connection for a request that it has already
// chosen, so an answer that is recorded later did not influence that request.
func (j *Journal) Connect(ctx context.Context) context.Context {
	if j == nil {
		return ctx
	}
	return context.WithValue(ctx, connectionKey{}, &connection{earliest: j.next()})
}

// earliest returns the number of the next entry when the client chose a request, as far as the node can know: when the connection was opened for its
// first request, and now for the others.
func (j *Journal) earliest(ctx context.Context) uint64 {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok && c.used.CompareAndSwap(false, true) {
		return c.earliest
	}
	return j.next()
}

// The limits of what an entry holds of a request: bytes of a text, and numbers of ignored parameters and of exposed credentials.
const (
	maxClient  = 120
	maxPath    = 300
	maxQuery   = 600
	maxField   = 200
	maxText    = 800
	maxName    = 60
	maxIgnored = 8
	maxExposed = 8
)

// entryBaseSize estimates the bytes of an entry without its texts, with the structs that it points to.
const entryBaseSize = 900

// truncate cuts text at the limit. A cut text is a copy, so that the memory of the long one can be freed.
func truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// size estimates the memory of an entry.
func (e *Entry) size() int {
	n := entryBaseSize + len(e.Origin) + len(e.Method) + len(e.Path) + len(e.Query) + len(e.Peer) + len(e.Agent) + len(e.Accept) + len(e.ContentType) +
		len(e.IfNoneMatch) + len(e.IfModifiedSince) + len(e.Client) + len(e.ResponseType) + len(e.ETag) + len(e.RetryAfter) + len(e.Location)
	for _, name := range e.Ignored {
		n += 16 + len(name)
	}
	for _, x := range e.Exposed {
		n += 48 + len(x.Parameter)
	}
	for _, x := range e.Fields {
		n += 48 + len(x.Parameter)
	}
	if e.Refusal != nil {
		n += len(e.Refusal.Detail) + len(e.Refusal.Hint)
	}
	return n
}
