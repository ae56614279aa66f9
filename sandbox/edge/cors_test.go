package edge_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/edge"
)

func TestEdge(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "edge")
}

const (
	page      = "http://localhost:5173"
	otherPage = "https://other.example"
)

// ask sends a request through the policy for the origins to a handler that answers 418 with Vary: Accept-Encoding.
func ask(origins []string, method string, header ...string) *http.Response {
	GinkgoHelper()
	policy, err := edge.ParseOrigins(origins)
	Expect(err).NotTo(HaveOccurred())
	handler := policy.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Vary", "Accept-Encoding")
		w.WriteHeader(http.StatusTeapot)
	}), slog.New(slog.DiscardHandler))
	return send(handler, method, header...)
}

func send(handler http.Handler, method string, header ...string) *http.Response {
	r := httptest.NewRequest(method, "/", nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Result()
}

// preflight returns the header fields of a preflight, names and values in turn.
func preflight(origin string, more ...string) []string {
	return append([]string{"Origin", origin, "Access-Control-Request-Method", "GET"}, more...)
}

var _ = Describe("A node with CORS", func() {
	It("lets listed pages read every answer, with Vary for caches", func() {
		got := ask([]string{page, otherPage}, "GET", "Origin", otherPage)
		Expect(got.StatusCode).To(Equal(http.StatusTeapot))
		Expect(got.Header).To(SatisfyAll(
			HaveKeyWithValue("Access-Control-Allow-Origin", []string{otherPage}),
			HaveKeyWithValue("Access-Control-Expose-Headers", []string{"*"}),
			HaveKeyWithValue("Vary", []string{"Accept-Encoding, Origin"}),
		))
	})

	It("lets other pages read nothing, with Vary for caches", func() {
		for _, header := range [][]string{nil, {"Origin", otherPage}, {"Origin", page + ".evil.example"}, {"Origin", "null"}} {
			got := ask([]string{page}, "GET", header...)
			Expect(got.StatusCode).To(Equal(http.StatusTeapot))
			Expect(got.Header).NotTo(HaveKey("Access-Control-Allow-Origin"))
			Expect(got.Header.Get("Vary")).To(Equal("Accept-Encoding, Origin"))
		}
	})

	It("gives all pages the same answer when all may call, so that any cache may keep it", func() {
		for _, header := range [][]string{nil, {"Origin", otherPage}} {
			got := ask([]string{"*"}, "GET", header...)
			Expect(got.Header.Get("Access-Control-Allow-Origin")).To(Equal("*"))
			Expect(got.Header.Get("Vary")).To(Equal("Accept-Encoding"))
		}
	})

	It("answers preflights itself, and allows the header names that the page asks for", func() {
		for _, origins := range [][]string{{page}, {"*"}} {
			got := ask(origins, "OPTIONS", preflight(page, "Access-Control-Request-Headers", "authorization,traceparent, Rin-Deviate", "Access-Control-Request-Headers", "x:y,,x\r\nz, x-last")...)
			Expect(got.StatusCode).To(Equal(http.StatusNoContent))
			Expect(got.Header.Get("Access-Control-Allow-Methods")).To(ContainSubstring("GET, HEAD, POST"))
			Expect(got.Header.Get("Access-Control-Allow-Headers")).To(Equal("Authorization, Content-Type, If-None-Match, traceparent, Rin-Deviate, x-last"))
			Expect(got.Header.Get("Access-Control-Max-Age")).To(Equal("600"))
			Expect(got.Header.Get("Vary")).To(ContainSubstring("Access-Control-Request-Headers"))
		}
	})

	It("limits the header names that it repeats", func() {
		got := ask([]string{"*"}, "OPTIONS", preflight(page, "Access-Control-Request-Headers", strings.Repeat("x-long-name,", 10_000))...)
		Expect(len(got.Header.Get("Access-Control-Allow-Headers"))).To(BeNumerically("<", 4<<10))
	})

	It("passes plain OPTIONS to the node", func() {
		Expect(ask([]string{"*"}, "OPTIONS", "Origin", page).StatusCode).To(Equal(http.StatusTeapot))
		Expect(ask([]string{"*"}, "OPTIONS", "Access-Control-Request-Method", "GET").StatusCode).To(Equal(http.StatusTeapot))
	})

	It("never allows credentials", func() {
		for _, origins := range [][]string{nil, {page}, {"*"}} {
			for _, method := range []string{"GET", "OPTIONS"} {
				Expect(ask(origins, method, preflight(page)...).Header).NotTo(HaveKey("Access-Control-Allow-Credentials"))
			}
		}
	})

	It("logs each refused origin once", func() {
		var log bytes.Buffer
		policy, err := edge.ParseOrigins(nil)
		Expect(err).NotTo(HaveOccurred())
		handler := policy.Handler(http.NotFoundHandler(), slog.New(slog.NewTextHandler(&log, nil)))
		for range 3 {
			got := send(handler, "OPTIONS", preflight(page)...)
			Expect(got.Header).NotTo(Or(HaveKey("Access-Control-Allow-Origin"), HaveKey("Vary")))
		}
		send(handler, "OPTIONS", preflight("https://conformance.invalid")...)
		Expect(log.String()).NotTo(ContainSubstring("invalid"))
		for i := range 100 {
			send(handler, "OPTIONS", preflight("https://"+strings.Repeat("a", i+1)+".example")...)
		}
		Expect(strings.Count(log.String(), page)).To(Equal(1))
		Expect(strings.Count(log.String(), "\n")).To(Equal(16))
		Expect(log.String()).To(ContainSubstring("--cors"))
	})

	It("does not add Origin to a Vary that includes it", func() {
		policy, err := edge.ParseOrigins([]string{page})
		Expect(err).NotTo(HaveOccurred())
		for _, vary := range []string{"*", "Accept, origin"} {
			got := send(policy.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Vary", vary)
				_, _ = w.Write([]byte("ok"))
			}), slog.New(slog.DiscardHandler)), "GET", "Origin", page)
			Expect(got.Header["Vary"]).To(Equal([]string{vary}))
		}
	})
})

var _ = Describe("An origin", func() {
	DescribeTable("is accepted as browsers send it", func(origin string) {
		Expect(ask([]string{origin}, "GET", "Origin", origin).Header.Get("Access-Control-Allow-Origin")).To(Equal(origin))
	},
		func(origin string) string { return origin },
		Entry(nil, "http://localhost:5173"), Entry(nil, "https://app.example"), Entry(nil, "http://[::1]:3000"), Entry(nil, "http://127.0.0.1"), Entry(nil, "capacitor://localhost"),
	)

	DescribeTable("is refused in any other form", func(want string, origins ...string) {
		_, err := edge.ParseOrigins(origins)
		Expect(err).To(MatchError(ContainSubstring(want)))
	},
		Entry("an empty text", "is not an origin", ""),
		Entry("a host", "scheme, host and port", "localhost"),
		Entry("a host with a port", "scheme, host and port", "localhost:5173"),
		Entry("a slash at its end", "did you mean http://localhost:5173?", "http://localhost:5173/"),
		Entry("a path", "did you mean https://app.example?", "https://app.example/page?x"),
		Entry("the default port", "did you mean https://app.example?", "https://app.example:443"),
		Entry("capitals", "did you mean https://app.example?", "HTTPS://App.Example"),
		Entry("a user", "is not an origin", "https://me@app.example"),
		Entry("a pattern", "several origins", "https://*.example"),
		Entry("a name outside ASCII", "in ASCII", "https://büro.example"),
		Entry("null", "sandboxed frame", "null"),
		Entry("all origins and one", "use \"*\" alone", "*", page),
	)
})

func FuzzOrigin(f *testing.F) {
	for _, seed := range []string{"*", "null", "http://[::1%25x]:1", "http://a:b", "a://", "http://a\x00", "https://app.example:443"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, origin string) {
		policy, err := edge.ParseOrigins([]string{origin})
		if err != nil || origin == "*" {
			return
		}
		got := send(policy.Handler(http.NotFoundHandler(), slog.New(slog.DiscardHandler)), "GET", "Origin", origin)
		if allowed := got.Header.Get("Access-Control-Allow-Origin"); allowed != origin || strings.ContainsAny(origin, " \r\n,*") {
			t.Fatalf("%q was taken, and %q allowed", origin, allowed)
		}
	})
}
