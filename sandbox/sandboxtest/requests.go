package sandboxtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/journal"
)

// patience is how long the journal waits for requests that are still being answered.
const patience = 5 * time.Second

// running are the requests that are being answered. Whoever does not read an answer to its end goes on before the sandbox does.
type running struct {
	mu    sync.Mutex
	count int
	none  chan struct{} // closed when the last one has ended
}

// around counts the requests to next.
func (r *running) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.begin()
		defer r.end()
		next.ServeHTTP(w, q)
	})
}

func (r *running) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == 0 {
		r.none = make(chan struct{})
	}
	r.count++
}

func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count--; r.count == 0 {
		close(r.none)
	}
}

// settle waits until none is running, for as long as there is patience: some never end, on purpose.
func (r *running) settle() {
	r.mu.Lock()
	none, idle := r.none, r.count == 0
	r.mu.Unlock()
	if idle {
		return
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	}
}

// Journal lists what was sent since the start or the last reset, oldest requests first.
func (s *Sandbox) Journal() []journal.Entry { return s.record().Entries }

// Conduct judges the clients by the journal.
func (s *Sandbox) Conduct() clientrules.Report { return clientrules.Judge(s.record()) }

func (s *Sandbox) record() journal.Record {
	s.running.settle()
	return s.Network.Journal().Record(0)
}

// ExpectCleanSheet fails the test with every rule that clients broke and every waste, how to keep it, and a command that does it right. Notes
// pass. Without ids it looks at all clients; a client that never called has no sheet.
func (s *Sandbox) ExpectCleanSheet(ids ...string) {
	s.t.Helper()
	sheets := s.Conduct().Clients
	for _, id := range ids {
		if !slices.ContainsFunc(sheets, func(sheet clientrules.Sheet) bool { return sheet.Client == id }) {
			s.t.Errorf("client %q never called the sandbox", id)
		}
	}
	if len(sheets) == 0 && len(ids) == 0 {
		s.t.Errorf("nobody called the sandbox: there is no sheet to be clean")
	}
	for _, sheet := range sheets {
		if len(ids) > 0 && !slices.Contains(ids, sheet.Client) {
			continue
		}
		for _, finding := range sheet.Findings {
			if finding.Level != clientrules.Note {
				s.t.Errorf("%s", told(sheet.Client, finding))
			}
		}
	}
}

// told is a finding in words.
func told(client string, f clientrules.Finding) string {
	if client == "" {
		client = "somebody without a name"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s (%s, %s)\n", client, f.Rule, f.Title, f.Level, clientrules.Times(f.Count))
	for _, event := range f.Seen {
		fmt.Fprintf(&b, "  seen  %s (requests %v)\n", event.What, event.Entries)
	}
	fmt.Fprintf(&b, "  why   %s\n  fix   %s", f.Why, f.Fix)
	if f.Curl != "" {
		fmt.Fprintf(&b, "\n  right %s", strings.ReplaceAll(f.Curl, "\n", "\n        "))
	}
	return b.String()
}
