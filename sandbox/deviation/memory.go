package deviation

import "sync"

// memory is what a deviation remembers between requests. It is bounded, and safe for concurrent use. The zero value is
// an empty memory.
type memory[V any] struct {
	mu   sync.Mutex
	kept map[string]V
}

// memorySize is the number of entries at which a memory starts over: enough for a run, little for a sandbox that
// serves for weeks.
const memorySize = 256

func (m *memory[V]) get(key string) (value V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, known = m.kept[key]
	return value, known
}

// put keeps a value and returns the one before.
func (m *memory[V]) put(key string, value V) (before V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, known = m.kept[key]
	if m.kept == nil || len(m.kept) >= memorySize && !known {
		m.kept = map[string]V{}
	}
	m.kept[key] = value
	return before, known
}
