package fault_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/fault"
)

var _ = Describe("A suggestion", func() {
	known := []string{"503-twice", "429-then-ok", "slow", "wrong-aud", "wrong-audience", "wrong-audit"}

	DescribeTable("names the nearest names", func(name, want string) { Expect(fault.Suggest(name, known)).To(Equal(want)) },
		Entry("for a typing error", "503-twise", "did you mean 503-twice?"),
		Entry("for swapped letters", "lsow", "did you mean slow?"),
		Entry("for a part, the nearest first and three at most", "wrong-au", "did you mean wrong-aud or wrong-audit or wrong-audience?"),
		Entry("or says how many there are", "zzzzzzzzzzzzzz", `there are 6, from "503-twice" to "wrong-audit"`),
		Entry("also for an empty name", "", `there are 6, from "503-twice" to "wrong-audit"`),
		Entry("and costs little for a long text", strings.Repeat("503-twice", 1<<16), `there are 6, from "503-twice" to "wrong-audit"`),
	)

	It("says that no names exist", func() { Expect(fault.Suggest("slow", nil)).To(Equal("there are none")) })
})
