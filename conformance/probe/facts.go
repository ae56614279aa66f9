package probe

import (
	"net/http"
	"sync"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
)

// facts is what the answers so far taught; probes decide on them. It may be used by several goroutines at once.
type facts struct {
	mu        sync.Mutex
	first     discover.Token // the first token of the run
	current   discover.Token // the newest good one
	second    discover.Token // of the second client
	other     discover.Token // of the client of another audience
	staging   discover.Token // of the staging environment
	expiring  spare          // to be tried once it has expired
	throwaway string         // the token that a URL may hold
	issuer    issuerFacts
	statuses  map[exchange.Label]int
	urls      map[exchange.Resource]discover.Resource
	items     map[exchange.Resource][]item
	endpoints []endpoint
	document  *exchange.Document
	bases     []attempt
	protected exchange.Resource // the probe target, once it is chosen
	// cookies are those that good calls set; unconnected are the labels that were refused a connection.
	cookies     map[exchange.Resource][]*http.Cookie
	unconnected map[exchange.Label]bool
	// walks are the pages of lists, walksAgain those of the repeated walk, next the links to next pages.
	walks, walksAgain map[exchange.Resource]*walk
	next              map[exchange.Resource]link
}

func newFacts() *facts {
	return &facts{
		statuses: map[exchange.Label]int{},
		urls:     map[exchange.Resource]discover.Resource{},
		items:    map[exchange.Resource][]item{},
		cookies:  map[exchange.Resource][]*http.Cookie{}, unconnected: map[exchange.Label]bool{},
		walks: map[exchange.Resource]*walk{}, walksAgain: map[exchange.Resource]*walk{}, next: map[exchange.Resource]link{},
	}
}

// with runs a function that reads or changes facts.
func (f *facts) with(do func(f *facts)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(f)
}

// status is the status of the answer to a label, 0 without one.
func (f *facts) status(l exchange.Label) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.statuses[l]
}

// good reports a 2xx answer.
func (f *facts) good(l exchange.Label) bool { return f.status(l)/100 == 2 }

// keep notes a token that a good request of the first client was answered with.
func (f *facts) keep(t discover.Token) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first.Value == "" {
		f.first = t
	}
	f.current = t
}

func (f *facts) resource(r exchange.Resource) (discover.Resource, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found, ok := f.urls[r]
	return found, ok
}

func (f *facts) itemsOf(r exchange.Resource) []item {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.items[r]
}

func (f *facts) cookiesOf(r exchange.Resource) []*http.Cookie {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cookies[r]
}

// refusedConnection reports that nobody took the connection for a label.
func (f *facts) refusedConnection(l exchange.Label) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unconnected[l]
}
