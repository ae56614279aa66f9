package journal_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rin-network/rin/sandbox/journal"
)

// BenchmarkWatch measures what the journal adds to a request with a token of typical length and the parameters of a page.
func BenchmarkWatch(b *testing.B) {
	handler := newJournal(journal.DefaultLimit).Watch(place(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		journal.FromContext(r.Context()).Prove("demo-client")
		w.WriteHeader(http.StatusNoContent)
	}))
	r := httptest.NewRequest(http.MethodGet, "/ris-synergy/funding/v3/fundings?page[page]=1000&page[size]=1000", nil)
	r.Header.Set("Authorization", "Bearer "+strings.Repeat("eyJhbGciOi", 50))
	r.Header.Set("User-Agent", "Go-http-client/1.1")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/json")
	w := silent{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(w, r)
	}
}

// silent is a response writer that discards the answer.
type silent struct{ header http.Header }

func (s silent) Header() http.Header { return s.header }

func (s silent) Write(p []byte) (int, error) { return len(p), nil }

func (s silent) WriteHeader(int) {}
