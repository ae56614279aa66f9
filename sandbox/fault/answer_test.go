package fault_test

import (
	"net/http"
	"net/http/httptest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/fault"
)

var _ = Describe("An answer", func() {
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

	It("is captured whole and plain, and sent with length and validator of what it became", func() {
		r := ask(http.MethodGet)
		a := fault.Capture(node, r)
		Expect(a.OK()).To(BeTrue())
		before := a.Clone()
		a.EditItems(func(n int, item map[string]any) { item["position"] = n })
		Expect(string(a.Body)).To(Equal(`[{"n":1.50,"position":0},7]`))
		Expect(string(before.Body)).To(Equal(`[{"n":1.50},7]`))
		Expect(a.Items()).To(HaveExactElements(HaveLen(2), BeNil()))
		a.Set("Cache-Control", "")
		w := httptest.NewRecorder()
		a.Send(w, r)
		Expect(w.Body.String()).To(Equal(string(a.Body)))
		Expect(w.Header().Get("Content-Length")).To(Equal("27"))
		Expect(w.Header().Get("ETag")).To(Equal(content.ETag(a.Body)))
		Expect(w.Header()).To(SatisfyAll(Not(HaveKey("Cache-Control")), HaveKeyWithValue("X-Odd", []string{"kept"})))
		Expect(r.Header.Get("If-None-Match")).To(Equal("*"), "the request is the caller's")
	})

	It("has no body and no length for HEAD", func() {
		w := httptest.NewRecorder()
		a := fault.Capture(node, ask(http.MethodHead))
		a.Send(w, ask(http.MethodHead))
		Expect(w.Body.Len()).To(BeZero())
		Expect(w.Header()).NotTo(HaveKey("Content-Length"))
	})

	It("is left alone where there is nothing to edit, and may become another", func() {
		a := &fault.Answer{Status: 200, Header: http.Header{}, Body: []byte("<html>")}
		a.EditObject(func(map[string]any) { Fail("no object") })
		Expect(string(a.Body)).To(Equal("<html>"))
		a.Become(http.StatusTeapot, "text/plain", "tea")
		Expect(a).To(HaveValue(Equal(fault.Answer{Status: 418, Header: http.Header{"Cache-Control": {"no-store"}, "Content-Type": {"text/plain"}}, Body: []byte("tea")})))
		Expect(a.OK()).To(BeFalse())
	})
})
