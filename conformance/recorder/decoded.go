package recorder

import (
	"hash/maphash"
	"strings"
	"sync"
)

// decodedBodies remembers recorded bodies without their content codings. A run gets the same list with many credentials: it is decoded once, and
// all exchanges share its bytes.
type decodedBodies struct {
	mu   sync.Mutex
	seed maphash.Seed
	of   map[codedBody][]byte
}

// codedBody stands for a body as it came. A node cannot make two bodies look equal, because it does not know the seed of the hash.
type codedBody struct {
	hash    uint64
	length  int
	codings string
}

// Bounds of what is remembered: short bodies are decoded quickly, and a hostile node sends many long ones.
const (
	minDecoded = 128  // bytes, as they come
	maxDecoded = 1000 // bodies
)

func newDecodedBodies() *decodedBodies {
	return &decodedBodies{seed: maphash.MakeSeed(), of: map[codedBody][]byte{}}
}

// recall returns the body of an answer without its content codings, if it is remembered and within the limit. key is for keep.
func (d *decodedBodies) recall(a *reply, limit int64) (body []byte, key codedBody, ok bool) {
	if len(a.body) == 0 || len(a.codings) > 1 {
		return nil, codedBody{}, false
	}
	key = codedBody{maphash.Bytes(d.seed, a.body), len(a.body), strings.Join(a.codings, ",")}
	d.mu.Lock()
	defer d.mu.Unlock()
	body, ok = d.of[key]
	return body, key, ok && int64(len(body)) <= limit
}

// keep remembers a decoded body. The evidence holds the same bytes.
func (d *decodedBodies) keep(key codedBody, body []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if key.length > 0 && len(body) >= minDecoded && len(d.of) < maxDecoded {
		d.of[key] = body
	}
}
