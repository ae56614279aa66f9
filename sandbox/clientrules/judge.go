// Package clientrules judges clients by their requests in a journal: which rules of the network and of OAuth they broke, what they do that is legal
// but wasteful, and how to do it right. It writes the report as text, HTML and JSON.
//
// The files rules_*.go hold the rules in tables. A rule has an id that never changes, such as CLT-01, and a check, which is a pure function of the
// requests of one client. [Judge] makes the report on all clients.
package clientrules

import (
	"cmp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/sandbox/journal"
)

// The limits of a report, so that it does not grow with the journal.
const (
	maxClients = 100 // clients of a report, and nodes of a client
	maxSeen    = 5   // events of a finding
	maxEntries = 12  // entries of an event
	maxNames   = 5   // programs of a client, and deviations of an event
)

// Judge makes the report of all clients in a record. It judges them concurrently. Earlier records of the same program, from nodes without
// faults, show what the program wants. A list of which it read only the beginning there may stay unfinished here; a list that it read to
// the end there may not.
func Judge(record journal.Record, earlier ...journal.Record) Report {
	return JudgeWithRuns(record, earlier, nil)
}

// JudgeWithRuns judges as [Judge] does, by all runs of a program: those without faults, and others. Together they show whether the program leaves a list
// because it has enough records.
func JudgeWithRuns(record journal.Record, faultless, others []journal.Record) Report {
	report := Report{Schema: SchemaVersion, Dropped: record.Dropped, Clients: []ClientReport{}}
	rules, clients, aims := Catalogue(), attribute(record.Entries), findAims(faultless, others)
	judged := make(chan ClientReport)
	var judges errgroup.Group
	judges.SetLimit(runtime.GOMAXPROCS(0))
	go func() {
		for id, all := range clients {
			judges.Go(func() error {
				judged <- newClientReport(id, newHistory(all, aims), rules)
				return nil
			})
		}
	}()
	for range clients {
		client := <-judged
		report.Requests += client.Requests
		report.Clients = append(report.Clients, client)
	}
	report.NotJudged = len(record.Entries) - report.Requests
	slices.SortFunc(report.Clients, func(a, b ClientReport) int {
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

// newClientReport judges one client by all its requests.
func newClientReport(id string, history history, rules []Rule) ClientReport {
	all := history.requests
	s := ClientReport{Client: id, Nodes: []string{}, Agents: []string{}, Requests: len(all), First: all[0].Time, Last: all[0].Time, Findings: []Finding{}}
	for _, e := range all {
		s.Proven = s.Proven || e.Proven
		s.Nodes = appendDistinct(s.Nodes, e.Node, maxClients)
		s.Agents = appendDistinct(s.Agents, e.Agent, maxNames)
		if e.Time.After(s.Last) {
			s.Last = e.Time
		}
		if isAPI(e) {
			s.Calls++
		}
		if e.Issued != nil {
			s.Tokens++
		}
		switch {
		case isDescribed(e):
		case e.Status >= 500 || e.Status == 0 || e.Cut:
			s.Failed++
		case e.Status >= 400:
			s.Refused++
		}
	}
	for _, r := range rules {
		if seen := r.check(history); len(seen) > 0 {
			s.Findings = append(s.Findings, newFinding(id, r, seen))
		}
	}
	slices.SortStableFunc(s.Findings, func(a, b Finding) int {
		return slices.Index(Levels(), a.Level) - slices.Index(Levels(), b.Level)
	})
	return s
}

// appendDistinct adds a value unless the list has it or is full.
func appendDistinct(list []string, value string, limit int) []string {
	if value == "" || len(list) >= limit || slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// newFinding makes the finding for the breaches of a rule by a client.
func newFinding(client string, r Rule, seen []Sighting) Finding {
	f := Finding{Rule: r.ID, Title: r.Title, Level: r.Level, Sources: r.Sources, Why: r.Why, Fix: r.Fix, Count: len(seen), Curl: curl(client, r, seen[0])}
	for _, s := range seen[:min(len(seen), maxSeen)] {
		first := s.Entries[0]
		event := Event{What: s.What, At: first.Time, Node: first.Node}
		for i, e := range s.Entries {
			if i < maxEntries {
				event.Entries = append(event.Entries, e.Number)
			}
			for _, name := range e.Deviations {
				event.Deviations = appendDistinct(event.Deviations, name, maxNames)
			}
		}
		f.Seen = append(f.Seen, event)
	}
	return f
}

// attribute groups the entries by client. A request without a client id belongs to the client whose token or secret it carries; failing
// that, to the only client on its connection; failing that, to the only client with its machine and program. All other requests are in the
// group "".
func attribute(entries []journal.Entry) map[string]requests {
	sorted := newRequests(entries)
	var owners ownership
	for _, e := range sorted {
		owners.learn(e)
	}
	users := map[string]string{} // by connection: the client that used it
	shared := map[string]bool{}  // the connections that several clients of one program used
	groups := groupBy(slices.DeleteFunc(sorted, isIgnored), func(e *request) string {
		id := owners.owner(e)
		switch user, used := users[e.Peer]; {
		case !used:
			users[e.Peer] = id
		case user != id:
			users[e.Peer], shared[e.Peer] = id, true
		}
		return id
	})
	clients := make(map[string]requests, len(groups))
	for _, all := range groups {
		markConcurrent(all, shared)
		clients[owners.owner(all[0])] = all
	}
	return clients
}

// suiteAgent is the prefix of a conformance suite's User-Agent. A suite breaks rules on purpose.
const suiteAgent = "rin-conformance/"

// isIgnored reports whether a request is not part of a client's work and is not judged: requests to the try-out space, the pages for people and the
// health check, preflights, and those of a conformance suite.
func isIgnored(e *request) bool {
	return e.TryOut || e.Operation == journal.Docs || e.Operation == journal.Health || e.Method == "OPTIONS" ||
		strings.HasPrefix(e.Agent, suiteAgent)
}

// ownership maps the fingerprints of tokens and secrets, the connections, and the programs to the ids of the clients that they belong to.
type ownership struct {
	prints, connections map[string]string
	programs            map[int]string
}

// severalClients stands for the id of the owner when several clients share something.
const severalClients = "\x00"

// learn records what belongs to the client of an entry.
func (o *ownership) learn(e *request) {
	if o.prints == nil {
		o.prints, o.connections, o.programs = map[string]string{}, map[string]string{}, map[int]string{}
	}
	if e.Client == "" {
		return
	}
	if e.Proven {
		claim(o.prints, e.Authorization.Print, e.Client)
		claim(o.prints, e.Secret, e.Client)
		if e.Issued != nil {
			claim(o.prints, e.Issued.Print, e.Client)
		}
	}
	claim(o.connections, e.Peer, e.Client)
	claim(o.programs, e.program, e.Client)
}

// claim makes client the owner of key. If another client already owns the key, the owner is severalClients from then on.
func claim[K comparable](owners map[K]string, key K, client string) {
	var zero K
	switch before, taken := owners[key]; {
	case key == zero:
	case !taken:
		owners[key] = client
	case before != client && before != severalClients:
		owners[key] = severalClients
	}
}

// owner returns the id of the client that an entry belongs to, "" if unknown.
func (o *ownership) owner(e *request) string {
	if e.Client != "" {
		return e.Client
	}
	candidates := []string{o.prints[e.Authorization.Print]}
	for _, x := range e.Exposed {
		candidates = append(candidates, o.prints[x.Print])
	}
	for _, id := range append(candidates, o.connections[e.Peer], o.programs[e.program]) {
		if id != "" && id != severalClients {
			return id
		}
	}
	return ""
}

// Remark is the judgement of one request.
type Remark struct {
	// Client is the id of the client that the request belongs to, even if the request did not name it; empty if unknown.
	Client string `json:"of,omitempty"`
	// Rules are the rules that the request broke, alone or together with other requests.
	Rules []ID `json:"rules,omitempty"`
	// Curl is a correct command that replaces the request; empty if the request broke no rule.
	Curl string `json:"curl,omitempty"`
}

// Line is a request with its judgement.
type Line struct {
	journal.Entry
	Remark
}

// Remarks returns the judgements of the requests of a record, by their numbers.
func Remarks(record journal.Record) map[uint64]Remark {
	remarks := make(map[uint64]Remark, len(record.Entries))
	rules := Catalogue()
	for id, all := range attribute(record.Entries) {
		for _, e := range all {
			remarks[e.Number] = Remark{Client: id}
		}
		history := newHistory(all, aims{})
		for _, r := range rules {
			for _, s := range r.check(history) {
				for _, e := range s.Entries {
					remark := remarks[e.Number]
					if !slices.Contains(remark.Rules, r.ID) {
						remark.Rules = append(remark.Rules, r.ID)
					}
					if remark.Curl == "" {
						remark.Curl = curl(id, r, Sighting{Entries: []*request{e}})
					}
					remarks[e.Number] = remark
				}
			}
		}
	}
	return remarks
}
