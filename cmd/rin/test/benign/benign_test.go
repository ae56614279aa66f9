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

// atOnce is how many nodes are certified side by side. Some of them make their clients wait.
const atOnce = 5

// crew runs this many certifications at a time.
type crew chan struct{}

// alarms certifies nodes and tells which of them are warned about without need. Where several habits together raise an alarm, each of
// them is asked alone who it was.
func (c crew) alarms(ctx context.Context, clean outcomes, nodes []node) string {
	said := make([]string, len(nodes))
	var group errgroup.Group
	for i, n := range nodes {
		c <- struct{}{} // in the order of the nodes
		group.Go(func() error {
			found, err := certified(ctx, n.config)
			<-c
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
			if each := c.alarms(ctx, clean, alone); each != "" {
				b.WriteString(each)
				continue
			}
		}
		fmt.Fprintf(&b, "%s\n%s", n.name, said[i])
	}
	return b.String()
}

// later begins what takes its time; the function that it returns waits for the end.
func later(do func() string) func() string {
	done := make(chan string, 1)
	go func() { done <- do() }()
	return sync.OnceValue(func() string { return <-done })
}

// raisesNone fails with the whole text, which the matchers would cut.
func raisesNone(alarms func() string) {
	GinkgoHelper()
	if said := alarms(); said != "" {
		Fail("false alarms:\n" + said)
	}
}

var _ = Describe("A node that behaves correctly in unusual ways", Ordered, ContinueOnFailure, func() {
	var ofHabits, ofChance, ofSwitches func() string

	// All of them are begun together: nobody is held up by those that wait.
	BeforeAll(func() {
		ctx, cancel := context.WithCancel(context.Background())
		DeferCleanup(cancel)
		good, err := certified(ctx, overTLS(good()))
		Expect(err).NotTo(HaveOccurred())
		clean := outcomesOf(good.Report)
		nodes, err := chosen()
		Expect(err).NotTo(HaveOccurred())
		workers := make(crew, atOnce)
		ofHabits = later(func() string { return workers.alarms(ctx, clean, nodes) })
		ofChance = later(func() string { return workers.alarms(ctx, clean, combined()) })
		ofSwitches = later(func() string { return workers.alarms(ctx, clean, switched()) })
	})

	It("is certified with each of the habits", func() { raisesNone(ofHabits) })

	It("is certified with random combinations of habits", func() {
		fmt.Fprintln(GinkgoWriter, "seed", seed)
		raisesNone(ofChance)
	})

	It("is certified with each of the sandbox's switches", func() { raisesNone(ofSwitches) })
})
