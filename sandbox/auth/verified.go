package auth

import (
	"crypto/sha256"
	"sync"
	"time"
)

// verified remembers tokens whose signatures have been checked, so that a reused token costs one hash. Each use still
// checks the token's window against the clock: an entry ends when the token does, whichever way the clock is moved.
// Entries are found in the turn of keys that they were made in only, so that none outlives its key. Their number is bounded.
type verified struct {
	mu      sync.RWMutex
	limit   int
	entries map[verifiedKey]acceptance
}

// verifiedKey holds a hash, so that the cache keeps no credential. The base is part of it, because the audience of
// a foreign token is judged by it.
type verifiedKey struct {
	token [sha256.Size]byte
	base  string
	turn  uint64
}

func newVerified(limit int) *verified {
	return &verified{limit: limit, entries: map[verifiedKey]acceptance{}}
}

func (c *verified) get(key verifiedKey, now time.Time) (Principal, bool) {
	if c.limit == 0 {
		return Principal{}, false
	}
	c.mu.RLock()
	found, ok := c.entries[key]
	c.mu.RUnlock()
	if !ok || found.window.check(now) != nil {
		return Principal{}, false
	}
	return found.principal, true
}

// put remembers an acceptance. At the limit it forgets an arbitrary half, which costs little on average and needs
// no order of use; what is forgotten is verified anew.
func (c *verified) put(key verifiedKey, accepted acceptance) {
	if c.limit == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= c.limit {
		surplus := c.limit / 2
		for old := range c.entries {
			if surplus < 0 {
				break
			}
			delete(c.entries, old)
			surplus--
		}
	}
	c.entries[key] = accepted
}
