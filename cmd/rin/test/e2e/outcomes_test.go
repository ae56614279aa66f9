//go:build e2e

package e2e_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

// expectation is a line of a table in testdata/outcomes: the outcome of a requirement with these servers, and the reason if it is not passed. The
// outcome of a requirement whose request is drawn may be one of several: "pass|warn".
type expectation struct{ outcome, why string }

// allows reports whether the line expects the outcome.
func (e expectation) allows(outcome requirement.Outcome) bool {
	return slices.Contains(strings.Split(e.outcome, "|"), string(outcome))
}

// unreadMark begins a reason from a report that nobody has reviewed. A table with the mark fails.
const unreadMark = "? "

// expectOutcomes compares a run with the table of that name. With RIN_UPDATE_OUTCOMES it rewrites the table: it keeps the reasons of unchanged
// lines and marks new ones, so that a person reviews them and removes the mark.
func (c certification) expectOutcomes(table string) {
	GinkgoHelper()
	path := filepath.Join("testdata", "outcomes", table+".txt")
	title, expected := readOutcomes(path)
	if os.Getenv("RIN_UPDATE_OUTCOMES") != "" {
		Expect(os.WriteFile(path, c.outcomes(title, expected), 0o644)).To(Succeed())
		_, expected = readOutcomes(path)
	}
	var differences []string
	got := map[string]report.Requirement{}
	for _, r := range c.Requirements {
		got[string(r.ID)] = r
		if _, listed := expected[string(r.ID)]; !listed {
			differences = append(differences, fmt.Sprintf("+ %s %s: %s", r.ID, r.Outcome, r.Reason))
		}
	}
	for _, r := range requirement.Catalogue() {
		e, listed := expected[string(r.ID)]
		actual, judged := got[string(r.ID)]
		switch {
		case !judged:
			differences = append(differences, fmt.Sprintf("- %s was not judged", r.ID))
		case listed && !e.allows(actual.Outcome):
			differences = append(differences, fmt.Sprintf("- %s %s: %s", r.ID, e.outcome, e.why), fmt.Sprintf("+ %s %s: %s (expected %s, got %s)", r.ID, actual.Outcome, actual.Reason, actual.Expected, actual.Got))
		case listed && e.outcome != string(requirement.Pass) && (e.why == "" || strings.HasPrefix(e.why, unreadMark)):
			differences = append(differences, fmt.Sprintf("? %s %s has a reason that nobody has reviewed: %s", r.ID, e.outcome, e.why))
		}
		delete(expected, string(r.ID))
	}
	for id := range expected {
		differences = append(differences, fmt.Sprintf("- %s is not a requirement", id))
	}
	if len(differences) > 0 {
		Fail(fmt.Sprintf("%s differs:\n%s", path, strings.Join(differences, "\n")))
	}
}

// outcomes writes the table of this run.
func (c certification) outcomes(title string, known map[string]expectation) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n", title)
	for _, r := range c.Requirements {
		e := expectation{outcome: string(r.Outcome)}
		if k, ok := known[string(r.ID)]; ok && k.allows(r.Outcome) {
			e = k
		} else if r.Outcome != requirement.Pass {
			e.why = unreadMark + r.Reason
		}
		fmt.Fprintln(&out, strings.TrimRight(fmt.Sprintf("%-7s %-14s %s", r.ID, e.outcome, e.why), " "))
	}
	return out.Bytes()
}

// readOutcomes reads a table. The title, its first line, says what was tried.
func readOutcomes(path string) (title string, lines map[string]expectation) {
	GinkgoHelper()
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred(), "make the table with its first line, and run with RIN_UPDATE_OUTCOMES=1")
	lines = map[string]expectation{}
	for scan := bufio.NewScanner(bytes.NewReader(content)); scan.Scan(); {
		line := scan.Text()
		if text, ok := strings.CutPrefix(line, "# "); ok {
			title = text
			continue
		}
		id, rest, _ := strings.Cut(line, " ")
		outcome, why, _ := strings.Cut(strings.TrimSpace(rest), " ")
		Expect(lines).NotTo(HaveKey(id), path)
		lines[id] = expectation{outcome, strings.TrimSpace(why)}
	}
	return title, lines
}
