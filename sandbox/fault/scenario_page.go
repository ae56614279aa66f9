package fault

import (
	"net/http"
	"sync"

	"github.com/rin-network/rin/sandbox/content"
)

// pageScenario makes one page of each client fail forever. All other pages are good.
func pageScenario() []Scenario {
	return []Scenario{{
		Name: "page-500-always", Times: MaxTimes, Strikes: []Kind{List, API}, Also: []Kind{TryOut},
		Does: "The second page that a client asks for is answered 500 each time, without a Retry-After; all other pages are good.",
		Why:  "One record breaks the code that writes its page, and stays broken until somebody mends it.",
		Client: "Repeats the page a few times after growing pauses, then ends with an error, and does not take the pages before it for the whole list; " +
			"or reads the page in smaller parts.",
		MayStop: true, Lasts: true,
		begin: failOnePage,
	}}
}

// failOnePage makes an act that refuses the failing page of each client.
func failOnePage() act {
	pages := &failingPages{clients: map[string]*failingPage{}}
	fail := answerInstead(func(e *encounter, w http.ResponseWriter, r *http.Request) {
		e.refuse(w, r, content.Failed("this page cannot be written, on purpose", "stop, and report that the list is incomplete"))
	})()
	return func(e *encounter, next http.Handler, w http.ResponseWriter, r *http.Request) {
		if !pages.includes(e.client, r) {
			next.ServeHTTP(w, r)
			return
		}
		fail(e, next, w, r)
	}
}

// failingPages holds the failing page of each client.
type failingPages struct {
	mu      sync.Mutex
	clients map[string]*failingPage
}

// failingPage is the page that fails for one client.
type failingPage struct {
	target string            // its path and encoded query; "" until the client has asked for a second page of some list
	first  map[string]string // by path: the query of the first page
}

// maxLists is the number of lists among which a client's failing page is chosen.
const maxLists = 64

// includes reports whether a request is for the failing page of the client. The second query that the client sends to a path chooses this page.
func (f *failingPages) includes(client string, r *http.Request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	page := f.clients[client]
	if page == nil {
		if len(f.clients) >= maxClients {
			return false
		}
		page = &failingPage{first: map[string]string{}}
		f.clients[client] = page
	}
	query := r.URL.Query().Encode()
	if page.target == "" {
		first, known := page.first[r.URL.Path]
		switch {
		case !known && len(page.first) < maxLists:
			page.first[r.URL.Path] = query
		case known && query != first:
			page.target = r.URL.Path + "?" + query
		}
	}
	return page.target == r.URL.Path+"?"+query
}
