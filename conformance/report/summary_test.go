package report_test

import (
	"bytes"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/report"
)

var _ = Describe("the public summary", func() {
	summary := func(r report.Report) string {
		GinkgoHelper()
		var b bytes.Buffer
		Expect(report.WriteSummary(&b, r, "run.zip")).To(Succeed())
		return b.String()
	}

	It("has verdict, findings and requirements, and names the download that has the exchanges", func() {
		r, _ := small()
		page := summary(r)
		Expect(page).To(And(ContainSubstring("Not certified for profile funding"), ContainSubstring("$[2].name"), ContainSubstring("API-05"), ContainSubstring(`<a href="run.zip" download>run.zip</a>`)))
		Expect(page).NotTo(Or(ContainSubstring(`<details class="exchange`), ContainSubstring("left out of this page")))
	})

	It("stays below its limit whatever the report holds, keeps verdict and outcomes, and says what it leaves out", func() {
		for name, grow := range map[string]func(*report.Report){
			"operations": func(r *report.Report) {
				for i := range 20_000 {
					r.Operations.List = append(r.Operations.List, report.Operation{Method: "GET", Path: fmt.Sprintf("/list/%d", i), Because: "not called"})
				}
			},
			"subjects": func(r *report.Report) {
				for i := range r.Requirements {
					for range 50 {
						r.Requirements[i].Subjects = append(r.Requirements[i].Subjects, report.Subject{Name: strings.Repeat("<&\x1b", 900), Expected: "a", Got: strings.Repeat("\"", 3000)})
					}
				}
			},
			"reasons": func(r *report.Report) {
				for range 300 {
					r.Verdict.Reasons = append(r.Verdict.Reasons, report.Reason{Text: strings.Repeat("\x00<", 1000)})
					r.Notes = append(r.Notes, strings.Repeat("\x00<", 1000))
				}
				r.Made.AllowedOrigins = []string{strings.Repeat("\x00<", 200_000)}
				r.Target.ClientID = strings.Repeat("\x00<", 200_000)
			},
		} {
			r, _ := small()
			grow(&r)
			page := summary(r)
			Expect(len(page)).To(BeNumerically("<=", report.MaxSummary), name)
			Expect(page).To(And(ContainSubstring("Not certified for profile funding"), ContainSubstring(`id="TOK-06"`), ContainSubstring("left out of this page")), name)
		}
	})

	It("fails if it is too long even without its optional parts", func() {
		r, _ := small()
		r.Verdict.Headline = strings.Repeat("x", report.MaxSummary)
		var b bytes.Buffer
		Expect(report.WriteSummary(&b, r, "run.zip")).To(MatchError(report.ErrTooLong))
		Expect(b.Len()).To(BeZero())
	})
})
