package killmatrix_test

import (
	"fmt"
	"regexp"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/sandbox/fault"
)

// selector names the environment variable with a regular expression that restricts a run to some deviations, for work on them:
// RIN_MUTANTS=^realm- go test ./cmd/rin/test/killmatrix. RIN_MUTANTS=. takes them all.
const selector = "RIN_MUTANTS"

// selection is the deviations of a run.
type selection struct {
	deviations []fault.Deviation
	how        string // in words, for the title of the matrix
}

// selected returns the deviations that the pattern matches.
func selected(pattern string) (selection, error) {
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return selection{}, fmt.Errorf("%s is not a regular expression: %w", selector, err)
	}
	s := selection{how: "those that match " + pattern}
	for _, d := range fault.Deviations() {
		if expression.MatchString(d.Name) {
			s.deviations = append(s.deviations, d)
		}
	}
	if len(s.deviations) == 0 {
		return selection{}, fmt.Errorf("%s=%s matches no deviation", selector, pattern)
	}
	return s, nil
}

// sampled returns deviations that break every sixth requirement of each group, because make test has no time for more. Every group is among
// them, and every way to serve a node.
func sampled() selection {
	s := selection{how: "for every sixth requirement of each group; make mutants measures all"}
	wanted := sampledRequirements()
	for _, d := range fault.Deviations() {
		if !slices.ContainsFunc(d.Breaks, func(id string) bool { return wanted[id] }) {
			continue
		}
		for _, id := range d.Breaks {
			delete(wanted, id)
		}
		s.deviations = append(s.deviations, d)
	}
	return s
}

// sampledRequirements returns the first requirement of each group, the seventh, and so on.
func sampledRequirements() map[string]bool {
	wanted, seen := map[string]bool{}, map[string]int{}
	for _, r := range requirement.Catalogue() {
		if seen[r.ID.Group()]%6 == 0 {
			wanted[string(r.ID)] = true
		}
		seen[r.ID.Group()]++
	}
	return wanted
}

// partial reports whether some deviations are left out. A partial matrix proves nothing about the suite.
func (s selection) partial() bool { return len(s.deviations) < len(fault.Deviations()) }

// title heads the printed matrix.
func (s selection) title() string {
	if s.partial() {
		return fmt.Sprintf("partial kill matrix: %d of %d deviations, %s", len(s.deviations), len(fault.Deviations()), s.how)
	}
	return fmt.Sprintf("kill matrix: %d deviations", len(s.deviations))
}

var _ = Describe("The sample of make test", func() {
	It("breaks a requirement of each group, over http and https", func() {
		groups, served := map[string]bool{}, map[bool]bool{}
		for _, d := range sampled().deviations {
			served[needsTLS([]string{d.Name})] = true
			for _, id := range d.Breaks {
				groups[requirement.ID(id).Group()] = true
			}
		}
		for _, g := range requirement.Groups() {
			Expect(groups).To(HaveKey(g.Name))
		}
		Expect(served).To(HaveLen(2))
	})
})
