package recorder

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// gate keeps requests within rate, concurrency and budget, and slows down when the node asks for it.
type gate struct {
	clock  func() time.Time
	sleep  func(context.Context, time.Duration) error
	slots  chan struct{}
	turn   chan struct{} // its holder sends next
	notify func(evidence.Slowdown)

	mu     sync.Mutex
	width  int // slots that exist, in use or free
	debt   int // slots to withdraw when they come back
	sent   int
	budget int
	pace   pace
}

func newGate(o Options) *gate {
	g := &gate{
		clock: o.Clock, sleep: o.Sleep, slots: make(chan struct{}, o.Concurrency), turn: make(chan struct{}, 1), notify: o.Slowed,
		width: o.Concurrency, budget: o.Budget, pace: pace{rate: o.Rate, maxRate: o.Rate},
	}
	g.turn <- struct{}{}
	for range o.Concurrency {
		g.slots <- struct{}{}
	}
	return g
}

// enter waits for a slot and for the rate. It returns how many of n requests may be sent at once, see wait. After a nil error the caller must call leave.
func (g *gate) enter(ctx context.Context, n int) (int, error) {
	select {
	case <-g.slots:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	n, err := g.wait(ctx, n)
	if err != nil {
		g.leave()
	}
	return n, err
}

// wait blocks until n requests can be sent at once, by the rate and by what the node allowed so far. It returns n, or 1 if the node no longer allows bursts.
// Callers wait in a queue.
func (g *gate) wait(ctx context.Context, n int) (int, error) {
	select {
	case <-g.turn:
		defer func() { g.turn <- struct{}{} }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	if err := ctx.Err(); err != nil {
		return 0, context.Cause(ctx)
	}
	g.mu.Lock()
	d := g.pace.interval(g.clock(), n)
	g.mu.Unlock()
	for {
		g.mu.Lock()
		wait, pending := g.pace.takeWait(g.clock())
		g.mu.Unlock()
		d = max(d, wait)
		if d == 0 && !pending {
			break
		}
		if err := g.sleep(ctx, d); err != nil {
			return 0, err
		}
		d = 0 // the node may have refused another request meanwhile
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pace.sent(g.clock())
	if n > g.burst() {
		n = 1
	}
	return n, nil
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.debt > 0 {
		g.debt--
		return
	}
	g.slots <- struct{}{}
}

// epoch returns the number of times that the run has slowed down. A request remembers the epoch in which it was sent, because several requests of one burst
// may be refused.
func (g *gate) epoch() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pace.epoch
}

// accepted notes an answer to a request of that epoch that is not a refusal for load.
func (g *gate) accepted(epoch int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pace.accepted(epoch)
}

// refused notes that the node refused a request of that epoch for load: nothing is sent for retryAfter, and the rest of the run is slower.
func (g *gate) refused(epoch, status int, retryAfter time.Duration) {
	g.mu.Lock()
	slower := g.pace.refused(g.clock(), epoch, status, retryAfter)
	if slower {
		g.narrow()
	}
	slowdown := g.pace.slowdown()
	g.mu.Unlock()
	if slower && g.notify != nil {
		g.notify(slowdown)
	}
}

// narrow halves the concurrency, down to one request at a time. The caller holds the lock.
func (g *gate) narrow() {
	drop := g.width - max(1, g.width/2)
	g.width -= drop
	for ; drop > 0; drop-- {
		select {
		case <-g.slots:
		default: // all are in use
			g.debt += drop
			return
		}
	}
}

// spend takes one request from the budget, and returns false if it is used up.
func (g *gate) spend() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.budget > 0 && g.sent >= g.budget {
		return false
	}
	g.sent++
	return true
}

// limit sets the budget.
func (g *gate) limit(requests int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if requests > 0 {
		g.budget = requests
	}
}

// count returns the number of requests taken from the budget.
func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sent
}

const (
	freeOfAllowance = 64 << 10 // bytes of each body that do not count
	allowanceStep   = 64 << 10 // bytes that a reader takes at a time
	largeBody       = 1 << 20  // bytes from which a body is large
	maxLarge        = 2        // large bodies that are unpacked and recorded at a time
)

// allowance bounds the total size of the bodies of a run, because the evidence stays in memory.
type allowance struct{ left atomic.Int64 }

func newAllowance(bytes int64) *allowance {
	a := &allowance{}
	a.left.Store(bytes)
	return a
}

// take uses up one step, and returns false if none is left.
func (a *allowance) take() bool { return a.left.Add(-allowanceStep) >= 0 }

// charge uses up as much as reading a body of that length. It returns false, and uses up nothing, if not enough is left.
func (a *allowance) charge(length int) bool {
	for {
		left := a.left.Load()
		next := left - int64(length/allowanceStep)*allowanceStep // the first step is free
		if next < 0 {
			return false
		}
		if a.left.CompareAndSwap(left, next) {
			return true
		}
	}
}

// readUpTo reads at most limit bytes, fewer if the allowance ends; over reports that there was more. expected is the length that the sender
// gives, or 0.
func (a *allowance) readUpTo(in io.Reader, limit, expected int64) (data []byte, over bool, err error) {
	reader := &allowanceReader{in: in, allowance: a, left: freeOfAllowance}
	data, err = readAll(io.LimitReader(reader, limit+1), min(expected, limit+1))
	if int64(len(data)) > limit {
		return data[:limit], true, nil
	}
	return data, reader.over, err
}

// readAll is [io.ReadAll] for a body of an expected length. io.ReadAll copies a body several times while it grows, and holds a large one twice.
func readAll(in io.Reader, expected int64) ([]byte, error) {
	if expected < bytes.MinRead {
		return io.ReadAll(in)
	}
	var b bytes.Buffer
	b.Grow(int(expected) + bytes.MinRead)
	_, err := b.ReadFrom(in)
	data := b.Bytes()
	if cap(data)-len(data) > len(data)/4+bytes.MinRead { // the sender stated a wrong length
		data = slices.Clone(data)
	}
	return data, err
}

// allowanceReader reads as far as the allowance reaches.
type allowanceReader struct {
	in        io.Reader
	allowance *allowance
	left      int // bytes granted and not yet read
	over      bool
}

// Read implements io.Reader.
func (g *allowanceReader) Read(p []byte) (int, error) {
	if g.left == 0 && !g.over && g.allowance.take() {
		g.left = allowanceStep
	}
	if g.left > 0 {
		n, err := g.in.Read(p[:min(len(p), g.left)])
		g.left -= n
		return n, err
	}
	// One more byte distinguishes a body that is cut off from one that ends here.
	n, err := g.in.Read(p[:min(len(p), 1)])
	g.over = g.over || n > 0
	if n > 0 {
		err = io.EOF
	}
	return 0, err
}
