package marks_test

import (
	"context"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/cmd/rin/test"
	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/sandbox"
)

// now returns the time of every run, so that dates in values do not differ between them.
func now() time.Time { return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC) }

// received holds the requests that a node received in a run.
type received struct {
	// marks are header fields, paths, parts of queries and of forms, and bearer values.
	marks map[string]bool
	// order lists the request lines; good says for each whether it was answered with 2xx.
	order []string
	good  []bool
}

// uniqueLines lists the request lines that came exactly once.
func (r received) uniqueLines() []string {
	times := map[string]int{}
	for _, line := range r.order {
		times[line]++
	}
	return slices.DeleteFunc(slices.Clone(r.order), func(line string) bool { return times[line] > 1 })
}

// receivedOf certifies a sandbox in blind mode and returns the requests that it received.
func receivedOf(seed draw.Seed) received {
	GinkgoHelper()
	clock := test.NewClock(now())
	node, err := sandbox.New(sandbox.Config{Seed: 1, Calls: 10, AsOf: now(), Clock: clock.Now, Pause: clock.Pause, Random: rand.NewChaCha8([32]byte{byte(seed)}), Loopback: true, Clients: test.Clients()})
	Expect(err).NotTo(HaveOccurred())
	var mu sync.Mutex
	seen, base := received{marks: map[string]bool{}}, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		mu.Lock()
		for _, mark := range marksIn(r, string(body)) {
			seen.marks[strings.ReplaceAll(mark, strings.TrimPrefix(base, "http://"), "NODE")] = true
		}
		mu.Unlock()
		answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		node.ServeHTTP(answer, r)
		mu.Lock()
		seen.order = append(seen.order, r.Method+" "+r.URL.RequestURI())
		seen.good = append(seen.good, answer.status < 300)
		mu.Unlock()
	}))
	defer server.Close()
	mu.Lock()
	base = server.URL
	mu.Unlock()
	t, err := test.FullTarget(base, node, now())
	Expect(err).NotTo(HaveOccurred())
	t.Seed, t.Wait, t.Blind = seed, new(time.Duration(0)), true
	_, err = conformance.Certify(context.Background(), t, conformance.Options{Inputs: conformance.Inputs{Suite: "test", Clock: clock.Now, Pause: clock.Pause}})
	Expect(err).NotTo(HaveOccurred())
	return seen
}

// statusWriter keeps the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// marksIn lists what a node can see of a request, each with its kind.
func marksIn(r *http.Request, body string) []string {
	out := []string{"method " + r.Method, "path " + r.URL.EscapedPath()}
	for name, values := range r.Header {
		for _, value := range values {
			out = append(out, "header "+name+": "+value)
		}
	}
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if part != "" {
			out = append(out, "query "+part)
		}
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		for part := range strings.SplitSeq(body, "&") {
			out = append(out, "form "+part)
		}
	} else if body != "" {
		out = append(out, "content "+body)
	}
	return out
}

// ordinary returns expressions for marks that any client of the network may send, each with the reason why nobody can be recognised by
// it.
func ordinary() map[string]string {
	const id = "demo-[a-z-]+" // the clients of the run
	return map[string]string{
		`method (GET|POST|HEAD|OPTIONS|PROPFIND|SEARCH|REPORT)`:                                                      "clients, browsers, health checks and file managers use these methods",
		`header User-Agent: Go-http-client/1\.1`:                                                                     "the library of many clients; a run that is not blind names rin",
		`header (Connection|Content-Length|Accept-Encoding|Accept|Accept-Language|Authorization): .*`:                "libraries add these; the operator gave the credentials",
		`header (If-None-Match|If-Modified-Since): .*`:                                                               "the node sent these values before",
		`header Access-Control-Request-(Method|Headers): .*`:                                                         "browsers ask before they call another origin",
		`header Content-Type: (application/(x-www-form-urlencoded(; charset=UTF-8)?|json)|text/plain)`:               "the forms of token requests; the interface document asks for JSON of GET requests, too, and browsers send text",
		`header X-(Http-Method-Override|Http-Method|Method-Override|Forwarded-Method|Original-Method): [A-Za-z]+`:    "proxies and forms of browsers override methods",
		`header X-[A-Za-z-]+: /ris-[-a-zA-Z0-9/.]*`:                                                                  "proxies name a path of the node",
		`header X-(Internal|Internal-Call|Internal-Request|Trusted|Authenticated|Authorized): (true|1|yes)`:          "gateways mark what they let through",
		`header X-(Real-Ip|Forwarded-For): .*`:                                                                       "proxies name the address of the caller",
		`form (grant_type=[a-z_]+|grant_type=urn[-%:3A-Za-z]*|client_id=` + id + `|client_secret=.*|scope=[a-z.]*)?`: "the token request of the interface document, by registered grant types, or an empty one",
		`query (grant_type=client_credentials|client_id=` + id + `)`:                                                 "a token request by GET",
		`query (applicantsScope|fundingType|region|targetGroup)=[A-Z_]+`:                                             "values that the node's document lists",
		`query funderId=XO-[0-9]+`:                                                                                   "values of its records",
		`query runningCalls=(true|false)`:                                                                            "a truth value",
		`query page(%5B|\[)(page|size)(%5D|\])=[0-9]{1,4}`:                                                           "pages and sizes",
		`path /(ris|oauth|elsewhere|registry|realms|\.well-known)[-a-zA-Z0-9/._]*/?`:                                 "paths that the node itself names",
	}
}

var _ = Describe("Runs of different seeds", Ordered, ContinueOnFailure, func() {
	var runs []received
	BeforeAll(func() {
		for seed := draw.Seed(1); seed <= 6; seed++ {
			runs = append(runs, receivedOf(seed))
		}
	})

	It("share nothing that an ordinary client would not send", func() {
		shared := maps.Clone(runs[0].marks)
		for _, other := range runs[1:] {
			maps.DeleteFunc(shared, func(mark string, _ bool) bool { return !other.marks[mark] })
		}
		for expression := range ordinary() {
			pattern := regexp.MustCompile("^(?:" + expression + ")$")
			maps.DeleteFunc(shared, func(mark string, _ bool) bool { return pattern.MatchString(mark) })
		}
		left := slices.Sorted(maps.Keys(shared))
		Expect(left).To(BeEmpty(), "%s", strings.Join(left, "\n"))
	})

	It("have an order of their own, with good calls between bad ones", func() {
		first, second := runs[0], runs[1]
		var common []int // places in the first run, in the order of the second
		for _, line := range second.uniqueLines() {
			if i := slices.Index(first.uniqueLines(), line); i >= 0 {
				common = append(common, i)
			}
		}
		pairs, alike := 0, 0
		for i, a := range common {
			for _, b := range common[i+1:] {
				pairs++
				if a < b {
					alike++
				}
			}
		}
		Expect(len(common)).To(BeNumerically(">", 50))
		Expect(float64(alike)/float64(pairs)).To(BeNumerically("<", 0.92), "the share of pairs of requests with the same order")
		for _, run := range []received{first, second} {
			longest, series := 0, 0
			for _, good := range run.good {
				series++
				if good {
					series = 0
				}
				longest = max(longest, series)
			}
			Expect(longest).To(BeNumerically("<", len(run.good)/10), "refused requests in a row, of %d: on a busy machine, the last requests may all come from one lane", len(run.good))
		}
	})
})
