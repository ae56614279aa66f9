package metrics

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Process writes what the process is and takes, under the names that dashboards for Go programs look for.
func (p *Page) Process() {
	samples := []metrics.Sample{
		{Name: "/sched/goroutines:goroutines"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(samples)
	figure := func(i int) Sample {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return Sample{}
		}
		return Sample{Value: float64(samples[i].Value.Uint64())}
	}
	version := "unknown"
	if build, ok := debug.ReadBuildInfo(); ok {
		version = build.Main.Version
	}
	p.Gauge("rin_build_info", "The version of rin and of Go that it was built with; always 1.", Sample{1, []string{"version", version, "goversion", runtime.Version()}})
	p.Gauge("go_goroutines", "Goroutines that exist.", figure(0))
	p.Gauge("go_memstats_heap_alloc_bytes", "Memory of objects on the heap, dead ones that were not swept included.", figure(1))
	p.Gauge("go_memstats_sys_bytes", "Memory that the runtime took from the system.", figure(2))
	p.Counter("go_gc_cycles_total_gc_cycles_total", "Collections since the start.", figure(3))
}
