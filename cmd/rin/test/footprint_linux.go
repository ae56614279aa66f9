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

// Footprint is how much memory a process and its children held at most, in bytes. Together is what parent and child held while both lived, taken from
// the peaks of each until then, so that it is never too small.
type Footprint struct{ Parent, Child, Together int64 }

// Most is the largest of the three.
func (f Footprint) Most() int64 { return max(f.Parent, f.Child, f.Together) }

// WatchMemory looks at a process and its children until the function that it returns is called.
func WatchMemory(pid int) func() Footprint {
	over, result := make(chan struct{}), make(chan Footprint)
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
			case <-over:
				result <- f
				return
			}
		}
	}()
	return func() Footprint { close(over); return <-result }
}

// peak is the largest resident size of a process until now, 0 when it is gone.
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
