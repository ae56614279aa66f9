package conduct

import (
	"cmp"
	"slices"

	"github.com/rin-network/rin/sandbox/journal"
)

// The bounds of a report: its size does not grow with the journal.
const (
	maxClients = 100
	maxSeen    = 5
	maxEntries = 12
	maxAgents  = 5
)

// Judge makes the report of all clients in a record.
func Judge(record journal.Record) Report {
	report := Report{Schema: Schema, Dropped: record.Dropped, Clients: []Sheet{}}
	rules := Catalogue()
	for id, all := range attribute(record.Entries) {
		report.Requests += len(all)
		report.Clients = append(report.Clients, sheet(id, all, rules))
	}
	report.Aside = len(record.Entries) - report.Requests
	slices.SortFunc(report.Clients, func(a, b Sheet) int {
		return cmp.Or(
			b.Count(Fault)-a.Count(Fault), b.Count(Waste)-a.Count(Waste), b.Count(Note)-a.Count(Note),
			b.Requests-a.Requests, cmp.Compare(a.Client, b.Client),
		)
	})
	if len(report.Clients) > maxClients {
		report.Unlisted = len(report.Clients) - maxClients
		report.Clients = report.Clients[:maxClients]
	}
	return report
}

func sheet(id string, all requests, rules []Rule) Sheet {
	s := Sheet{Client: id, Nodes: []string{}, Agents: []string{}, Requests: len(all), First: all[0].Time, Last: all[0].Time, Findings: []Finding{}}
	for _, e := range all {
		s.Proven = s.Proven || e.Proven
		s.Nodes = with(s.Nodes, e.Node, maxClients)
		s.Agents = with(s.Agents, e.Agent, maxAgents)
		if e.Time.After(s.Last) {
			s.Last = e.Time
		}
		if api(e) {
			s.Calls++
		}
		if e.Issued != nil {
			s.Tokens++
		}
		if e.Status >= 400 || e.Status == 0 {
			s.Refused++
		}
	}
	for _, r := range rules {
		if seen := r.check(all); len(seen) > 0 {
			s.Findings = append(s.Findings, finding(id, r, seen))
		}
	}
	slices.SortStableFunc(s.Findings, func(a, b Finding) int {
		return slices.Index(Levels(), a.Level) - slices.Index(Levels(), b.Level)
	})
	return s
}

// with adds a value that is not among the others yet.
func with(list []string, value string, limit int) []string {
	if value == "" || len(list) >= limit || slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

func finding(client string, r Rule, seen []Sighting) Finding {
	f := Finding{Rule: r.ID, Title: r.Title, Level: r.Level, Sources: r.Sources, Why: r.Why, Fix: r.Fix, Count: len(seen), Curl: curl(client, r, seen[0])}
	for _, s := range seen[:min(len(seen), maxSeen)] {
		first := s.Entries[0]
		event := Event{What: s.What, At: first.Time, Node: first.Node}
		for i, e := range s.Entries {
			if i < maxEntries {
				event.Entries = append(event.Entries, e.Number)
			}
			for _, name := range e.Deviations {
				event.Deviations = with(event.Deviations, name, maxAgents)
			}
		}
		f.Seen = append(f.Seen, event)
	}
	return f
}
