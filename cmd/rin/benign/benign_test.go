package benign_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/deviation"
)

// atOnce is how many nodes are certified side by side.
const atOnce = 4

// The random combinations: how many, and of how many habits each. The seed is fixed, so that a failure can be seen again.
const (
	combinations = 24
	together     = 6
	seed         = 20260302
)

// node is a node with habits.
type node struct {
	name   string
	config sandbox.Config
	warns  map[string]bool
}

// with is a good node with habits, in the order of the catalogue.
func with(habits ...deviation.Deviation) node {
	n := node{config: good(), warns: map[string]bool{}}
	var names []string
	for _, d := range habits {
		names = append(names, d.Name)
		for _, id := range d.Warns {
			n.warns[id] = true
		}
	}
	n.config.Deviations, n.name = names, strings.Join(names, " + ")
	return n
}

// combined draws habits by chance.
func combined() []node {
	random := rand.New(rand.NewPCG(seed, 0))
	all := deviation.Benign()
	var nodes []node
	for range combinations {
		drawn := random.Perm(len(all))[:together]
		slices.Sort(drawn)
		var habits []deviation.Deviation
		for _, i := range drawn {
			habits = append(habits, all[i])
		}
		nodes = append(nodes, with(habits...))
	}
	return nodes
}

// alarms certifies nodes side by side and tells which of them are warned about without need.
func alarms(ctx context.Context, clean map[requirement.ID]requirement.Outcome, nodes []node) string {
	said := make([]string, len(nodes))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, n := range nodes {
		group.Go(func() error {
			found, err := certified(ctx, n.config)
			if err != nil {
				return fmt.Errorf("%s: %w", n.name, err)
			}
			said[i] = alarm(clean, found, n.warns)
			return nil
		})
	}
	var b strings.Builder
	if err := group.Wait(); err != nil {
		fmt.Fprintln(&b, err)
	}
	for i, n := range nodes {
		if said[i] != "" {
			fmt.Fprintf(&b, "%s\n%s", n.name, said[i])
		}
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
	var clean map[requirement.ID]requirement.Outcome

	BeforeAll(func(ctx SpecContext) {
		log, err := certified(ctx, good())
		Expect(err).NotTo(HaveOccurred())
		clean = outcomes(judged(log, requirement.Full))
	})

	It("is certified with each habit alone", func(ctx SpecContext) {
		var nodes []node
		for _, d := range deviation.Benign() {
			nodes = append(nodes, with(d))
		}
		raisesNone(alarms(ctx, clean, nodes))
	})

	It("is certified with several habits together", func(ctx SpecContext) {
		fmt.Fprintln(GinkgoWriter, "seed", seed)
		raisesNone(alarms(ctx, clean, combined()))
	})
})
