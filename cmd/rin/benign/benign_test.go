package benign_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/conformance/requirement"
)

// atOnce is how many nodes are certified side by side.
const atOnce = 4

// alarms certifies nodes side by side and tells which of them are warned about without need. Where several habits together raise an
// alarm, each of them is asked alone who it was.
func alarms(ctx context.Context, clean outcomes, nodes []node) string {
	said := make([]string, len(nodes))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, n := range nodes {
		group.Go(func() error {
			found, err := certified(ctx, n.config)
			if err != nil {
				return fmt.Errorf("%s: %w", n.name, err)
			}
			said[i] = alarm(clean, found, n)
			return nil
		})
	}
	var b strings.Builder
	if err := group.Wait(); err != nil {
		fmt.Fprintln(&b, err)
	}
	for i, n := range nodes {
		if said[i] == "" {
			continue
		}
		if alone := n.apart(); len(alone) > 1 {
			if each := alarms(ctx, clean, alone); each != "" {
				b.WriteString(each)
				continue
			}
		}
		fmt.Fprintf(&b, "%s\n%s", n.name, said[i])
	}
	return b.String()
}

// raisesNone fails with the whole text, which the matchers would cut.
func raisesNone(alarms string) {
	GinkgoHelper()
	if alarms != "" {
		Fail("false alarms:\n" + alarms)
	}
}

var _ = Describe("A node that behaves well in unusual ways", Ordered, ContinueOnFailure, func() {
	var clean outcomes

	BeforeAll(func(ctx SpecContext) {
		log, err := certified(ctx, overTLS(good()))
		Expect(err).NotTo(HaveOccurred())
		clean = outcomesOf(judged(log, requirement.Full))
	})

	It("is certified with each of the habits", func(ctx SpecContext) {
		nodes, err := chosen()
		Expect(err).NotTo(HaveOccurred())
		raisesNone(alarms(ctx, clean, nodes))
	})

	It("is certified with habits that chance puts together", func(ctx SpecContext) {
		fmt.Fprintln(GinkgoWriter, "seed", seed)
		raisesNone(alarms(ctx, clean, combined()))
	})

	It("is certified with each of the sandbox's switches", func(ctx SpecContext) {
		raisesNone(alarms(ctx, clean, switched()))
	})
})
