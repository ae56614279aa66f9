package killmatrix_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/sandbox/fault"
)

// worsened lists, in catalogue order, the requirements that a deviation makes worse: they warn or fail now, and did not before. Requirements that are
// blocked, not applicable or inconclusive do not count, because they were not judged.
func worsened(clean, deviating outcomes) []requirement.ID {
	var ids []requirement.ID
	for _, r := range requirement.Catalogue() {
		switch outcome := deviating[r.ID].Outcome; outcome {
		case requirement.Warn, requirement.Fail:
			if verdict.Worse(outcome, clean[r.ID].Outcome) {
				ids = append(ids, r.ID)
			}
		}
	}
	return ids
}

// unused lists the requirements on optional behaviour that the sandbox does not have: cookies, a date at which a resource ends, scopes, revocation of
// tokens.
func unused() []requirement.ID { return []requirement.ID{"SEC-01", "VER-03", "BRR-20", "BRR-21"} }

// describe lists the outcomes of requirements for a failure message.
func describe(found outcomes, ids []requirement.ID) string {
	var b strings.Builder
	for _, id := range ids {
		r := found[id]
		fmt.Fprintf(&b, "    %s is %s: %s (got %s)\n", id, r.Outcome, r.Reason, r.Got)
	}
	return b.String()
}

// choice returns the deviations that the environment selects: those that match a pattern, all for a record, or a sample.
func choice() (selection, error) {
	switch {
	case os.Getenv(selector) != "":
		return selected(os.Getenv(selector))
	case os.Getenv(recorder) != "":
		return selected(".")
	}
	return sampled(), nil
}

var _ = Describe("The suite", Ordered, func() {
	var clean outcomes
	var chosen selection

	BeforeAll(func(ctx SpecContext) {
		var err error
		chosen, err = choice()
		Expect(err).NotTo(HaveOccurred())
		clean, err = certify(ctx)
		Expect(err).NotTo(HaveOccurred())
	})

	It("finds no fault in a correct node", func() {
		var faults []string
		for _, r := range requirement.Catalogue() {
			j := clean[r.ID]
			isUnused := j.Outcome == requirement.NotApplicable && slices.Contains(unused(), r.ID)
			if j.Outcome != requirement.Pass && !isUnused && !slices.Contains(verdict.AttestedRequirements(), r.ID) {
				faults = append(faults, fmt.Sprintf("%s is %s: %s", r.ID, j.Outcome, j.Reason))
			}
		}
		Expect(faults).To(BeEmpty())
	})

	It("has a deviation for each of its requirements", func() {
		if os.Getenv(selector) != "" {
			Skip("the deviations are being worked on: " + chosen.title())
		}
		broken := map[requirement.ID]bool{}
		for _, d := range fault.Deviations() {
			for _, id := range d.Breaks {
				broken[requirement.ID(id)] = true
			}
		}
		var survivors []requirement.ID
		for _, r := range requirement.Catalogue() {
			if !broken[r.ID] && !slices.Contains(verdict.AttestedRequirements(), r.ID) {
				survivors = append(survivors, r.ID)
			}
			delete(broken, r.ID)
		}
		Expect(survivors).To(BeEmpty(), "no deviation breaks them")
		Expect(broken).To(BeEmpty(), "a deviation names them, the catalogue does not")
	})

	It("notices exactly the broken requirements of each deviation", func(ctx SpecContext) {
		started := time.Now()
		measured, wrong, err := measure(ctx, clean, chosen)
		Expect(err).NotTo(HaveOccurred())
		fmt.Printf("%s, %s\n", chosen.title(), time.Since(started).Round(time.Second))
		Expect(writeText(os.Stdout, measured, chosen.partial())).To(Succeed())
		if os.Getenv(recorder) != "" && !chosen.partial() {
			Expect(record(measured)).To(Succeed())
		}
		if len(wrong) > 0 {
			Fail(strings.Join(wrong, "\n"))
		}
	})
})
