package content_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/content"
)

var _ = Describe("a problem", func() {
	DescribeTable("has the members of RFC 9457, with the status of the answer", func(p content.Problem, status int) {
		w := httptest.NewRecorder()
		w.Header().Set("WWW-Authenticate", "Bearer")
		p.Write(w, httptest.NewRequest(http.MethodGet, "/", nil))
		Expect(w.Code).To(Equal(status))
		Expect(w.Header().Get("Content-Type")).To(Equal("application/problem+json"))
		Expect(w.Header().Get("Cache-Control")).To(Equal("no-store"))
		Expect(w.Header().Get("WWW-Authenticate")).To(Equal("Bearer"))
		var members map[string]any
		Expect(json.Unmarshal(w.Body.Bytes(), &members)).To(Succeed())
		Expect(members).To(HaveKeyWithValue("type", "about:blank"))
		Expect(members).To(HaveKeyWithValue("title", http.StatusText(status)))
		Expect(members).To(HaveKeyWithValue("status", BeEquivalentTo(status)))
		Expect(members["detail"]).NotTo(BeEmpty())

		head := httptest.NewRecorder()
		p.Write(head, httptest.NewRequest(http.MethodHead, "/", nil))
		Expect(head.Body.Bytes()).To(BeEmpty())
		Expect(head.Header().Get("Content-Length")).To(Equal(w.Header().Get("Content-Length")))
	},
		Entry("401", content.Unauthorized("d", "h"), 401),
		Entry("400", content.BadRequest("d", "h"), 400),
		Entry("403", content.Forbidden("d", "h"), 403),
		Entry("404", content.NotFound("d", "h"), 404),
		Entry("405", content.MethodNotAllowed("GET", []string{"POST"}), 405),
		Entry("500", content.Internal(), 500),
	)

	It("has the status as its only text in the shape \"text\"", func() {
		w := httptest.NewRecorder()
		handler := content.WithErrorShape(content.ShapeText, http.HandlerFunc(content.Unauthorized("d", "h").Write))
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		Expect(w.Code).To(Equal(401))
		Expect(w.Header().Get("Content-Type")).To(Equal("application/json"))
		Expect(w.Body.String()).To(Equal(`{"error":"401 Error: Unauthorized"}`))
	})

	It("names the parameter and the values that are allowed", func() {
		p := content.BadParameter("scope", "it is not in the vocabulary", []string{"A", "B"})
		Expect(p.Parameter).To(Equal("scope"))
		Expect(p.Allowed).To(Equal([]string{"A", "B"}))
		Expect(p.Hint).To(Equal("send one of A, B, or leave the parameter out"))
	})

	It("says that the API is read-only when a client writes", func() {
		Expect(content.MethodNotAllowed("DELETE", []string{"GET", "HEAD"}).Hint).To(Equal("use GET or HEAD; the API is read-only"))
	})
})
