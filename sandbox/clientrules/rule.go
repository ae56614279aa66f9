package clientrules

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

// Level is the weight of a finding.
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

// ID is the id of a rule, such as CLT-01. It is never reused or given to another rule.
type ID string

// Source is a place in a text that a rule follows from.
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
	// Sources are the texts that it follows from, the most binding first.
	Sources []Source
	// Why is the consequence of breaking it, Fix how to follow it.
	Why, Fix string
	// check finds the breaches in the requests of one client.
	check func(requests) []Sighting
}

// Sighting is one breach of a rule, by one request or by several in a row.
type Sighting struct {
	// What describes it.
	What string `json:"what"`
	// Entries are the requests that show it; the first is at fault.
	Entries []*journal.Entry `json:"-"`
}

// Catalogue lists all rules in the order of their ids.
func Catalogue() []Rule {
	return slices.Concat(tokenRules(), secrecyRules(), grantRules(), bearerRules(), patienceRules(), requestRules(), pagingRules(), headerRules())
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

// practice returns a behaviour that is usual in the network, of its client or its nodes, as a source.
func practice(habit string) Source { return Source{Text: "practice of the network: " + habit} }

// requests are those of one client, in the order in which they came.
type requests []*journal.Entry

// where returns the requests that fit.
func (all requests) where(fits func(*journal.Entry) bool) requests {
	var kept requests
	for _, e := range all {
		if fits(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// each returns a check that makes a sighting of each request that fits; what describes the sighting.
func each(fits func(*journal.Entry) bool, what func(*journal.Entry) string) func(requests) []Sighting {
	return func(all requests) []Sighting {
		var seen []Sighting
		for _, e := range all.where(fits) {
			seen = append(seen, Sighting{what(e), []*journal.Entry{e}})
		}
		return seen
	}
}

// byNode groups the requests by node, in the order of the nodes' first requests.
func (all requests) byNode() []requests {
	return all.by(func(e *journal.Entry) string { return e.Node })
}

// by groups the requests by a key, in the order of the groups' first requests.
func (all requests) by(key func(*journal.Entry) string) []requests {
	var parts []requests
	places := map[string]int{}
	for _, e := range all {
		k := key(e)
		at, known := places[k]
		if !known {
			at = len(parts)
			places[k], parts = at, append(parts, nil)
		}
		parts[at] = append(parts[at], e)
	}
	return parts
}

// runs returns the runs of consecutive requests that fit. A request starts a new run unless it belongs to the request before it.
func (all requests) runs(fits func(*journal.Entry) bool, belongs func(before, e *journal.Entry) bool) []requests {
	var rows []requests
	var row requests
	for _, e := range all {
		switch {
		case !fits(e):
			row = nil
			continue
		case len(row) > 0 && belongs(row[len(row)-1], e):
			row = append(row, e)
			rows[len(rows)-1] = row
		default:
			row = requests{e}
			rows = append(rows, row)
		}
	}
	return rows
}

// subject identifies what a request is for.
func subject(e *journal.Entry) string { return e.Node + " " + e.Method + " " + e.Path + "?" + e.Query }

// after reports whether e was sent after the answer to before: of two concurrent requests, neither is a reaction to the other.
func after(before, e *journal.Entry) bool {
	return !e.Time.Before(before.Ended) && e.Number > before.Number
}

// elapsed writes the time between two moments.
func elapsed(from, to time.Time) string { return to.Sub(from).Round(time.Millisecond).String() }

// isAPI reports whether a request is for a resource that needs a token.
func isAPI(e *journal.Entry) bool {
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
func isTokenRequest(e *journal.Entry) bool {
	return e.Operation == journal.Token || e.Operation == journal.ElsewhereToken
}

// isServed reports whether a request got a complete answer without an error.
func isServed(e *journal.Entry) bool { return e.Status >= 200 && e.Status < 400 && !e.Cut }

// code returns the error code of the refusal, "" without one.
func code(e *journal.Entry) string {
	if e.Refusal == nil {
		return ""
	}
	return e.Refusal.Code
}

// detail returns the reason of the refusal, "" without one.
func detail(e *journal.Entry) string {
	if e.Refusal == nil {
		return ""
	}
	return e.Refusal.Detail
}

// isTokenRefused reports whether a request was refused because its token is not valid, for example expired.
func isTokenRefused(e *journal.Entry) bool {
	return e.Status == 401 && code(e) == "invalid_token" && !e.Refusal.Unreadable && e.Authorization.Print != ""
}

// call names a request in a sentence.
func call(e *journal.Entry) string {
	to := e.Path
	if e.Query != "" {
		to += "?" + e.Query
	}
	return e.Method + " " + to
}

// parameter returns the first value of a query parameter whose name fits, "" when absent.
func parameter(e *journal.Entry, isNamed func(name string) bool) string {
	for part := range strings.SplitSeq(e.Query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if value != "" && isNamed(unescaped(name)) {
			return unescaped(value)
		}
	}
	return ""
}

// unescaped decodes a part of a query; a part that cannot be decoded stays as it is.
func unescaped(part string) string {
	if !strings.ContainsAny(part, "%+") {
		return part
	}
	if plain, err := url.QueryUnescape(part); err == nil {
		return plain
	}
	return part
}
