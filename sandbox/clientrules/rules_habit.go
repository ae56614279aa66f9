package clientrules

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

// habitRules returns the rules about the form of queries and conditions, and about requests that the client need not send.
func habitRules() []Rule {
	return []Rule{
		{
			ID: "CLT-43", Level: Fault, Title: "A query is percent-encoded once",
			Sources: []Source{rfc(3986, "2.4"), rfc(8288, "3.1"), network(15)},
			Why:     "Encoded twice, [ is %255B: the node decodes once, does not know the parameter, and answers as if it were not there, with the whole list.",
			Fix:     "use the target of a link as it is; where a library takes names and values, decode them first, because the library encodes them",
			check:   doubleEncodings,
		},
		{
			ID: "CLT-44", Level: Note, Title: "304 speaks of one page, not of the list",
			Sources: []Source{rfc(9110, "13.1.2"), rfc(9110, "15.4.5")},
			Why:     "The ETag of the first page says nothing about the others: a record that changes on a later page is never read again.",
			Fix: "keep the ETag and the next link of each page, ask for each page with its own ETag, and after 304 go on with the stored link; ignore this note if only the first page matters, " +
				"or if a cache answers for the others",
			check: confirmedBeginnings,
		},
		{
			ID: "CLT-45", Level: Waste, Title: "GET brings what HEAD brings: HEAD before each is needless",
			Sources: []Source{rfc(9110, "9.3.2")},
			Why:     "The answer to GET has the same header fields: the HEAD before it doubles the requests, and rate limits come sooner.",
			Fix:     "send GET alone, and take Link and ETag from its answer; to learn whether something has changed, send GET with If-None-Match",
			check:   doubledReads,
		},
		{
			ID: "CLT-46", Level: Waste, Title: "If-Modified-Since has a date in the form of HTTP",
			Sources: []Source{rfc(9110, "5.6.7"), rfc(9110, "13.1.3")},
			Why:     "A server ignores a date in another form, so that it sends everything each time.",
			Fix: "send the Last-Modified of the stored copy as it came, such as Sun, 06 Nov 1994 08:49:37 GMT, with GMT and not +0000; or better, send the ETag as If-None-Match. " +
				"Without a stored copy, send no condition",
			check: each(hasOddDate, func(e *request) string { return requestLine(e) + " had If-Modified-Since: " + e.IfModifiedSince }),
		},
		{
			ID: "CLT-47", Level: Note, Title: "Pages are requested as far as the list goes",
			Sources: []Source{rfc(8288, "3"), practice("its lists grow and shrink")},
			Why:     "A client that requests a fixed number of pages sends many requests for nothing, and loses records as soon as the list is longer.",
			Fix:     "request a few pages at a time, and no more as soon as one has no rel=\"next\"; ignore this note if the client does so and the list was short",
			check: func(all history) []Sighting {
				return all.guessedPages(func(avoidable, workers int) bool {
					return avoidable >= workers && avoidable >= severalGuesses && !isFarTooMany(avoidable, workers)
				})
			},
		},
		{
			ID: "CLT-48", Level: Note, Title: "A pause holds for all connections of a client",
			Sources: []Source{rfc(9110, "10.2.3"), rfc(6585, "4")},
			Why:     "The limit of a node counts all requests of a client: those that its other connections send during the pause prolong it, and are refused, too.",
			Fix:     "keep the time of the latest Retry-After where all workers look before each request; ignore this note if they do, and had not heard of it yet",
			check:   lonelyPauses,
		},
	}
}

// isEncodedTwice reports whether a name or a value is still percent-encoded after it has been decoded: it has escapes, and no characters that an encoder
// would have escaped. A URL or a text with a percent sign of its own has such characters.
func isEncodedTwice(decoded string) bool {
	plain, err := url.PathUnescape(decoded)
	encoded := !strings.ContainsFunc(decoded, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-._~%+", c))
	})
	return err == nil && plain != decoded && encoded
}

// doubledNames lists the names of unknown parameters that were encoded twice.
func doubledNames(e *request) []string {
	var names []string
	for _, name := range e.Ignored {
		if isEncodedTwice(name) {
			names = append(names, name)
		}
	}
	return names
}

// hasDoubledValue reports whether a request was refused because of a parameter whose value was encoded twice. A value that the node accepts may have
// percent signs of its own, such as a URL in a query.
func hasDoubledValue(e *request) bool {
	if e.Status != http.StatusBadRequest || e.Refusal == nil || e.Refusal.Parameter == "" || isDescribed(e) {
		return false
	}
	return isEncodedTwice(parameter(e.Query, func(name string) bool { return name == e.Refusal.Parameter }))
}

// doubleEncodings finds queries that were percent-encoded twice.
func doubleEncodings(all history) []Sighting {
	var seen []Sighting
	for i, e := range all.requests {
		switch names := doubledNames(e); {
		case len(names) > 0:
			seen = append(seen, Sighting{fmt.Sprintf("%s: the node read the parameter %s", requestLine(e), strings.Join(names, ", ")), all.requests[i : i+1 : i+1]})
		case hasDoubledValue(e):
			seen = append(seen, Sighting{requestLine(e) + ": " + detail(e), all.requests[i : i+1 : i+1]})
		}
	}
	return seen
}

// confirmedBeginnings finds clients that have read a list to a later page, and later end with a 304 for its first page. It excuses clients that have read the
// first page alone before, because they want no more, and clients that also send conditions for later pages, because they may read them in any order.
func confirmedBeginnings(all history) []Sighting {
	if !all.has(func(e *request) bool { return e.Status == http.StatusNotModified }) {
		return nil
	}
	var seen []Sighting
	readers := map[int]int{}  // by list: the program that has read several pages
	excused := map[int]bool{} // by list
	for _, e := range all.requests {
		if isPaged(e) && !isFirstPage(e) && e.IfNoneMatch != "" {
			excused[e.list] = true
		}
	}
	for _, walk := range all.walks {
		last := walk[len(walk)-1]
		begun := walk.has(func(e *request) bool {
			return e.Status == http.StatusOK && isServedPage(e) && isFirstPage(e) && e.Page.Next
		})
		switch isLong := walk.has(func(e *request) bool { return !isFirstPage(e) }); {
		case isLong && begun:
			readers[last.list] = last.program
		case isLong:
		case begun:
			excused[last.list] = true
		case !excused[last.list] && readers[last.list] == last.program && last.Status == http.StatusNotModified && isServedPage(last) && last.Page.Next && len(last.Deviations) == 0:
			seen = append(seen, Sighting{requestLine(last) + " was answered 304, and no later page was requested after it", requests{last}})
		}
	}
	return seen
}

// doubledReads finds programs that send HEAD before each GET, for several resources. A program that does not send the GET each time learns something from HEAD.
func doubledReads(all history) []Sighting {
	const soon = 5 * time.Second
	if !all.has(func(e *request) bool { return e.Method == http.MethodHead }) {
		return nil
	}
	reads := all.filter(func(e *request) bool { return isAPI(e) && (e.Method == http.MethodGet || e.Method == http.MethodHead) })
	var seen []Sighting
	for _, group := range groupBy(reads, func(e *request) int { return e.program }) {
		var pairs requests
		targets, lonely := 0, 0
		for _, same := range groupBy(group, func(e *request) int { return e.target }) {
			before := len(pairs)
			for i, head := range same {
				if head.Method != http.MethodHead || head.Status != http.StatusOK {
					continue
				}
				if next := same[i+1:].firstFollowing(head); next != nil && next.Method == http.MethodGet && next.Time.Sub(head.Ended) < soon {
					pairs = append(pairs, head, next)
				} else {
					lonely++
				}
			}
			if len(pairs) > before {
				targets++
			}
		}
		if lonely == 0 && targets >= habitLength {
			seen = append(seen, Sighting{fmt.Sprintf("%s came before a GET of the same, and so did HEAD for %s", requestLine(pairs[0]),
				plural(targets-1, "other resource")), pairs})
		}
	}
	return seen
}

// firstFollowing returns the first of the requests that began after the answer to e had been sent; nil without one.
func (all requests) firstFollowing(e *request) *request {
	for _, later := range all {
		if follows(e, later) {
			return later
		}
	}
	return nil
}

// hasOddDate reports whether the only condition of a request is a date in a form that HTTP does not have. The old forms are not blamed, because servers
// must read them. A described API may have sent its client any text as Last-Modified.
func hasOddDate(e *request) bool {
	if e.IfModifiedSince == "" || e.IfNoneMatch != "" || !isAPI(e) || e.Operation == journal.Call || len(e.Deviations) > 0 {
		return false
	}
	_, err := http.ParseTime(e.IfModifiedSince)
	return err != nil && !isShortened(e.IfModifiedSince)
}

// hasOddTag reports whether the If-None-Match of a request is not a list of entity tags. A described API may have sent its client a tag in an odd form, so
// that only missing quotes count there.
func hasOddTag(e *request) bool {
	switch tags := e.IfNoneMatch; {
	case tags == "", tags == "*", isShortened(tags):
		return false
	case e.Operation == journal.Call || len(e.Deviations) > 0:
		return !strings.Contains(tags, `"`)
	default:
		return !isTagList(tags)
	}
}

// isTagList reports whether a text is a list of entity tags (RFC 9110 §8.8.3).
func isTagList(text string) bool {
	for {
		if text = strings.TrimLeft(text, " \t,"); text == "" {
			return true
		}
		opened, isOpened := strings.CutPrefix(strings.TrimPrefix(text, "W/"), `"`)
		_, rest, isClosed := strings.Cut(opened, `"`)
		text = strings.TrimLeft(rest, " \t")
		if !isOpened || !isClosed || text != "" && text[0] != ',' {
			return false
		}
	}
}

// isShortened reports whether the journal holds only the beginning of a text.
func isShortened(text string) bool { return strings.HasSuffix(text, "…") }

const (
	// severalGuesses is the number of needless pages from which on a client seems to guess how long a list is.
	severalGuesses = 4
	// manyGuesses is a number of pages past the end that no client needs to find the end
	// of a list.
	manyGuesses = 20
)

// isFarTooMany reports whether a client with this number of workers can have sent this number of avoidable requests only by guessing.
func isFarTooMany(avoidable, workers int) bool {
	return avoidable >= manyGuesses && avoidable >= 3*workers
}

// guessedPages finds lists of which a concurrent program requested more pages past the end than pages with records. It counts as avoidable the requests that
// the program sent after an answer had shown the end; fits decides by their number and by the number of workers.
func (all history) guessedPages(fits func(avoidable, workers int) bool) []Sighting {
	isPlain := func(e *request) bool {
		return isServedPage(e) && len(e.Deviations) == 0 && e.Method == http.MethodGet && e.Page.Size > 0
	}
	if !all.has(func(e *request) bool { return e.concurrent && isPastEnd(e) }) {
		return nil
	}
	linked := map[string]bool{} // the nodes whose pages have links
	for _, e := range all.requests {
		if isPaged(e) && isPlain(e) && e.Page.Next {
			linked[e.Node] = true
		}
	}
	var seen []Sighting
	for _, walk := range all.walks {
		if !linked[walk[0].Node] || !walk.has(func(e *request) bool { return isPlain(e) && isPastEnd(e) && e.concurrent }) {
			continue
		}
		pages := walk.filter(isPlain)
		var end *request // the first answer that shows the end
		for _, e := range pages {
			if !e.Page.Next && (end == nil || e.Number < end.Number) {
				end = e
			}
		}
		var avoidable requests // the requests for pages past the end that came after it
		connections, useful, needless := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for _, e := range pages {
			connections[e.Peer] = true
			switch {
			case !isPastEnd(e):
				useful[e.position] = true
			case !needless[e.position]:
				needless[e.position] = true
				if follows(end, e) {
					avoidable = append(avoidable, e)
				}
			}
		}
		if workers := max(len(connections), walk.inFlight()); len(needless) > len(useful) && fits(len(avoidable), workers) {
			seen = append(seen, Sighting{fmt.Sprintf("%s and %s were past the end, %d of them requested after an answer had shown it; %s had records", requestLine(avoidable[0]),
				plural(len(needless)-1, "more page"), len(avoidable), plural(len(useful), "page")), append(avoidable[:len(avoidable):len(avoidable)], end)})
		}
	}
	return seen
}

// lonelyPauses finds waits that Retry-After asked for, and during which several other connections of the same program went on from request to request.
// It skips the waits that earlyRetries already reports.
func lonelyPauses(all history) []Sighting {
	const (
		chain   = 3 // requests on a connection: the first two may come from workers that did not know of the pause yet
		several = 2 // connections
	)
	if !all.has(func(e *request) bool { return isThrottled(e) && e.concurrent }) {
		return nil
	}
	blamed := map[*request]bool{}
	for _, s := range earlyRetries(all) {
		blamed[s.Entries[0]] = true
	}
	var seen []Sighting
	until := map[int]time.Time{} // by program: the end of the wait that was looked at last
	for i, e := range all.requests {
		at, known := retryTime(e)
		if !isThrottled(e) || !known || !e.concurrent || blamed[e] || isDescribed(e) || isTokenRequest(e) || e.Authorization.Print == "" || e.Time.Before(until[e.program]) {
			continue
		}
		until[e.program] = at
		others := map[string]requests{} // by connection
		for _, other := range all.requests[i+1:] {
			if !other.Time.Before(at.Add(-tolerance)) {
				break
			}
			if other.program == e.program && other.Node == e.Node && other.Peer != e.Peer && isAPI(other) && other.Authorization.Print != "" && follows(e, other) {
				others[other.Peer] = append(others[other.Peer], other)
			}
		}
		maps.DeleteFunc(others, func(_ string, some requests) bool { return len(some) < chain })
		if len(others) < several {
			continue
		}
		followed := requests{e}
		for _, peer := range slices.Sorted(maps.Keys(others)) {
			followed = append(followed, others[peer]...)
		}
		seen = append(seen, Sighting{fmt.Sprintf("%s was answered %d with Retry-After: %s, and %d requests followed on %s", requestLine(e), e.Status, e.RetryAfter,
			len(followed)-1, plural(len(others), "other connection")), followed})
	}
	return seen
}
