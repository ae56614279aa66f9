package report_test

import (
	"bytes"
	"encoding/xml"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// empty returns the report of a node that never answered.
func empty() (report.Report, *evidence.Log) {
	log := smallLog()
	log.Run.Profile, log.Exchanges, log.NotSent, log.Document = "auth", nil, nil, nil
	log.Roles, log.Ended = evidence.Roles{}, &evidence.Ended{Cause: "the token endpoint cannot be reached", Requests: 1}
	return reportOf(log, nil), log
}

func text(r report.Report, o report.TextOptions) string {
	var b bytes.Buffer
	ExpectWithOffset(1, report.WriteText(&b, r, o)).To(Succeed())
	return b.String()
}

var _ = Describe("the terminal summary", func() {
	It("fits one screen for a node in order", func() {
		r, _ := good()
		Expect(strings.Count(text(r, report.TextOptions{Width: 80}), "\n")).To(BeNumerically("<=", 37)) // two lines are about first contact, one says that the run was not blind, one names list and detail, and one says where the rest of the coverage is
		r, _ = certificate()
		Expect(strings.Count(text(r, report.TextOptions{Width: 80}), "\n")).To(BeNumerically("<=", 41)) // a certificate says where its warning was seen, and what no test covers
	})

	It("keeps an address on one line, unless it is very long", func() {
		r, _ := small()
		address := "https://api.node.example/" + strings.Repeat("path-", 20)
		endless := "https://api.node.example/" + strings.Repeat("path-", 60)
		r.Target.BaseURL, r.Requirements[1].Got = address, endless
		Expect(text(r, report.TextOptions{Width: 60})).To(And(ContainSubstring(address), Not(ContainSubstring(endless))))
	})

	It("says that the report lists what was not tried", func() {
		r, _ := good()
		r.Operations.Executed, r.Operations.Parameters.Covered, r.Operations.Statuses.Covered = r.Operations.Documented, r.Operations.Parameters.Described, r.Operations.Statuses.Described
		Expect(text(r, report.TextOptions{Width: 500})).NotTo(ContainSubstring("lists the others"))
		r.Operations.Statuses.Described++
		Expect(text(r, report.TextOptions{Width: 500})).To(ContainSubstring("seen (the report lists the others); "))
	})

	It("marks a failure that costs nothing as a warning, and says that a certificate waits for what is open", func() {
		r, _ := small()
		i := slices.IndexFunc(r.Requirements, func(q report.Requirement) bool { return q.Outcome == requirement.Fail })
		q := &r.Requirements[i]
		Expect(text(r, report.TextOptions{Width: 80})).To(ContainSubstring("✗ " + string(q.ID)))
		q.Costs, q.Gate, q.Reason = false, requirement.Advice, "it is only advice"
		Expect(text(r, report.TextOptions{Width: 80})).To(And(ContainSubstring("! "+string(q.ID)), ContainSubstring("failed, advice, costs only the profile full: it is only advice")))
		q.Outcome, q.Costs, q.Gate, q.Fault = requirement.Inconclusive, true, requirement.Gating, requirement.Environment
		Expect(text(r, report.TextOptions{Width: 80})).To(And(ContainSubstring("inconclusive, the certificate waits for it: "), ContainSubstring("cause    uncertain: it may be the node")))
	})

	It("gives the address of a source that is not an RFC", func() {
		r, _ := small()
		i := slices.IndexFunc(r.Requirements, func(q report.Requirement) bool { return q.Outcome == requirement.Fail })
		r.Requirements[i].Source = report.Source{Text: "Public info document of the network", URL: "https://github.com/example/info.json#L76"}
		Expect(text(r, report.TextOptions{Width: 80})).To(ContainSubstring("\n           https://github.com/example/info.json#L76\n"))
	})

	DescribeTable("keeps within the screen, commands and addresses apart", func(width int) {
		for _, make := range []func() (report.Report, *evidence.Log){small, good, empty, hostile, excused} {
			r, _ := make()
			for _, line := range strings.Split(text(r, report.TextOptions{Width: width}), "\n") {
				if !strings.HasPrefix(line, "  curl ") && !strings.HasPrefix(line, "  printf ") && !strings.Contains(line, "://") {
					Expect(utf8.RuneCountInString(line)).To(BeNumerically("<=", width), line)
				}
			}
		}
	}, Entry("wide", 120), Entry("usual", 80), Entry("narrow", 40), Entry("a sliver", 20))

	It("counts wide characters as two columns", func() {
		r, _ := small()
		r.Requirements[1].Reason = strings.Repeat("資", 60)
		for _, line := range strings.Split(text(r, report.TextOptions{Width: 40}), "\n") {
			Expect(strings.Count(line, "資")).To(BeNumerically("<=", 20))
		}
	})

	It("says the same without colour", func() {
		r, _ := small()
		colored := text(r, report.TextOptions{Width: 80, Color: true})
		Expect(colored).To(ContainSubstring("\x1b["))
		Expect(regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(colored, "")).To(Equal(text(r, report.TextOptions{})))
	})

	It("ends with the verdict", func() {
		r, _ := small()
		out := text(r, report.TextOptions{Width: 80})
		Expect(strings.LastIndex(out, "Not certified for profile funding")).To(BeNumerically(">", strings.LastIndex(out, "BRR-18 not applicable")))
	})

	It("describes a node that never answered", func() {
		r, _ := empty()
		out := text(r, report.TextOptions{Width: 80})
		Expect(out).To(ContainSubstring("? Not certified for profile auth yet"))
		Expect(out).To(ContainSubstring("the token endpoint cannot be reached"))
	})
})

type suites struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
	Cases    []struct {
		Name    string `xml:"name,attr"`
		Failure *struct {
			Message string `xml:"message,attr"`
			Body    string `xml:",chardata"`
		} `xml:"failure"`
		Error   *struct{} `xml:"error"`
		Skipped *struct {
			Message string `xml:"message,attr"`
		} `xml:"skipped"`
		Out string `xml:"system-out"`
	} `xml:"testsuite>testcase"`
}

func junit(r report.Report) suites {
	var b bytes.Buffer
	ExpectWithOffset(1, report.WriteJUnit(&b, r)).To(Succeed())
	var s suites
	ExpectWithOffset(1, xml.Unmarshal(b.Bytes(), &s)).To(Succeed())
	return s
}

var _ = Describe("JUnit", func() {
	It("reports failures, but does not fail a pipeline because of advice and warnings", func() {
		r, _ := small()
		s := junit(r)
		Expect([]int{s.Tests, s.Failures, s.Errors, s.Skipped}).To(Equal([]int{10, 3, 1, 2}))
		for _, c := range s.Cases {
			switch id, _, _ := strings.Cut(c.Name, " "); id {
			case "TOK-06":
				Expect(c.Failure.Message).To(Equal("the token answer may be stored by caches"))
				Expect(c.Failure.Body).To(And(ContainSubstring("expected: Cache-Control: no-store"), ContainSubstring("got: "),
					ContainSubstring("source: RFC 6749 §5.1"), ContainSubstring("fix: "), ContainSubstring("curl: curl ")))
			case "TOK-13":
				Expect(c.Failure).To(BeNil())
				Expect(c.Skipped).To(BeNil(), "failed advice is output of a passed case")
				Expect(c.Out).To(And(ContainSubstring("failed, advice, costs only the profile full: HTTP Basic was refused"), ContainSubstring("got: 401 invalid_client")))
			case "TER-02":
				Expect(c.Failure).To(BeNil())
				Expect(c.Out).To(ContainSubstring("warning: the error code is unauthorized_client"))
			case "TER-08":
				Expect(c.Error).NotTo(BeNil())
			case "API-05":
				Expect(c.Skipped.Message).To(ContainSubstring("needs API-04"))
			}
		}
	})

	It("fails a pipeline exactly if the profile is not certified", func() {
		for _, make := range []func() (report.Report, *evidence.Log){small, good, empty} {
			r, _ := make()
			s := junit(r)
			Expect(s.Failures+s.Errors == 0).To(Equal(r.Verdict.Decision == verdict.Certified))
		}
		log := smallLog()
		log.Roles.ProbeTarget = "" // a reason that belongs to no requirement
		judged := smallJudgements()
		for id := range judged {
			judged[id] = requirement.Passed()
		}
		s := junit(reportOf(log, judged))
		Expect(s.Errors).To(Equal(1))
	})
})
