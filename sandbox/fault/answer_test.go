package fault

import (
	"net/http"
	"net/http/httptest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/content"
)

var _ = Describe("A captured answer", func() {
	node := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["x-odd"] = []string{"kept"}
		content.NewBody("application/json", []byte(`[{"n":1.50},7]`)).Serve(w, r, content.OpenHeaders())
	})
	ask := func(method string) *http.Request {
		r := httptest.NewRequest(method, "/", nil)
		r.Header.Set("Accept-Encoding", "gzip")
		r.Header.Set("If-None-Match", "*")
		return r
	}

	It("has the complete body without compression, and is sent with Content-Length and ETag of the changed body", func() {
		r := ask(http.MethodGet)
		a := capture(node, r)
		Expect(a.ok()).To(BeTrue())
		before := a.clone()
		a.editItems(func(n int, item map[string]any) { item["position"] = n })
		Expect(string(a.Body)).To(Equal(`[{"n":1.50,"position":0},7]`))
		Expect(string(before.Body)).To(Equal(`[{"n":1.50},7]`))
		Expect(a.items()).To(HaveExactElements(HaveLen(2), BeNil()))
		a.set("Cache-Control", "")
		w := httptest.NewRecorder()
		a.send(w, r)
		Expect(w.Body.String()).To(Equal(string(a.Body)))
		Expect(w.Header().Get("Content-Length")).To(Equal("27"))
		Expect(w.Header().Get("ETag")).To(Equal(content.ETag(a.Body)))
		Expect(w.Header()).To(SatisfyAll(Not(HaveKey("Cache-Control")), HaveKeyWithValue("X-Odd", []string{"kept"})))
		Expect(r.Header.Get("If-None-Match")).To(Equal("*"), "the request is the caller's")
	})

	It("is sent without body and Content-Length for HEAD", func() {
		w := httptest.NewRecorder()
		a := capture(node, ask(http.MethodHead))
		a.send(w, ask(http.MethodHead))
		Expect(w.Body.Len()).To(BeZero())
		Expect(w.Header()).NotTo(HaveKey("Content-Length"))
	})

	It("ignores an edit of a body that is not JSON, and accepts a new status, header and body", func() {
		a := &answer{Status: 200, Header: http.Header{}, Body: []byte("<html>")}
		a.editObject(func(map[string]any) { Fail("the body is not an object") })
		Expect(string(a.Body)).To(Equal("<html>"))
		a.become(http.StatusTeapot, "text/plain", "tea")
		Expect(a).To(HaveValue(Equal(answer{Status: 418, Header: http.Header{"Cache-Control": {"no-store"}, "Content-Type": {"text/plain"}}, Body: []byte("tea")})))
		Expect(a.ok()).To(BeFalse())
	})
})
