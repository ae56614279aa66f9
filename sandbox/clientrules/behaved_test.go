package clientrules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/fault"
)

// correctClient keeps the rules: it keeps its token, waits as long as the node says, retries what may be retried, and follows the links of a
// list.
type correctClient struct {
	*caller
	current string // its token; empty before the first and after a refusal
}

// read gets a resource. It retries after refusals, redirects and failures.
func (c *correctClient) read(path string) reply {
	GinkgoHelper()
	refusals := 0
	for range 5 {
		if c.current == "" {
			c.current = c.token()
		}
		answer := c.get(path, c.current)
		switch {
		case answer.status == http.StatusUnauthorized:
			c.current = ""
			if refusals++; refusals == 2 { // the reason is not that the token has expired
				return answer
			}
		case answer.status == http.StatusTooManyRequests, answer.status == http.StatusServiceUnavailable:
			c.wait(answer)
		case answer.status == http.StatusTemporaryRedirect:
			// The token must not go to another host: after a redirect to one, ask the same URL again.
			if to := answer.header.Get("Location"); strings.HasPrefix(to, "/") {
				path = to
			}
		case answer.status == 0 || answer.status >= 500 || !json.Valid(answer.body):
			Expect(c.Clock().Move(time.Second)).To(Succeed())
		default:
			return answer
		}
	}
	return reply{}
}

// wait moves the clock by the time in Retry-After.
func (c *correctClient) wait(answer reply) {
	pause := 2 * time.Second
	if seconds, err := strconv.Atoi(answer.header.Get("Retry-After")); err == nil {
		pause = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(answer.header.Get("Retry-After")); err == nil {
		pause = date.Sub(c.Clock().Now())
	}
	Expect(c.Clock().Move(pause)).To(Succeed())
}

// readAll reads a list to its end, and returns the number of its items.
func (c *correctClient) readAll(path string) int {
	GinkgoHelper()
	items := 0
	for path != "" {
		answer := c.read(path)
		Expect(answer.status).To(Equal(http.StatusOK))
		items += answer.items()
		path = next(path, answer.header.Get("Link"))
	}
	return items
}

// next returns the target of the link with rel="next"; "" without one.
func next(from, links string) string {
	for link := range strings.SplitSeq(links, ",") {
		if target, rest, _ := strings.Cut(strings.TrimSpace(link), ">"); strings.Contains(rest, `rel="next"`) {
			base, _ := url.Parse(from)
			link, err := base.Parse(strings.TrimPrefix(target, "<"))
			Expect(err).NotTo(HaveOccurred())
			return link.RequestURI() // on the own host, whatever the link names
		}
	}
	return ""
}

// playOf returns a play of a scenario, with an answer where the scenario needs one.
func playOf(s fault.Scenario) fault.Play {
	if s.Name == fault.Answer {
		return fault.Play{Name: s.Name, Status: http.StatusServiceUnavailable, Wait: time.Second, Path: "list"}
	}
	return fault.Play{Name: s.Name}
}

var _ = Describe("A correct client", func() {
	expectClean := func(b *caller) {
		GinkgoHelper()
		Expect(b.brokenRules()).To(BeEmpty())
		Expect(b.judge().HasFaults()).To(BeFalse())
	}

	It("has no findings after it read the registry, the info resource, the list and one funding", func() {
		c := &correctClient{caller: newCaller()}
		c.send(http.MethodGet, "/registry/registry.json", "", nil)
		Expect(c.read(infoPath).status).To(Equal(http.StatusOK))
		Expect(c.readAll(listPath + "?page[page]=0&page[size]=10")).To(BeNumerically(">", 30))
		Expect(c.read(listPath + "/XF-00000002").status).To(Equal(http.StatusOK))
		expectClean(c.caller)
		report := c.judge().Clients[0]
		Expect(report.Client).To(Equal(c.client.ClientID))
		Expect(report.Proven).To(BeTrue())
		Expect(report.Tokens).To(Equal(1))
		Expect(report.Nodes).To(Equal([]string{"XA"}))
		Expect(report.Agents).To(Equal([]string{"tool/1"}))
	})

	It("has no findings after 429, 503, broken answers and an expired token", func() {
		c := &correctClient{caller: newCaller()}
		c.script(nil, status(http.StatusTooManyRequests, "Retry-After", "30"), status(http.StatusServiceUnavailable),
			nil, cut, status(http.StatusBadGateway), nil)
		Expect(c.read(infoPath).status).To(Equal(http.StatusOK))
		Expect(c.readAll(listPath + "?page[page]=0&page[size]=10")).To(BeNumerically(">", 30))
		Expect(c.Clock().Move(time.Hour)).To(Succeed())
		Expect(c.read(infoPath).status).To(Equal(http.StatusOK))
		expectClean(c.caller)
	})

	It("has no findings after each scenario", func() {
		for _, s := range fault.Scenarios() {
			c := &correctClient{caller: newCaller(func(config *sandbox.Config) {
				config.Pause = func(context.Context, time.Duration) error { return nil }
			})}
			Expect(c.Nodes()[0].Play(playOf(s))).To(Succeed())
			if s.Name == "wrong-aud-always" {
				Expect(c.read(infoPath).status).To(Equal(http.StatusUnauthorized))
				Expect(c.brokenRules()).To(BeEmpty())
				continue
			}
			Expect(c.read(infoPath).status).To(Equal(http.StatusOK), s.Name)
			if s.Name == "page-500-always" {
				c.read(listPath + "?page[page]=0&page[size]=10")
				Expect(c.read(listPath+"?page[page]=10&page[size]=10").status).To(BeZero(), "it has given up")
			} else {
				c.readAll(listPath + "?page[page]=0&page[size]=10")
			}
			Expect(c.read(listPath+"/XF-00000002").status).To(Equal(http.StatusOK), s.Name)
			Expect(c.brokenRules()).To(BeEmpty(), s.Name)
			Expect(c.Journal().Record(0).Entries).To(ContainElement(HaveField("Deviations", Not(BeEmpty()))), s.Name)
		}
	})

	It("may call without a token first and authenticate when challenged", func() {
		b := newCaller()
		b.get(infoPath, "")
		b.get(infoPath, b.token())
		expectClean(b)
	})

	It("may fetch a new token before the old one expires, or use each for two calls", func() {
		b := newCaller()
		for range 4 {
			b.get(infoPath, b.token())
			Expect(b.Clock().Move(4 * time.Minute)).To(Succeed())
		}
		for range 4 {
			token := b.token()
			b.get(infoPath, token)
			b.get(listPath+"/XF-00000002", token)
		}
		expectClean(b)
	})

	It("may read the whole list at once, a single page, and an unknown record", func() {
		b := newCaller()
		token := b.token()
		b.get(listPath, token)
		b.page(0, token)
		b.get(listPath+"/XF-99999999", token)
		expectClean(b)
	})

	It("may use HTTP Basic at the token endpoint, and a scope", func() {
		b := newCaller()
		answer := b.send(http.MethodPost, "/oauth/token", "grant_type=client_credentials&scope=fundings", func(h http.Header) {
			h.Set("Content-Type", formType+"; charset=utf-8")
			h["Authorization"] = basic(b.client)
		})
		Expect(answer.status).To(Equal(http.StatusOK))
		b.get(infoPath, accessToken(answer))
		expectClean(b)
	})

	It("may send percent signs in a query, and conditions in each form that HTTP has", func() {
		b := newCaller()
		token := b.token()
		b.get(listPath+"?funderId=100%25%20of%20XA", token)
		b.get(listPath+"?funderId=https%3A%2F%2Ffunder.example%2F%3Fq%3Da%2520b", token)
		for _, tags := range []string{"*", `"a"`, `W/"a"`, `"a", W/"b,c" ,"d"`, strings.TrimSuffix(strings.Repeat(`"0123456789", `, 40), ", ")} {
			b.getIf(listPath+"?region=VIENNA", token, "If-None-Match", tags)
		}
		for _, date := range []string{"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"} {
			b.getIf(listPath+"?region=TYROL", token, "If-Modified-Since", date)
		}
		b.send(http.MethodGet, listPath+"?region=STYRIA", "", func(h http.Header) { // a server ignores the date beside the tag
			h.Set("Authorization", "Bearer "+token)
			h.Set("If-None-Match", `"a"`)
			h.Set("If-Modified-Since", "yesterday")
		})
		expectClean(b)
	})

	It("may use the 304 of each page, in any order, or watch the first page alone", func() {
		for _, backwards := range []bool{false, true} {
			b := newCaller()
			token, tags, offsets := b.token(), map[int]string{}, []int{}
			for offset, more := 0, true; more; offset += 10 {
				page := b.page(offset, token)
				offsets, tags[offset] = append(offsets, offset), page.header.Get("ETag")
				more = strings.Contains(page.header.Get("Link"), `rel="next"`)
			}
			if backwards {
				slices.Reverse(offsets)
			}
			Expect(b.Clock().Move(time.Minute)).To(Succeed())
			for _, offset := range offsets {
				page := fmt.Sprintf("%s?page[page]=%d&page[size]=10", listPath, offset)
				Expect(b.getIf(page, token, "If-None-Match", tags[offset]).status).To(Equal(http.StatusNotModified))
			}
			expectClean(b)
		}
		watcher := newCaller()
		token := watcher.token()
		tag := watcher.page(0, token).header.Get("ETag")
		for range 3 {
			Expect(watcher.Clock().Move(time.Minute)).To(Succeed())
			watcher.getIf(firstPage, token, "If-None-Match", tag)
		}
		Expect(watcher.brokenRules()).NotTo(ContainElement(clientrules.ID("CLT-44")))
	})

	It("may send HEAD to learn whether a GET is worth it, or before a few GETs", func() {
		head := func(b *caller, path, token string) {
			b.send(http.MethodHead, path, "", func(h http.Header) { h.Set("Authorization", "Bearer "+token) })
		}
		b := newCaller()
		token := b.token()
		for i := range 6 {
			path := fmt.Sprintf("%s/XF-%08d", listPath, i+1)
			head(b, path, token)
			if i != 4 {
				b.get(path, token)
			}
		}
		expectClean(b)
		few := newCaller()
		token = few.token()
		for range 3 {
			head(few, infoPath, token)
			few.get(infoPath, token)
		}
		head(few, listPath, token)
		few.get(listPath, token)
		expectClean(few)
	})

	It("may read a failed page again in smaller parts", func() {
		b := newCaller()
		token := b.token()
		b.script(nil, status(http.StatusInternalServerError))
		b.page(0, token)
		b.page(10, token)
		b.get(listPath+"?page[size]=5&page[page]=10", token)
		b.get(listPath+"?page[size]=5&page[page]=15", token)
		b.readOn(20, 10, token)
		expectClean(b)
	})

	It("may follow a redirect to another host without its token, and stop there", func() {
		b := newCaller()
		token := b.token()
		Expect(b.Nodes()[0].Play(fault.Play{Name: "moved-host"})).To(Succeed())
		moved := b.get(listPath, token)
		back := b.get(moved.header.Get("Location"), "") // struck, too: callers without a token have a sequence of their own
		Expect(b.get(back.header.Get("Location"), "").status).To(Equal(http.StatusUnauthorized))
		expectClean(b)
	})

	It("may follow a link to another host without its token, and stop there", func() {
		b := newCaller()
		token := b.token()
		Expect(b.Nodes()[0].Play(fault.Play{Name: "next-on-other-host"})).To(Succeed())
		path := next(listPath, b.page(0, token).header.Get("Link"))
		Expect(path).NotTo(BeEmpty())
		Expect(b.get("http://localhost"+b.url[len("http://127.0.0.1"):]+path, "").status).To(Equal(http.StatusUnauthorized))
		expectClean(b)
	})

	It("may stop after the second new token that is refused", func() {
		b := newCaller()
		Expect(b.Nodes()[0].Play(fault.Play{Name: "wrong-aud", Times: 2})).To(Succeed())
		for range 2 {
			b.get(infoPath, b.token())
		}
		expectClean(b)
	})

	It("may leave a call to its next run when the node asks it to wait for an hour", func() {
		b := newCaller()
		token := b.token()
		b.script(status(http.StatusServiceUnavailable, "Retry-After", "3600"))
		b.get(listPath, token)
		expectClean(b)
	})

	It("may poll a page every minute", func() {
		b := newCaller()
		token := b.token()
		for range 4 {
			b.page(0, token)
			Expect(b.Clock().Move(time.Minute)).To(Succeed())
		}
		expectClean(b)
	})

	DescribeTable("may want only the beginning of a list, also when its first page comes empty or short", func(scenario string, items int) {
		b := newCaller()
		token := b.token()
		Expect(b.page(0, token).items()).To(Equal(10))
		Expect(b.Nodes()[0].Play(fault.Play{Name: scenario})).To(Succeed())
		Expect(b.page(0, token).items()).To(Equal(items))
		Expect(b.judge().HasFaults()).To(BeFalse(), "%v", b.brokenRules())

		repeated, earlier := newCaller(), b.Journal().Record(0)
		Expect(repeated.Nodes()[0].Play(fault.Play{Name: scenario})).To(Succeed())
		Expect(repeated.page(0, repeated.token()).items()).To(Equal(items))
		Expect(repeated.brokenRules()).To(Equal([]clientrules.ID{"CLT-26"}), "nothing shows what it wants")
		Expect(clientrules.Judge(repeated.Journal().Record(0), earlier).HasFaults()).To(BeFalse())

		more := newCaller()
		Expect(more.Nodes()[0].Play(fault.Play{Name: scenario})).To(Succeed())
		reader := more.token()
		Expect(more.page(0, reader).items()).To(Equal(items))
		more.page(10, reader)
		Expect(more.brokenRules()).To(Equal([]clientrules.ID{"CLT-26"}), "nothing shows what it wants")
		Expect(clientrules.Judge(more.Journal().Record(0), earlier).HasFaults()).To(BeFalse(), "it reads until it has what it wants")

		b.page(10, token)
		Expect(b.brokenRules()).To(ContainElement(clientrules.ID("CLT-26")), "it reads on")
		Expect(clientrules.Judge(repeated.Journal().Record(0), b.Journal().Record(0)).HasFaults()).To(BeTrue())
	},
		Entry(nil, "empty-page", 0),
		Entry(nil, "short-page", 5),
	)

	It("may poll without a pause for a short time, and with If-None-Match in rounds", func() {
		b := newCaller()
		token := b.token()
		for range 5 {
			for _, id := range []string{"/XF-00000002", "/XF-00000003"} {
				b.send(http.MethodGet, listPath+id, "", func(h http.Header) {
					h.Set("Authorization", "Bearer "+token)
					h.Set("If-None-Match", "*")
				})
			}
		}
		for range 15 {
			b.get(infoPath, token)
		}
		expectClean(b)
	})

	It("may look at one page again and again with its ETag", func() {
		b := newCaller()
		token := b.token()
		tag := b.page(0, token).header.Get("ETag")
		for range 4 {
			Expect(b.getIf(firstPage, token, "If-None-Match", tag).status).To(Equal(http.StatusNotModified))
		}
		Expect(b.brokenRules()).NotTo(ContainElement(clientrules.ID("CLT-25")))
	})

	It("may read a list in two processes with the same credentials, one after the other's first pages", func() {
		b := newCaller()
		token := b.token()
		b.page(0, token)
		b.page(10, token)
		other := b.token()
		b.readOn(0, 10, other)
		b.readOn(20, 10, token)
		expectClean(b)
	})

	It("may read the first page of a list, and another list from its beginning", func() {
		b := newCaller()
		token := b.token()
		b.readOn(0, 10, token)
		b.get(listPath+"?page[page]=0&page[size]=10&fundingType=CALL", token)
		Expect(b.brokenRules()).To(Equal([]clientrules.ID{"CLT-35"}))
	})

	It("may end at each failure and be started again, with a token for each run", func() {
		b := newCaller()
		b.script(status(http.StatusServiceUnavailable, "Retry-After", "1"), status(http.StatusServiceUnavailable, "Retry-After", "1"))
		for range 3 {
			b.get(infoPath, b.token())
			Expect(b.Clock().Move(2 * time.Second)).To(Succeed())
		}
		expectClean(b)
	})

	It("may be two processes with the same credentials whose second tokens are refused, but may not go from call to call", func() {
		for calls, want := range map[int][]clientrules.ID{2: {}, 4: {"CLT-31"}} {
			b := newCaller()
			Expect(b.Nodes()[0].Play(fault.Play{Name: "wrong-aud", Times: 8})).To(Succeed())
			for _, path := range []string{infoPath, listPath, listPath + "/XF-00000001", listPath + "/XF-00000002"}[:calls] {
				for range 2 {
					b.get(path, b.token())
				}
			}
			Expect(b.brokenRules()).To(Equal(want), "%d calls", calls)
		}
	})

	It("may be started again after its second new token was refused, but may not go on at once", func() {
		for pause, want := range map[time.Duration][]clientrules.ID{time.Minute: {}, time.Second: {"CLT-31"}} {
			b := newCaller()
			Expect(b.Nodes()[0].Play(fault.Play{Name: "wrong-aud", Times: 4})).To(Succeed())
			for run := range 2 {
				Expect(b.Clock().Move(time.Duration(run) * pause)).To(Succeed())
				for range 2 {
					b.get(infoPath, b.token())
				}
			}
			Expect(b.brokenRules()).To(Equal(want), pause.String())
		}
	})

	It("is blamed for a page that failed if it reads the list again only a day later", func() {
		b := newCaller()
		token := b.token()
		b.script(nil, status(http.StatusInternalServerError))
		b.page(0, token)
		b.page(10, token)
		Expect(b.Clock().Move(24 * time.Hour)).To(Succeed())
		b.readOn(0, 10, b.token())
		Expect(b.brokenRules()).To(Equal([]clientrules.ID{"CLT-23"}))
	})

	It("is not blamed for what a deviation hid from it", func() {
		b := newCaller(func(c *sandbox.Config) { c.Deviations = []string{"token-opaque"} })
		token := b.token()
		for offset := 0; b.page(offset, token).items() > 0; offset += 10 {
		}
		expectClean(b)
	})

	It("is not judged by requests to the try-out, of a browser, or of a conformance suite", func() {
		b := newCaller()
		b.get("/ris-synergy/try-out/funding/v3/fundings?x=1", "")
		b.send(http.MethodGet, listPath, "", func(h http.Header) { h.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8") })
		b.send(http.MethodGet, "/favicon.ico", "", nil)
		b.send(http.MethodOptions, listPath, "", nil)
		b.header.Set("User-Agent", "rin-conformance/1.0")
		b.get(infoPath, "")
		expectClean(b)
		Expect(b.judge().NotJudged).To(Equal(4))
	})
})

var _ = Describe("The network's own client", func() {
	It("breaks two rules when it fetches a token for each GET and reads pages until one is empty", func() {
		b := newCaller()
		b.send(http.MethodGet, "/registry/registry.json", "", nil)
		b.get(infoPath, b.token())
		for offset := 0; b.page(offset, b.token()).items() > 0; offset += 10 {
		}
		Expect(b.brokenRules()).To(Equal([]clientrules.ID{"CLT-01", "CLT-24"}))
		Expect(b.judge().HasFaults()).To(BeFalse())
	})

	It("breaks another rule when it takes an error for the end of the list", func() {
		b := newCaller()
		b.script(nil, nil, status(http.StatusInternalServerError))
		b.get(infoPath, b.token())
		for offset := 0; b.page(offset, b.token()).items() > 0; offset += 10 {
		}
		Expect(b.brokenRules()).To(Equal([]clientrules.ID{"CLT-23", "CLT-01"}))
	})

	It("loops forever at a node that ignores paging", func() {
		b := newCaller(func(c *sandbox.Config) { c.Deviations = []string{"page-ignored"} })
		token := b.token()
		for offset := range 5 {
			Expect(b.page(offset*10, token).items()).To(Equal(10))
		}
		Expect(b.brokenRules()).To(ContainElement(clientrules.ID("CLT-25")))
	})
})
