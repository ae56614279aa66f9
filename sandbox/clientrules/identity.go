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
	// deliveryTime is how long after an answer the other workers of a concurrent program may still send requests
	// without knowing that answer.
	deliveryTime = time.Second
	// poolTimeout is how long a program may leave a connection unused and still count as the program that used it before.
	poolTimeout = 30 * time.Second
)

// newRequests prepares the entries for the rules, in the order in which the requests came.
func newRequests(entries []journal.Entry) requests {
	block, all := make([]request, len(entries)), make(requests, len(entries))
	reader := newReader()
	for i := range entries {
		block[i] = request{Entry: &entries[i], meaning: reader.meaning(&entries[i]), program: reader.program(&entries[i])}
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

// meaning is what a request asks for. Requests with the same target share it, because a journal holds few targets and many requests. Its numbers
// identify texts: equal numbers stand for equal texts.
type meaning struct {
	// subject identifies what the request asks for: the order and the encoding of query parameters do not change it. Of two requests with the same
	// subject, the later one repeats the earlier one.
	subject int
	// list identifies the list that the request reads: its node, path and query, without the parameters that choose the page and its size.
	list int
	// resource identifies node and path; target also the query.
	resource, target int
	// position and size are the values of the parameters that choose the page and its size; "" when absent.
	position, size string
}

// reader finds the meanings and the programs of requests. Each target is read once.
type reader struct {
	targets  map[target]*meaning
	queries  map[string]*query
	numbers  map[[3]string]int // of subjects, lists and resources
	programs map[source]int
}

type (
	// target has the fields of a journal entry that determine the meaning.
	target struct{ node, method, path, query string }
	// source is the connection and the User-Agent of a request.
	source struct{ peer, agent string }
)

// query is a query in its canonical form: all parameters, those that do not choose a page, and the values of those that do.
type query struct{ all, filters, position, size string }

func newReader() *reader {
	return &reader{map[target]*meaning{}, map[string]*query{}, map[[3]string]int{}, map[source]int{}}
}

// meaning returns the meaning of an entry.
func (r *reader) meaning(e *journal.Entry) *meaning {
	t := target{e.Node, e.Method, e.Path, e.Query}
	known := r.targets[t]
	if known == nil {
		q := r.query(e.Query)
		known = &meaning{
			subject: r.number(e.Node, e.Method+" "+e.Path, q.all), list: r.number(e.Node, "list "+e.Path, q.filters), resource: r.number(e.Node, e.Path, ""), target: r.number(e.Node, "any "+e.Path, q.all),
			position: q.position, size: q.size,
		}
		r.targets[t] = known
	}
	return known
}

// query returns the canonical form of a query. Each text is read once, because many targets have the same query.
func (r *reader) query(text string) *query {
	known := r.queries[text]
	if known == nil {
		known = &query{
			all:      canonical(text, func(string) bool { return true }),
			filters:  canonical(text, isFilter),
			position: parameter(text, isPositionParameter), size: parameter(text, isSizeParameter),
		}
		r.queries[text] = known
	}
	return known
}

// listName names the list that a request reads, by node, path and filters. Unlike the number of the list, it is the same in all records.
func listName(e *request) string {
	return e.Node + " " + e.Path + "?" + canonical(e.Query, isFilter)
}

// movedListName is [listName] for a list that may have moved to a path with a slash at the end.
func movedListName(e *request) string { return strings.Replace(listName(e), "/?", "?", 1) }

// isFilter reports whether a query parameter chooses neither the page nor its size.
func isFilter(name string) bool { return !isPositionParameter(name) && !isSizeParameter(name) }

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

// program returns the number of the program that sent an entry: one for each host and User-Agent, because a program uses several connections.
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

// canonical returns the parameters of a query for whose names keeps returns true, sorted and in one encoding. It leaves out credentials,
// which the journal has replaced by fingerprints ("***"), because they do not change what a request asks for.
func canonical(query string, keeps func(name string) bool) string {
	var parameters []string
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		name = journal.DecodePart(name)
		if part != "" && keeps(name) && !strings.HasPrefix(value, "***") {
			parameters = append(parameters, url.QueryEscape(name)+"="+url.QueryEscape(journal.DecodePart(value)))
		}
	}
	slices.Sort(parameters)
	return strings.Join(parameters, "&")
}

// markConcurrent finds the programs of a client that had several requests in flight at some time, and marks all their requests. The proof is that two
// requests overlapped, or that the program returned to an earlier connection: a program that sends one request after the other uses the latest one.
// A return to a shared connection proves nothing, because another client may have used it in between.
func markConcurrent(all requests, shared map[string]bool) {
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
		if used, known := lastUse[e.Peer]; known && used != lastCall && e.Time.Sub(all[used].Time) < poolTimeout {
			busy[i], busy[used] = true, true
		}
		lastUse[e.Peer], lastCall = i, i
	}
	programs := map[int]bool{} // by program
	for i, e := range all {
		if busy[i] {
			programs[e.program] = true
		}
	}
	for _, e := range all {
		e.concurrent = programs[e.program]
	}
}

// follows reports whether e began after the answer to before had been sent.
func follows(before, e *request) bool {
	return !e.Time.Before(before.Ended) && e.Number > before.Number && (e.Earliest == 0 || before.Number < e.Earliest)
}

// mayReact reports whether e may be a reaction to the answer to before. Of two requests that overlap, neither comes after the other. In a concurrent
// program, another worker may still send a request that it chose before the answer arrived.
func mayReact(before, e *request) bool {
	if !follows(before, e) {
		return false
	}
	return !before.concurrent && !e.concurrent || e.Time.Sub(before.Ended) >= deliveryTime
}

// reactions returns the requests that came after e.
func (all requests) reactions(e *request) requests {
	return all.filter(func(later *request) bool { return mayReact(e, later) })
}

// firstAfter returns the first of the requests that came after e; nil without one.
func (all requests) firstAfter(e *request) *request {
	for _, later := range all {
		if mayReact(e, later) {
			return later
		}
	}
	return nil
}

// inFlight returns the largest number of requests that were open at the same time.
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
		if value != "" && isNamed(journal.DecodePart(name)) {
			return journal.DecodePart(value)
		}
	}
	return ""
}
