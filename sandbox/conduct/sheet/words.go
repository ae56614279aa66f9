package sheet

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/conduct"
)

// name is how a sheet is headed.
func name(s conduct.Sheet) string {
	if s.Client != "" && !s.Proven {
		return s.Client + " (never authenticated)"
	}
	return cmp.Or(s.Client, "unknown client")
}

// tally counts the findings: "2 faults, 1 waste".
func tally(s conduct.Sheet) string {
	var parts []string
	for _, level := range conduct.Levels() {
		if n := s.Count(level); n > 0 {
			parts = append(parts, count(n, string(level)))
		}
	}
	if len(parts) == 0 {
		return "clean sheet"
	}
	return strings.Join(parts, ", ")
}

func count(n int, what string) string {
	switch {
	case n == 1 || what == string(conduct.Waste):
		return fmt.Sprintf("%d %s", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// deeds counts what a client did.
func deeds(s conduct.Sheet) string {
	text := count(s.Requests, "request") + ": " + count(s.Calls, "call") + " of guarded resources, " + count(s.Tokens, "token") + " fetched, " + fmt.Sprintf("%d refused", s.Refused)
	if len(s.Nodes) > 0 {
		text += "; at " + strings.Join(s.Nodes, ", ")
	}
	return text
}

// span is the time of a client's requests, by the clock of the nodes.
func span(s conduct.Sheet) string {
	if s.First.Equal(s.Last) {
		return moment(s.First)
	}
	if s.First.UTC().Format(time.DateOnly) == s.Last.UTC().Format(time.DateOnly) {
		return moment(s.First) + " to " + s.Last.UTC().Format("15:04:05") + " UTC"
	}
	return moment(s.First) + " to " + moment(s.Last)
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

// sources names the places that ask for a rule.
func sources(f conduct.Finding) string {
	var names []string
	for _, s := range f.Sources {
		names = append(names, s.Text)
	}
	return strings.Join(names, "; ")
}

// evidence names the entries of an event in the journal.
func evidence(e conduct.Event) string {
	var numbers []string
	for _, n := range e.Entries {
		numbers = append(numbers, fmt.Sprintf("#%d", n))
	}
	text := strings.Join(numbers, " ")
	if len(e.Deviations) > 0 {
		text += ", while the node deviated: " + strings.Join(e.Deviations, ", ")
	}
	return text
}

// headline is the verdict on all clients.
func headline(r conduct.Report) string {
	faulty, untidy := 0, 0
	for _, s := range r.Clients {
		switch {
		case s.Count(conduct.Fault) > 0:
			faulty++
		case len(s.Findings) > 0:
			untidy++
		}
	}
	switch {
	case len(r.Clients) == 0:
		return "Nothing to judge: no client has sent a request yet"
	case faulty > 0 && len(r.Clients) == 1:
		return "Not clean: " + count(r.Clients[0].Count(conduct.Fault), "fault") + " to mend"
	case faulty > 0:
		return fmt.Sprintf("Not clean: %d of %d clients have faults to mend", faulty, len(r.Clients))
	case untidy > 0:
		return "No faults; some things can be done better"
	case len(r.Clients) == 1:
		return "Clean sheet"
	}
	return fmt.Sprintf("Clean sheets: all %d clients", len(r.Clients))
}

// remainder says what the report does not hold; empty when it holds all.
func remainder(r conduct.Report) string {
	var parts []string
	if r.Dropped > 0 {
		parts = append(parts, fmt.Sprintf("The journal no longer holds the first %s: start the sandbox with a larger --journal, or judge earlier.", count(int(r.Dropped), "request")))
	}
	if r.Aside > 0 {
		parts = append(parts, count(r.Aside, "request")+" of the try-out, of pages and health checks, and of rin certify are not judged.")
	}
	if r.Unlisted > 0 {
		parts = append(parts, fmt.Sprintf("%s more are not listed: ask for one with --client.", count(r.Unlisted, "client")))
	}
	return strings.Join(parts, " ")
}
