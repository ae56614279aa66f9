package registry_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/verdict"
)

var _ = Describe("Why a node did not pass", func() {
	// after returns why N1 did not pass when its report has the reasons.
	after := func(reasons ...report.Reason) string {
		GinkgoHelper()
		n := newNetwork("")
		n.Certify = func(context.Context, target.Target, string) (report.Report, *evidence.Log, error) {
			return report.Report{Verdict: report.Verdict{Decision: verdict.NotCertified, Headline: "Not certified", Reasons: reasons}}, &evidence.Log{}, nil
		}
		n.night(documentOf(1))
		return n.node("N1").Outcome.Why
	}
	failed := func(text string, ids ...requirement.ID) report.Reason {
		return report.Reason{Kind: verdict.GatingFailed, Requirements: ids, Text: text}
	}

	It("names all failed rules, but no rules that are blocked or open", func() {
		why := after(failed("status 201", "TOK-02"), report.Reason{Kind: verdict.Inconclusive, Requirements: []requirement.ID{"TOK-09"}, Text: "no answer"},
			report.Reason{Kind: verdict.Blocked, Requirements: []requirement.ID{"TOK-07"}, Text: "blocked by TOK-02"}, failed("no challenge", "BRR-01", "BRR-02"))
		Expect(why).To(Equal("TOK-02: status 201; BRR-01, BRR-02: no challenge"))
		Expect(after(report.Reason{Kind: verdict.Blocked, Requirements: []requirement.ID{"TOK-07"}, Text: "blocked by TOK-02"})).To(Equal("TOK-07: blocked by TOK-02"))
	})

	It("counts the failed rules after the third, and cuts each long reason alone", func() {
		var many []report.Reason
		for i := range 5 {
			many = append(many, failed(strings.Repeat("long ", 200), requirement.ID(fmt.Sprintf("TOK-0%d", i+1))))
		}
		why := after(many...)
		Expect(why).To(And(ContainSubstring("TOK-01: "), ContainSubstring("; TOK-03: "), Not(ContainSubstring("TOK-04")), HaveSuffix("; and 2 more")))
		Expect(len(why)).To(BeNumerically("<", 500))
	})
})

var _ = Describe("A node whose client is not known", func() {
	// without returns why the node was not tested, with the policy and no secret anywhere.
	without := func(policy string) string {
		GinkgoHelper()
		n := newNetwork("nodes: {N1: " + policy + "}\n")
		n.Secrets = registry.Secrets{Environment: func(string) (string, bool) { return "", false }, Dir: GinkgoT().TempDir()}
		sum := n.night(documentOf(1))
		Expect(sum.NoSecret).To(Equal(1))
		Expect(n.tested["N1"]).To(BeZero())
		return n.node("N1").Outcome.Why
	}

	It("is untested with a hint that names what the operator has to do, for each place of a secret", func() {
		Expect(without(`{client-id: c, client-secret: "env:SECRET_{id}"}`)).To(Equal("the secret of its client c cannot be read: environment variable SECRET_N1 is not set (hint: export SECRET_N1 where rin registry starts, such as the unit of a timer, or name another place in registry.yaml)"))
		Expect(without(`{client-id: c, client-secret: "file:secrets/{id}"}`)).To(And(ContainSubstring("secrets/N1: no such file"), ContainSubstring("a path is relative to the directory of registry.yaml"), Not(ContainSubstring("standard input"))))
		Expect(without(`{client-id: c, client-secret: "exec:false"}`)).To(And(ContainSubstring("the command false ended with the exit code 1"), ContainSubstring("as the user that runs rin registry")))
	})

	It("is untested with the secret that cannot be read, or the keys that are missing, for the staging environment", func() {
		why := func(staging string) string {
			n := newNetwork("nodes: {N1: {client-id: c, client-secret: env:SECRET, staging-url: https://staging.example/token" + staging + "}}\n")
			n.Secrets = registry.Secrets{Environment: func(name string) (string, bool) { return "secret", name == "SECRET" }}
			n.night(documentOf(1))
			Expect(n.tested["N1"]).To(BeZero())
			return n.node("N1").Outcome.Why
		}
		Expect(why(", staging-id: s, staging-secret: env:STAGING")).To(And(HavePrefix("the secret of its client s cannot be read: environment variable STAGING is not set"), Not(ContainSubstring("staging-url"))))
		Expect(why("")).To(Equal("registry.yaml has staging-url without staging-id and staging-secret"))
	})

	It("is untested with the keys to write when registry.yaml names no client", func() {
		p, err := registry.ReadPolicy([]byte("operator: https://registry.example\ndocument: ris.json\n"))
		Expect(err).NotTo(HaveOccurred())
		n := newNetwork("")
		n.Policy = p
		Expect(n.night(documentOf(1)).NoSecret).To(Equal(1))
		Expect(n.node("N1").Outcome.Why).To(Equal(`registry.yaml names no client for it (hint: write client-id and client-secret below nodes, for "N1", or below defaults)`))
	})
})

var _ = Describe("A node that refuses the registry's client", func() {
	It("is untested with that cause, whether the answer is a failure of TOK-01 or leaves it open", func() {
		for _, outcome := range []requirement.Outcome{requirement.Fail, requirement.Inconclusive} {
			q := report.Requirement{ID: "TOK-01", Gate: requirement.Gating, Outcome: outcome, Seen: "POST https://n.example/token: 401"}
			Expect(registry.RefusedClient(report.Report{Requirements: []report.Requirement{q}})).To(ContainSubstring("was its secret rotated?"), string(outcome))
			q.Seen = "POST https://n.example/token: no answer"
			Expect(registry.RefusedClient(report.Report{Requirements: []report.Requirement{q}})).To(BeEmpty(), string(outcome))
		}
	})
})
