package content_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/content"
)

var offers = []string{"text/plain", "text/html", "application/json"}

var _ = Describe("Accept", func() {
	DescribeTable("is read as RFC 9110 says", func(want string, fields ...string) {
		Expect(content.Preferred(fields, offers...)).To(Equal(want))
	},
		Entry("absent", "text/plain"),
		Entry("anything, as curl sends it", "text/plain", "*/*"),
		Entry("a browser", "text/html", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"),
		Entry("one type", "application/json", "application/json"),
		Entry("in any case, with parameters", "application/json", "Application/JSON; charset=utf-8; q=0.4"),
		Entry("one type before anything else", "application/json", "application/json, */*"),
		Entry("one family", "text/plain", "text/*"),
		Entry("one family except one type", "text/html", "text/*, text/plain;q=0.1"),
		Entry("anything except one type", "text/html", "*/*, text/plain;q=0"),
		Entry("in a second field", "text/html", "image/png", "text/html"),
		Entry("nothing on offer", "", "image/png"),
		Entry("refused", "", "*/*;q=0"),
		Entry("empty", "", ""),
		Entry("a weight that is not a number", "text/html", "text/plain;q=x, text/html;q=0.1"),
	)
})

func FuzzPreferred(f *testing.F) {
	for _, seed := range []string{"", "*/*", "text/*;q=0", "text/html;q=NaN", ";;,,=", "/,*/*;q=0.5", "text/html;level=1;q=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, field string) {
		chosen := content.Preferred([]string{field}, offers...)
		for _, o := range append(offers, "") {
			if chosen == o {
				return
			}
		}
		t.Fatalf("%q prefers %q, which is not on offer", field, chosen)
	})
}
