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

// maxWait is how long the journal waits for requests that are being answered.
const maxWait = 5 * time.Second

// running counts the requests that are being answered. A client that does not read an answer to its end can be done before the sandbox is.
type running struct {
	mu    sync.Mutex
	count int
	idle  chan struct{} // closed when the last one has ended
}

// wrap counts the requests to next.
func (r *running) wrap(next http.Handler) http.Handler {
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
		r.idle = make(chan struct{})
	}
	r.count++
}

func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count--; r.count == 0 {
		close(r.idle)
	}
}

// wait waits until no request is running, or for maxWait: some requests never end on purpose.
func (r *running) wait() {
	r.mu.Lock()
	idle, count := r.idle, r.count
	r.mu.Unlock()
	if count == 0 {
		return
	}
	select {
	case <-idle:
	case <-time.After(maxWait):
	}
}

// Journal lists the requests since the start or the last reset, oldest first.
func (s *Sandbox) Journal() []journal.Entry { return s.record().Entries }

// Conduct judges the clients by the journal.
func (s *Sandbox) Conduct() clientrules.Report { return clientrules.Judge(s.record()) }

func (s *Sandbox) record() journal.Record {
	s.running.wait()
	return s.Network.Journal().Record(0)
}

// ExpectCleanSheet fails the test for each rule that a client broke and for each waste, with the reason, the fix and a right command. Notes do
// not fail it. Without ids it checks all clients. With ids it also fails for a client that never called.
func (s *Sandbox) ExpectCleanSheet(ids ...string) {
	s.t.Helper()
	sheets := s.Conduct().Clients
	for _, id := range ids {
		if !slices.ContainsFunc(sheets, func(sheet clientrules.Sheet) bool { return sheet.Client == id }) {
			s.t.Errorf("client %q never called the sandbox", id)
		}
	}
	if len(sheets) == 0 && len(ids) == 0 {
		s.t.Errorf("no client called the sandbox")
	}
	for _, sheet := range sheets {
		if len(ids) > 0 && !slices.Contains(ids, sheet.Client) {
			continue
		}
		for _, finding := range sheet.Findings {
			if finding.Level != clientrules.Note {
				s.t.Errorf("%s", describeFinding(sheet.Client, finding))
			}
		}
	}
}

// describeFinding formats a finding.
func describeFinding(client string, f clientrules.Finding) string {
	if client == "" {
		client = "an unknown client"
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
