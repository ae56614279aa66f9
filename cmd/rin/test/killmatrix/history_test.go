package killmatrix_test

import (
	"fmt"
	"os"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox/fault"
)

// keptRuns is the number of runs of standard effort, each with the history of those before it, within which every rare deviation must be noticed.
const keptRuns = 10

// rare returns the deviations that a run of standard effort may miss, because few kinds of a family show them: all that the environment selects, or a few.
func rare() ([]fault.Deviation, error) {
	if pattern := os.Getenv(selector); pattern != "" {
		s, err := selected(pattern)
		return slices.DeleteFunc(s.deviations, func(d fault.Deviation) bool { return !d.Rare }), err
	}
	var few []fault.Deviation
	for _, d := range fault.Deviations() {
		if d.Rare && (d.Name == "hmac-with-empty-key" || d.Name == "static-files-open") {
			few = append(few, d)
		}
	}
	return few, nil
}

var _ = Describe("Ten runs of standard effort that keep their history", func() {
	It("notice a deviation that few kinds of a family show", func(ctx SpecContext) {
		deviations, err := rare()
		Expect(err).NotTo(HaveOccurred())
		var missed []string
		for _, d := range deviations {
			noticed, earlier := 0, map[string][]string{}
			for run := 1; run <= keptRuns && noticed == 0; run++ {
				result, err := certifyResult(ctx, func(t *target.Target) {
					t.Effort, t.Seed, t.Earlier = draw.Standard, draw.Seed(run), earlier
				}, d.Name)
				Expect(err).NotTo(HaveOccurred())
				for _, q := range result.Report.Requirements {
					if q.Outcome == requirement.Fail && (slices.Contains(d.Breaks, string(q.ID)) || slices.Contains(d.May, string(q.ID))) {
						noticed = run
					}
				}
				for _, f := range result.Report.Made.Families {
					earlier[f.Name] = append(earlier[f.Name], f.Drawn...)
				}
			}
			fmt.Fprintf(GinkgoWriter, "%s: run %d\n", d.Name, noticed)
			if noticed == 0 {
				missed = append(missed, d.Name)
			}
		}
		Expect(missed).To(BeEmpty(), strings.Join(missed, "\n"))
	})
})
