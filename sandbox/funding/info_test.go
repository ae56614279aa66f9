package funding_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/funding"
)

func TestFunding(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "funding")
}

var _ = Describe("the info resource", func() {
	places := address.Map{Prefix: "ris-synergy", Realm: "ris"}
	noMoreEndpoints := func() funding.MoreEndpoints { return funding.MoreEndpoints{} }

	It("lists absolute URLs as the caller sees the node, with the version of their path (INF-03, INF-05, INF-06)", func() {
		resource := funding.InfoResource(places, false, noMoreEndpoints)
		for _, host := range []string{"one.example", "two.example:8080", "one.example"} {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host = host
			w := httptest.NewRecorder()
			resource.ServeHTTP(w, r)
			Expect(w.Header().Get("Content-Type")).To(Equal("application/json"))
			Expect(w.Header().Get("Cache-Control")).To(ContainSubstring("private"))
			var got struct {
				Endpoints map[string][]struct {
					Name, URL                  string
					MajorVersion, MinorVersion int
				}
			}
			Expect(json.Unmarshal(w.Body.Bytes(), &got)).To(Succeed())
			Expect(got.Endpoints).To(HaveLen(1))
			for _, endpoint := range got.Endpoints["funding"] {
				Expect(endpoint.URL).To(HavePrefix("http://" + host + "/ris-synergy/funding/v3/fundings"))
				Expect(endpoint.MajorVersion).To(Equal(3))
			}
		}
	})

	It("is public in the try-out space, and points into it", func() {
		w := httptest.NewRecorder()
		funding.InfoResource(places.TryOut(), true, noMoreEndpoints).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		Expect(w.Header().Get("Cache-Control")).To(Equal("no-cache"))
		Expect(w.Body.String()).To(ContainSubstring("/ris-synergy/try-out/funding/v3/fundings"))
	})
})
