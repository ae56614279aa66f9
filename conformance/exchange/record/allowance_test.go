package record_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/exchange/record"
)

var _ = Describe("The limit of all bodies together", func() {
	const free = 64 << 10 // of each body

	It("cuts what comes after it, and lets small answers pass whatever came before", func() {
		r := newRoom(func(o *record.Options) { o.TotalLimit = 256 << 10 })
		large, small := serve(text(strings.Repeat("x", 300<<10))), serve(text(strings.Repeat("x", free)))
		length := func(url string) (int, bool) {
			a := r.send(record.Ask{URL: url})
			return len(a.Body), a.Exchange.Response.Truncated
		}
		for i, want := range []int{300 << 10, free, free} { // of 256 KiB beyond the free part, 236 are used up by the first in whole steps
			got, cut := length(large.URL)
			Expect(got).To(Equal(want), "answer %d", i)
			Expect(cut).To(Equal(want < 300<<10), "answer %d", i)
		}
		got, cut := length(small.URL)
		Expect(got).To(Equal(free))
		Expect(cut).To(BeFalse(), "it ended there by itself")
	})

	It("counts what a compressed body becomes", func() {
		r := newRoom(func(o *record.Options) { o.TotalLimit = 128 << 10 })
		a := r.send(record.Ask{URL: serve(coded("gzip", gzipped(strings.Repeat("x", 1<<20)))).URL})
		Expect(a.Body).To(HaveLen(free + 128<<10))
		Expect(a.Exchange.Response.Truncated).To(BeTrue())
		Expect(a.OK()).To(BeFalse())
	})
})
