package benign_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/conformance/report"
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

var _ = Describe("A node that behaves well in unusual ways", func() {
	for _, profile := range []requirement.Profile{requirement.Funding, requirement.Full} {
		Context("in profile "+string(profile), Ordered, ContinueOnFailure, func() {
			var clean report.Report

			BeforeAll(func(ctx SpecContext) {
				var err error
				clean, err = certified(ctx, profile, good())
				Expect(err).NotTo(HaveOccurred())
			})

			raisesNoAlarm := func(ctx SpecContext, nodes []node) {
				GinkgoHelper()
				var mu sync.Mutex
				var alarms []string
				var group errgroup.Group
				group.SetLimit(atOnce)
				for _, n := range nodes {
					group.Go(func() error {
						found, err := certified(ctx, profile, n.config)
						said := ""
						if err != nil {
							said = fmt.Sprintf("    %v\n", err)
						} else {
							said = alarm(clean, found, n.warns)
						}
						mu.Lock()
						defer mu.Unlock()
						if said != "" {
							alarms = append(alarms, n.name+"\n"+said)
						}
						return nil
					})
				}
				_ = group.Wait() // its functions return no error
				slices.Sort(alarms)
				if len(alarms) > 0 {
					Fail(fmt.Sprintf("%d of %d nodes raise a false alarm\n%s", len(alarms), len(nodes), strings.Join(alarms, "\n")))
				}
			}

			It("is certified with each habit alone", func(ctx SpecContext) {
				var nodes []node
				for _, d := range deviation.Benign() {
					nodes = append(nodes, with(d))
				}
				raisesNoAlarm(ctx, nodes)
			})

			It("is certified with several habits together", func(ctx SpecContext) {
				fmt.Fprintln(GinkgoWriter, "seed", seed)
				raisesNoAlarm(ctx, combined())
			})
		})
	}
})
