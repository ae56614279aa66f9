package conduct

import "time"

// Schema is the version of the report as JSON. Members may be added to it; none changes its meaning.
const Schema = "rin.conduct/v1"

// Report is what is to be said of the clients of a network.
type Report struct {
	Schema string `json:"schema"`
	// Requests is the number of requests that were judged, Dropped how many more the journal no longer holds.
	Requests int `json:"requests"`
	// Aside is the number of requests that are not judged: of the try-out, the pages to read and the health check, and those of a
	// conformance suite, which does wrong on purpose.
	Aside   int    `json:"aside"`
	Dropped uint64 `json:"dropped"`
	// Clients are the clients, those with the gravest findings first.
	Clients []Sheet `json:"clients"`
	// Unlisted is the number of clients beyond those that a report lists.
	Unlisted int `json:"unlisted,omitempty"`
}

// Sheet is what is to be said of one client.
type Sheet struct {
	// Client is its id; empty for requests that nobody could be found for.
	Client string `json:"client"`
	// Proven tells that it was authenticated at least once.
	Proven bool `json:"proven"`
	// Nodes are the nodes that it spoke to, Agents the names of its programs.
	Nodes  []string `json:"nodes"`
	Agents []string `json:"userAgents"`
	// First and Last are the times of its first and its last request.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Requests counts all of them, Calls those of guarded resources, Tokens those that brought a token, Refused those answered with 4xx or 5xx.
	Requests int `json:"requests"`
	Calls    int `json:"calls"`
	Tokens   int `json:"tokens"`
	Refused  int `json:"refused"`
	// Findings are the rules that it broke, the gravest first; empty for a clean sheet.
	Findings []Finding `json:"findings"`
}

// Finding is a rule that a client broke.
type Finding struct {
	Rule    ID       `json:"rule"`
	Title   string   `json:"title"`
	Level   Level    `json:"level"`
	Sources []Source `json:"sources"`
	Why     string   `json:"why"`
	Fix     string   `json:"fix"`
	// Count is how often it was seen, Seen the first times.
	Count int     `json:"count"`
	Seen  []Event `json:"seen"`
	// Curl is the command that does right what the first request did wrong; $RIN_CLIENT_SECRET and $TOKEN stand for the credentials.
	Curl string `json:"curl,omitempty"`
}

// Event is one time that a rule was seen broken.
type Event struct {
	What string `json:"what"`
	// At is the time of the first request, by the node's clock.
	At   time.Time `json:"at"`
	Node string    `json:"node,omitempty"`
	// Entries are the numbers of the requests in the journal, the first ones.
	Entries []uint64 `json:"entries"`
	// Deviations names what the node did on purpose meanwhile.
	Deviations []string `json:"deviations,omitempty"`
}

// Faults tells whether a client has a finding of level fault.
func (r Report) Faults() bool {
	for _, s := range r.Clients {
		if s.Count(Fault) > 0 {
			return true
		}
	}
	return false
}

// Count is the number of findings of a level.
func (s Sheet) Count(level Level) int {
	n := 0
	for _, f := range s.Findings {
		if f.Level == level {
			n++
		}
	}
	return n
}

// Of is the report of one client alone; ok is false when the client is not in it.
func (r Report) Of(client string) (one Report, ok bool) {
	for _, s := range r.Clients {
		if s.Client == client {
			r.Clients, r.Requests, r.Unlisted = []Sheet{s}, s.Requests, 0
			return r, true
		}
	}
	return r, false
}
