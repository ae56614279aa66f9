package requirement

import (
	"sync"

	"github.com/rin-network/rin/conformance/exchange"
)

// maxKept bounds the items that are remembered, of all answers together: a hostile list has many small ones.
const maxKept = 200_000

// readings remembers what was read of answers, since several checks look at the same ones, and lists are long. An answer that was
// recorded never changes, so readings hold while the log grows. It is safe for concurrent use.
type readings struct {
	mu    sync.Mutex
	of    map[*exchange.Response]*readAnswer
	items int // kept so far
}

// readAnswer is an answer as JSON, and as a list.
type readAnswer struct {
	text   []byte
	broken error
	list   bool // items and unlisted are known
	items  [][]byte
	// unlisted says why the answer is no list.
	unlisted error
}

func newReadings() *readings { return &readings{of: map[*exchange.Response]*readAnswer{}} }

// jsonText is [jsonText] of an answer of this evidence.
func (e Evidence) jsonText(x exchange.Exchange) ([]byte, error) {
	if e.readings == nil || x.Response == nil {
		return jsonText(x)
	}
	e.readings.mu.Lock()
	defer e.readings.mu.Unlock()
	r := e.answer(x)
	return r.text, r.broken
}

// itemsOf is [itemsOf] of an answer of this evidence.
func (e Evidence) itemsOf(x exchange.Exchange) ([][]byte, error) {
	if e.readings == nil || x.Response == nil || x.Response.Truncated {
		return itemsOf(x)
	}
	e.readings.mu.Lock()
	defer e.readings.mu.Unlock()
	r := e.answer(x)
	if r.list {
		return r.items, r.unlisted
	}
	items, err := itemsIn(r.text, r.broken)
	if e.readings.items+len(items) <= maxKept {
		e.readings.items += len(items)
		r.list, r.items, r.unlisted = true, items, err
	}
	return items, err
}

// answer reads an answer as JSON, once. A list that its schema was applied to was read to its end when it was
// recorded.
func (e Evidence) answer(x exchange.Exchange) *readAnswer {
	known, ok := e.readings.of[x.Response]
	if ok {
		return known
	}
	known = &readAnswer{}
	if f, ok := e.FindingsOf(x.Label); ok && f.Judged && f.Items > 1 && !x.Response.Truncated {
		known.text = x.Response.Body
	} else {
		known.text, known.broken = jsonText(x)
	}
	e.readings.of[x.Response] = known
	return known
}
