package record

import (
	"io"
	"sync/atomic"
)

const (
	freeOfAllowance = 64 << 10 // bytes that every body may have, whatever came before it
	allowanceStep   = 64 << 10
)

// allowance bounds the bodies of a whole run together: each may be as large as its limit, but not all of them, because the evidence
// stays in memory.
type allowance struct{ left atomic.Int64 }

func newAllowance(bytes int64) *allowance {
	a := &allowance{}
	a.left.Store(bytes)
	return a
}

// take uses up one step; false when there is none left.
func (a *allowance) take() bool { return a.left.Add(-allowanceStep) >= 0 }

// readUpTo reads at most limit bytes, and fewer when the allowance ends; over says that there was more.
func (a *allowance) readUpTo(in io.Reader, limit int64) (data []byte, over bool, err error) {
	granted := &granted{in: in, of: a, left: freeOfAllowance}
	data, err = io.ReadAll(io.LimitReader(granted, limit+1))
	if int64(len(data)) > limit {
		return data[:limit], true, nil
	}
	return data, granted.over, err
}

// granted reads what an allowance lets through, and ends there.
type granted struct {
	in   io.Reader
	of   *allowance
	left int // bytes granted and not yet read
	over bool
}

// Read implements io.Reader.
func (g *granted) Read(p []byte) (int, error) {
	if g.left == 0 && !g.over && g.of.take() {
		g.left = allowanceStep
	}
	if g.left > 0 {
		n, err := g.in.Read(p[:min(len(p), g.left)])
		g.left -= n
		return n, err
	}
	// One byte more tells a body that is cut from one that ended here.
	n, err := g.in.Read(p[:min(len(p), 1)])
	if g.over = g.over || n > 0; n > 0 {
		err = io.EOF
	}
	return 0, err
}
