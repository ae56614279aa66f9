package tuitest_test

import (
	"net/http"
	"net/http/httptest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/tuitest"
)

var _ = Describe("A replaced answer", func() {
	It("is given for its path only, at the node's time", func() {
		node := tuitest.Answer(http.StatusOK, "text/plain", "the node")
		handler := tuitest.ReplaceAnswer("/info/", tuitest.Answer(http.StatusForbidden, "text/html", "somebody else"))(node)
		ask := func(path string) *http.Response {
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
			return answer.Result()
		}
		Expect(ask("/info/v1")).To(And(HaveHTTPStatus(http.StatusOK), HaveHTTPBody("the node")))
		Expect(ask("/v1/info/")).To(And(HaveHTTPStatus(http.StatusForbidden), HaveHTTPBody("somebody else"),
			HaveHTTPHeaderWithValue("Content-Type", "text/html"), HaveHTTPHeaderWithValue("Date", "Sun, 01 Mar 2026 12:00:00 GMT")))
	})

	It("keeps a Date that is already set", func() {
		answer := httptest.NewRecorder()
		answer.Header().Set("Date", "Sun, 01 Mar 2026 13:00:00 GMT")
		tuitest.Answer(http.StatusOK, "text/plain", "")(answer, nil)
		Expect(answer).To(HaveHTTPHeaderWithValue("Date", "Sun, 01 Mar 2026 13:00:00 GMT"))
	})
})
