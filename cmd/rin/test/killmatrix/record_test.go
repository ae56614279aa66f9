package killmatrix_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/sandbox/fault"
)

// recorder names the environment variable with which a complete run records its measurement; "make mutants" sets it.
const recorder = "RIN_WRITE_MATRIX"

// record writes the matrix and its document into conformance/verdict.
func record(m verdict.Matrix) error {
	data, err := m.JSON()
	if err != nil {
		return err
	}
	var document bytes.Buffer
	if err := writeMarkdown(&document, m); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(documentFile()), "matrix.json"), data, 0o644); err != nil {
		return err
	}
	return os.WriteFile(documentFile(), document.Bytes(), 0o644)
}

// documentFile returns the path of MATRIX.md, beside the recorded matrix.
func documentFile() string {
	return filepath.Join("..", "..", "..", "..", "conformance", "verdict", "MATRIX.md")
}

var _ = Describe("The recorded matrix", func() {
	It("matches the deviations and requirements of this version, all noticed exactly", func() {
		if os.Getenv(selector) != "" || os.Getenv(recorder) != "" {
			Skip("the matrix is being worked on")
		}
		recorded := map[string]verdict.Deviation{}
		for _, f := range verdict.RecordedMatrix().Deviations {
			recorded[f.Name] = f
		}
		var stale []string
		for _, d := range fault.Deviations() {
			breaks := requirement.IDs(d.Breaks)
			if !reflect.DeepEqual(recorded[d.Name], verdict.NewDeviation(d.Name, d.Why, breaks, breaks)) {
				stale = append(stale, d.Name)
			}
			delete(recorded, d.Name)
		}
		stale = append(stale, slices.Sorted(maps.Keys(recorded))...)
		Expect(stale).To(BeEmpty(), "deviations that were not measured as they are now: make mutants measures and records them")
		Expect(verdict.RecordedMatrix().Requirements).To(Equal(table(nil).Requirements), "make mutants records the catalogue at hand")
		Expect(verdict.RecordedMatrix().Catalogue).To(Equal(requirement.Version), "make mutants records the version at hand")
	})
})
