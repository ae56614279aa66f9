package content_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/content"
)

var _ = Describe("Accept-Encoding", func() {
	DescribeTable("is read as RFC 9110 says", func(want bool, fields ...string) {
		Expect(content.AcceptsGzip(fields)).To(Equal(want))
	},
		Entry("absent", false),
		Entry("empty", false, ""),
		Entry("gzip", true, "gzip"),
		Entry("in any case, among others", true, "br, GZIP ; q=0.1"),
		Entry("the old name", true, "x-gzip"),
		Entry("in a second field", true, "br", "gzip"),
		Entry("anything", true, "*"),
		Entry("anything but gzip", false, "*, gzip;q=0"),
		Entry("nothing but gzip", true, "gzip, *;q=0"),
		Entry("refused", false, "gzip;q=0.000"),
		Entry("a weight that is not a number", false, "gzip;q=much"),
		Entry("a weight beyond 1", false, "gzip;q=7"),
		Entry("identity", false, "identity"),
	)
})

func FuzzAcceptsGzip(f *testing.F) {
	for _, seed := range []string{"", "gzip", "*;q=0", "gzip;q=NaN", ";;,,=", "gzip;q=0.5;q=0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, field string) {
		if content.AcceptsGzip([]string{field}) && !strings.ContainsAny(strings.ToLower(field), "g*") {
			t.Fatalf("%q accepts gzip", field)
		}
	})
}

var _ = Describe("Stream", func() {
	It("cuts the connection when the body cannot be completed", func() {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			content.Stream(w, r, "application/json", content.OpenHeaders(), nil, func(out io.Writer) error {
				_, err := io.WriteString(out, "[1,")
				return errors.Join(err, errors.New("no more"))
			})
		}))
		DeferCleanup(server.Close)
		response, err := http.Get(server.URL)
		if err == nil {
			defer response.Body.Close()
			_, err = io.ReadAll(response.Body)
		}
		Expect(err).To(HaveOccurred())
	})
})

var _ = Describe("Cache", func() {
	body := func(n int) func() (*content.Body, error) {
		return func() (*content.Body, error) {
			return content.NewBody("text/plain", []byte(strings.Repeat("x", n))), nil
		}
	}

	It("builds a value once while it fits, and drops the least recently used value", func() {
		cache := content.NewCache[string, *content.Body](2000)
		first, err := cache.Get("a", body(300))
		Expect(err).NotTo(HaveOccurred())
		second, _ := cache.Get("b", body(300))
		cached, _ := cache.Get("a", body(1))
		Expect(cached).To(BeIdenticalTo(first))
		_, err = cache.Get("c", body(600))
		Expect(err).NotTo(HaveOccurred())
		rebuilt, _ := cache.Get("b", body(300))
		Expect(rebuilt).NotTo(BeIdenticalTo(second))
	})

	It("keeps neither failures nor bodies beyond its budget", func() {
		cache := content.NewCache[string, *content.Body](2000)
		_, err := cache.Get("a", func() (*content.Body, error) { return nil, errors.New("not now") })
		Expect(err).To(MatchError("not now"))
		large, err := cache.Get("a", body(5000))
		Expect(err).NotTo(HaveOccurred())
		rebuilt, _ := cache.Get("a", body(5000))
		Expect(rebuilt).NotTo(BeIdenticalTo(large))
	})
})
