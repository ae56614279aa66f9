package report_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// certificate returns the report of a node in order for the whole catalogue.
func certificate() (report.Report, *evidence.Log) {
	log := smallLog()
	log.Run.Profile = string(requirement.Full)
	var rows []requirement.Requirement
	judged := map[requirement.ID]requirement.Judgement{}
	for _, g := range requirement.Groups() {
		for i := range g.Requirements {
			id := requirement.ID(fmt.Sprintf("%s-%02d", g.Name, i+1))
			rows = append(rows, row(id, "Requirement "+string(id)+" holds", requirement.Gating, requirement.Auth, requirement.RFC(6749, "5.1"), "The server MUST.", "Do it."))
			judged[id] = requirement.Passed("token.ok")
		}
	}
	judged["TOK-07"] = requirement.Warned("the header Pragma is missing", "Pragma: no-cache", "no Pragma").Seen("token.ok")
	return report.New(verdict.Decide(rows, judged, log, nil), requirement.Read(log), version), log
}

var _ = Describe("A certificate", func() {
	It("names its profile, versions, date and URLs in every format", func() {
		const tried = "deviations tried; they prove"
		r, log := certificate()
		Expect(r.Verdict.Decision).To(Equal(verdict.Certified))
		r.Catalogue.Version = "1.0.0"
		for name, f := range reportFormats() {
			if strings.HasPrefix(name, "40") {
				continue // this format breaks long lines, URLs too; it has the same words as 80.txt
			}
			text := strings.NewReplacer(`\`, "", "\x1b[1m", "", "\x1b[0m", "").Replace(strings.Join(strings.Fields(write(f, r, log)), " "))
			for _, fact := range []string{
				"Certified for profile full", version, "1.0.0", "2026", // profile, suite, catalogue, date
				"https://auth.node.example/oauth/token", "https://api.node.example/ris-synergy", // URLs
				tried, "This is a snapshot",
			} {
				if fact == tried && !strings.Contains(text, fact) {
					fact = "matrix" // formats for machines have the score as data
				}
				Expect(text).To(ContainSubstring(fact), name)
			}
			all := len(requirement.Catalogue())
			Expect(text).To(Or(
				ContainSubstring("%d passed, 1 warning", all-1), ContainSubstring(`"pass": %d, "warn": 1`, all-1),
				ContainSubstring(`tests="%d"`, all+1), // JUnit has a case for the verdict, too
			), name)
		}
	})
})
