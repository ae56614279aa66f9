package mutants_test

import (
	"bytes"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/matrix"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/sandbox/deviation"
)

// recorder names the environment variable that lets a whole run write down what it measured; make mutants sets it.
const recorder = "RIN_WRITE_MATRIX"

// record writes a matrix where the reports and the reader find it.
func record(m matrix.Matrix) error {
	data, err := m.JSON()
	if err != nil {
		return err
	}
	var document bytes.Buffer
	if err := m.WriteMarkdown(&document); err != nil {
		return err
	}
	room := filepath.Join("..", "..", "..", "conformance", "matrix")
	if err := os.WriteFile(filepath.Join(room, "matrix.json"), data, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(room, "MATRIX.md"), document.Bytes(), 0o644)
}

var _ = Describe("The recorded matrix", func() {
	It("is of the deviations and requirements at hand, all noticed exactly", func() {
		if pattern, restricted := os.LookupEnv(selector); restricted || os.Getenv(recorder) != "" {
			Skip("the matrix is being worked on: " + pattern)
		}
		var faults []matrix.Fault
		for _, d := range deviation.All() {
			breaks := requirement.IDs(d.Breaks)
			faults = append(faults, matrix.Measured(d.Name, d.Why, breaks, breaks))
		}
		want, err := table(faults).JSON()
		Expect(err).NotTo(HaveOccurred())
		got, err := matrix.Recorded().JSON()
		Expect(err).NotTo(HaveOccurred())
		Expect(string(got)).To(Equal(string(want)), "the tables changed since the matrix was recorded: make mutants measures and records it")
	})
})
