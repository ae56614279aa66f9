package openapi

import (
	"crypto/sha256"
	"sync"
)

// Bounds of what is remembered. Bodies that differ much from their schema are the few that a node's engineer waits for; judging them
// again costs less than keeping what was found.
const (
	maxRemembered = 256 // bodies
	maxMemorable  = 20  // findings of one
	maxGoodItems  = 50_000
)

// memory keeps what was judged of a body: a run asks for the same list with a dozen credentials, and gets the same bytes. It also keeps
// which items of lists are as described: pages and filters show the same ones again. It is safe for concurrent use.
type memory struct {
	mu     sync.Mutex
	bodies map[bodyKey]bodyJudged
	good   map[itemKey]int // schemas that were applied
}

// itemKey is everything that judging an item depends on.
type itemKey struct {
	schema string // pointer
	single bool   // by the schema itself, in place of that of its items
	digest [sha256.Size]byte
}

// bodyKey is everything that judging a body depends on.
type bodyKey struct {
	schema    string // pointer
	list, cut bool
	digest    [sha256.Size]byte
}

// bodyJudged is what was found in a body; why is set when it could not be judged.
type bodyJudged struct {
	found collector
	items int
	why   string
	// undecided says that why is a limit of rin's, not a fault of the body.
	undecided bool
}

func (a *annotation) keyOf(body []byte) bodyKey {
	return bodyKey{a.schema, a.list(), a.answer.Truncated, sha256.Sum256(body)}
}

func (m *memory) recall(key bodyKey) (bodyJudged, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	judged, ok := m.bodies[key]
	return judged, ok
}

func (m *memory) keep(key bodyKey, judged bodyJudged) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if judged.found.total > maxMemorable || len(m.bodies) >= maxRemembered {
		return
	}
	if m.bodies == nil {
		m.bodies = map[bodyKey]bodyJudged{}
	}
	m.bodies[key] = judged
}

// recallItem says how many schemas it took to find an item to be as described; ok is false when it was not, or was not seen.
func (m *memory) recallItem(key itemKey) (steps int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	steps, ok = m.good[key]
	return steps, ok
}

func (m *memory) keepItem(key itemKey, steps int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.good == nil {
		m.good = map[itemKey]int{}
	}
	if len(m.good) < maxGoodItems {
		m.good[key] = steps
	}
}
