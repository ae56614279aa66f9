package edge

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// MetricsMediaType is the media type of a [MetricsPage].
const MetricsMediaType = "text/plain; version=0.0.4; charset=utf-8"

// MetricsPage is a page in the text format that Prometheus scrapes (version 0.0.4).
type MetricsPage struct{ text bytes.Buffer }

// Bytes returns the page as it is sent.
func (p *MetricsPage) Bytes() []byte { return p.text.Bytes() }

// Sample is one value of a metric family. Labels holds names and values in turn.
type Sample struct {
	Value  float64
	Labels []string
}

// Counter writes a family whose values only grow. Its name ends in "_total".
func (p *MetricsPage) Counter(name, help string, samples ...Sample) {
	p.family(name, "counter", help, samples)
}

// Gauge writes a family whose values go up and down.
func (p *MetricsPage) Gauge(name, help string, samples ...Sample) {
	p.family(name, "gauge", help, samples)
}

func (p *MetricsPage) family(name, kind, help string, samples []Sample) {
	p.head(name, kind, help)
	for _, s := range samples {
		p.sample(name, s.Value, s.Labels...)
	}
}

// NodeMetrics is the id of a node, and the counts of its requests.
type NodeMetrics struct {
	ID       string
	Requests *RequestCounts
}

// Requests writes the families of the requests to the nodes.
func (p *MetricsPage) Requests(nodes ...NodeMetrics) {
	const counts, durations = "rin_requests_total", "rin_request_duration_seconds"
	p.head(counts, "counter", "Requests by node, operation, method and class of the answer's status.")
	for _, n := range nodes {
		n.Requests.writeCounts(p, counts, []string{"node", n.ID})
	}
	p.head(durations, "histogram", "Time from a request's header to the end of its answer.")
	for _, n := range nodes {
		n.Requests.writeDurations(p, durations, []string{"node", n.ID})
	}
}

func (p *MetricsPage) head(name, kind, help string) {
	help = strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(help)
	p.text.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
}

func (p *MetricsPage) sample(name string, value float64, labels ...string) {
	p.text.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		separator := ","
		if i == 0 {
			separator = "{"
		}
		p.text.WriteString(separator + labels[i] + `="` + escape(labels[i+1]) + `"`)
	}
	if len(labels) > 1 {
		p.text.WriteString("}")
	}
	p.text.WriteString(" " + formatNumber(value) + "\n")
}

// escape escapes a label's value: backslash, quote and line end. Bytes that are not UTF-8 become U+FFFD.
func escape(value string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(value, "�"))
}

func formatNumber(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// methodLabels returns the values of the label method; the last one is for all other methods.
func methodLabels() []string { return []string{"GET", "HEAD", "POST", "OPTIONS", "other"} }

// statusClasses returns the values of the label status; the last one is for answers without a
// status.
func statusClasses() []string { return []string{"2xx", "3xx", "4xx", "5xx", "none"} }

// durationBounds returns the upper bounds of the buckets of durations: from a cached answer to one so slow that clients give
// up.
func durationBounds() []time.Duration {
	const us, ms = time.Microsecond, time.Millisecond
	return []time.Duration{100 * us, 250 * us, 500 * us, ms, 2500 * us, 5 * ms, 10 * ms, 25 * ms, 50 * ms, 100 * ms, 250 * ms, 500 * ms, time.Second, 5 * time.Second, 30 * time.Second}
}

// RequestCounts counts the requests to one node, without a lock. It is safe for concurrent use.
type RequestCounts struct {
	operations, methods, outcomes []string
	bounds                        []time.Duration
	byName                        map[string]*operation // its keys never change
}

// operation counts the requests of one operation.
type operation struct {
	byOutcome  []atomic.Uint64 // requests by method, and within a method by outcome
	byDuration []atomic.Uint64 // requests by bucket of durations, not cumulative
	nanos      atomic.Int64    // the sum of all durations
}

// NewRequestCounts makes counters for the operations; the last one also counts requests of unknown operations.
func NewRequestCounts(operations ...string) *RequestCounts {
	q := &RequestCounts{operations: operations, methods: methodLabels(), outcomes: statusClasses(), bounds: durationBounds(), byName: make(map[string]*operation, len(operations))}
	for _, name := range operations {
		q.byName[name] = &operation{byOutcome: make([]atomic.Uint64, len(q.methods)*len(q.outcomes)), byDuration: make([]atomic.Uint64, len(q.bounds)+1)}
	}
	return q
}

// Count counts a request whose answer had the status and took this long; the status is 0 without an answer.
func (q *RequestCounts) Count(name, method string, status int, took time.Duration) {
	o, known := q.byName[name]
	if !known {
		o = q.byName[q.operations[len(q.operations)-1]]
	}
	o.byOutcome[indexOrLast(q.methods, method)*len(q.outcomes)+q.outcome(status)].Add(1)
	took = max(took, 0) // the clock may have been moved meanwhile
	bucket := 0
	for bucket < len(q.bounds) && took > q.bounds[bucket] {
		bucket++
	}
	o.byDuration[bucket].Add(1)
	o.nanos.Add(int64(took))
}

func indexOrLast(list []string, value string) int {
	if i := slices.Index(list, value); i >= 0 {
		return i
	}
	return len(list) - 1
}

func (q *RequestCounts) outcome(status int) int {
	if status < 200 || status > 599 {
		return len(q.outcomes) - 1
	}
	return status/100 - 2
}

// writeCounts writes the number of requests by operation, method and class of status. Zeros are left out.
func (q *RequestCounts) writeCounts(p *MetricsPage, family string, labels []string) {
	for _, name := range q.operations {
		for i := range q.byName[name].byOutcome {
			if n := q.byName[name].byOutcome[i].Load(); n > 0 {
				method, status := q.methods[i/len(q.outcomes)], q.outcomes[i%len(q.outcomes)]
				p.sample(family, float64(n), withLabels(labels, "operation", name, "method", method, "status", status)...)
			}
		}
	}
}

// writeDurations writes the durations as a histogram. Operations without requests are left out.
func (q *RequestCounts) writeDurations(p *MetricsPage, family string, labels []string) {
	for _, name := range q.operations {
		o, labels := q.byName[name], withLabels(labels, "operation", name)
		counts, total := make([]uint64, len(o.byDuration)), uint64(0)
		for i := range o.byDuration {
			total += o.byDuration[i].Load()
			counts[i] = total
		}
		if total == 0 {
			continue
		}
		for i, bound := range q.bounds {
			p.sample(family+"_bucket", float64(counts[i]), withLabels(labels, "le", formatNumber(bound.Seconds()))...)
		}
		p.sample(family+"_bucket", float64(total), withLabels(labels, "le", "+Inf")...)
		p.sample(family+"_sum", time.Duration(o.nanos.Load()).Seconds(), labels...)
		p.sample(family+"_count", float64(total), labels...)
	}
}

// withLabels returns a copy of labels with more labels at its end.
func withLabels(labels []string, more ...string) []string { return slices.Concat(labels, more) }

// Process writes the version, memory and goroutines of the process, under the names that dashboards of Go programs expect.
func (p *MetricsPage) Process() {
	samples := []metrics.Sample{
		{Name: "/sched/goroutines:goroutines"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(samples)
	value := func(i int) Sample {
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
	p.Gauge("go_goroutines", "Goroutines that exist.", value(0))
	p.Gauge("go_memstats_heap_alloc_bytes", "Memory of objects on the heap, including unreachable objects that are not swept yet.", value(1))
	p.Gauge("go_memstats_sys_bytes", "Memory that the runtime took from the system.", value(2))
	p.Counter("go_gc_cycles_total_gc_cycles_total", "Garbage collections since the start.", value(3))
}
