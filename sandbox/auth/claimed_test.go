package auth_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/auth"
)

var _ = Describe("ClaimedClient", func() {
	request := func(body, authorization string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/oauth/token", strings.NewReader(body))
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		return r
	}
	basic := func(pair string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)) }

	DescribeTable("returns the client that a token request names, and keeps the body complete", func(body, authorization, want string) {
		id, returned := auth.ClaimedClient(request(body, authorization))
		Expect(id).To(Equal(want))
		got, err := io.ReadAll(returned.Body)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(got)).To(Equal(body))
		Expect(returned.Body.Close()).To(Succeed())
	},
		Entry("a client id in the form", "grant_type=client_credentials&client_id=a%3Ab&client_secret=c", "", "a:b"),
		Entry("a client id in Basic credentials", "grant_type=client_credentials", basic("a%3Ab:c"), "a:b"),
		Entry("Basic credentials before the form", "client_id=other", basic("a:c"), "a"),
		Entry("no client id", "grant_type=client_credentials", "", ""),
		Entry("Basic credentials that are not base64", "client_id=a", "Basic !", ""),
		Entry("a body that is not a form", "{%", "Bearer x", ""),
		Entry("a client id beyond the part of the body that is read", strings.Repeat("x", 40<<10)+"&client_id=a", "", ""),
	)

	It("returns no client for a request without a body", func() {
		id, _ := auth.ClaimedClient(&http.Request{Header: http.Header{}})
		Expect(id).To(BeEmpty())
	})
})

// FuzzClaimedClient checks that the returned request has the same body.
func FuzzClaimedClient(f *testing.F) {
	f.Add("grant_type=client_credentials&client_id=a", "")
	f.Add("grant_type=client_credentials", "Basic YTpi")
	f.Add("%", "basic  =")
	f.Fuzz(func(t *testing.T, body, authorization string) {
		r := &http.Request{Header: http.Header{"Authorization": {authorization}}, Body: io.NopCloser(strings.NewReader(body))}
		_, returned := auth.ClaimedClient(r)
		if got, err := io.ReadAll(returned.Body); err != nil || string(got) != body {
			t.Fatalf("want the body %q, got %q, %v", body, got, err)
		}
	})
}
