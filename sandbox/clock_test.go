package sandbox_test

import (
	"math"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

var _ = Describe("The clock of a sandbox", func() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c := sandbox.NewClock(func() time.Time { return noon })
	BeforeEach(func() { c.Reset() })

	It("adds up moves in both directions until it is reset", func() {
		Expect(c.Move(time.Hour)).To(Succeed())
		Expect(c.Move(-20 * time.Minute)).To(Succeed())
		Expect(c.Now()).To(Equal(noon.Add(40 * time.Minute)))
		Expect(c.Offset()).To(Equal(40 * time.Minute))
		c.Reset()
		Expect(c.Now()).To(Equal(noon))
	})

	DescribeTable("refuses a move further than ten years, and stays", func(steps ...time.Duration) {
		last := len(steps) - 1
		for _, step := range steps[:last] {
			Expect(c.Move(step)).To(Succeed())
		}
		before := c.Now()
		Expect(c.Move(steps[last])).To(MatchError(ContainSubstring("further than")))
		Expect(c.Now()).To(Equal(before))
	},
		Entry("at once", sandbox.MaxClockOffset+1),
		Entry("in two steps", sandbox.MaxClockOffset, time.Nanosecond),
		Entry("back", -sandbox.MaxClockOffset-1),
		Entry("with the longest duration", time.Hour, time.Duration(math.MaxInt64)),
		Entry("with the longest duration back", -time.Hour, time.Duration(math.MinInt64)),
	)
})
