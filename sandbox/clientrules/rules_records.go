package clientrules

import (
	"fmt"
	"slices"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

// recordRules returns the rules about lists whose pages do not fit together.
func recordRules() []Rule {
	return []Rule{
		{
			ID: "CLT-30", Level: Fault, Title: "The pages of a list fit together",
			Sources: []Source{network(15), practice("some nodes count items, some count pages, some of them from 0")},
			Why:     "A client that takes an offset for a page number, or the reverse, reads records twice or skips them.",
			Fix:     "follow rel=\"next\"; without links read in the node's document whether the parameter counts items or pages, and where it begins",
			check:   misplacedPages,
		},
	}
}

// persistenceRules returns the rules about clients that go on when they should stop, or stop when they should go on.
func persistenceRules() []Rule {
	return []Rule{
		{
			ID: "CLT-31", Level: Fault, Title: "A client stops when its new tokens are refused",
			Sources: []Source{rfc(6750, "3.1"), rfc(9700, "2.2")},
			Why:     "A third new token is refused for the same reason as the second: audience, key or clock are wrong, and the client loops forever.",
			Fix:     "after a second refusal in a row stop, and report the error_description",
			check:   refusedTokens,
		},
		{
			ID: "CLT-32", Level: Waste, Title: "A large list is read again with If-None-Match",
			Sources: []Source{rfc(9110, "13.1.2")},
			Why:     "The node sends the whole list each time, although most days nothing has changed.",
			Fix:     "keep the ETag of the answer, send it as If-None-Match, and keep the old list after 304",
			check:   repeatedLists,
		},
		{
			ID: "CLT-33", Level: Fault, Title: "A call answered with Retry-After is repeated after the wait",
			Sources: []Source{rfc(9110, "10.2.3"), rfc(6585, "4")},
			Why:     "429 and 503 with Retry-After are a matter of seconds. A client that gives up at the first one fails at each busy node.",
			Fix:     "wait as long as Retry-After says, repeat the call, and give up only after several such answers",
			check:   abandonedWaits,
		},
		{
			ID: "CLT-34", Level: Waste, Title: "An ETag is sent back as it came, and the copy is used after 304",
			Sources: []Source{rfc(9110, "8.8.3"), rfc(9110, "15.4.5")},
			Why:     "An ETag without its quotes never matches, and a copy that is fetched again after 304 was cached in vain: the node sends the list each time.",
			Fix:     "keep the ETag with its quotes and a leading W/, send it as If-None-Match, and after 304 go on with the stored copy",
			check:   uselessConditions,
		},
	}
}

// misplacedPages finds walks whose pages overlap, leave gaps, begin after the first item, or go on with another filter.
func misplacedPages(all history) []Sighting {
	seen := all.changedFilters()
	for _, walk := range all.walks {
		pages := walk.sortedPages(func(e *request) bool { return isServedPage(e) && e.Page.Size > 0 && e.Method == "GET" })
		pages = slices.CompactFunc(pages, func(a, b *request) bool { return a.Page.Start == b.Page.Start })
		if len(pages) < 2 || walk.lostPage() != nil {
			continue
		}
		var overlaps, gaps requests
		for i, e := range pages[1:] {
			before := pages[i]
			switch end := before.Page.Start + before.Page.Items; {
			case end > e.Page.Start && before.Page.Size == e.Page.Size:
				overlaps = append(overlaps, e)
			case max(end, before.Page.Start+before.Page.Size) < e.Page.Start && before.Page.Next: // a fault may have shortened the page
				gaps = append(gaps, e)
			}
		}
		// One overlap or gap may be intended, for example by a person who jumps to a page.
		switch first := pages[0]; {
		case len(overlaps) >= 2:
			seen = append(seen, Sighting{requestLine(overlaps[0]) + " repeats records of the page before, and so do later pages", overlaps})
		case len(gaps) >= 2:
			seen = append(seen, Sighting{requestLine(gaps[0]) + " skips records after the page before, and so do later pages", gaps})
		case first.position == "1" && first.Page.Start > 0:
			seen = append(seen, Sighting{fmt.Sprintf("%s was the first page, and began after %s", requestLine(first), plural(first.Page.Start, "record")), requests{first}})
		}
	}
	return seen
}

// changedFilters finds lists that go on with another filter: the client read only the first page of the one list, and all but the first page of the other.
func (all history) changedFilters() []Sighting {
	type place struct{ resource, start, size int }
	lonely := map[place]*request{} // the first pages after which nothing was read in their lists, by the place where the next page begins
	begun := map[int]bool{}        // the lists of which the first page was read
	for _, walk := range all.walks {
		begun[walk[0].list] = begun[walk[0].list] || walk.hasServedFirstPage()
		if walk.has(func(e *request) bool { return !isFirstPage(e) }) {
			continue
		}
		for _, e := range walk {
			if isServedPage(e) && e.Page.Next {
				lonely[place{e.resource, e.Page.Size, e.Page.Size}] = e
			}
		}
	}
	var seen []Sighting
	for _, walk := range all.walks {
		if begun[walk[0].list] {
			continue
		}
		for _, e := range walk.sortedPages(isServedPage) {
			if before := lonely[place{e.resource, e.Page.Start, e.Page.Size}]; before != nil && follows(before, e) {
				seen = append(seen, Sighting{requestLine(e) + " goes on after " + requestLine(before) + ", but with another filter", requests{e, before}})
				break
			}
		}
	}
	return seen
}

// anotherRun is the time after a refusal from which on a new token counts as part of
// another run of the program.
const anotherRun = 30 * time.Second

// refusedTokens finds clients that fetched one new token after the other although all were refused.
func refusedTokens(all history) []Sighting {
	const (
		enough  = 2 // the first token, and a second one after its refusal
		several = 6 // for several calls: other processes with the same credentials may make them
	)
	var seen []Sighting
	for _, node := range all.nodes {
		issued := map[string]*request{}
		var refused, run requests
		flush := func() {
			most := 0 // for one call
			for _, group := range groupBy(refused, subjectOf) {
				most = max(most, len(group))
			}
			if len(refused) > several {
				most = len(refused)
			}
			// Each worker may fetch a second token.
			if most > enough && most > enough*max(1, node.inFlight()) {
				seen = append(seen, Sighting{fmt.Sprintf("%d new tokens in a row were refused", len(refused)), run})
			}
			refused, run = nil, nil
		}
		for _, e := range node {
			switch {
			case e.Issued != nil && e.Operation == journal.Token:
				if len(refused) > 0 && e.Time.Sub(refused[len(refused)-1].Ended) >= anotherRun {
					flush()
				}
				issued[e.Issued.Print] = e
			case isAPI(e) && isServed(e):
				flush()
			case isTokenRefused(e) && issued[e.Authorization.Print] != nil:
				grant := issued[e.Authorization.Print]
				delete(issued, e.Authorization.Print)
				if len(refused) == 0 || mayReact(refused[len(refused)-1], grant) {
					refused, run = append(refused, e), append(run, grant, e)
				}
			}
		}
		flush()
	}
	return seen
}

// largeList is the size of a list from which on it is worth a conditional request.
const largeList = 100_000

// repeatedLists finds large lists that the client read again and again, in one piece or page by page.
func repeatedLists(all history) []Sighting {
	isFull := func(e *request) bool {
		return e.Operation == journal.List && e.Method == "GET" && e.Status == 200 && isServed(e) && e.IfNoneMatch == "" && len(e.Deviations) == 0
	}
	sizes := map[int]int64{} // by list: the bytes of the pages that were read often
	for _, group := range all.repeats {
		if count, size := group.fullReads(isFull); count >= habitLength {
			sizes[group[0].list] += size
		}
	}
	var seen []Sighting
	for _, list := range groupBy(all.filter(func(e *request) bool { return sizes[e.list] >= largeList && isFull(e) }), listOf) {
		var repeated requests
		pages, size := 0, int64(0)
		for _, group := range groupBy(list, subjectOf) {
			if group = group.chain(); len(group) >= habitLength {
				repeated, pages, size = append(repeated, group...), pages+1, size+group[0].Bytes
			}
		}
		if size >= largeList {
			seen = append(seen, Sighting{fmt.Sprintf("%s was read %s, with %d kB each time, in %s", requestLine(repeated[0]), Times(len(repeated)/pages), size/1000,
				plural(pages, "request")), repeated})
		}
	}
	return seen
}

// fullReads counts the requests that fit, and returns the size of the largest answer.
func (all requests) fullReads(fits func(*request) bool) (count int, size int64) {
	for _, e := range all {
		if fits(e) {
			count, size = count+1, max(size, e.Bytes)
		}
	}
	return count, size
}

// shortWait is the longest wait that is expected of a client. After a longer Retry-After, a job may leave the call to its next run.
const shortWait = time.Minute

// abandonedWaits finds calls that the client never repeated although Retry-After had said when to repeat them.
func abandonedWaits(all history) []Sighting {
	var seen []Sighting
	for _, group := range groupBy(all.requests, func(e *request) int { return e.resource }) {
		throttled := group.filter(func(e *request) bool {
			at, known := retryTime(e)
			return isThrottled(e) && known && at.Sub(e.Ended) <= shortWait
		})
		if len(throttled) == 0 || slices.ContainsFunc(group, func(e *request) bool { return follows(throttled[0], e) }) {
			continue
		}
		first := throttled[0]
		seen = append(seen, Sighting{fmt.Sprintf("%s was answered %d with Retry-After: %s and was not repeated by the time of this report", requestLine(first),
			first.Status, first.RetryAfter), requests{first}})
	}
	return seen
}

// uselessConditions finds ETags that were not sent in their quotes, and copies that were fetched again, or requested conditionally again, right after the node had
// confirmed them.
func uselessConditions(all history) []Sighting {
	if !all.has(func(e *request) bool { return e.IfNoneMatch != "" || e.Status == 304 }) {
		return nil
	}
	seen := doubtedCopies(all)
	changes := all.filter(func(e *request) bool { return e.IfNoneMatch != "" && e.Status == 200 })
	// A client that learns from one page that the list has changed may read all of it again.
	changed := func(confirmed, e *request) bool {
		return slices.ContainsFunc(changes, func(c *request) bool {
			return c.list == e.list && c.subject != e.subject && c.program == e.program && c.Time.Before(e.Time) && confirmed.Time.Sub(c.Time) < time.Minute
		})
	}
	for _, group := range groupBy(all.filter(isAPI), subjectOf) {
		for i, e := range group {
			switch {
			case hasOddTag(e):
				seen = append(seen, Sighting{requestLine(e) + " had an If-None-Match that is not an ETag in its quotes: " + e.IfNoneMatch, requests{e}})
			case e.Status == 200 && e.IfNoneMatch == "" && i > 0 && group[i-1].Status == 304 && follows(group[i-1], e) && e.Time.Sub(group[i-1].Ended) < time.Minute && !changed(group[i-1], e):
				seen = append(seen, Sighting{requestLine(e) + " fetched the content again right after 304 had confirmed the stored copy", requests{group[i-1], e}})
			}
		}
	}
	return seen
}

// doubtedCopies finds clients that repeat a conditional request several times in a row after 304 has confirmed the copy, and do so with several resources.
// It allows polling: of one resource, or of several in rounds.
func doubtedCopies(all history) []Sighting {
	const few = 2
	var seen []Sighting
	for _, group := range groupBy(all.filter(isAPI), func(e *request) int { return e.program }) {
		var doubted requests
		resources := map[int]bool{} // by subject
		for run := range group.runs(func(e *request) bool { return e.Status == 304 }, func(before, e *request) bool {
			pause := e.Time.Sub(before.Ended) // workers that ask for the same do so at the same time
			return before.subject == e.subject && pause >= immediate && pause < time.Minute
		}) {
			if len(run) >= habitLength {
				doubted, resources[run[0].subject] = append(doubted, run...), true
			}
		}
		if len(resources) >= few {
			seen = append(seen, Sighting{fmt.Sprintf("%s was repeated after 304 had confirmed the stored copy, and so were requests for %s", requestLine(doubted[0]),
				plural(len(resources)-1, "other resource")), doubted})
		}
	}
	return seen
}
