package edge_test

import (
	"fmt"
	"math"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/edge"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newLimiter(rate string) *edge.Limiter {
	GinkgoHelper()
	parsed, err := edge.ParseRate(rate)
	Expect(err).NotTo(HaveOccurred())
	limiter, err := edge.NewLimiter(parsed)
	Expect(err).NotTo(HaveOccurred())
	return limiter
}

// admitted counts how many of n requests of a caller are admitted at once.
func admitted(l *edge.Limiter, caller string, n int, at time.Time) (count int) {
	for range n {
		if _, ok := l.Admit(caller, at); ok {
			count++
		}
	}
	return count
}

var _ = Describe("A limiter", func() {
	It("admits a burst of as many requests as the rate has, and then one after each wait", func() {
		l := newLimiter("4/s")
		Expect(admitted(l, "a", 10, noon)).To(Equal(4))
		wait, ok := l.Admit("a", noon)
		Expect(ok).To(BeFalse())
		Expect(wait).To(Equal(250 * time.Millisecond))
		Expect(admitted(l, "a", 10, noon.Add(wait-time.Millisecond))).To(Equal(0))
		Expect(admitted(l, "a", 10, noon.Add(wait))).To(Equal(1))
		Expect(admitted(l, "a", 10, noon.Add(time.Hour))).To(Equal(4))
	})

	It("admits a caller after the wait that it returned, at every rate", func() {
		for _, rate := range []string{"1/s", "3/s", "7/m", "1/m", "9973/s", "60/m"} {
			l, at := newLimiter(rate), noon
			admitted(l, "a", 20_000, at)
			for range 20 {
				wait, ok := l.Admit("a", at)
				Expect(ok).To(BeFalse(), rate)
				at = at.Add(wait)
				_, ok = l.Admit("a", at)
				Expect(ok).To(BeTrue(), "%s: after %s", rate, wait)
			}
		}
	})

	It("counts each caller separately", func() {
		l := newLimiter("2/m")
		Expect(admitted(l, "a", 5, noon)).To(Equal(2))
		Expect(admitted(l, "b", 5, noon)).To(Equal(2))
	})

	It("survives a clock that goes back", func() {
		l := newLimiter("2/s")
		Expect(admitted(l, "a", 5, noon)).To(Equal(2))
		Expect(admitted(l, "a", 5, noon.Add(-time.Hour))).To(Equal(0))
		Expect(admitted(l, "a", 5, noon.Add(-time.Hour).Add(time.Second))).To(Equal(2))
	})

	It("forgets all callers when it is reset, and the least recently seen ones when there are too many", func() {
		l := newLimiter("1/m")
		Expect(admitted(l, "a", 2, noon)).To(Equal(1))
		l.Reset()
		Expect(admitted(l, "a", 2, noon)).To(Equal(1))
		for i := range 4095 {
			l.Admit(fmt.Sprint(i), noon)
		}
		Expect(admitted(l, "a", 2, noon)).To(Equal(0), "a is still counted, and is now the most recently seen")
		l.Admit("one more", noon)
		Expect(admitted(l, "a", 1, noon)).To(Equal(0))
		Expect(admitted(l, "0", 1, noon)).To(Equal(1), "0 was the least recently seen")
	})
})

var _ = Describe("A rate", func() {
	DescribeTable("is read from", func(text string, want edge.Rate) {
		Expect(edge.ParseRate(text)).To(Equal(want))
	},
		func(text string, _ edge.Rate) string { return text },
		Entry(nil, "20/s", edge.Rate{Requests: 20, Per: time.Second}), Entry(nil, "60/m", edge.Rate{Requests: 60, Per: time.Minute}),
		Entry(nil, "5", edge.Rate{Requests: 5, Per: time.Second}),
	)

	DescribeTable("is refused when it is invalid", func(text string) {
		_, err := edge.ParseRate(text)
		Expect(err).To(MatchError(ContainSubstring("want ")))
	},
		func(text string) string { return "“" + text + "”" },
		Entry(nil, ""), Entry(nil, "0/s"), Entry(nil, "-1/s"), Entry(nil, "many"), Entry(nil, "20/h"), Entry(nil, "20/"), Entry(nil, "0.5/s"), Entry(nil, "10001/s"), Entry(nil, "99999999999999999999/s"),
	)

	It("is checked by NewLimiter, too", func() {
		for _, rate := range []edge.Rate{{}, {Requests: 1}, {Requests: math.MaxInt, Per: time.Second}, {Requests: 1, Per: 1}} {
			_, err := edge.NewLimiter(rate)
			Expect(err).To(HaveOccurred())
		}
	})
})
