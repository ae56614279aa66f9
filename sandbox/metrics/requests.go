package metrics

import (
	"slices"
	"sync/atomic"
	"time"
)

// methods are the values of the label of that name; what is none of them is the last.
func methods() []string { return []string{"GET", "HEAD", "POST", "OPTIONS", "other"} }

// outcomes are the classes of a status; what has none is the last.
func outcomes() []string { return []string{"2xx", "3xx", "4xx", "5xx", "none"} }

// bounds are the upper bounds of the buckets of durations, from what a kept answer takes to what a client does not wait for.
func bounds() []time.Duration {
	const us, ms = time.Microsecond, time.Millisecond
	return []time.Duration{100 * us, 250 * us, 500 * us, ms, 2500 * us, 5 * ms, 10 * ms, 25 * ms, 50 * ms, 100 * ms, 250 * ms, 500 * ms, time.Second, 5 * time.Second, 30 * time.Second}
}

// Requests counts the requests to one node. It is safe for concurrent use, and takes no lock.
type Requests struct {
	operations, methods, outcomes []string
	bounds                        []time.Duration
	of                            map[string]*operation // never changes
}

// operation counts the requests for one purpose.
type operation struct {
	answered []atomic.Uint64 // by method, and within that by outcome
	within   []atomic.Uint64 // by bucket, each alone
	nanos    atomic.Int64
}

// NewRequests makes counters for the operations; whatever else is asked for counts as the last of them.
func NewRequests(operations ...string) *Requests {
	q := &Requests{operations: operations, methods: methods(), outcomes: outcomes(), bounds: bounds(), of: make(map[string]*operation, len(operations))}
	for _, name := range operations {
		q.of[name] = &operation{answered: make([]atomic.Uint64, len(q.methods)*len(q.outcomes)), within: make([]atomic.Uint64, len(q.bounds)+1)}
	}
	return q
}

// Count counts a request that was answered with the status after some time; 0 is no status at all.
func (q *Requests) Count(name, method string, status int, took time.Duration) {
	o, known := q.of[name]
	if !known {
		o = q.of[q.operations[len(q.operations)-1]]
	}
	o.answered[index(q.methods, method)*len(q.outcomes)+q.outcome(status)].Add(1)
	took = max(took, 0) // the clock may have been moved meanwhile
	bucket := 0
	for bucket < len(q.bounds) && took > q.bounds[bucket] {
		bucket++
	}
	o.within[bucket].Add(1)
	o.nanos.Add(int64(took))
}

func index(of []string, value string) int {
	if i := slices.Index(of, value); i >= 0 {
		return i
	}
	return len(of) - 1
}

func (q *Requests) outcome(status int) int {
	if status < 200 || status > 599 {
		return len(q.outcomes) - 1
	}
	return status/100 - 2
}

// writeCounts writes how many requests there were, by operation, method and class of status. What never occurred is left out.
func (q *Requests) writeCounts(p *Page, family string, labels []string) {
	for _, name := range q.operations {
		for i := range q.of[name].answered {
			if n := q.of[name].answered[i].Load(); n > 0 {
				method, status := q.methods[i/len(q.outcomes)], q.outcomes[i%len(q.outcomes)]
				p.sample(family, float64(n), with(labels, "operation", name, "method", method, "status", status)...)
			}
		}
	}
}

// writeDurations writes how long they took, as a histogram. Operations that never occurred are left out.
func (q *Requests) writeDurations(p *Page, family string, labels []string) {
	for _, name := range q.operations {
		o, labels := q.of[name], with(labels, "operation", name)
		counts, total := make([]uint64, len(o.within)), uint64(0)
		for i := range o.within {
			total += o.within[i].Load()
			counts[i] = total
		}
		if total == 0 {
			continue
		}
		for i, bound := range q.bounds {
			p.sample(family+"_bucket", float64(counts[i]), with(labels, "le", number(bound.Seconds()))...)
		}
		p.sample(family+"_bucket", float64(total), with(labels, "le", "+Inf")...)
		p.sample(family+"_sum", time.Duration(o.nanos.Load()).Seconds(), labels...)
		p.sample(family+"_count", float64(total), labels...)
	}
}

// with adds labels to a copy.
func with(labels []string, more ...string) []string { return slices.Concat(labels, more) }
