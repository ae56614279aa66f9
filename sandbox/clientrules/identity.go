package clientrules

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

const (
	// delivery is how long an answer may take to stop the other workers of a concurrent program: they are many, and on a busy machine.
	delivery = 500 * time.Millisecond
	// pooled is how long a client may keep a connection unused and still be known as the one that used it before.
	pooled = 30 * time.Second
)

// newRequests prepares the entries for the rules, in the order in which the requests came.
func newRequests(entries []journal.Entry) requests {
	block, all := make([]request, len(entries)), make(requests, len(entries))
	for i := range entries {
		block[i] = request{Entry: &entries[i], subject: subjectOf(&entries[i])}
		all[i] = &block[i]
	}
	slices.SortStableFunc(all, func(a, b *request) int {
		if order := a.Time.Compare(b.Time); order != 0 {
			return order
		}
		return int(int64(a.Number) - int64(b.Number))
	})
	return all
}

// subjectOf returns the subject of a request: the order and the encoding of query parameters do not change what it asks for.
func subjectOf(e *journal.Entry) string {
	target := e.Node + " " + e.Method + " " + e.Path
	if e.Query == "" {
		return target
	}
	return target + "?" + meaning(e.Query, func(string) bool { return true })
}

// meaning writes the parameters of a query that are kept in one order and encoding.
func meaning(query string, keeps func(name string) bool) string {
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if name = decode(name); part != "" && keeps(name) {
			kept = append(kept, url.QueryEscape(name)+"="+url.QueryEscape(decode(value)))
		}
	}
	slices.Sort(kept)
	return strings.Join(kept, "&")
}

// markCrowds finds out which programs of a client had several requests in flight at some time. Either two requests overlapped, or connections were used in
// turn: a program that sends one request after the other has no reason to return to an earlier connection. That says nothing of a shared connection, to
// which a pool returns when another client has released it.
func markCrowds(all requests, shared map[string]bool) {
	busy := make([]bool, len(all))
	var ended time.Time
	var newest uint64
	lastUse := map[string]int{} // by connection: the index of the last call
	lastCall := -1
	for i, e := range all {
		// With a clock that stands still, only the numbers show the overlap.
		busy[i] = i > 0 && (ended.After(e.Time) || e.Earliest > 0 && newest >= e.Earliest)
		if e.Ended.After(ended) {
			ended = e.Ended
		}
		newest = max(newest, e.Number)
		if !isAPI(e) || shared[e.Peer] {
			continue
		}
		if used, known := lastUse[e.Peer]; known && used != lastCall && e.Time.Sub(all[used].Time) < pooled {
			busy[i], busy[used] = true, true
		}
		lastUse[e.Peer], lastCall = i, i
	}
	concurrent := map[string]bool{} // by program
	for i, e := range all {
		concurrent[program(e)] = concurrent[program(e)] || busy[i]
	}
	for _, e := range all {
		e.crowded = concurrent[program(e)]
	}
}

// follows reports whether e began after the answer to before had been sent.
func follows(before, e *request) bool {
	return !e.Time.Before(before.Ended) && e.Number > before.Number && (e.Earliest == 0 || before.Number < e.Earliest)
}

// after reports whether e may be a reaction to the answer to before. Of two concurrent requests, neither comes after the other. In a client with several
// requests in flight, another worker may send what it had decided on before the answer was delivered.
func after(before, e *request) bool {
	if !follows(before, e) {
		return false
	}
	return !before.crowded && !e.crowded || e.Time.Sub(before.Ended) >= delivery
}

// reactions returns those of the requests that came after e.
func (all requests) reactions(e *request) requests {
	return all.where(func(later *request) bool { return after(e, later) })
}

// firstAfter returns the first of the requests that came after e; nil without one.
func (all requests) firstAfter(e *request) *request {
	for _, later := range all {
		if after(e, later) {
			return later
		}
	}
	return nil
}

// inFlight returns how many of the requests were open at once, at most.
func (all requests) inFlight() int {
	ends := make([]time.Time, len(all))
	for i, e := range all {
		ends[i] = e.Ended
	}
	slices.SortFunc(ends, time.Time.Compare)
	most, ended := 0, 0
	for i, e := range all {
		for ended < i && !ends[ended].After(e.Time) {
			ended++
		}
		most = max(most, i+1-ended)
	}
	return most
}

// parameter returns the first value of a query parameter whose name fits, "" when absent.
func parameter(e *request, isNamed func(name string) bool) string {
	for part := range strings.SplitSeq(e.Query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if value != "" && isNamed(decode(name)) {
			return decode(value)
		}
	}
	return ""
}

// decode decodes a part of a query; it returns a malformed part as it is.
func decode(part string) string {
	if !strings.ContainsAny(part, "%+") {
		return part
	}
	if plain, err := url.QueryUnescape(part); err == nil {
		return plain
	}
	return part
}
