package clientrules

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

const (
	// delivery is how long an answer may take to stop the other workers of a concurrent program: they are many, and on a busy machine.
	delivery = time.Second
	// pooled is how long a client may keep a connection unused and still be known as the one that used it before.
	pooled = 30 * time.Second
)

// newRequests prepares the entries for the rules, in the order in which the requests came.
func newRequests(entries []journal.Entry) requests {
	block, all := make([]request, len(entries)), make(requests, len(entries))
	meanings := newReader()
	for i := range entries {
		block[i] = request{Entry: &entries[i], meaning: meanings.target(&entries[i]), program: meanings.program(&entries[i])}
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

// meaning is what a request asks for. Requests with the same target share it, because a journal holds few targets and many requests. Equal numbers mean
// equal things.
type meaning struct {
	// subject identifies what the request asks for: the order and the encoding of query parameters do not change it. Of two requests with the same
	// subject, the later one repeats the earlier one.
	subject int
	// list identifies the list that the request reads: its node, path and query, without the parameters that choose the page and its size.
	list int
	// resource identifies node and path.
	resource int
	// place and size are the parameters that choose the page and its size; "" when absent.
	place, size string
}

// reader finds the meanings and the programs of requests. Each target is read once.
type reader struct {
	targets  map[target]*meaning
	queries  map[string]*query
	numbers  map[[3]string]int // of subjects, lists and resources
	programs map[source]int
}

// target is what a request asks for, as the journal has it; source is the connection and program that sent it.
type (
	target struct{ node, method, path, query string }
	source struct{ peer, agent string }
)

// query is the query of a target, in one order and encoding: all of it, and the part that chooses no page.
type query struct{ all, filters, place, size string }

func newReader() *reader {
	return &reader{map[target]*meaning{}, map[string]*query{}, map[[3]string]int{}, map[source]int{}}
}

// target returns the meaning of an entry.
func (r *reader) target(e *journal.Entry) *meaning {
	at := target{e.Node, e.Method, e.Path, e.Query}
	known := r.targets[at]
	if known == nil {
		q := r.query(e.Query)
		known = &meaning{
			subject: r.number(e.Node, e.Method+" "+e.Path, q.all), list: r.number(e.Node, "list "+e.Path, q.filters), resource: r.number(e.Node, e.Path, ""),
			place: q.place, size: q.size,
		}
		r.targets[at] = known
	}
	return known
}

// query returns what a query means. Few of them differ beside many paths.
func (r *reader) query(text string) *query {
	known := r.queries[text]
	if known == nil {
		known = &query{
			all:     canonical(text, func(string) bool { return true }),
			filters: canonical(text, func(name string) bool { return !isPlaceParameter(name) && !isSizeParameter(name) }),
			place:   parameter(text, isPlaceParameter), size: parameter(text, isSizeParameter),
		}
		r.queries[text] = known
	}
	return known
}

// number returns a number for three texts. The same texts get the same number.
func (r *reader) number(texts ...string) int {
	key := [3]string(texts)
	known, ok := r.numbers[key]
	if !ok {
		known = len(r.numbers) + 1
		r.numbers[key] = known
	}
	return known
}

// program returns the number of the program that sent an entry. A machine runs several programs with several connections each.
func (r *reader) program(e *journal.Entry) int {
	from := source{e.Peer, e.Agent}
	known, ok := r.programs[from]
	if !ok {
		host, _, err := net.SplitHostPort(e.Peer)
		if err != nil {
			host = e.Peer
		}
		known = r.number("program", host, e.Agent)
		r.programs[from] = known
	}
	return known
}

// canonical writes the parameters of a query that are kept in one order and encoding. A credential, of which the journal has only the fingerprint, does
// not change what a request asks for.
func canonical(query string, keeps func(name string) bool) string {
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if name = decode(name); part != "" && keeps(name) && !strings.HasPrefix(value, "***") {
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
	concurrent := map[int]bool{} // by program
	for i, e := range all {
		if busy[i] {
			concurrent[e.program] = true
		}
	}
	for _, e := range all {
		e.crowded = concurrent[e.program]
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
func parameter(query string, isNamed func(name string) bool) string {
	for part := range strings.SplitSeq(query, "&") {
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
