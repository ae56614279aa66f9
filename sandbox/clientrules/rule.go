package clientrules

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

// Level says how bad a finding is.
type Level string

// The levels, the worst first.
const (
	// Fault breaks a rule, reveals a secret, or loses data.
	Fault Level = "fault"
	// Waste is legal, but costs the client or the node more than needed.
	Waste Level = "waste"
	// Note is worth knowing and may be intended.
	Note Level = "note"
)

// Levels lists all levels, the worst first.
func Levels() []Level { return []Level{Fault, Waste, Note} }

// AtLeast reports whether l is as bad as the other level, or worse.
func (l Level) AtLeast(other Level) bool {
	return slices.Index(Levels(), l) <= slices.Index(Levels(), other)
}

// ID is the id of a rule, such as CLT-01. It is never reused or given to another rule.
type ID string

// Source is a place in a text from which a rule follows.
type Source struct {
	// Text names the place: "RFC 6750 §2.3".
	Text string `json:"text"`
	// Link is its URL, if it is published.
	Link string `json:"link,omitempty"`
}

// Rule is one rule for clients.
type Rule struct {
	ID    ID
	Title string
	Level Level
	// Sources are the texts from which the rule follows, the most binding first.
	Sources []Source
	// Why says what happens to a client that breaks the rule, Fix how to follow it.
	Why, Fix string
	// check finds the breaches in the requests of one client.
	check func(history) []Sighting
}

// Sighting is one breach of a rule, by one request or by several in a row.
type Sighting struct {
	// What describes the breach.
	What string `json:"what"`
	// Entries are the requests that show the breach.
	Entries []*request `json:"-"`
}

// Catalogue lists all rules in the order of their ids.
func Catalogue() []Rule {
	return slices.Concat(tokenRules(), secrecyRules(), grantRules(), bearerRules(), patienceRules(), requestRules(), pagingRules(), headerRules(), recordRules(), persistenceRules(), economyRules(), habitRules(), copyRules(), boundRules())
}

// Find returns the rule of an id.
func Find(id ID) (Rule, bool) {
	for _, r := range Catalogue() {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}

// rfc returns a section of an RFC as a source.
func rfc(number int, section string) Source {
	return Source{fmt.Sprintf("RFC %d §%s", number, section), fmt.Sprintf("https://www.rfc-editor.org/rfc/rfc%d#section-%s", number, section)}
}

// network returns a rule of the network's interface document as a source.
func network(rule int) Source { return Source{Text: fmt.Sprintf("NET-R%d", rule)} }

// practice returns a usual behaviour of clients or nodes as a source.
func practice(habit string) Source { return Source{Text: "practice of the network: " + habit} }

// requests holds requests of one client, in the order in which they came.
type requests []*request

// request is an entry of the journal with values that several rules derive from it.
type request struct {
	*journal.Entry
	*meaning
	// program identifies the program that sent the request, and its machine.
	program int
	// concurrent reports that the program had several requests in flight at some time.
	concurrent bool
}

// history is what the rules see of one client: its requests, and the groups of requests that several rules look at.
type history struct {
	requests
	// repeats are the requests by their subject.
	repeats []requests
	// walks are the reads of lists, page by page.
	walks []requests
	// nodes are the requests by node.
	nodes []requests
	// aims is what the program wanted in earlier runs.
	aims aims
}

func newHistory(all requests, aims aims) history {
	return history{all, groupBy(all, subjectOf), walks(all), groupBy(all, func(e *request) string { return e.Node }), aims}
}

// has reports whether one of the requests fits. Costly rules call it first, because few clients break them.
func (all requests) has(fits func(*request) bool) bool { return slices.ContainsFunc(all, fits) }

// filter returns the requests that fit. If all fit, it returns the same slice, so callers must not change the result.
func (all requests) filter(fits func(*request) bool) requests {
	first := slices.IndexFunc(all, func(e *request) bool { return !fits(e) })
	if first < 0 {
		return all[:len(all):len(all)]
	}
	result := slices.Clone(all[:first])
	for i, e := range all[first+1:] {
		if fits(e) {
			result = append(slices.Grow(result, len(all)-first-1-i), e)
		}
	}
	return result
}

// each returns a check that makes a sighting of each request that fits, with the description that
// describe returns.
func each(fits func(*request) bool, describe func(*request) string) func(history) []Sighting {
	return func(all history) []Sighting {
		var seen []Sighting
		for i, e := range all.requests {
			if fits(e) {
				seen = append(seen, Sighting{describe(e), all.requests[i : i+1 : i+1]})
			}
		}
		return seen
	}
}

// sortedPages returns a copy of the pages that fit, in the order of the list.
func (all requests) sortedPages(fits func(*request) bool) requests {
	pages := slices.Clone(all.filter(fits))
	slices.SortStableFunc(pages, func(a, b *request) int { return a.Page.Start - b.Page.Start })
	return pages
}

// groupBy groups the requests by a key, in the order of the groups' first requests.
func groupBy[K comparable](all requests, key func(*request) K) []requests {
	var sizes []int
	indexes, groups := map[K]int32{}, make([]int32, len(all))
	for i, e := range all {
		k := key(e)
		group, known := indexes[k]
		if !known {
			group, sizes = int32(len(sizes)), append(sizes, 0)
			indexes[k] = group
		}
		groups[i] = group
		sizes[group]++
	}
	switch len(sizes) {
	case 0:
		return nil
	case 1:
		return []requests{all}
	}
	room, parts := make(requests, len(all)), make([]requests, len(sizes))
	for group, size := range sizes {
		parts[group], room = room[:0:size], room[size:]
	}
	for i, e := range all {
		parts[groups[i]] = append(parts[groups[i]], e)
	}
	return parts
}

// subjectOf, listOf and positionOf return keys for groupBy.
func subjectOf(e *request) int     { return e.subject }
func listOf(e *request) int        { return e.list }
func positionOf(e *request) string { return e.position }

// runs returns the runs of consecutive requests that fit. A request starts a new run unless it belongs to the request before it.
func (all requests) runs(fits func(*request) bool, belongs func(before, e *request) bool) iter.Seq[requests] {
	return func(yield func(requests) bool) {
		first := 0
		for i, e := range all {
			fit := fits(e)
			if first < i && !(fit && belongs(all[i-1], e)) {
				if !yield(all[first:i:i]) {
					return
				}
				first = i
			}
			if !fit {
				first = i + 1
			}
		}
		if first < len(all) {
			yield(all[first:len(all):len(all)])
		}
	}
}

// elapsed formats the time between two moments.
func elapsed(from, to time.Time) string { return to.Sub(from).Round(time.Millisecond).String() }

// isAPI reports whether a request is for a resource that needs a token.
func isAPI(e *request) bool {
	if e.TryOut || e.Method == "OPTIONS" {
		return false
	}
	switch e.Operation {
	case journal.Info, journal.List, journal.Detail, journal.Call, journal.ElsewhereInfo:
		return true
	case journal.Other:
		return e.Proven || e.Refusal != nil && (e.Refusal.Code == "invalid_token" || e.Refusal.Code == "insufficient_scope")
	}
	return false
}

// isTokenRequest reports whether a request is for a token.
func isTokenRequest(e *request) bool {
	return e.Operation == journal.Token || e.Operation == journal.ElsewhereToken
}

// isServed reports whether a request got a complete answer without an error.
func isServed(e *request) bool { return e.Status >= 200 && e.Status < 400 && !e.Cut && !e.Spoilt }

// isDescribed reports whether the document describes this answer for every valid request, so that no client could have got another answer.
func isDescribed(e *request) bool { return e.Described && len(e.Deviations) == 0 && !e.Cut }

// code returns the error code of the refusal; "" without a refusal.
func code(e *request) string {
	if e.Refusal == nil {
		return ""
	}
	return e.Refusal.Code
}

// detail returns the reason of the refusal; "" without a refusal.
func detail(e *request) string {
	if e.Refusal == nil {
		return ""
	}
	return e.Refusal.Detail
}

// isTokenRefused reports whether a request was refused because its token is not valid, for example expired.
func isTokenRefused(e *request) bool {
	return e.Status == 401 && code(e) == "invalid_token" && !e.Refusal.Unreadable && e.Authorization.Print != ""
}

// requestLine returns method, path and query of a request, to name it in a sentence.
func requestLine(e *request) string {
	target := e.Path
	if e.Query != "" {
		target += "?" + e.Query
	}
	return e.Method + " " + target
}
