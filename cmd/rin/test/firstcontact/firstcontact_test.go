//go:build unix

package firstcontact_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"

	"github.com/rin-network/rin/conformance/verdict"
)

// The environment variables of this suite.
const (
	selector    = "RIN_CONTACT"          // which nodes: an expression for path and framework, such as "round1/nodego/go-base net/http (go)"
	program     = "RIN_CONTACT_RIN"      // path of the rin to use; without it, the test builds rin
	patience    = "RIN_CONTACT_PATIENT"  // wait until tokens expire, as the writers' inputs say
	parallelism = "RIN_CONTACT_PARALLEL" // how many nodes at a time
	keep        = "RIN_CONTACT_REPORTS"  // where to keep the reports
	again       = "RIN_CONTACT_AGAIN"    // judge the kept reports again, after a change of the second reading
	recorder    = "RIN_WRITE_CONTACT"    // "first contact", "after learning" or "quick check": write the record of each round; any value: rewrite the texts that quote the records
)

// sample are the nodes of make test: they need nothing but Go.
const sample = "^round1/nodego/(go-base|null-deadline|xff-internal) "

var _ = Describe("First contact", func() {
	for round := 1; ; round++ {
		folder := fmt.Sprintf("round%d", round)
		if _, err := os.Stat(folder); err != nil {
			break
		}
		It(fmt.Sprintf("is no worse than recorded, round %d", round), func() {
			all, err := readRound(folder)
			Expect(err).NotTo(HaveOccurred())
			chosen := regexp.MustCompile(cmp.Or(os.Getenv(selector), sample))
			nodes := slices.DeleteFunc(slices.Clone(all), func(n node) bool { return !chosen.MatchString(n.path() + " " + n.Framework) })
			if len(nodes) == 0 {
				Skip("no node of this round is chosen")
			}
			results, skipped := certifyAll(nodes)
			show(results)
			kind := os.Getenv(recorder)
			if slices.Contains([]string{firstContact, afterLearning, quickCheck}, kind) {
				Expect(os.Getenv(patience) != "").To(Equal(kind != quickCheck), "the record %q and %s", kind, patience)
				Expect(len(results)).To(Equal(len(all)), "a record has every node of its round; missing: %v", skipped)
				Expect(newRecord(round, kind, results).write()).To(Succeed())
				return
			}
			Expect(worseThanRecorded(round, results)).To(BeEmpty(), "RIN_WRITE_CONTACT='quick check' make contact records a change that is intended")
		})
	}

	It("is quoted by README.md and by reports as it was recorded", func() {
		measured, err := readRecords(firstContact)
		Expect(err).NotTo(HaveOccurred())
		learned, err := readRecords(afterLearning)
		Expect(err).NotTo(HaveOccurred())
		contacts := []verdict.Contact{}
		for _, r := range measured {
			contacts = append(contacts, r.count())
		}
		data, err := verdict.ContactsJSON(contacts)
		Expect(err).NotTo(HaveOccurred())
		embedded := filepath.Join("..", "..", "..", "..", "conformance", "verdict", "contact.json")
		readme, err := os.ReadFile("README.md")
		Expect(err).NotTo(HaveOccurred())
		begin, end := []byte("<!-- records -->\n"), []byte("<!-- end of the records -->\n")
		before, rest, found := bytes.Cut(readme, begin)
		Expect(found).To(BeTrue())
		_, after, found := bytes.Cut(rest, end)
		Expect(found).To(BeTrue())
		want := slices.Concat(before, begin, []byte("\n"+tables(measured, learned)+"\n"), end, after)
		frontFile := filepath.Join("..", "..", "..", "..", "README.md")
		top, err := os.ReadFile(frontFile)
		Expect(err).NotTo(HaveOccurred())
		quotation := regexp.MustCompile(`(?s)At first contact \(round.*?right\s+ones\.`)
		last := top
		if n := len(contacts); n > 0 {
			Expect(quotation.Match(top)).To(BeTrue(), "README.md quotes the last round")
			last = quotation.ReplaceAllLiteral(top, []byte(contacts[n-1].Sentence()))
		}
		if os.Getenv(recorder) != "" {
			Expect(os.WriteFile(frontFile, last, 0o644)).To(Succeed())
			Expect(os.WriteFile(embedded, data, 0o644)).To(Succeed())
			Expect(os.WriteFile("README.md", want, 0o644)).To(Succeed())
			return
		}
		Expect(os.ReadFile(embedded)).To(BeEquivalentTo(data), "RIN_WRITE_CONTACT=numbers writes it")
		Expect(string(readme)).To(Equal(string(want)), "RIN_WRITE_CONTACT=numbers writes it")
		Expect(string(top)).To(Equal(string(last)), "RIN_WRITE_CONTACT=numbers writes it")
	})
})

// certifyAll certifies the nodes with the program and in the way that the environment asks for. It leaves out nodes whose framework is missing and returns their paths.
func certifyAll(nodes []node) (results []outcome, skipped []string) {
	GinkgoHelper()
	r := run{binaries: GinkgoT().TempDir(), patient: os.Getenv(patience) != "", parallel: 2, reports: cmp.Or(os.Getenv(keep), GinkgoT().TempDir()), again: os.Getenv(again) != ""}
	binary := os.Getenv(program)
	if binary == "" {
		var err error
		binary, err = gexec.Build("github.com/rin-network/rin/cmd/rin")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(gexec.CleanupBuildArtifacts)
	}
	Expect(os.Symlink(binary, filepath.Join(r.binaries, "rin"))).To(Succeed())
	help, err := exec.Command(binary, "certify", "--help").Output()
	Expect(err).NotTo(HaveOccurred())
	if os.Getenv(recorder) != firstContact && bytes.Contains(help, []byte("--seed ")) {
		r.seed = "1" // the same draws as in the last run
	}
	if n, err := strconv.Atoi(os.Getenv(parallelism)); err == nil {
		r.parallel = n
	}
	w := &workshop{dir: GinkgoT().TempDir(), prepared: map[string]error{}}
	all, failures := r.outcomes(w, nodes)
	missing := map[string]int{}
	for path, err := range failures {
		Expect(err).To(MatchError(errMissing), path)
		missing[err.Error()]++
		skipped = append(skipped, path)
	}
	for reason, n := range missing {
		fmt.Fprintf(os.Stderr, "\n*** SKIPPED: %s, so %d nodes were not certified ***\n\n", reason, n)
	}
	return slices.DeleteFunc(all, func(o outcome) bool { return o.Node == "" }), skipped
}

// newRecord makes the record of a whole round.
func newRecord(round int, kind string, results []outcome) record {
	description := "Profile funding, without waiting until tokens expire"
	if os.Getenv(patience) != "" {
		description = "The command line of the writers as it is: profile full, waiting until tokens expire"
	}
	return record{Schema: recordVersion, Round: round, What: kind, Version: results[0].version, Catalogue: results[0].catalogue, How: description, Nodes: results}
}

// worseThanRecorded lists the nodes whose result is worse than the recorded one.
func worseThanRecorded(round int, results []outcome) []string {
	kind := quickCheck
	if os.Getenv(patience) != "" {
		kind = afterLearning
	}
	var recorded record
	if err := readJSON(recordFile(round, kind), &recorded); err != nil {
		Expect(os.IsNotExist(err)).To(BeTrue(), "%v", err)
		return nil
	}
	recordedOutcomes := map[string]outcome{}
	for _, o := range recorded.Nodes {
		recordedOutcomes[o.Node] = o
	}
	var lines []string
	for _, o := range results {
		if before, ok := recordedOutcomes[o.Node]; ok && o.Result.rank() < before.Result.rank() {
			lines = append(lines, fmt.Sprintf("%s: %s, was %s; %v %v", o.Node, o.Result, before.Result, o.Failed, o.Open))
		}
	}
	return lines
}

// show prints the results, and a count of them.
func show(results []outcome) {
	total := map[result]int{}
	var b strings.Builder
	for _, o := range results {
		total[o.Result]++
		fmt.Fprintf(&b, "  %-13s %-36s", o.Result, o.Node)
		for _, f := range append(slices.Clone(o.Failed), o.Open...) {
			b.WriteString(" " + f.ID)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "  %v\n", total)
	GinkgoWriter.Print(b.String())
	if os.Getenv(selector) != "" {
		fmt.Print(b.String())
	}
}
