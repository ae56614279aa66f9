package clientrules_test

import (
	"fmt"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/journal"
)

var _ = Describe("A call that keeps failing", func() {
	// repeat returns requests for one page that failed, with pauses in milliseconds.
	repeat := func(pauses ...int) (entries []journal.Entry) {
		start := 0
		for i, pause := range pauses {
			start += pause
			entries = append(entries, newEntry(uint64(i+1), start, start+1, func(e *journal.Entry) { e.Status = 500 }))
		}
		return entries
	}

	It("may be repeated with growing pauses, or again and again over hours, but not twenty times in a minute", func() {
		var nested, hourly, library []int
		for range 5 {
			nested = append(nested, 500, 600, 1200, 2400, 4800)
			library = append(library, 15_000, 600, 1200, 2400, 4800)
		}
		for range 30 {
			hourly = append(hourly, 3_600_000)
		}
		Expect(judge(repeat(nested...)...)).To(Equal([]clientrules.ID{"CLT-51"}))
		Expect(judge(repeat(library...)...)).To(BeEmpty(), "five attempts, and five again later")
		Expect(judge(repeat(hourly...)...)).To(BeEmpty())
		Expect(judge(repeat(0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000)...)).To(BeEmpty())
	})

	It("may be given up after several attempts, also in the middle of a list", func() {
		page := func(number uint64, start, status int) journal.Entry {
			return newEntry(number, int(number*number)*1000, int(number*number)*1000+1, func(e *journal.Entry) {
				e.Query, e.Status = fmt.Sprintf("page[page]=%d&page[size]=10", start), status
				if status == 200 {
					e.Page = &journal.Page{Start: start, Size: 10, Items: 10, Next: true}
				}
			})
		}
		attempts := []journal.Entry{page(1, 0, 200), page(2, 10, 500), page(3, 10, 500), page(4, 10, 500)}
		Expect(judge(attempts...)).To(BeEmpty())
		Expect(judge(attempts[:3]...)).To(Equal([]clientrules.ID{"CLT-23"}), "one repetition is not several")
		Expect(judge(append(attempts, page(5, 20, 200))...)).To(ContainElement(clientrules.ID("CLT-23")), "it goes on without the page")
	})
})

var _ = Describe("A client secret", func() {
	It("is for the node that issued it", func() {
		b := newCaller()
		b.token()
		expectFindings := func(ids ...clientrules.ID) {
			GinkgoHelper()
			Expect(b.brokenRules()).To(ConsistOf(ids))
		}
		expectFindings()
		Expect(b.ask("/xb/oauth/token", b.form()).status).To(Equal(http.StatusUnauthorized))
		expectFindings("CLT-52")
		b.Journal().Clear()
		b.client.Secret += "x"
		b.ask("/xb/oauth/token", b.form())
		expectFindings() // a wrong secret is not that of another node
	})

	It("may be sent to each node that issued it, to each its own", func() {
		b := newCaller()
		b.token()
		own := b.client
		b.client, b.tokenPath = b.second(), "/xb/oauth/token"
		b.token()
		Expect(own.Secret).NotTo(Equal(b.client.Secret))
		Expect(b.brokenRules()).To(BeEmpty())
	})
})

var _ = Describe("The date of If-Modified-Since", func() {
	It("is not later than the stored copy", func() {
		dated := func(number uint64, seconds int, date string) journal.Entry {
			return newEntry(number, seconds*1000, seconds*1000+1, func(e *journal.Entry) { e.IfModifiedSince = date })
		}
		now := func(seconds int) string {
			return newEntry(1, seconds*1000, 0, func(*journal.Entry) {}).Time.Format(http.TimeFormat)
		}
		Expect(judge(dated(1, 0, now(0)), dated(2, 60, now(60)))).To(Equal([]clientrules.ID{"CLT-50"}))
		Expect(judge(dated(1, 0, ""), dated(2, 60, now(0)), dated(3, 120, now(61)))).To(BeEmpty())
		Expect(judge(dated(1, 0, now(0)))).To(BeEmpty(), "the copy may be of an earlier run")
		Expect(judge(dated(1, 0, ""), dated(2, 60, now(-86400)))).To(BeEmpty(), "an older date brings more than needed")
	})
})

var _ = Describe("What seldom changes", func() {
	It("is read once, unless the client watches it", func() {
		b := newCaller()
		token := b.token()
		look := func(calls bool) {
			for i := range 6 {
				b.get(infoPath, token)
				if calls {
					b.page(10*i, token)
				}
				Expect(b.Clock().Move(time.Second)).To(Succeed())
			}
		}
		look(false)
		Expect(b.brokenRules()).NotTo(ContainElement(clientrules.ID("CLT-53")))
		b.Journal().Clear()
		look(true)
		Expect(b.brokenRules()).To(ContainElement(clientrules.ID("CLT-53")))
	})
})
