package clientrules_test

import (
	"fmt"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/fault"
)

var _ = Describe("A redirected request", func() {
	var b *caller
	unread := func() []string { return clientrules.UnreadRequests(b.Journal().Record(0)) }
	play := func(p fault.Play) { Expect(b.Nodes()[0].Play(p)).To(Succeed()) }
	// moved sends a request that the node redirects, and returns the target.
	moved := func(path, token string) string {
		GinkgoHelper()
		answer := b.get(path, token)
		Expect(answer.status).To(Equal(http.StatusTemporaryRedirect))
		return answer.header.Get("Location")
	}

	BeforeEach(func() { b = newCaller() })

	DescribeTable("loses the records of a client that does not follow it", func(scenario string) {
		token := b.token()
		play(fault.Play{Name: scenario})
		moved(listPath+"?page[size]=10", token)
		Expect(unread()).To(ConsistOf(fmt.Sprintf("GET %s?page[size]=10 was redirected (307), and no request read its records", listPath)))
	},
		Entry(nil, "moved-endpoint"),
		Entry(nil, "moved-host"),
	)

	It("loses the records of a client that follows it without the token and stops at the refusal", func() {
		token := b.token()
		play(fault.Play{Name: "moved-host", Times: 1})
		back := moved(moved(listPath, token), "")
		Expect(b.get(back, "").status).To(Equal(http.StatusUnauthorized))
		Expect(unread()).NotTo(BeEmpty())
	})

	It("loses the record that the client did not read, though it reads the list", func() {
		token := b.token()
		b.get(listPath, token)
		play(fault.Play{Name: "moved-endpoint", Path: "detail"})
		moved(listPath+"/XF-00000002", token)
		b.get(listPath+"/XF-00000003", token)
		Expect(unread()).To(ConsistOf(HavePrefix("GET " + listPath + "/XF-00000002 was redirected")))
	})

	It("loses nothing if the client follows it, or asks again at the same URL", func() {
		token := b.token()
		play(fault.Play{Name: "moved-endpoint"})
		Expect(b.get(moved(listPath+"?page[size]=10", token), token).status).To(Equal(http.StatusOK))
		play(fault.Play{Name: "moved-host"})
		moved(listPath, token)
		Expect(b.get(listPath, token).status).To(Equal(http.StatusOK))
		Expect(unread()).To(BeEmpty())
	})

	It("loses nothing if the client reads the records in other pages, or the record is gone at the target", func() {
		token := b.token()
		play(fault.Play{Name: "moved-endpoint"})
		moved(listPath+"?page[size]=10", token)
		b.readOn(0, 10, token)
		play(fault.Play{Name: "moved-endpoint", Path: "detail"})
		Expect(b.get(moved(listPath+"/XF-99999999", token), token).status).To(Equal(http.StatusNotFound))
		Expect(unread()).To(BeEmpty())
	})

	It("for a token or the info resource loses all that the client did not read after it", func() {
		play(fault.Play{Name: "moved-endpoint", Path: "token"})
		answer := b.ask(b.tokenPath, b.form())
		Expect(answer.status).To(Equal(http.StatusTemporaryRedirect))
		Expect(unread()).To(ConsistOf("POST " + b.tokenPath + " was redirected (307), and nothing was read after it"))
		followed := b.ask(answer.header.Get("Location"), b.form())
		Expect(followed.status).To(Equal(http.StatusOK))
		Expect(unread()).To(BeEmpty())

		play(fault.Play{Name: "moved-endpoint", Path: "info"})
		moved(infoPath, accessToken(followed))
		Expect(unread()).To(ConsistOf(HavePrefix("GET " + infoPath + " was redirected")))
		moved(infoPath, "unknown") // struck, too: each token that the node does not know has a sequence of its own
		Expect(b.get(infoPath, "unknown").status).To(Equal(http.StatusUnauthorized))
		Expect(unread()).NotTo(BeEmpty(), "a refusal has no info resource")
		b.get(listPath, accessToken(followed))
		Expect(unread()).To(BeEmpty(), "it did not need the info resource")
	})

	It("loses nothing if a node redirects without a fault, or the client was refused for another reason", func() {
		token := b.token()
		b.script(status(http.StatusSeeOther, "Location", "/docs/"))
		b.get(listPath, token)
		Expect(unread()).To(BeEmpty())
		play(fault.Play{Name: "moved-endpoint", Path: "token"})
		answer := b.ask(b.tokenPath, b.form())
		form := strings.Replace(b.form().Encode(), "client_secret=", "client_secret=x", 1)
		Expect(b.send(http.MethodPost, answer.header.Get("Location"), form, func(h http.Header) { h.Set("Content-Type", formType) }).status).To(Equal(http.StatusUnauthorized))
		Expect(unread()).To(BeEmpty())
	})
})
