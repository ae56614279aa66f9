package report_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// format writes a report in one format.
type format func(io.Writer, report.Report, *evidence.Log) error

// formats returns all formats under the names of their goldens.
func formats() map[string]format {
	text := func(o report.TextOptions) format {
		return func(w io.Writer, r report.Report, _ *evidence.Log) error { return report.WriteText(w, r, o) }
	}
	return map[string]format{
		"80.txt":          text(report.TextOptions{Width: 80}),
		"40.txt":          text(report.TextOptions{Width: 40}),
		"80.ansi":         text(report.TextOptions{Width: 80, Color: true}),
		"report.json":     func(w io.Writer, r report.Report, _ *evidence.Log) error { return report.WriteJSON(w, r) },
		"junit.xml":       func(w io.Writer, r report.Report, _ *evidence.Log) error { return report.WriteJUnit(w, r) },
		"report.md":       func(w io.Writer, r report.Report, _ *evidence.Log) error { return report.WriteMarkdown(w, r) },
		"report.html":     report.WriteHTML,
		"annotations.txt": report.WriteGitHub,
		"quality.json":    report.WriteGitLab,
		"exchanges.har":   func(w io.Writer, _ report.Report, log *evidence.Log) error { return evidence.WriteHAR(w, log, version) },
	}
}

// reportFormats returns the formats that present the whole report, and not only its exchanges or its findings.
func reportFormats() map[string]format {
	out := formats()
	for _, part := range []string{"exchanges.har", "annotations.txt", "quality.json"} {
		delete(out, part)
	}
	return out
}

// write returns a report in a format.
func write(f format, r report.Report, log *evidence.Log) string {
	var b bytes.Buffer
	ExpectWithOffset(1, f(&b, r, log)).To(Succeed())
	return b.String()
}

var _ = Describe("the formats", func() {
	for name, f := range formats() {
		It("match the golden file: "+name, func() {
			r, log := small()
			r.Catalogue.Version, r.Catalogue.Digest = "1.0.0", "sha256:"+strings.Repeat("d", 64) // the real ones change
			r.Suite.Matrix = verdict.Score{Deviations: 312, Noticed: 312, Requirements: 129, Killed: 129, Attested: []requirement.ID{"SEC-07"}}
			r.Suite.Contact = &verdict.Contact{
				Round: 2, Version: "v1.1.0", Catalogue: "1.0.0",
				Wrong: 40, Caught: 27, Otherwise: 2, Open: 1, Missed: 10, Right: 20, Certified: 18, Blamed: 1, Inconclusive: 1,
			}
			got := write(f, r, log)
			Expect(write(f, r, log)).To(Equal(got), "the same evidence gives the same bytes")

			path := filepath.Join("testdata", "small."+name)
			if os.Getenv("RIN_UPDATE_GOLDEN") == "1" {
				Expect(os.WriteFile(path, []byte(got), 0o644)).To(Succeed())
			}
			want, err := os.ReadFile(path)
			Expect(err).NotTo(HaveOccurred(), "RIN_UPDATE_GOLDEN=1 writes it")
			Expect(got).To(Equal(string(want)), "RIN_UPDATE_GOLDEN=1 writes it again: read the difference before you keep it")
		})
	}
})
