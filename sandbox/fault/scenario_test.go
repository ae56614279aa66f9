package fault_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/fault"
)

// env returns the environment of a node without tokens, whose callers name themselves in the header Caller.
func env() fault.Env {
	return fault.Env{
		Places: address.Map{Prefix: "ris-synergy", Realm: "ris"},
		Now:    func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
		Caller: func(r *http.Request) (string, *http.Request) { return r.Header.Get("Caller"), r },
		Refuse: func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusUnauthorized) },
		TokenUnavailable: func(w http.ResponseWriter, _ *http.Request, status int, _ string) {
			w.WriteHeader(status)
		},
	}
}

// newInjector returns the faults of a node with plays.
func newInjector(env fault.Env, plays ...fault.Play) *fault.Injector {
	GinkgoHelper()
	faults, err := fault.NewInjector(env, fault.Setup{Scenarios: plays})
	Expect(err).NotTo(HaveOccurred())
	return faults
}

func noContent(http.ResponseWriter, *http.Request) {}

var _ = Describe("The table of scenarios", func() {
	It("says what each does, why, and what a good client does, under a unique name", func() {
		names := fault.ScenarioNames()
		Expect(slices.Compact(slices.Sorted(slices.Values(names)))).To(HaveLen(len(names)))
		for _, s := range fault.Scenarios() {
			Expect(s.Name).To(MatchRegexp(`^[a-z0-9]+(-[a-z0-9]+)*$`))
			for _, text := range []string{s.Does, s.Why, s.Client} {
				Expect(text).To(MatchRegexp(`^[A-Z].*\.$`), s.Name)
			}
			Expect(s.Times).To(BeNumerically(">", 0), s.Name)
			Expect(s.Strikes).NotTo(BeEmpty(), s.Name)
			Expect(regexp.MustCompile(`\bthe wait\b`).MatchString(s.Does)).To(Equal(s.Wait > 0 || s.Name == "key-rotation"), s.Name)
		}
	})
})

var _ = Describe("A play", func() {
	DescribeTable("is read from a text as users type it", func(text string, want fault.Play) {
		Expect(fault.ParsePlay(text)).To(Equal(want))
	},
		Entry(nil, "slow", fault.Play{Name: "slow"}),
		Entry(nil, "503-twice:times=3", fault.Play{Name: "503-twice", Times: 3}),
		Entry(nil, "503-twice:after=2:every=3:method=get", fault.Play{Name: "503-twice", After: 2, Every: 3, Method: "GET"}),
		Entry(nil, "503-twice:rate=10%", fault.Play{Name: "503-twice", Rate: 0.1}),
		Entry(nil, "latency:wait=200ms:jitter=50ms", fault.Play{Name: "latency", Wait: 200 * time.Millisecond, Jitter: 50 * time.Millisecond}),
		Entry(nil, `answer:status=404:body={"a":1}`, fault.Play{Name: "answer", Status: 404, Body: `{"a":1}`}),
		Entry(nil, "slow:wait=1m:client=a:b:path=/x/y:times=2", fault.Play{Name: "slow", Wait: time.Minute, Client: "a:b", Path: "/x/y", Times: 2}),
	)

	DescribeTable("is refused with an error that says what was expected", func(text, want string) {
		_, err := fault.ParsePlay(text)
		Expect(err).To(MatchError(ContainSubstring(want)))
	},
		Entry(nil, "slo", "did you mean slow"), Entry(nil, "", "there are"), Entry(nil, "slow:3", `"3" is not an option`), Entry(nil, "slow:", "is not an option"),
		Entry(nil, "slow:tims=3", "did you mean times"), Entry(nil, "slow:times=often", "expected a number"), Entry(nil, "slow:wait=3", "expected a duration"),
		Entry(nil, "slow:client=", "expected a client id"), Entry(nil, "slow:times=0", "expected a number from 1"),
		Entry(nil, "slow:rate=0%", "expected a part"), Entry(nil, "slow:rate=101%", "expected a part"), Entry(nil, "answer:status=99", "from 200 to 599"), Entry(nil, "slow:times=2:times=3", "given twice"),
	)

	DescribeTable("is refused at the start", func(p fault.Play, want string) {
		_, err := fault.NewInjector(env(), fault.Setup{Scenarios: []fault.Play{p}})
		Expect(err).To(MatchError(ContainSubstring(want)))
	},
		Entry("with too many faults", fault.Play{Name: "slow", Times: 1001}, "1 to 1000 times"),
		Entry("with a negative wait", fault.Play{Name: "slow", Wait: -time.Second}, "a wait of at most 1h"),
		Entry("with a wait of days", fault.Play{Name: "slow", Wait: 48 * time.Hour}, "a wait of at most 1h"),
		Entry("with a jitter beyond the wait", fault.Play{Name: "slow", Wait: time.Second, Jitter: time.Minute}, "expected at most the wait"),
		Entry("with every and rate", fault.Play{Name: "slow", Every: 2, Rate: 0.5}, "expected one of them"),
		Entry("by hand without a status", fault.Play{Name: "answer"}, "has no status"),
		Entry("with the status of another scenario", fault.Play{Name: "slow", Status: 404}, "expected the scenario answer"),
		Entry("at a path with a query", fault.Play{Name: "slow", Path: "/ris-synergy/funding/v3/fundings?a=b"}, "without a query"),
		Entry("at a path that it does not strike", fault.Play{Name: "empty-page", Path: "/ris-synergy/info/v1/oauth/info"}, "strikes no request at"),
		Entry("at an unknown kind", fault.Play{Name: "slow", Path: "lists"}, "or one of info, list"),
		Entry("at an unknown path", fault.Play{Name: "slow", Path: "/nowhere"}, "strikes no request at"),
	)

	DescribeTable("strikes requests at or below its path, or of its kind", func(play fault.Play, struck ...string) {
		faults := newInjector(env())
		node := faults.Wrap(http.HandlerFunc(noContent))
		play.Name = "503-twice"
		var got []string
		for _, path := range []string{
			"/oauth/token", "/realms/ris/protocol/openid-connect/token", "/realms/ris/protocol/openid-connect/certs", "/.well-known/oauth-authorization-server",
			"/realms/ris/.well-known/openid-configuration", "/registry/registry.json", "/ris-synergy/info/v1/oauth/info/", "/ris-synergy/funding/v3/api-docs",
			"/ris-synergy/funding/v3/fundings", "/ris-synergy/funding/v3/fundings/A-1", "/ris-synergy/funding/v3/fundingsX", "/ris-synergy/try-out/funding/v3/fundings",
			"/healthz", "/docs", "/", "/elsewhere/oauth/token",
		} {
			Expect(faults.Play(play)).To(Succeed())
			w := httptest.NewRecorder()
			node.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			if w.Header().Get(fault.ScenarioHeader) != "" {
				got = append(got, path)
			}
		}
		Expect(got).To(Equal(struck))
	},
		Entry("of the API, if it has no path", fault.Play{}, "/ris-synergy/info/v1/oauth/info/", "/ris-synergy/funding/v3/fundings", "/ris-synergy/funding/v3/fundings/A-1", "/ris-synergy/funding/v3/fundingsX"),
		Entry("at the path of the list and below it", fault.Play{Path: "/ris-synergy/funding/v3/fundings/"}, "/ris-synergy/funding/v3/fundings", "/ris-synergy/funding/v3/fundings/A-1"),
		Entry("at all paths", fault.Play{Path: "/"}, "/oauth/token", "/realms/ris/protocol/openid-connect/token", "/realms/ris/protocol/openid-connect/certs",
			"/.well-known/oauth-authorization-server", "/realms/ris/.well-known/openid-configuration", "/registry/registry.json", "/ris-synergy/info/v1/oauth/info/",
			"/ris-synergy/funding/v3/api-docs", "/ris-synergy/funding/v3/fundings", "/ris-synergy/funding/v3/fundings/A-1", "/ris-synergy/funding/v3/fundingsX",
			"/ris-synergy/try-out/funding/v3/fundings"),
		Entry("of the kind list", fault.Play{Path: "list"}, "/ris-synergy/funding/v3/fundings"),
		Entry("of the kind token", fault.Play{Path: "token"}, "/oauth/token", "/realms/ris/protocol/openid-connect/token"),
		Entry("at one token endpoint", fault.Play{Path: "/oauth"}, "/oauth/token"),
		Entry("of the kind keys", fault.Play{Path: "keys"}, "/realms/ris/protocol/openid-connect/certs"),
		Entry("of the kind metadata", fault.Play{Path: "metadata"}, "/.well-known/oauth-authorization-server", "/realms/ris/.well-known/openid-configuration"),
		Entry("of the kind try-out", fault.Play{Path: "try-out"}, "/ris-synergy/try-out/funding/v3/fundings"),
		Entry("at the path of the registry", fault.Play{Path: "/registry"}, "/registry/registry.json"),
	)

	DescribeTable("changes one answer of any API", func(name, body, want string) {
		node := newInjector(env(), fault.Play{Name: name}).Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(body)) // a recorder takes everything
		}))
		for _, expected := range []string{want, body} {
			w := httptest.NewRecorder()
			node.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/ris-synergy/projects", nil))
			Expect(w.Body.String()).To(Equal(expected))
		}
	},
		Entry(nil, "empty-page", `[{"id":1}]`, `[]`),
		Entry("except answers without records", "empty-page", `{"id":1}`, `{"id":1}`),
		Entry("except an empty list", "empty-page", `[]`, `[]`),
		Entry(nil, "duplicate-items", `[{"id":1},{"id":2}]`, `[{"id":1},{"id":2},{"id":1}]`),
		Entry("except an empty list", "duplicate-items", `[]`, `[]`),
		Entry(nil, "unknown-enum-value", `[{"id":"A","state":{"of":"IN_PROGRESS"},"type":"B_C"}]`, `[{"id":"A","state":{"of":"ADDED_IN_A_LATER_VERSION"},"type":"B_C"}]`),
		Entry("except records without a vocabulary", "unknown-enum-value", `{"id":"a","of":[1]}`, `{"id":"a","of":[1]}`),
		Entry(nil, "extra-fields", `{"a":[{"b":1.50}]}`, `{"a":[{"addedInALaterVersion":1,"b":1.50}],"addedInALaterVersion":1}`),
		Entry("except maps of APIs", "extra-fields", `{"endpoints":{"funding":[{"url":"u"}]}}`,
			`{"addedInALaterVersion":1,"endpoints":{"funding":[{"addedInALaterVersion":1,"url":"u"}]}}`),
		Entry("except values without members", "extra-fields", `[1]`, `[1]`),
		Entry("except bodies that are not JSON", "extra-fields", `<html>`, `<html>`),
		Entry(nil, "truncated-json", `{"a":1}`, `{"a`),
	)

	DescribeTable("redirects only to another name of this machine", func(publicURL, host, want string) {
		node := env()
		node.Places.PublicURL = publicURL
		r := httptest.NewRequest(http.MethodGet, "/ris-synergy/funding/v3/fundings?page[size]=2", nil)
		r.Host = host
		w := httptest.NewRecorder()
		newInjector(node, fault.Play{Name: "moved-host"}).Wrap(http.HandlerFunc(noContent)).ServeHTTP(w, r)
		Expect(w.Header().Get("Location")).To(Equal(want))
		Expect(w.Header().Get(fault.ScenarioHeader) != "").To(Equal(want != ""))
	},
		Entry(nil, "", "localhost:8080", "http://127.0.0.1:8080/ris-synergy/funding/v3/fundings?page[size]=2"),
		Entry(nil, "", "localhost", "http://127.0.0.1/ris-synergy/funding/v3/fundings?page[size]=2"),
		Entry(nil, "", "[::1]:8080", "http://localhost:8080/ris-synergy/funding/v3/fundings?page[size]=2"),
		Entry(nil, "", "node.example", ""), Entry(nil, "", "127.0.0.1.evil.example:80", ""), Entry(nil, "https://node.example", "localhost:8080", ""),
	)

	It("has a sequence for each of 1024 clients, and one for all further clients", func() {
		faults := newInjector(env(), fault.Play{Name: "503-twice", Times: 1})
		node := faults.Wrap(http.HandlerFunc(noContent))
		struck := 0
		for n := range 3000 {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "/ris-synergy/funding/v3/fundings", nil)
			r.Header.Set("Caller", strings.Repeat("x", n%3000+1))
			if node.ServeHTTP(w, r); w.Code == http.StatusServiceUnavailable {
				struck++
			}
		}
		Expect(struck).To(Equal(1025))
		Expect(faults.Plays()[0].Strikes).To(HaveLen(1025))
	})

	It("counts the requests of all further clients together, also before one was struck", func() {
		node := newInjector(env(), fault.Play{Name: "503-twice", Times: 1, After: 1}).Wrap(http.HandlerFunc(noContent))
		status := func(client string) int {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "/ris-synergy/funding/v3/fundings", nil)
			r.Header.Set("Caller", client)
			node.ServeHTTP(w, r)
			return w.Code
		}
		for n := range 1025 {
			Expect(status(fmt.Sprint("client-", n))).To(Equal(http.StatusOK))
		}
		Expect(status("one more")).To(Equal(http.StatusServiceUnavailable))
	})
})

// FuzzParse checks that a text gives a play that can begin, or an error that says what was expected.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"slow", "503-twice:times=3", "slow:wait=1m:client=a:b", "slow::", "slow:client=:path=", ":", "429-then-ok:path=/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := fault.ParsePlay(text)
		if err != nil {
			return
		}
		if _, err := fault.FindScenario(p.Name); err != nil {
			t.Fatalf("%q is read as an unknown scenario: %v", text, err)
		}
		if _, err := fault.NewInjector(env(), fault.Setup{Scenarios: []fault.Play{p}}); err != nil && !strings.Contains(err.Error(), "expected") {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
