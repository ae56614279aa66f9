package sandbox_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/fault"
)

// played is a node with scenarios and two clients, with a token of each.
type played struct {
	runningNode
	clients []sandbox.Credential
	tokens  []string
	clock   *adjustableClock
	paused  *time.Duration // the sum of all pauses
}

// play starts a node, fetches a token for each of its two clients, and then begins the scenarios.
func play(config sandbox.Config, plays ...fault.Play) played {
	GinkgoHelper()
	p := played{clock: newClock(noon), paused: new(time.Duration)}
	config.Clock, config.Calls, config.AsOf = p.clock.read, 8, noon
	config.Pause = func(_ context.Context, d time.Duration) error { *p.paused += d; return nil }
	config.Clients = []sandbox.ClientConfig{{ID: "one", Role: "EXTERNAL_API_CLIENT", Affiliation: "X"}, {ID: "two", Role: "EXTERNAL_API_CLIENT", Affiliation: "X"}}
	p.runningNode = newNode(config)
	p.clients = p.Credentials()
	for _, c := range p.clients {
		p.tokens = append(p.tokens, fetchToken(p, stagingToken, c))
	}
	for _, scenario := range plays {
		Expect(p.Play(scenario)).To(Succeed())
	}
	return p
}

// list reads a page with the token of a client.
func (p played) list(client int) answer {
	GinkgoHelper()
	return get(p, fundingsPath+"?page[size]=3", bearer(p.tokens[client]))
}

// marks sends n requests, one after the other, and returns the scenario header of each answer.
func marks(n int, ask func() answer) []string {
	GinkgoHelper()
	var all []string
	for range n {
		all = append(all, ask().header.Get(fault.ScenarioHeader))
	}
	return all
}

func items(a answer) []map[string]any {
	GinkgoHelper()
	var all []map[string]any
	Expect(json.Unmarshal([]byte(a.body), &all)).To(Succeed(), a.body)
	return all
}

var _ = Describe("The options of a play", func() {
	It("spare the first requests, and hit each nth of the others", func() {
		p := play(sandbox.Config{}, fault.Play{Name: "503-twice", Path: "list", After: 2, Every: 3, Times: 2})
		Expect(marks(11, func() answer { return p.list(0) })).To(Equal([]string{"", "", "", "", "503-twice 1/2", "", "", "503-twice 2/2", "", "", ""}))
		Expect(marks(5, func() answer { return p.list(1) })[4]).To(Equal("503-twice 1/2"), "each client has its own sequence")
	})

	It("hit a part of the requests, the same ones for the same seed", func() {
		hits := func(seed uint64) []string {
			p := play(sandbox.Config{Seed: seed}, fault.Play{Name: "503-twice", Path: "list", Rate: 0.25})
			return marks(80, func() answer { return p.list(0) })
		}
		first := hits(7)
		Expect(hits(7)).To(Equal(first))
		Expect(hits(8)).NotTo(Equal(first))
		struck := slices.DeleteFunc(slices.Clone(first), func(mark string) bool { return mark == "" })
		Expect(len(struck)).To(And(BeNumerically(">", 8), BeNumerically("<", 35)))
	})

	It("answer by hand, by method and path", func() {
		p := play(sandbox.Config{}, fault.Play{Name: fault.Answer, Method: "GET", Path: fundingsPath, Status: 410, Body: `{"gone":true}`})
		head := send(p, http.MethodHead, fundingsPath, "", bearer(p.tokens[0]))
		Expect(head.status).To(Equal(http.StatusOK), "HEAD is another method")
		got := p.list(0)
		Expect(got.status).To(Equal(410))
		Expect(got.body).To(Equal(`{"gone":true}`))
		Expect(got.header.Get("Content-Type")).To(Equal("application/json"))
		Expect(p.list(0).status).To(Equal(http.StatusOK))
		p = play(sandbox.Config{}, fault.Play{Name: fault.Answer, Path: "list", Status: 503, Wait: 1500 * time.Millisecond})
		got = p.list(0)
		Expect(got.header.Get("Retry-After")).To(Equal("2"))
		Expect(got.header.Get("Content-Type")).To(Equal("application/problem+json"))
	})

	It("answer later, by a wait with a jitter", func() {
		p := play(sandbox.Config{}, fault.Play{Name: fault.Latency, Path: "list", Wait: 200 * time.Millisecond, Jitter: 50 * time.Millisecond})
		var waits []time.Duration
		for range 20 {
			before := *p.paused
			Expect(p.list(0).status).To(Equal(http.StatusOK))
			waits = append(waits, *p.paused-before)
		}
		Expect(waits).To(HaveLen(20))
		Expect(waits).To(HaveEach(And(BeNumerically(">=", 150*time.Millisecond), BeNumerically("<=", 250*time.Millisecond))))
		Expect(slices.Compact(slices.Sorted(slices.Values(waits)))).NotTo(HaveLen(1))
	})

	It("may be in the header of a request, where they make sense for one request", func() {
		p := play(sandbox.Config{FaultHeaders: true})
		got := get(p, fundingsPath, withFault(bearer(p.tokens[0]), fault.ScenarioHeader, "answer:status=418, extra-fields"))
		Expect(got.status).To(Equal(418))
		got = get(p, fundingsPath, withFault(bearer(p.tokens[0]), fault.ScenarioHeader, "503-twice:wait=7s"))
		Expect(got.header.Get("Retry-After")).To(Equal("7"))
		got = get(p, fundingsPath, withFault(bearer(p.tokens[0]), fault.ScenarioHeader, "503-twice:times=7"))
		Expect(got.status).To(Equal(http.StatusBadRequest))
		Expect(got.body).To(ContainSubstring("because the others select requests"))
	})
})

var _ = Describe("A scenario", func() {
	DescribeTable("makes as many faults for each client as it says, and none at other paths", func(name string, expectFault func(p played, a answer)) {
		s, err := fault.FindScenario(name)
		Expect(err).NotTo(HaveOccurred())
		for _, times := range []int{0, 3} {
			p := play(sandbox.Config{}, fault.Play{Name: name, Times: times, Path: fundingsPath})
			if times == 0 {
				times = s.Times
			}
			good := get(p, infoPath, bearer(p.tokens[0]))
			Expect(good.status).To(Equal(http.StatusOK))
			Expect(good.header).NotTo(HaveKey(fault.ScenarioHeader))
			for client := range p.clients {
				for n := range times {
					a := p.list(client)
					Expect(a.header.Get(fault.ScenarioHeader)).To(Equal(name + " " + strconv.Itoa(n+1) + "/" + strconv.Itoa(times)))
					expectFault(p, a)
				}
				for range 3 {
					a := p.list(client)
					Expect(a.status).To(Equal(http.StatusOK), a.body)
					Expect(a.header).NotTo(HaveKey(fault.ScenarioHeader))
					Expect(items(a)).To(HaveLen(3))
				}
			}
			Expect(p.Scenarios()).To(HaveExactElements(HaveField("Strikes", map[string]int{"one": times, "two": times})))
		}
	},
		Entry(nil, "429-then-ok", func(_ played, a answer) {
			Expect(a.status).To(Equal(http.StatusTooManyRequests))
			Expect(a.header.Get("Retry-After")).To(Equal("1"))
			Expect(a.header.Get("Content-Type")).To(Equal("application/problem+json"))
		}),
		Entry(nil, "503-twice", func(_ played, a answer) {
			Expect(a.status).To(Equal(http.StatusServiceUnavailable))
			Expect(a.header.Get("Retry-After")).To(Equal("1"))
		}),
		Entry(nil, "retry-after-date", func(p played, a answer) {
			Expect(a.status).To(Equal(http.StatusServiceUnavailable))
			date, err := http.ParseTime(a.header.Get("Retry-After"))
			Expect(err).NotTo(HaveOccurred())
			now, err := http.ParseTime(a.header.Get("Date"))
			Expect(err).NotTo(HaveOccurred())
			Expect(date.Sub(now)).To(Equal(2 * time.Second))
		}),
		Entry(nil, "html-error", func(_ played, a answer) {
			Expect(a.status).To(Equal(http.StatusBadGateway))
			Expect(a.header.Get("Content-Type")).To(HavePrefix("text/html"))
			Expect(a.body).To(ContainSubstring("<html>"))
		}),
		Entry(nil, "500-once", func(_ played, a answer) {
			Expect(a.status).To(Equal(http.StatusInternalServerError))
			Expect(a.header).NotTo(HaveKey("Retry-After"))
			Expect(a.header.Get("Content-Type")).To(Equal("application/problem+json"))
		}),
		Entry(nil, "moved-host", func(p played, a answer) {
			Expect(a.status).To(Equal(http.StatusTemporaryRedirect))
			Expect(a.header.Get("Location")).To(Equal(strings.Replace(p.URL, "127.0.0.1", "localhost", 1) + fundingsPath + "?page[size]=3"))
		}),
		Entry(nil, "moved-endpoint", func(_ played, a answer) {
			Expect(a.status).To(Equal(http.StatusTemporaryRedirect))
			Expect(a.header.Get("Location")).To(Equal(fundingsPath + "/?page[size]=3"))
		}),
		Entry(nil, "401-once", func(_ played, a answer) {
			Expect(a.status).To(Equal(http.StatusUnauthorized))
			Expect(a.header.Get("WWW-Authenticate")).To(ContainSubstring(`error="invalid_token"`))
		}),
		Entry(nil, "slow", func(p played, a answer) {
			Expect(a.status).To(Equal(http.StatusOK))
			Expect(*p.paused).To(Equal(5 * time.Second))
			*p.paused = 0
		}),
		Entry(nil, "truncated-json", func(_ played, a answer) {
			Expect(a.status).To(Equal(http.StatusOK))
			Expect(a.header.Get("Content-Length")).To(Equal(strconv.Itoa(len(a.body))))
			Expect(json.Valid([]byte(a.body))).To(BeFalse())
		}),
		Entry(nil, "empty-page", func(_ played, a answer) {
			Expect(a.status).To(Equal(http.StatusOK))
			Expect(a.body).To(Equal("[]"))
			Expect(a.header.Get("Link")).To(ContainSubstring(`rel="next"`))
		}),
		Entry(nil, "duplicate-items", func(_ played, a answer) {
			all := items(a)
			Expect(all).To(HaveLen(4))
			Expect(all[3]).To(Equal(all[0]))
		}),
		Entry(nil, "unknown-enum-value", func(_ played, a answer) {
			all := items(a)
			Expect(all[0]["legalType"]).To(Equal("ADDED_IN_A_LATER_VERSION"))
			Expect(all[0]["targetGroups"]).To(ContainElement("ADDED_IN_A_LATER_VERSION"))
			Expect(all[1]["legalType"]).NotTo(Equal("ADDED_IN_A_LATER_VERSION"))
		}),
		Entry(nil, "extra-fields", func(_ played, a answer) {
			for _, item := range items(a) {
				Expect(item).To(HaveKey("addedInALaterVersion"))
				Expect(item["funder"].([]any)[0]).To(HaveKey("addedInALaterVersion"))
			}
		}),
	)

	It("closes the connection before the end of the body (connection-cut)", func() {
		p := play(sandbox.Config{}, fault.Play{Name: "connection-cut"})
		request, err := http.NewRequest(http.MethodGet, p.URL+fundingsPath, nil)
		Expect(err).NotTo(HaveOccurred())
		request.Header = bearer(p.tokens[0])
		response, err := http.DefaultClient.Do(request)
		Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		Expect(response.Header.Get(fault.ScenarioHeader)).To(Equal("connection-cut 1/1"))
		read, err := io.ReadAll(response.Body)
		Expect(err).To(MatchError(io.ErrUnexpectedEOF))
		Expect(len(read)).To(BeNumerically("<", response.ContentLength))
		Expect(p.list(0).status).To(Equal(http.StatusOK))
	})

	It("fails at one page of a list for each client, as often as it is asked for (page-500-always)", func() {
		p := play(sandbox.Config{}, fault.Play{Name: "page-500-always"})
		page := func(client int, query string) int { return get(p, fundingsPath+query, bearer(p.tokens[client])).status }
		for range 2 {
			Expect(page(0, "?page[page]=0&page[size]=3")).To(Equal(http.StatusOK))
			Expect(page(0, "?page[page]=3&page[size]=3")).To(Equal(http.StatusInternalServerError))
			Expect(page(0, "?page%5Bsize%5D=3&page[page]=3")).To(Equal(http.StatusInternalServerError), "the same page")
			Expect(page(0, "?page[page]=3&page[size]=1")).To(Equal(http.StatusOK), "a smaller page")
			Expect(page(0, "?page[page]=6&page[size]=3")).To(Equal(http.StatusOK), "the next page")
		}
		Expect(page(1, "?page[page]=3&page[size]=3")).To(Equal(http.StatusOK), "the first page of another client")
		Expect(page(1, "?page[page]=0&page[size]=3")).To(Equal(http.StatusInternalServerError))
		Expect(get(p, fundingsPath+"/XF-00000001", bearer(p.tokens[0])).status).To(Equal(http.StatusOK))
	})

	It("can apply to one client, which it recognizes by a form, by HTTP Basic and by a token", func() {
		p := play(sandbox.Config{}, fault.Play{Name: "503-twice", Client: "two", Path: "token"}, fault.Play{Name: "429-then-ok", Client: "two", Times: 1})
		form := func(c sandbox.Credential) string {
			return url.Values{"grant_type": {"client_credentials"}, "client_id": {c.ClientID}, "client_secret": {c.Secret}}.Encode()
		}
		Expect(postForm(p, stagingToken, form(p.clients[0]), nil).status).To(Equal(http.StatusOK))
		first := postForm(p, stagingToken, form(p.clients[1]), nil)
		Expect(first.status).To(Equal(http.StatusServiceUnavailable))
		Expect(first.body).To(ContainSubstring(`"error":"temporarily_unavailable"`))
		Expect(postForm(p, stagingToken, "grant_type=client_credentials", basic("two", p.clients[1].Secret)).header.Get(fault.ScenarioHeader)).To(Equal("503-twice 2/2"))
		Expect(postForm(p, stagingToken, form(p.clients[1]), nil).status).To(Equal(http.StatusOK))
		Expect(marks(2, func() answer { return p.list(0) })).To(Equal([]string{"", ""}))
		Expect(marks(2, func() answer { return p.list(1) })).To(Equal([]string{"429-then-ok 1/1", ""}))
	})

	It("counts all callers without a valid token as one", func() {
		p := play(sandbox.Config{}, fault.Play{Name: "429-then-ok", Times: 3})
		Expect(get(p, infoPath, nil).status).To(Equal(http.StatusTooManyRequests))
		Expect(get(p, infoPath, bearer("garbage")).status).To(Equal(http.StatusTooManyRequests))
		Expect(get(p, infoPath, basic("one", "x")).status).To(Equal(http.StatusTooManyRequests))
		Expect(get(p, infoPath, nil).status).To(Equal(http.StatusUnauthorized))
		Expect(p.list(0).status).To(Equal(http.StatusTooManyRequests))
	})

	It("runs after earlier scenarios, and can be restarted, stopped and reset", func() {
		p := play(sandbox.Config{Scenarios: []fault.Play{{Name: "slow", Path: "document", Wait: time.Minute}}},
			fault.Play{Name: "401-once"}, fault.Play{Name: "503-twice"})
		once := []string{"401-once 1/1", "503-twice 1/2", "503-twice 2/2", ""}
		Expect(marks(4, func() answer { return p.list(0) })).To(Equal(once))
		Expect(p.Play(fault.Play{Name: "401-once"})).To(Succeed())
		Expect(marks(2, func() answer { return p.list(0) })).To(Equal([]string{"401-once 1/1", ""}))

		Expect(get(p, "/ris-synergy/funding/v3/api-docs", nil).status).To(Equal(http.StatusOK))
		Expect(*p.paused).To(Equal(time.Minute))
		Expect(p.Stop("503-twise")).To(MatchError(ContainSubstring("did you mean 503-twice")))
		Expect(p.Stop("401-once", "slow")).To(Succeed())
		Expect(p.Scenarios()).To(HaveExactElements(HaveField("Name", "503-twice")))
		Expect(p.Stop()).To(Succeed())
		Expect(p.Scenarios()).To(BeEmpty())

		p.Reset()
		Expect(p.Scenarios()).To(HaveExactElements(HaveField("Play", fault.Play{Name: "slow", Path: "document", Times: 1, Wait: time.Minute})))
		Expect(get(p, "/ris-synergy/funding/v3/api-docs", nil).header.Get(fault.ScenarioHeader)).To(Equal("slow 1/1"))
	})

	It("works together with deviations and with another error shape", func() {
		p := play(sandbox.Config{ErrorShape: "text", Deviations: []string{"list-id-missing"}}, fault.Play{Name: "503-twice", Times: 1}, fault.Play{Name: "duplicate-items"})
		Expect(p.list(0).body).To(Equal(`{"error":"503 Error: Service Unavailable"}`))
		all := items(p.list(0))
		Expect(all).To(HaveLen(4))
		Expect(all[2]).NotTo(HaveKey("id"))
	})

	It("does not apply to OPTIONS, nor to HEAD if it would change the body", func() {
		p := play(sandbox.Config{}, fault.Play{Name: "truncated-json"}, fault.Play{Name: "429-then-ok", Path: "document", Times: 1})
		head := send(p, http.MethodHead, fundingsPath+"?page[size]=3", "", bearer(p.tokens[0]))
		Expect(head.header).To(SatisfyAll(HaveKey("Content-Length"), Not(HaveKey(fault.ScenarioHeader))))
		Expect(send(p, http.MethodOptions, "/ris-synergy/funding/v3/api-docs", "", nil).status).To(Equal(http.StatusNoContent))
		Expect(p.list(0).header.Get(fault.ScenarioHeader)).To(Equal("truncated-json 1/1"))
	})

	It("counts concurrent requests of one client correctly", func() {
		p := play(sandbox.Config{}, fault.Play{Name: "429-then-ok", Times: 20}, fault.Play{Name: "extra-fields", Times: 10})
		seen := make(chan string)
		for range 60 {
			go func() {
				defer GinkgoRecover()
				seen <- p.list(0).header.Get(fault.ScenarioHeader)
			}()
		}
		var all []string
		for range 60 {
			all = append(all, <-seen)
		}
		slices.Sort(all)
		Expect(slices.Compact(slices.Clone(all))).To(HaveLen(31), strings.Join(all, ", "))
		Expect(all[29]).To(BeEmpty())
	})
})
