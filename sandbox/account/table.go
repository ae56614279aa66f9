package account

import (
	"maps"
	"sync/atomic"
)

// table is a map that is copied when it changes, so that readers, who come with each guarded request, take no lock. Writers take turns.
type table[V any] struct {
	current atomic.Pointer[map[string]V]
}

func (t *table[V]) rows() map[string]V {
	if rows := t.current.Load(); rows != nil {
		return *rows
	}
	return nil
}

func (t *table[V]) get(key string) (V, bool) {
	row, ok := t.rows()[key]
	return row, ok
}

func (t *table[V]) put(key string, row V) {
	next := make(map[string]V, len(t.rows())+1)
	maps.Copy(next, t.rows())
	next[key] = row
	t.current.Store(&next)
}

func (t *table[V]) remove(key string) {
	next := maps.Clone(t.rows())
	delete(next, key)
	t.current.Store(&next)
}

// restore puts rows in the place of all others.
func (t *table[V]) restore(rows map[string]V) { t.current.Store(&rows) }
