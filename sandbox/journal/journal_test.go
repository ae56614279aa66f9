package journal_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/journal"
)

// place returns a node whose clock does not move.
func place() journal.Place {
	return journal.Place{
		Node: "XA", TokenPath: "/oauth/token",
		Now:      func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
		Origin:   func(r *http.Request) string { return "http://" + r.Host },
		Classify: func(string) (journal.Operation, bool) { return journal.Other, false },
	}
}

// zeroes is a source of zero bytes that replaces the random source.
type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func newJournal(limit int) *journal.Journal {
	j, err := journal.New(limit, zeroes{})
	if err != nil {
		panic(err)
	}
	return j
}

// recordOne sends a request to the handler through the journal, and returns its entry.
func recordOne(j *journal.Journal, r *http.Request, handler http.HandlerFunc) journal.Entry {
	j.Watch(place(), handler).ServeHTTP(httptest.NewRecorder(), r)
	all := j.Record(0).Entries
	return all[len(all)-1]
}

func ok(http.ResponseWriter, *http.Request) {}

var _ = Describe("A journal", func() {
	It("keeps requests, answers, and what the handlers noted about them", func() {
		r := httptest.NewRequest(http.MethodGet, "http://node.example/fundings?page[page]=2&x=1", nil)
		r.Header.Set("User-Agent", "tool/1")
		r.Header.Set("Accept", "application/json")
		got := recordOne(newJournal(5), r, func(w http.ResponseWriter, r *http.Request) {
			note := journal.FromContext(r.Context())
			note.Prove("client")
			note.Claim("somebody else")
			note.Serve(journal.Page{Start: 2, Size: 3, Items: 3, Next: true})
			note.Ignore([]string{"x"})
			note.Deviate("slow")
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("later"))
		})
		at := place().Now()
		Expect(got).To(Equal(journal.Entry{
			Number: 1, Earliest: 1, Time: at, Ended: at, Node: "XA", Operation: journal.Other, Origin: "http://node.example", Method: "GET", Path: "/fundings",
			Query: "page[page]=2&x=1", Peer: "192.0.2.1:1234", Agent: "tool/1", Accept: "application/json", Client: "client", Proven: true,
			TokenPath: "/oauth/token", Status: 503, Bytes: 5, RetryAfter: "3", Page: &journal.Page{Start: 2, Size: 3, Items: 3, Next: true},
			Ignored: []string{"x"}, Deviations: []string{"slow"},
		}))
	})

	It("keeps the newest entries and counts the dropped ones", func() {
		j := newJournal(3)
		for _, path := range []string{"/1", "/2", "/3", "/4", "/5"} {
			recordOne(j, httptest.NewRequest(http.MethodGet, path, nil), ok)
		}
		got := j.Record(0)
		Expect(got.Counted).To(BeEquivalentTo(5))
		Expect(got.Dropped).To(BeEquivalentTo(2))
		Expect(paths(got)).To(Equal([]string{"/3", "/4", "/5"}))
		Expect(paths(j.Record(4))).To(Equal([]string{"/5"}))
		Expect(paths(j.Record(99))).To(BeEmpty())
		j.Clear()
		Expect(j.Record(0)).To(Equal(journal.Record{Entries: []journal.Entry{}}))
		Expect(recordOne(j, httptest.NewRequest(http.MethodGet, "/6", nil), ok).Number).To(BeEquivalentTo(1))
	})

	It("is bounded in bytes under a flood of long requests", func() {
		j := newJournal(200)
		long := strings.Repeat("a/", 30_000)
		for range 300 {
			r := httptest.NewRequest(http.MethodGet, "/"+long+"?"+long+"="+long, nil)
			for _, name := range []string{"User-Agent", "Accept", "Content-Type", "If-None-Match", "Authorization"} {
				r.Header.Set(name, long)
			}
			recordOne(j, r, func(_ http.ResponseWriter, r *http.Request) {
				journal.FromContext(r.Context()).Claim(long)
				journal.FromContext(r.Context()).Ignore([]string{long, long, long, long, long, long, long, long, long, long})
			})
		}
		encoded, err := json.Marshal(j.Record(0))
		Expect(err).NotTo(HaveOccurred())
		Expect(len(encoded)).To(BeNumerically("<", 200*(4<<10)))
		Expect(len(j.Record(0).Entries)).To(BeNumerically("<", 150), "a long entry replaces several short ones")
	})

	It("records that an answer was cut, and passes on the panic that cuts it", func() {
		j := newJournal(3)
		handler := j.Watch(place(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			panic(http.ErrAbortHandler)
		}))
		Expect(func() { handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)) }).To(PanicWith(http.ErrAbortHandler))
		Expect(j.Record(0).Entries).To(ConsistOf(And(HaveField("Cut", true), HaveField("Status", 200))))
	})

	It("records the final status, not an informational one", func() {
		got := recordOne(newJournal(3), httptest.NewRequest(http.MethodGet, "/", nil), func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusNoContent)
		})
		Expect(got.Status).To(Equal(http.StatusNoContent))
	})

	It("lets the handler flush through its writer", func() {
		handler := newJournal(3).Watch(place(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("first"))
			Expect(http.NewResponseController(w).Flush()).To(Succeed())
		}))
		recorded := httptest.NewRecorder()
		handler.ServeHTTP(recorded, httptest.NewRequest(http.MethodGet, "/", nil))
		Expect(recorded.Flushed).To(BeTrue())
	})

	It("records no status for a hijacked connection", func() {
		j := newJournal(3)
		ended := make(chan struct{})
		watched := j.Watch(place(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			Expect(err).NotTo(HaveOccurred())
			_, _ = conn.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
			_ = conn.Close()
		}))
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			watched.ServeHTTP(w, r)
		}))
		DeferCleanup(server.Close)
		answer, err := http.Get(server.URL)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.StatusCode).To(Equal(http.StatusNoContent))
		Expect(answer.Body.Close()).To(Succeed())
		<-ended
		Expect(j.Record(0).Entries).To(ConsistOf(And(HaveField("Status", 0), HaveField("Cut", false))))
	})

	It("has the entry before the client has the last byte", func() {
		j := newJournal(3)
		seen := false
		handler := j.Watch(place(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "6")
			_, _ = w.Write([]byte("one"))
			Expect(j.Record(0).Entries).To(BeEmpty())
			_, _ = w.Write([]byte("two"))
			Expect(j.Record(0).Entries).To(ConsistOf(HaveField("Bytes", BeEquivalentTo(6))))
			seen = true
		}))
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		Expect(seen).To(BeTrue())
		Expect(j.Record(0).Counted).To(BeEquivalentTo(1))
	})

	It("may be nil", func() {
		var none *journal.Journal
		none.Clear()
		Expect(none.Record(0).Entries).To(BeEmpty())
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		none.Watch(place(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			note := journal.FromContext(r.Context())
			note.Claim("a")
			note.Prove("a")
			note.Authenticate("a")
			note.Issue("a", time.Time{})
			note.Refuse(journal.Refusal{})
			note.Serve(journal.Page{})
			note.Ignore([]string{"a"})
			note.Deviate("a")
			Expect(note).To(BeNil())
		})).ServeHTTP(httptest.NewRecorder(), r)
	})

	It("refuses an invalid limit", func() {
		for _, limit := range []int{-1, journal.MaxLimit + 1} {
			_, err := journal.New(limit, nil)
			Expect(err).To(MatchError(ContainSubstring("limit of the journal")))
		}
	})
})

func paths(r journal.Record) []string {
	all := []string{}
	for _, e := range r.Entries {
		all = append(all, e.Path)
	}
	return all
}

// secret has the form of the sandbox's client secrets, token that of its tokens.
const (
	secret = "Zp3k9Qw7-XyT5vB1nM8_cR4dF6gH2jL0sA9eU7iO5tY"
	token  = "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJpc3MiOiJodHRwOi8vbm9kZSJ9.c2lnbmF0dXJlLW9mLXRoZS10b2tlbi0wMTIzNDU2Nzg5"
)

var _ = Describe("What a journal keeps", func() {
	expectHidden := func(e journal.Entry) {
		GinkgoHelper()
		encoded, err := json.Marshal(e)
		Expect(err).NotTo(HaveOccurred())
		for _, value := range []string{secret, token} {
			for _, form := range []string{value, url.QueryEscape(value), base64.StdEncoding.EncodeToString([]byte("client:" + value)), base64.RawURLEncoding.EncodeToString([]byte(value))} {
				Expect(string(encoded)).NotTo(ContainSubstring(form))
			}
		}
	}

	DescribeTable("holds no credential, from any part of the request", func(change func(*http.Request)) {
		r := httptest.NewRequest(http.MethodGet, "http://node.example/x", nil)
		change(r)
		expectHidden(recordOne(newJournal(3), r, ok))
	},
		Entry("a bearer token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }),
		Entry("a token alone", func(r *http.Request) { r.Header.Set("Authorization", token) }),
		Entry("a token in quotes", func(r *http.Request) { r.Header.Set("Authorization", `Bearer "`+token+`"`) }),
		Entry("a token as a scheme", func(r *http.Request) { r.Header.Set("Authorization", token+" "+token) }),
		Entry("Basic credentials", func(r *http.Request) { r.SetBasicAuth("client", secret) }),
		Entry("Basic credentials with id and secret swapped", func(r *http.Request) { r.SetBasicAuth(secret, "client") }),
		Entry("a short secret in client_secret", func(r *http.Request) { r.URL.RawQuery = "client_secret=short&a=b" }),
		Entry("a secret in the query", func(r *http.Request) { r.URL.RawQuery = "client_secret=" + secret }),
		Entry("a secret under another name", func(r *http.Request) { r.URL.RawQuery = "x=" + secret }),
		Entry("a token in the query", func(r *http.Request) { r.URL.RawQuery = "access_token=" + token }),
		Entry("a token as a name", func(r *http.Request) { r.URL.RawQuery = token }),
		Entry("a name with percent signs", func(r *http.Request) { r.URL.RawQuery = "client%5Fsecret=" + secret }),
		Entry("a percent-encoded token", func(r *http.Request) { r.URL.RawQuery = "a=" + strings.ReplaceAll(token, ".", "%2E") }),
		Entry("a secret in the path", func(r *http.Request) { r.URL.Path = "/x/" + secret + "/y" }),
		Entry("a token in the path", func(r *http.Request) { r.URL.Path = "/" + token }),
		Entry("a token in the agent", func(r *http.Request) { r.Header.Set("User-Agent", "tool/1 "+token) }),
		Entry("a token in Accept", func(r *http.Request) { r.Header.Set("Accept", token) }),
		Entry("a token as a media type", func(r *http.Request) { r.Header.Set("Content-Type", "a/"+token) }),
		Entry("Basic credentials in the agent", func(r *http.Request) {
			r.Header.Set("User-Agent", base64.StdEncoding.EncodeToString([]byte("client:"+secret)))
		}),
	)

	It("holds no credential that a refusal quotes", func() {
		got := recordOne(newJournal(3), httptest.NewRequest(http.MethodGet, "/x", nil), func(_ http.ResponseWriter, r *http.Request) {
			journal.FromContext(r.Context()).Refuse(journal.Refusal{Detail: "the value " + secret + " is wrong", Hint: strings.Repeat("x ", 5000) + token, Parameter: token})
		})
		expectHidden(got)
		Expect(got.Refusal.Detail).To(MatchRegexp(`^the value \*\*\*[0-9a-f]{12} is wrong$`))
		Expect(len(got.Refusal.Hint)).To(BeNumerically("<", 1000))
	})

	It("holds no short secrets in known parameters, either", func() {
		r := httptest.NewRequest(http.MethodGet, "http://node.example/x?client_secret=hush&a=b&Client_Secret=hush2&pw=hush3", nil)
		r.SetBasicAuth("client", "hush")
		got := recordOne(newJournal(3), r, ok)
		Expect(got.Query).To(MatchRegexp(`^client_secret=\*\*\*[0-9a-f]{12}&a=b&Client_Secret=\*\*\*[0-9a-f]{12}&pw=\*\*\*[0-9a-f]{12}$`))
		Expect(got.Client).To(Equal("client"))
		Expect(got.Exposed).To(HaveLen(3))
		Expect(got.Exposed[0]).To(Equal(journal.Exposure{Parameter: "client_secret", Print: got.Authorization.Print}))
	})

	It("gives equal credentials equal fingerprints, from the token answer to the call", func() {
		j := newJournal(9)
		issued := recordOne(j, httptest.NewRequest(http.MethodPost, "/oauth/token", nil), func(_ http.ResponseWriter, r *http.Request) {
			journal.FromContext(r.Context()).Issue(token, place().Now())
			journal.FromContext(r.Context()).Authenticate(secret)
		})
		for _, value := range []string{"Bearer " + token, "bearer  " + token + " ", "Bearer Bearer " + token, token, `Bearer "` + token + `"`} {
			r := httptest.NewRequest(http.MethodGet, "/x", nil)
			r.Header.Set("Authorization", value)
			Expect(recordOne(j, r, ok).Authorization.Print).To(Equal(issued.Issued.Print), value)
		}
		r := httptest.NewRequest(http.MethodGet, "/x", nil)
		r.SetBasicAuth("client", secret)
		Expect(recordOne(j, r, ok).Authorization).To(Equal(journal.Authorization{Fields: 1, Scheme: "Basic", Print: issued.Secret}))
	})

	It("keeps harmless texts unchanged", func() {
		r := httptest.NewRequest(http.MethodGet, "http://node.example/fundings/XF-00000002?page[page]=2&page%5Bsize%5D=10&targetGroup=UNIVERSITY_OF_APPLIED_SCIENCES&flag&=", nil)
		r.Header.Set("Accept", "application/json, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet;q=0.5")
		r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0")
		got := recordOne(newJournal(3), r, ok)
		Expect(got.Path).To(Equal("/fundings/XF-00000002"))
		Expect(got.Query).To(Equal(r.URL.RawQuery))
		Expect(got.Accept).To(Equal(r.Header.Get("Accept")))
		Expect(got.Agent).To(Equal(r.Header.Get("User-Agent")))
	})
})

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"", "a=b", "client_secret=%zz", "&&;=", "access_token", "x=%5", strings.Repeat("a=", 400)} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, query := range []string{
			before + "&client_secret=" + secret + "&" + after, before + "&access_token=" + token + "&" + after, before + "&q=" + secret + "&" + after,
			before + "&" + secret + "&" + after,
		} {
			r := httptest.NewRequest(http.MethodGet, "/x", nil)
			r.URL.RawQuery = query
			got := recordOne(newJournal(1), r, ok)
			encoded, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(encoded), secret) || strings.Contains(string(encoded), token) {
				t.Fatalf("%q is kept as %s", query, encoded)
			}
			if len(encoded) > 16<<10 {
				t.Fatalf("%q occupies %d bytes", query, len(encoded))
			}
		}
	})
}
