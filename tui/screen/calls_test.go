package screen_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
)

var _ = Describe("Funding calls", func() {
	It("are read, opened and left with enter alone", func() {
		b := newFixture(flow.Calls, options{})
		Expect(b.frame(80, 24)).To(ContainSubstring("enter read the list"))
		b.press("enter")
		Expect(b.frame(80, 24)).To(And(MatchRegexp(`(?m)^  id +type +until +title *$`), MatchRegexp(`(?m)^› XF-00000001 `), ContainSubstring("page 1: 1 to 20, in English")))
		Expect(b.hints()).To(HavePrefix("enter open, n next page, f filter, tab pane"))
		b.golden("calls-list")
		b.press("enter")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("[Call]"), ContainSubstring("/fundings/XF-00000001 HTTP/1.1"), ContainSubstring("< HTTP/1.1 200 OK"), ContainSubstring("funder")))
		Expect(b.hints()).To(HavePrefix("enter next step, ← back to list"))
		b.golden("calls-open")
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
	})

	It("come page by page to the one without a link to the next", func() {
		b := newFixture(flow.Calls, options{}).press("enter", "n")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("page 2: 21 to 40"), ContainSubstring("XF-00000021")))
		b.press("n")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("page 3: 41 to 54, the last page"), ContainSubstring("no link to a next one")))
		Expect(b.hints()).To(And(ContainSubstring("p previous page"), Not(ContainSubstring("next page"))))
		x, _ := b.Exchange()
		b.press("n")
		after, _ := b.Exchange()
		Expect(after).To(Equal(x), "there is no page after the last")
	})

	It("come page by page until one is empty, at a node without links", func() {
		withoutLinks := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(linkless{w}, r) })
		}
		b := newFixture(flow.Calls, options{change: withoutLinks}).press("enter", "n")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("page 2: 21 to 40"), ContainSubstring("XF-00000021")))
		for range 3 {
			b.press("n")
		}
		Expect(b.frame(80, 24)).To(ContainSubstring("is empty: the end of the list"))
		Expect(b.hints()).To(And(HavePrefix("enter next step, p previous page"), Not(ContainSubstring("next page"))))
		b.golden("calls-end")
		x, _ := b.Exchange()
		b.press("n")
		after, _ := b.Exchange()
		Expect(after).To(Equal(x), "there is no page after the end")
		Expect(b.press("p", "p").frame(80, 24)).To(ContainSubstring("page 2: 21 to 40"))
	})

	It("are filtered by the parameters of the document, and one key removes all filters", func() {
		b := newFixture(flow.Calls, options{}).press("enter", "n", "f")
		Expect(b.Typing()).To(BeTrue(), "esc closes the chooser and does not leave the step")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("Filter the calls by"), MatchRegexp(`fundingType +any`)))
		b.golden("calls-filter")
		for !strings.Contains(b.frame(80, 24), "› fundingType") {
			b.press("down")
		}
		b.press("enter")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("› any"), ContainSubstring("AWARD")))
		for !strings.Contains(b.frame(80, 24), "› AWARD") {
			b.press("down")
		}
		b.press("enter")
		Expect(b.Typing()).To(BeFalse())
		Expect(b.frame(80, 24)).To(And(ContainSubstring("page 1: 1 to"), ContainSubstring("fundingType=AWARD"), Not(ContainSubstring("PROGRAMME"))))
		x, _ := b.Exchange()
		Expect(x.Request.URL).To(ContainSubstring("fundingType=AWARD"))
		b.press("F")
		Expect(b.frame(80, 24)).NotTo(ContainSubstring("AWARD,"))
		Expect(b.frame(80, 24)).NotTo(ContainSubstring("fundingType="))
		b.press("f", "enter", "esc", "esc")
		Expect(b.Typing()).To(BeFalse())
	})

	It("are shown in German or English, in the list and opened", func() {
		b := newFixture(flow.Calls, options{}).press("enter")
		first := b.Walk.Calls()[0]
		Expect(b.frame(120, 40)).To(ContainSubstring(flow.Localized(first.Name, "en")))
		b.Language = "de"
		b.settle(b.Update(screen.SecretsToggled{}))
		Expect(b.frame(120, 40)).To(And(ContainSubstring(flow.Localized(first.Name, "de")), ContainSubstring("in German")))
		b.press("enter")
		Expect(b.frame(80, 40)).To(ContainSubstring(flow.Localized(first.Name, "de")[:20]))
		b.Language = "en"
		b.settle(b.Update(screen.SecretsToggled{}))
		Expect(b.frame(80, 40)).To(ContainSubstring(flow.Localized(first.Name, "en")[:20]))
	})

	It("have request, response and verdict of the list as well", func() {
		b := newFixture(flow.Calls, options{}).press("enter", "tab")
		Expect(b.frame(80, 24)).To(ContainSubstring("GET /ris-synergy/funding/v3/fundings?page"))
		b.press("tab", "tab")
		Expect(b.frame(80, 24)).To(ContainSubstring("API-02"))
		Expect(b.press("tab").frame(80, 24)).To(ContainSubstring("› XF-00000001"))
	})

	It("are listed beside the open one on a wide screen, and give way to it on a narrow one", func() {
		b := newFixture(flow.Calls, options{}).press("enter", "enter")
		Expect(b.frame(120, 40)).To(And(ContainSubstring("› XF-00000001"), ContainSubstring("[Call]")))
		Expect(b.frame(80, 24)).NotTo(ContainSubstring("› XF"))
		Expect(b.press("left").frame(80, 24)).To(ContainSubstring("› XF-00000001"))
		sent := len(b.Walk.History())
		b.press("enter")
		Expect(b.Walk.History()).To(HaveLen(sent), "a call that was opened before is not read again")
	})

	It("show what is wrong when the node refuses, and try again", func() {
		refuse := true
		b := newFixture(flow.Calls, options{change: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if refuse && strings.Contains(r.URL.Path, "/fundings") {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				next.ServeHTTP(w, r)
			})
		}}).press("enter")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("status 403"), ContainSubstring("EXTERNAL_API_CLIENT")))
		refuse = false
		Expect(b.press("enter").frame(80, 24)).To(ContainSubstring("› XF-00000001"))
	})

	It("of a hostile node, thousands of them, keep the layout", func() {
		long := strings.Repeat("W\u202e\x1b]0;owned\a\x1b[31m漢\u0301", 1000)
		items := make([]map[string]any, 5000)
		for i := range items {
			items[i] = map[string]any{"id": fmt.Sprintf("%d%s", i, long[:i%200]), "type": "\x1b[2J" + long[:60], "name": []map[string]string{{"lang": "en", "text": long[:min(len(long), i+10)]}}}
		}
		items[0]["name"] = []map[string]string{{"lang": "en", "text": long}}
		body, err := json.Marshal(items)
		Expect(err).NotTo(HaveOccurred())
		newFixture(flow.Calls, options{change: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/fundings"):
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write(body)
				case strings.Contains(r.URL.Path, "/fundings/"):
					w.Header().Set("Content-Type", "application/json")
					w.Header().Set("X-Evil", "\u202e\u009b31m")
					one, _ := json.Marshal(items[0])
					_, _ = w.Write(one)
				default:
					next.ServeHTTP(w, r)
				}
			})
		}}).press("enter").checkLayout("end", "home", "enter", "tab", "tab")
	})
})

// linkless leaves the Link field out of an answer.
type linkless struct{ http.ResponseWriter }

func (l linkless) WriteHeader(status int) {
	l.Header().Del("Link")
	l.ResponseWriter.WriteHeader(status)
}
