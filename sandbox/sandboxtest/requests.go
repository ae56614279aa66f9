package sandboxtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/journal"
)

// maxWait is how long a read of the journal waits for requests that are still being answered.
const maxWait = 5 * time.Second

// openRequests counts the requests that are still being answered. Reads of the journal wait for them: a client that does not read its answer to the end
// may finish before the sandbox has recorded the request.
type openRequests struct {
	mu    sync.Mutex
	count int
	idle  chan struct{} // closed when no request is open
}

// wrap counts the requests to next.
func (o *openRequests) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.begin()
		defer o.end()
		next.ServeHTTP(w, r)
	})
}

func (o *openRequests) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count == 0 {
		o.idle = make(chan struct{})
	}
	o.count++
}

func (o *openRequests) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count--; o.count == 0 {
		close(o.idle)
	}
}

// wait waits until no request is open, but at most for maxWait, because some faults delay an answer much longer.
func (o *openRequests) wait() {
	o.mu.Lock()
	idle, count := o.idle, o.count
	o.mu.Unlock()
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

// Report judges the clients by the journal.
func (s *Sandbox) Report() clientrules.Report { return clientrules.Judge(s.record()) }

// record waits until no request is open, and returns the journal.
func (s *Sandbox) record() journal.Record {
	s.open.wait()
	return s.Network.Journal().Record(0)
}

// ExpectNoFindings fails the test for each finding of level [clientrules.Fault] or [clientrules.Waste], or of the level of [FailOn], and prints the reason,
// the fix and a correct command. Without ids it checks all clients. With ids it checks only those, and also fails for each of them that never called.
func (s *Sandbox) ExpectNoFindings(ids ...string) {
	s.t.Helper()
	clients := s.Report().Clients
	for _, id := range ids {
		if !slices.ContainsFunc(clients, func(client clientrules.ClientReport) bool { return client.Client == id }) {
			s.t.Errorf("client %q never called the sandbox", id)
		}
	}
	if len(clients) == 0 && len(ids) == 0 {
		s.t.Errorf("no client called the sandbox")
	}
	for _, client := range clients {
		if len(ids) > 0 && !slices.Contains(ids, client.Client) {
			continue
		}
		for _, finding := range client.Findings {
			if finding.Level.AtLeast(s.failOn) {
				s.t.Errorf("%s", describeFinding(client.Client, finding))
			}
		}
	}
}

// describeFinding formats a finding.
func describeFinding(client string, f clientrules.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s (%s, %s)\n", cmp.Or(client, "an unknown client"), f.Rule, f.Title, f.Level, clientrules.Times(f.Count))
	for _, event := range f.Seen {
		fmt.Fprintf(&b, "  seen  %s (requests %v)\n", event.What, event.Entries)
	}
	fmt.Fprintf(&b, "  why   %s\n  fix   %s", f.Why, f.Fix)
	if f.Curl != "" {
		fmt.Fprintf(&b, "\n  right %s", strings.ReplaceAll(f.Curl, "\n", "\n        "))
	}
	return b.String()
}
