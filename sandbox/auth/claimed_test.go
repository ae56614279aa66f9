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

	DescribeTable("returns the client that a token request names, and keeps its body complete", func(body, authorization, want string) {
		id, again := auth.ClaimedClient(request(body, authorization))
		Expect(id).To(Equal(want))
		whole, err := io.ReadAll(again.Body)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(whole)).To(Equal(body))
		Expect(again.Body.Close()).To(Succeed())
	},
		Entry("in the form", "grant_type=client_credentials&client_id=a%3Ab&client_secret=c", "", "a:b"),
		Entry("by Basic", "grant_type=client_credentials", basic("a%3Ab:c"), "a:b"),
		Entry("by Basic, whatever the form says", "client_id=other", basic("a:c"), "a"),
		Entry("nowhere", "grant_type=client_credentials", "", ""),
		Entry("in no base64", "client_id=a", "Basic !", ""),
		Entry("in no form", "{%", "Bearer x", ""),
		Entry("behind more than is read", strings.Repeat("x", 40<<10)+"&client_id=a", "", ""),
	)

	It("reads requests without a body", func() {
		id, _ := auth.ClaimedClient(&http.Request{Header: http.Header{}})
		Expect(id).To(BeEmpty())
	})
})

// FuzzClaimedClient finds no token request whose body is another one afterwards.
func FuzzClaimedClient(f *testing.F) {
	f.Add("grant_type=client_credentials&client_id=a", "")
	f.Add("grant_type=client_credentials", "Basic YTpi")
	f.Add("%", "basic  =")
	f.Fuzz(func(t *testing.T, body, authorization string) {
		r := &http.Request{Header: http.Header{"Authorization": {authorization}}, Body: io.NopCloser(strings.NewReader(body))}
		_, again := auth.ClaimedClient(r)
		if whole, err := io.ReadAll(again.Body); err != nil || string(whole) != body {
			t.Fatalf("%q became %q, %v", body, whole, err)
		}
	})
}
