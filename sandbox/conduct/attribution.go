package conduct

import (
	"net"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/journal"
)

// attribute divides the entries by client. A request that does not say who sent it belongs to the client whose token or secret it has,
// else to the only one on its connection, else to the only one of its machine and program; what is left has the id "".
func attribute(entries []journal.Entry) map[string]requests {
	sorted := make(requests, len(entries))
	for i := range entries {
		sorted[i] = &entries[i]
	}
	slices.SortStableFunc(sorted, func(a, b *journal.Entry) int {
		if order := a.Time.Compare(b.Time); order != 0 {
			return order
		}
		return int(int64(a.Number) - int64(b.Number))
	})
	var marks evidence
	for _, e := range sorted {
		marks.learn(e)
	}
	clients := map[string]requests{}
	for _, e := range sorted {
		if beside(e) {
			continue
		}
		id := marks.owner(e)
		clients[id] = append(clients[id], e)
	}
	return clients
}

// suiteAgent is how the name of a conformance suite begins: it does wrong on purpose.
const suiteAgent = "rin-conformance/"

// beside tells whether a request has nothing to do with a client's work: the try-out, the reference pages, the health check, what a
// browser asks before it lets a page ask, and a conformance suite.
func beside(e *journal.Entry) bool {
	return e.TryOut || e.Operation == journal.Docs || e.Operation == journal.Health || e.Method == "OPTIONS" ||
		strings.HasPrefix(e.Agent, suiteAgent)
}

// evidence is what tells clients apart.
type evidence struct {
	prints, connections, programs map[string]string
}

// nobody marks what more than one client has in common.
const nobody = "\x00"

func (v *evidence) learn(e *journal.Entry) {
	if v.prints == nil {
		v.prints, v.connections, v.programs = map[string]string{}, map[string]string{}, map[string]string{}
	}
	if e.Client == "" {
		return
	}
	if e.Proven {
		claim(v.prints, e.Authorization.Print, e.Client)
		claim(v.prints, e.Secret, e.Client)
		if e.Issued != nil {
			claim(v.prints, e.Issued.Print, e.Client)
		}
	}
	claim(v.connections, e.Peer, e.Client)
	claim(v.programs, program(e), e.Client)
}

func claim(of map[string]string, mark, client string) {
	if before, taken := of[mark]; taken && before != client {
		client = nobody
	}
	if mark != "" {
		of[mark] = client
	}
}

func (v *evidence) owner(e *journal.Entry) string {
	if e.Client != "" {
		return e.Client
	}
	candidates := []string{v.prints[e.Authorization.Print]}
	for _, x := range e.Exposed {
		candidates = append(candidates, v.prints[x.Print])
	}
	for _, id := range append(candidates, v.connections[e.Peer], v.programs[program(e)]) {
		if id != "" && id != nobody {
			return id
		}
	}
	return ""
}

// program names the program at a machine, as far as it can be told.
func program(e *journal.Entry) string {
	host, _, err := net.SplitHostPort(e.Peer)
	if err != nil {
		host = e.Peer
	}
	return host + " " + e.Agent
}
