//go:build !linux

package test

// Footprint is not known on this system.
type Footprint struct{ Parent, Child, Together int64 }

// Most is not known on this system.
func (f Footprint) Most() int64 { return 0 }

// WatchMemory does nothing on this system.
func WatchMemory(int) func() Footprint { return func() Footprint { return Footprint{} } }
