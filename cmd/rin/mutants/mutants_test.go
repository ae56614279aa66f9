package mutants_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/sandbox/deviation"
)

// atOnce is how many nodes are certified side by side.
const atOnce = 4

// turned lists, in catalogue order, the requirements that a deviation makes worse: what passed is a warning or a failure now. What is
// blocked, not applicable or inconclusive was not judged, because of what it depends on.
func turned(clean, deviating outcomes) []string {
	var ids []string
	for _, r := range requirement.Catalogue() {
		switch now := deviating[r.ID].Outcome; now {
		case requirement.Warn, requirement.Fail:
			if verdict.Worse(now, clean[r.ID].Outcome) {
				ids = append(ids, string(r.ID))
			}
		}
	}
	return ids
}

// told is what a run says about requirements, for a failure of this test.
func told(found outcomes, ids []string) string {
	var b strings.Builder
	for _, id := range ids {
		r := found[requirement.ID(id)]
		fmt.Fprintf(&b, "    %s is %s: %s (got %s)\n", id, r.Outcome, r.Reason, r.Got)
	}
	return b.String()
}

var _ = Describe("The suite", Ordered, func() {
	var clean outcomes
	var chosen selection

	BeforeAll(func(ctx SpecContext) {
		var err error
		chosen, err = selected(os.Getenv(selector))
		Expect(err).NotTo(HaveOccurred())
		clean, err = certified(ctx)
		Expect(err).NotTo(HaveOccurred())
	})

	It("finds nothing wrong with a good node", func() {
		var faults []string
		for _, r := range requirement.Catalogue() {
			if j := clean[r.ID]; j.Outcome != requirement.Pass {
				faults = append(faults, fmt.Sprintf("%s is %s: %s", r.ID, j.Outcome, j.Reason))
			}
		}
		Expect(faults).To(BeEmpty())
	})

	It("has a deviation for each of its requirements", func() {
		chosen.skipPartial()
		broken := map[string]bool{}
		for _, d := range deviation.All() {
			for _, id := range d.Breaks {
				broken[id] = true
			}
		}
		var survivors []requirement.ID
		for _, r := range requirement.Catalogue() {
			if !broken[string(r.ID)] {
				survivors = append(survivors, r.ID)
			}
			delete(broken, string(r.ID))
		}
		Expect(survivors).To(BeEmpty(), "no deviation breaks them")
		Expect(broken).To(BeEmpty(), "a deviation names them, the catalogue does not")
	})

	It("notices each deviation of a node, and nothing else", func(ctx SpecContext) {
		var mu sync.Mutex
		var survived []string
		var group errgroup.Group
		group.SetLimit(atOnce)
		for _, d := range chosen.deviations {
			group.Go(func() error {
				deviating, err := certified(ctx, d.Name)
				if err != nil {
					return fmt.Errorf("%s: %w", d.Name, err)
				}
				got, want := turned(clean, deviating), slices.Sorted(slices.Values(d.Breaks))
				if slices.Equal(slices.Sorted(slices.Values(got)), want) {
					return nil
				}
				mu.Lock()
				defer mu.Unlock()
				judged := slices.Compact(slices.Sorted(slices.Values(slices.Concat(got, want))))
				survived = append(survived, fmt.Sprintf("%s breaks %v, and what got worse is %v\n%s", d.Name, want, got, told(deviating, judged)))
				return nil
			})
		}
		Expect(group.Wait()).To(Succeed())
		slices.Sort(survived)
		fmt.Fprintf(os.Stderr, "%s%d of %d deviations are noticed exactly\n", chosen.notice(), len(chosen.deviations)-len(survived), len(chosen.deviations))
		if len(survived) > 0 {
			Fail(strings.Join(survived, "\n"))
		}
	})
})
