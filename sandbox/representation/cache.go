package representation

import (
	"container/list"
	"sync"
)

// Cache keeps the most recently used bodies within a budget of bytes. It is safe for concurrent use.
type Cache[K comparable] struct {
	mu      sync.Mutex
	budget  int
	used    int
	recent  *list.List
	entries map[K]*list.Element
}

type entry[K comparable] struct {
	key  K
	body *Body
}

// NewCache makes a cache that holds bodies of at most budget bytes together.
func NewCache[K comparable](budget int) *Cache[K] {
	return &Cache[K]{budget: budget, recent: list.New(), entries: map[K]*list.Element{}}
}

// Get returns the body of key, made by build when it is not kept. build runs without the lock, so that two callers
// may build the same body at once; bodies are pure, so either will do. A failed build is not kept.
func (c *Cache[K]) Get(key K, build func() (*Body, error)) (*Body, error) {
	c.mu.Lock()
	if element, ok := c.entries[key]; ok {
		c.recent.MoveToFront(element)
		body := element.Value.(entry[K]).body
		c.mu.Unlock()
		return body, nil
	}
	c.mu.Unlock()
	body, err := build()
	if err != nil {
		return nil, err
	}
	c.put(key, body)
	return body, nil
}

func (c *Cache[K]) put(key K, body *Body) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[key]; ok || body.Size() > c.budget {
		return
	}
	c.entries[key] = c.recent.PushFront(entry[K]{key, body})
	c.used += body.Size()
	for c.used > c.budget {
		oldest := c.recent.Back()
		evicted := c.recent.Remove(oldest).(entry[K])
		delete(c.entries, evicted.key)
		c.used -= evicted.body.Size()
	}
}
