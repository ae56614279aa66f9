package recorder

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// gate keeps requests within rate, concurrency and budget, and slows down when the node asks for it.
type gate struct {
	clock   func() time.Time
	sleep   func(context.Context, time.Duration) error
	limiter *rate.Limiter
	slots   chan struct{}

	mu     sync.Mutex
	width  int // slots that exist, in use or free
	debt   int // slots to withdraw when they come back
	sent   int
	budget int
}

func newGate(o Options) *gate {
	g := &gate{clock: o.Clock, sleep: o.Sleep, slots: make(chan struct{}, o.Concurrency), width: o.Concurrency, budget: o.Budget}
	limit := rate.Inf
	if o.Rate > 0 {
		limit = rate.Limit(o.Rate)
	}
	g.limiter = rate.NewLimiter(limit, 1)
	for range o.Concurrency {
		g.slots <- struct{}{}
	}
	return g
}

// enter waits for a slot and for the rate. After a nil error the caller must call leave.
func (g *gate) enter(ctx context.Context) error {
	select {
	case <-g.slots:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := g.pace(ctx); err != nil {
		g.leave()
		return err
	}
	return nil
}

// pace waits until the rate allows one more request.
func (g *gate) pace(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	now := g.clock()
	r := g.limiter.ReserveN(now, 1)
	if d := r.DelayFrom(now); d > 0 {
		if err := g.sleep(ctx, d); err != nil {
			r.CancelAt(g.clock())
			return err
		}
	}
	return nil
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

// slowDown halves rate and concurrency, down to one request at a time.
func (g *gate) slowDown() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l := g.limiter.Limit(); l != rate.Inf {
		g.limiter.SetLimitAt(g.clock(), l/2)
	}
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

// limit lowers the budget; it never raises it.
func (g *gate) limit(requests int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if requests > 0 && (g.budget == 0 || requests < g.budget) {
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

// readUpTo reads at most limit bytes, fewer if the allowance ends; over reports that there was more.
func (a *allowance) readUpTo(in io.Reader, limit int64) (data []byte, over bool, err error) {
	reader := &allowanceReader{in: in, allowance: a, left: freeOfAllowance}
	data, err = io.ReadAll(io.LimitReader(reader, limit+1))
	if int64(len(data)) > limit {
		return data[:limit], true, nil
	}
	return data, reader.over, err
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
	if g.over = g.over || n > 0; n > 0 {
		err = io.EOF
	}
	return 0, err
}
