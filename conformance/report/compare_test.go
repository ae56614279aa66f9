package report_test

import (
	"bytes"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

var _ = Describe("Comparing two runs", func() {
	row := func(id requirement.ID, o requirement.Outcome, reason string) report.Requirement {
		return report.Requirement{ID: id, Title: "title of " + string(id), Outcome: o, Reason: reason}
	}
	of := func(rows ...report.Requirement) report.Report {
		return report.Report{Requirements: rows, Target: report.Target{NodeID: "XA", InfoURL: "https://node.example/info/"}}
	}
	kinds := func(c report.Comparison) string {
		var out []string
		for _, r := range c.Requirements {
			out = append(out, string(r.Kind)+" "+string(r.ID))
		}
		return strings.Join(out, ", ")
	}
	old := of(row("A-1", "pass", ""), row("A-2", "fail", "was wrong"), row("A-3", "pass", ""), row("A-4", "warn", ""), row("A-5", "pass", ""), row("A-6", "blocked", ""))
	later := of(row("A-1", "pass", ""), row("A-2", "warn", "still odd"), row("A-3", "fail", "a | b `c`"), row("A-4", "not-applicable", ""), row("A-6", "fail", "now seen"), row("A-7", "pass", ""))

	It("sorts requirements by how they changed, broken ones first", func() {
		c := report.Compare(old, later, nil, nil)
		Expect(kinds(c)).To(Equal("broken A-3, broken A-6, fixed A-2, changed A-4, new A-7, gone A-5"))
		Expect(c.Breaks()).To(BeTrue())
		back := report.Compare(later, old, nil, nil)
		Expect(kinds(back)).To(Equal("broken A-2, fixed A-3, changed A-4, changed A-6, new A-5, gone A-7"))
	})

	It("breaks if a requirement fails that was not judged before, and not if one fails as before", func() {
		Expect(report.Compare(of(), of(row("A-1", "fail", "")), nil, nil).Breaks()).To(BeTrue())
		Expect(report.Compare(of(row("A-1", "fail", "x")), of(row("A-1", "fail", "y")), nil, nil).Breaks()).To(BeFalse())
		Expect(report.Compare(of(row("A-1", "pass", "")), of(row("A-1", "warn", "")), nil, nil).Breaks()).To(BeFalse())
	})

	It("compares what was seen by status and media type, and leaves out what each run draws", func() {
		answer := func(l evidence.Label, f evidence.Family, status int, media string) evidence.Exchange {
			return evidence.Exchange{Label: l, Family: f, Response: &evidence.Response{Status: status, Header: []evidence.Field{{Name: "content-type", Value: media}, {Name: "Date", Value: string(l)}}}}
		}
		before := &evidence.Log{Exchanges: []evidence.Exchange{
			answer("info.ok", "", 200, "application/json"), answer("info.garbage", "", 401, "application/json;charset=utf-8"),
			answer("info.word-null", evidence.WordBearers, 401, ""), answer("info.head", "", 200, ""),
		}}
		after := &evidence.Log{Exchanges: []evidence.Exchange{
			answer("info.ok", "", 200, "text/html"), answer("info.garbage", "", 401, "Application/JSON"), answer("info.word-null", evidence.WordBearers, 403, ""),
			{Label: "info.head", Failure: &evidence.Failure{Kind: evidence.FailureTimeout}},
		}}
		c := report.Compare(of(), of(), before, after)
		Expect(c.Seen).To(HaveExactElements(
			report.SeenChange{Label: "info.ok", Name: c.Seen[0].Name, Old: "200 application/json", New: "200 text/html"},
			report.SeenChange{Label: "info.head", Name: c.Seen[1].Name, Old: "200 no Content-Type", New: "no answer (timeout)"},
		))
		Expect(c.Breaks()).To(BeFalse())
	})

	It("names operations that one document describes alone", func() {
		with := func(paths ...string) report.Report {
			var o report.Operations
			for _, p := range paths {
				o.List = append(o.List, report.Operation{Method: "GET", Path: p})
			}
			return report.Report{Operations: o}
		}
		Expect(report.Compare(with("/a", "/b"), with("/b", "/c"), nil, nil).Seen).To(HaveExactElements(
			report.SeenChange{Name: "GET /a", Old: "described", New: "not described"}, report.SeenChange{Name: "GET /c", Old: "not described", New: "described"}))
	})

	It("is written as text, Markdown and JSON, harmless whatever the files hold", func() {
		hostile := of(row("A-1", "pass", ""))
		hostile.Verdict.Headline = "\x1b[2Jcertified <b>"
		c := report.Compare(hostile, later, nil, nil)
		write := func(f func(*bytes.Buffer) error) string {
			GinkgoHelper()
			var out bytes.Buffer
			Expect(f(&out)).To(Succeed())
			Expect(out.String()).NotTo(ContainSubstring("\x1b"))
			return out.String()
		}
		text := write(func(b *bytes.Buffer) error { return report.WriteComparisonText(b, c) })
		Expect(text).To(ContainSubstring("\n5 new\n"))
		Expect(text).To(ContainSubstring("new      A-3  title of A-3: fail\n           a | b `c`\n"))
		markdown := write(func(b *bytes.Buffer) error { return report.WriteComparisonMarkdown(b, c) })
		Expect(markdown).To(HavePrefix("# 5 new\n"))
		Expect(markdown).To(And(ContainSubstring("a \\| b \\`c\\`"), Not(ContainSubstring("<b>"))))
		data := write(func(b *bytes.Buffer) error { return report.WriteComparisonJSON(b, c) })
		Expect(data).To(ContainSubstring(`"schema": "rin.comparison/v1"`))
		same := write(func(b *bytes.Buffer) error { return report.WriteComparisonText(b, report.Compare(old, old, nil, nil)) })
		Expect(same).To(ContainSubstring("\nnothing changed\n"))
	})
})
