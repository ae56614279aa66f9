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

// index finds the records of a filter without reading them: it has a set for each value of each filter. A record takes a few bits, so that a
// million calls need tens of megabytes.
type index struct {
	size  int
	sets  map[facet]set
	calls set // those that run or do not run
	// opens and closes are the first stage of each call, in Unix seconds; opens is included, closes excluded.
	opens, closes []int64
	running       atomic.Pointer[moment]
}

// facet is a value of a filter's parameter.
type facet struct{ parameter, value string }

// moment is the set of calls that are open from since to before until, in Unix seconds.
type moment struct {
	since, until int64
	set          set
}

// These are the unlimited times.
const (
	always = math.MinInt64
	never  = math.MaxInt64
)

// newIndex reads the facets of all records, on all processors.
func newIndex(records *generate.Generator) *index {
	x := &index{size: records.Len(), sets: map[facet]set{}, opens: make([]int64, records.Len()), closes: make([]int64, records.Len())}
	x.calls = newSet(x.size)
	parts := make([]map[facet]set, min(runtime.GOMAXPROCS(0), x.size/4096+1))
	// Each processor gets merged words, so that no two write to the same one.
	words := (len(x.calls) + len(parts) - 1) / len(parts)
	var all sync.WaitGroup
	for n := range parts {
		parts[n] = map[facet]set{}
		all.Go(func() { x.draw(records, parts[n], n*words*64, min((n+1)*words*64, x.size)) })
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

// draw enters the records from first to before end.
func (x *index) draw(records *generate.Generator, sets map[facet]set, first, end int) {
	for i := first; i < end; i++ {
		f := records.Facets(i)
		enter := func(parameter, value string) {
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
		enter(ParamType, string(f.Type))
		enter(ParamScope, string(f.Scope))
		for _, group := range f.TargetGroups {
			enter(ParamGroup, string(group))
		}
		for _, region := range f.Regions {
			enter(ParamRegion, string(region))
		}
		for _, funder := range f.FunderIDs {
			enter(ParamFunder, funder)
		}
		// Proposals can be submitted to calls alone; a call without stages has no deadline and is open.
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

// choose returns the records that match a query at the time now.
func (x *index) choose(q query, now time.Time) set {
	var chosen set
	keep := func(other set) {
		switch {
		case other == nil: // a value that no record has
			chosen = newSet(x.size)
		case chosen == nil:
			chosen = append(set{}, other...)
		default:
			chosen.and(other)
		}
	}
	for _, f := range q.facets() {
		keep(x.sets[f])
	}
	if q.running != nil {
		keep(x.calls)
		if running := x.runningAt(now).set; *q.running {
			chosen.and(running)
		} else {
			chosen.without(running)
		}
	}
	return chosen
}

// runningAt returns the moment of now. Calls open and close seldom, so that it is cached.
func (x *index) runningAt(now time.Time) *moment {
	at := now.Unix()
	if known := x.running.Load(); known != nil && known.since <= at && at < known.until {
		return known
	}
	m := &moment{since: always, until: never, set: newSet(x.size)}
	turn := func(when int64) {
		if when <= at {
			m.since = max(m.since, when)
		} else {
			m.until = min(m.until, when)
		}
	}
	for i := range x.calls.from(0) {
		if x.opens[i] <= at && at < x.closes[i] {
			m.set.add(i)
		}
		turn(x.opens[i])
		turn(x.closes[i])
	}
	x.running.Store(m)
	return m
}

// closing returns when the first of the calls that are open at a moment closes; ok is false when none does.
func (x *index) closing(now time.Time) (when time.Time, ok bool) {
	at, first := now.Unix(), int64(never)
	for i := range x.calls.from(0) {
		if x.opens[i] <= at && at < x.closes[i] {
			first = min(first, x.closes[i])
		}
	}
	return time.Unix(first, 0), first != never
}

// set is a set of records by index, one bit for each.
type set []uint64

func newSet(size int) set { return make(set, (size+63)/64) }

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

// and keeps the members that other has, too.
func (s set) and(other set) {
	for w := range s {
		s[w] &= other[w]
	}
}

// without removes the members of other.
func (s set) without(other set) {
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

// from lists the members in order, without the first skip.
func (s set) from(skip int) iter.Seq[int] {
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
