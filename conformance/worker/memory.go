package worker

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// DefaultMemory is the child's memory limit: parent and child together stay under 512 MB.
const DefaultMemory = 400 << 20

// growth is by how much of itself, in percent, the heap may grow before it is collected: there is room up to the limit, and the process
// does not live long.
const growth = 300

// watchMemory asks the collector to stay under the limit until ctx ends, and calls exhausted once when the process is over it all
// the same.
func watchMemory(ctx context.Context, limit int64, exhausted func(cause string)) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit - limit/8))
	defer debug.SetGCPercent(debug.SetGCPercent(growth))
	sample := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			metrics.Read(sample)
			if used := sample[0].Value.Uint64() - sample[1].Value.Uint64(); used > uint64(limit) {
				exhausted(fmt.Sprintf("reading the node took more than %d MB of memory; the run was stopped there", limit>>20))
				return
			}
		}
	}
}
