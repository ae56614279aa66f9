package benign_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
)

// maxConcurrent is the number of nodes that are certified at a time. Some of them make their clients wait.
const maxConcurrent = 5

// limiter limits the number of certifications at a time to the capacity of the channel.
type limiter chan struct{}

// falseAlarms certifies nodes and describes the false alarms: outcomes that a correct node must not get. If a node with several habits raises one,
// it certifies a node with each of the habits, to find the cause.
func (l limiter) falseAlarms(ctx context.Context, clean outcomes, nodes []node) string {
	alarms := make([]string, len(nodes))
	var group errgroup.Group
	for i, n := range nodes {
		l <- struct{}{} // start in the order of the nodes
		group.Go(func() error {
			found, err := certify(ctx, n.config)
			<-l
			if err != nil {
				return fmt.Errorf("%s: %w", n.name, err)
			}
			alarms[i] = describeAlarm(clean, found, n)
			return nil
		})
	}
	var b strings.Builder
	if err := group.Wait(); err != nil {
		fmt.Fprintln(&b, err)
	}
	for i, n := range nodes {
		if alarms[i] == "" {
			continue
		}
		if single := n.apart(); len(single) > 1 {
			if causes := l.falseAlarms(ctx, clean, single); causes != "" {
				b.WriteString(causes)
				continue
			}
		}
		fmt.Fprintf(&b, "%s\n%s", n.name, alarms[i])
	}
	return b.String()
}

// inBackground calls compute in a goroutine. The function that it returns waits for the result.
func inBackground(compute func() string) func() string {
	done := make(chan string, 1)
	go func() { done <- compute() }()
	return sync.OnceValue(func() string { return <-done })
}

// expectNoAlarms waits for the false alarms of some nodes. It fails with all of them; the matchers would cut the text.
func expectNoAlarms(wait func() string) {
	GinkgoHelper()
	if alarms := wait(); alarms != "" {
		Fail("false alarms:\n" + alarms)
	}
}

var _ = Describe("A node that behaves correctly in unusual ways", Ordered, ContinueOnFailure, func() {
	var withHabits, withCombinations, withSettings func() string

	// All certifications start here, so that slow nodes do not delay the others.
	BeforeAll(func() {
		ctx, cancel := context.WithCancel(context.Background())
		DeferCleanup(cancel)
		good, err := certify(ctx, withTLS(goodConfig()))
		Expect(err).NotTo(HaveOccurred())
		clean := outcomesOf(good.Report)
		nodes, err := nodesWithHabits()
		Expect(err).NotTo(HaveOccurred())
		limit := make(limiter, maxConcurrent)
		withHabits = inBackground(func() string { return limit.falseAlarms(ctx, clean, nodes) })
		withCombinations = inBackground(func() string { return limit.falseAlarms(ctx, clean, nodesWithCombinations()) })
		withSettings = inBackground(func() string { return limit.falseAlarms(ctx, clean, nodesWithSettings()) })
	})

	It("is certified with each of the habits", func() { expectNoAlarms(withHabits) })

	It("is certified with random combinations of habits", func() {
		fmt.Fprintln(GinkgoWriter, "seed", seed)
		expectNoAlarms(withCombinations)
	})

	It("is certified with each of the sandbox's settings", func() { expectNoAlarms(withSettings) })
})
