package representation

import (
	"container/list"
	"sync"
)

// Sized is what a cache keeps: something immutable that knows how many bytes it may occupy.
type Sized interface{ Size() int }

// Cache keeps the most recently used values within a budget of bytes. It is safe for concurrent use.
type Cache[K comparable, V Sized] struct {
	mu      sync.Mutex
	budget  int
	used    int
	recent  *list.List
	entries map[K]*list.Element
}

type entry[K comparable, V Sized] struct {
	key   K
	value V
}

// NewCache makes a cache that holds values of at most budget bytes together.
func NewCache[K comparable, V Sized](budget int) *Cache[K, V] {
	return &Cache[K, V]{budget: budget, recent: list.New(), entries: map[K]*list.Element{}}
}

// Get returns the value of key, made by build when it is not kept. build runs without the lock, so that two callers
// may build the same value at once; values are functions of their keys, so either will do. A failed build is not kept.
func (c *Cache[K, V]) Get(key K, build func() (V, error)) (V, error) {
	c.mu.Lock()
	if element, ok := c.entries[key]; ok {
		c.recent.MoveToFront(element)
		value := element.Value.(entry[K, V]).value
		c.mu.Unlock()
		return value, nil
	}
	c.mu.Unlock()
	value, err := build()
	if err == nil {
		c.put(key, value)
	}
	return value, err
}

func (c *Cache[K, V]) put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[key]; ok || value.Size() > c.budget {
		return
	}
	c.entries[key] = c.recent.PushFront(entry[K, V]{key, value})
	c.used += value.Size()
	for c.used > c.budget {
		oldest := c.recent.Back()
		evicted := c.recent.Remove(oldest).(entry[K, V])
		delete(c.entries, evicted.key)
		c.used -= evicted.value.Size()
	}
}
