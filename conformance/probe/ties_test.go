package probe

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/draw"
)

var _ = Describe("Ties of a list", func() {
	texts := func(items ...string) (out [][]byte) {
		for _, item := range items {
			out = append(out, []byte(item))
		}
		return out
	}
	list := columnsOf(texts(
		`{"id":"d","deadline":"2027-01-01T12:00:00+01:00","kind":"B","dates":{"open":1}}`, `{"id":"a","deadline":"2027-02-01T12:00:00+01:00","kind":"A","dates":{"open":10}}`,
		`{"id":"c","deadline":"2027-02-01T11:00:00Z","kind":"B","dates":{"open":9}}`, `{"id":"b","kind":"B","dates":{"open":9}}`))

	It("are between items with equal values of the member by which the list is sorted, and before the first item without a value", func() {
		Expect(list.ties()).To(HaveExactElements(2, 3))
	})

	DescribeTable("follow from the order that is asked for",
		func(order string, want ...int) {
			Expect(list.tiesBy(order)).To(HaveExactElements(want))
		},
		Entry(nil, "kind", 2, 3), Entry(nil, "-kind", 1, 2), Entry(nil, "kind:desc", 1, 2), Entry(nil, "kindAsc", 2, 3),
		Entry("numbers", "open", 2), Entry("numbers, descending", "open,desc", 2),
	)

	It("are preferred if they do not depend on whether absent values come first or last", func() {
		Expect(columns{"rank": {"", "5", "5", "", "5", "5", "1"}}.tiesBy("-rank")).To(HaveExactElements(1, 3, 5))
		Expect(columns{"rank": {"5", "5", "", "", "4", "3"}}.tiesBy("-rank")).To(HaveExactElements(1))
	})

	It("prefer orders by numbers that would differ as texts", func() {
		amounts := columns{"title": {"b", "a"}, "budget.amount": {"200", "1000"}, "year": {"2026", "2027"}}
		orders := [][]pair{{{"sort", "title"}}, {{"sort", "-title"}}, {{"sort", "year"}}, {{"sort", "budget"}, {"dir", "desc"}}, {{"sort", "-budget"}}}
		for seed := range 10 {
			likely := amounts.likelyOrders(orders, draw.Seed(seed).Source("test"))
			Expect(likely[:2]).To(ConsistOf(orders[3], orders[4]))
			Expect(likely[2]).To(Equal(orders[2]))
		}
	})

	It("do not exist if members are unknown, or values differ", func() {
		Expect(list.tiesBy("colour")).To(BeEmpty())
		Expect(list.tiesBy("id")).To(BeEmpty())
	})

	It("decide the size of pages", func() {
		s := draw.Seed(1).Source("test")
		Expect(sizeAtTies(cut{ties: []int{10, 11, 20}}, 9, 60, s)).To(Equal(10))
		Expect(sizeAtTies(cut{ties: []int{7}}, 9, 60, s)).To(BeZero())
		Expect(sizeAtTies(cut{}, 1, 60, s)).To(BeZero())
	})

	It("let a page end among items without a value, if some have none", func() {
		values := make([]string, 0, 60)
		for i := range 60 {
			values = append(values, []string{"5", "7", "5", ""}[i%4]) // 15 have none
		}
		at := columns{"rank": values}.cutBy("-rank")
		for seed := range 20 {
			size := sizeAtTies(at, 9, 60, draw.Seed(seed).Source("test"))
			lastEnd := (59 / size) * size
			Expect(lastEnd).To(BeNumerically(">", 45), "the items without a value are last: %d", size)
			Expect(size).To(BeNumerically("<", 15), "or first")
		}
		Expect(columns{"rank": {"5", "", "4"}}.cutBy("rank").absent).To(BeEmpty())
	})
})
