package test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Footprint is how much memory a process and its children held at most, in bytes. Together is the sum of the peaks of parent and children while both
// lived, so that it is never too small.
type Footprint struct{ Parent, Child, Together int64 }

// Most returns the largest of the three.
func (f Footprint) Most() int64 { return max(f.Parent, f.Child, f.Together) }

// WatchMemory measures a process and its children until the returned function is called.
func WatchMemory(pid int) func() Footprint {
	stop, result := make(chan struct{}), make(chan Footprint)
	go func() {
		var f Footprint
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			f.Parent = max(f.Parent, peak(pid))
			var children int64
			for _, child := range childrenOf(pid) {
				children += peak(child)
			}
			if f.Child = max(f.Child, children); children > 0 {
				f.Together = max(f.Together, f.Parent+children)
			}
			select {
			case <-tick.C:
			case <-stop:
				result <- f
				return
			}
		}
	}()
	return func() Footprint { close(stop); return <-result }
}

// peak returns the largest resident size of a process until now. It returns 0 if the process has
// ended.
func peak(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	found := regexp.MustCompile(`(?m)^VmHWM:\s*(\d+) kB$`).FindSubmatch(status)
	if found == nil {
		return 0
	}
	kilobytes, _ := strconv.ParseInt(string(found[1]), 10, 64) // digits only
	return kilobytes << 10
}

func childrenOf(pid int) []int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is sound
	var out []int
	for _, path := range lists {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				out = append(out, child)
			}
		}
	}
	return out
}
