package openapi_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = Describe("The members of a JSON text", func() {
	It("are visited in order, with their pointers", func() {
		var seen []string
		openapi.EachMember([]byte(`{"a":{"b/c":1},"d":[{"e":null}, 2]}`), func(pointer, name string, value []byte) {
			seen = append(seen, pointer+" "+name+" "+string(value))
		})
		Expect(seen).To(Equal([]string{`/a a {"b/c":1}`, `/a/b~1c b/c 1`, `/d d [{"e":null}, 2]`, `/d/0/e e null`}))
	})

	DescribeTable("are reported if they are repeated",
		func(text string, want ...string) {
			if want == nil {
				want = []string{}
			}
			Expect(openapi.RepeatedMembers([]byte(text))).To(HaveExactElements(want))
		},
		Entry("none", `{"a":1,"b":{"a":2}}`),
		Entry("in the object", `{"a":1,"a":2,"a":3}`, "/a"),
		Entry("spelled differently", `{"a":1,"\u0061":2}`, "/a"),
		Entry("inside", `{"x":[{"a":1,"a":2}]}`, "/x/0/a"),
		Entry("but not inside a repeated member", `{"a":{"x":1},"a":{"x":2}}`, "/a"),
		Entry("text that breaks off", `{"a":1,"a"`),
		Entry("far into a long list", `{"items":[`+strings.Repeat(`{"a":1},`, 2<<20)+`{"a":1,"a":2}]}`, "/items/2097152/a"),
		Entry("after many other members", `{`+zeros(100_000)+`"n7":1,"n99999":2}`, "/n7", "/n99999"),
	)

	It("are found again in lists with items that a search remembers", func() {
		item := func(n int, more string) string {
			return fmt.Sprintf(`{"id":"%d","text":"%s","tags":[{"a":1},{"b":2}]%s}`, n, strings.Repeat("long ", 100), more)
		}
		list := func(items ...string) []byte { return []byte("[" + strings.Join(items, ",") + "]") }
		var many []string
		numbers := `,"numbers":[` + strings.Repeat("1,", 19_999) + "1]"
		for n := range 60 {
			many = append(many, item(n, numbers))
		}
		lists := [][]byte{
			list(item(1, ""), item(2, "")), list(item(2, ""), item(1, `,"id":"3"`)), list(item(1, `,"id":"3"`), item(2, "")), list(many...),
			list(append(many, item(1, `,"id":"3"`))...), list(append([]string{item(1, `,"id":"3"`)}, many...)...), []byte(`{"data":` + string(list(item(1, ""), item(1, `,"id":"3"`))) + `}`),
		}
		var search openapi.RepeatSearch
		for range 2 {
			for _, text := range lists {
				Expect(search.RepeatedMembers(text)).To(Equal(openapi.RepeatedMembers(text)))
			}
		}
		Expect(search.RepeatedMembers(lists[1])).To(Equal([]string{"/1/id"}))
	})
})

// zeros returns members n0, n1 and so on, with a comma after each.
func zeros(count int) string {
	var b strings.Builder
	for n := range count {
		fmt.Fprintf(&b, `"n%d":0,`, n)
	}
	return b.String()
}
