package conduct

import (
	"net/url"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

// requests are those of one client, in the order in which they came.
type requests []*journal.Entry

// where keeps the requests that fit.
func (all requests) where(fits func(*journal.Entry) bool) requests {
	var kept requests
	for _, e := range all {
		if fits(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// each makes a sighting of each request that fits.
func each(fits func(*journal.Entry) bool, what func(*journal.Entry) string) func(requests) []Sighting {
	return func(all requests) []Sighting {
		var seen []Sighting
		for _, e := range all.where(fits) {
			seen = append(seen, Sighting{what(e), []*journal.Entry{e}})
		}
		return seen
	}
}

// byNode divides the requests by node, in the order of the nodes' first requests.
func (all requests) byNode() []requests {
	return all.by(func(e *journal.Entry) string { return e.Node })
}

// by divides the requests by a key, in the order of the first of each.
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

// runs finds the longest rows of consecutive requests of which each fits and belongs to the one before.
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

// subject is what a request asks for: the same for requests that ask for the same thing.
func subject(e *journal.Entry) string { return e.Node + " " + e.Method + " " + e.Path + "?" + e.Query }

// after tells whether e was sent when the answer to before was there already: requests side by side are no reaction to one another.
func after(before, e *journal.Entry) bool {
	return !e.Time.Before(before.Ended) && e.Number > before.Number
}

func took(from, to time.Time) string { return to.Sub(from).Round(time.Millisecond).String() }

// api tells whether a request is for a resource that needs a token.
func api(e *journal.Entry) bool {
	if e.TryOut || e.Method == "OPTIONS" {
		return false
	}
	switch e.Operation {
	case journal.Info, journal.List, journal.Detail, journal.Call:
		return true
	case journal.Other:
		return e.Proven || e.Refusal != nil && (e.Refusal.Code == "invalid_token" || e.Refusal.Code == "insufficient_scope")
	}
	return false
}

// token tells whether a request is for a token.
func token(e *journal.Entry) bool {
	return e.Operation == journal.Token || e.Operation == journal.Staging
}

func served(e *journal.Entry) bool { return e.Status >= 200 && e.Status < 400 && !e.Cut }

func code(e *journal.Entry) string {
	if e.Refusal == nil {
		return ""
	}
	return e.Refusal.Code
}

func detail(e *journal.Entry) string {
	if e.Refusal == nil {
		return ""
	}
	return e.Refusal.Detail
}

// expired tells whether a request was refused for its token.
func expired(e *journal.Entry) bool {
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

// parameter is the first value of a query parameter with such a name, "" when absent.
func parameter(e *journal.Entry, such func(name string) bool) string {
	for part := range strings.SplitSeq(e.Query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if value != "" && such(unescaped(name)) {
			return unescaped(value)
		}
	}
	return ""
}

// unescaped is a part of a query as it is meant; one that cannot be read stays as it is.
func unescaped(part string) string {
	if !strings.ContainsAny(part, "%+") {
		return part
	}
	if plain, err := url.QueryUnescape(part); err == nil {
		return plain
	}
	return part
}
