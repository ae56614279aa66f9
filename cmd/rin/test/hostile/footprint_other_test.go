//go:build !linux

package hostile_test

// footprint is not known here.
type footprint struct{ parent, child, together int64 }

func (f footprint) most() int64 { return 0 }

func watch(int) func() footprint { return func() footprint { return footprint{} } }
