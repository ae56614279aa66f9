package clientrules

import (
	"fmt"
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
	check func(requests) []Sighting
}

// Sighting is one breach of a rule, by one request or by several in a row.
type Sighting struct {
	// What describes the breach.
	What string `json:"what"`
	// Entries are the requests that show the breach. A correct command replaces the first one.
	Entries []*request `json:"-"`
}

// Catalogue lists all rules in the order of their ids.
func Catalogue() []Rule {
	return slices.Concat(tokenRules(), secrecyRules(), grantRules(), bearerRules(), patienceRules(), requestRules(), pagingRules(), headerRules(), recordRules(), persistenceRules())
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

// practice returns as a source how the client or the nodes of the network usually behave.
func practice(habit string) Source { return Source{Text: "practice of the network: " + habit} }

// requests are those of one client, in the order in which they came.
type requests []*request

// request is an entry of the journal with what the rules derive from it once.
type request struct {
	*journal.Entry
	// subject identifies what the request asks for. Of two requests with the same subject, the later one repeats the earlier one.
	subject string
	// crowded reports that the program had several requests in flight at some time.
	crowded bool
}

// where returns the requests that fit.
func (all requests) where(fits func(*request) bool) requests {
	var kept requests
	for _, e := range all {
		if fits(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// each returns a check that makes a sighting of each request that fits; what returns its description.
func each(fits func(*request) bool, what func(*request) string) func(requests) []Sighting {
	return func(all requests) []Sighting {
		var seen []Sighting
		for _, e := range all.where(fits) {
			seen = append(seen, Sighting{what(e), []*request{e}})
		}
		return seen
	}
}

// byNode groups the requests by node, in the order of the nodes' first requests.
func (all requests) byNode() []requests {
	return all.by(func(e *request) string { return e.Node })
}

// by groups the requests by a key, in the order of the groups' first requests.
func (all requests) by(key func(*request) string) []requests {
	var parts []requests
	indexes := map[string]int{}
	for _, e := range all {
		k := key(e)
		i, known := indexes[k]
		if !known {
			i = len(parts)
			indexes[k], parts = i, append(parts, nil)
		}
		parts[i] = append(parts[i], e)
	}
	return parts
}

// runs returns the runs of consecutive requests that fit. A request starts a new run unless it belongs to the request before it.
func (all requests) runs(fits func(*request) bool, belongs func(before, e *request) bool) []requests {
	var runs []requests
	var run requests
	for _, e := range all {
		switch {
		case !fits(e):
			run = nil
			continue
		case len(run) > 0 && belongs(run[len(run)-1], e):
			run = append(run, e)
			runs[len(runs)-1] = run
		default:
			run = requests{e}
			runs = append(runs, run)
		}
	}
	return runs
}

// elapsed writes the time between two moments.
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

// isDescribed reports whether the document describes the answer for every valid request, so that no client could have got another one.
func isDescribed(e *request) bool { return e.Described && len(e.Deviations) == 0 && !e.Cut }

// code returns the error code of the refusal, "" without one.
func code(e *request) string {
	if e.Refusal == nil {
		return ""
	}
	return e.Refusal.Code
}

// detail returns the reason of the refusal, "" without one.
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
