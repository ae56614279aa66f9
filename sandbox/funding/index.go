package funding

import (
	"iter"
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rin-network/rin/fixtures/generate"
	"github.com/rin-network/rin/fixtures/model"
)

// index finds the records that match a filter without reading them: it has a set of records for each value of each filter. A set takes one bit
// for each record, so that the index of a million calls needs tens of megabytes.
type index struct {
	size  int
	sets  map[facet]set
	calls set // the fundings that are calls; the filter runningCalls selects among them only
	// opens and closes are the bounds of the first stage of each call, in Unix seconds; opens is included, closes excluded.
	opens, closes []int64
	running       atomic.Pointer[openCalls]
}

// facet is a value of a filter's parameter.
type facet struct{ parameter, value string }

// openCalls is the set of calls that are open at every time t with since <= t < until, in Unix seconds.
type openCalls struct {
	since, until int64
	set          set
}

// The bounds of a call that has always been open, or never closes.
const (
	always = math.MinInt64
	never  = math.MaxInt64
)

// newIndex indexes the facets of all records. It uses all processors.
func newIndex(records *generate.Generator) *index {
	x := &index{size: records.Len(), sets: map[facet]set{}, opens: make([]int64, records.Len()), closes: make([]int64, records.Len())}
	x.calls = newSet(x.size)
	parts := make([]map[facet]set, min(runtime.GOMAXPROCS(0), x.size/4096+1))
	// Each part has complete words of the sets, so that no two goroutines write to the same word of x.calls.
	words := (len(x.calls) + len(parts) - 1) / len(parts)
	var all sync.WaitGroup
	for n := range parts {
		parts[n] = map[facet]set{}
		all.Go(func() { x.addRecords(records, parts[n], n*words*64, min((n+1)*words*64, x.size)) })
	}
	all.Wait()
	for _, part := range parts {
		for f, members := range part {
			merged, ok := x.sets[f]
			if !ok {
				x.sets[f] = members
				continue
			}
			for w := range merged {
				merged[w] |= members[w]
			}
		}
	}
	return x
}

// addRecords adds the records from first to end, which is excluded, to sets, x.calls, x.opens and x.closes.
func (x *index) addRecords(records *generate.Generator, sets map[facet]set, first, end int) {
	for i := first; i < end; i++ {
		f := records.Facets(i)
		add := func(parameter, value string) {
			if value == "" {
				return
			}
			members, ok := sets[facet{parameter, value}]
			if !ok {
				members = newSet(x.size)
				sets[facet{parameter, value}] = members
			}
			members.add(i)
		}
		add(ParamType, string(f.Type))
		add(ParamScope, string(f.Scope))
		for _, group := range f.TargetGroups {
			add(ParamGroup, string(group))
		}
		for _, region := range f.Regions {
			add(ParamRegion, string(region))
		}
		for _, funder := range f.FunderIDs {
			add(ParamFunder, funder)
		}
		// Proposals can only be submitted to calls; a call without stages has no deadline and is open.
		if f.Type == model.TypeCall || f.Type == model.TypeOngoingCall {
			x.calls.add(i)
			x.opens[i], x.closes[i] = always, never
			if len(f.Stages) > 0 {
				x.opens[i] = f.Stages[0].Start.Unix()
				if end := f.Stages[0].End; !end.IsZero() {
					x.closes[i] = end.Unix()
				}
			}
		}
	}
}

// choose returns the records that match the filters of a query at the time now; nil if the query has no filter.
func (x *index) choose(q query, now time.Time) set {
	var chosen set
	restrict := func(other set) {
		switch {
		case other == nil: // a value that no record has
			chosen = newSet(x.size)
		case chosen == nil:
			chosen = append(set{}, other...)
		default:
			chosen.intersect(other)
		}
	}
	for _, f := range q.facets() {
		restrict(x.sets[f])
	}
	if q.running != "" {
		restrict(x.calls)
		if running := x.runningAt(now).set; q.running == "true" {
			chosen.intersect(running)
		} else {
			chosen.subtract(running)
		}
	}
	return chosen
}

// runningAt returns the calls that are open now. The set is cached, because calls seldom open or close.
func (x *index) runningAt(now time.Time) *openCalls {
	at := now.Unix()
	if known := x.running.Load(); known != nil && known.since <= at && at < known.until {
		return known
	}
	open := &openCalls{since: always, until: never, set: newSet(x.size)}
	// limit shortens the time in which the set is valid, because a call opens or closes at when.
	limit := func(when int64) {
		if when <= at {
			open.since = max(open.since, when)
		} else {
			open.until = min(open.until, when)
		}
	}
	for i := range x.calls.members(0) {
		if x.opens[i] <= at && at < x.closes[i] {
			open.set.add(i)
		}
		limit(x.opens[i])
		limit(x.closes[i])
	}
	x.running.Store(open)
	return open
}

// nextClosing returns when the first of the calls that are open now closes; ok is false when none does.
func (x *index) nextClosing(now time.Time) (when time.Time, ok bool) {
	at, first := now.Unix(), int64(never)
	for i := range x.calls.members(0) {
		if x.opens[i] <= at && at < x.closes[i] {
			first = min(first, x.closes[i])
		}
	}
	return time.Unix(first, 0), first != never
}

// set is a set of record numbers, one bit for each.
type set []uint64

func newSet(size int) set { return make(set, (size+63)/64) }

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

// intersect removes the members that other does not have.
func (s set) intersect(other set) {
	for w := range s {
		s[w] &= other[w]
	}
}

// subtract removes the members of other.
func (s set) subtract(other set) {
	for w := range s {
		s[w] &^= other[w]
	}
}

func (s set) len() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// members lists the members in order, without the first skip of them.
func (s set) members(skip int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for w, word := range s {
			if n := bits.OnesCount64(word); n <= skip {
				skip -= n
				continue
			}
			for ; word != 0; word &= word - 1 {
				if skip > 0 {
					skip--
					continue
				}
				if !yield(w*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
