package verdict_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

type judgements = map[requirement.ID]requirement.Judgement

// catalogue is a small one with a row of each kind that the rules of the profiles name.
func catalogue() []requirement.Requirement {
	row := func(id requirement.ID, p requirement.Profile, g requirement.Gate) requirement.Requirement {
		return requirement.Requirement{ID: id, Profile: p, Gate: g,
			Needs: []exchange.Label{exchange.Resource(id).With(exchange.OK)}}
	}
	return []requirement.Requirement{
		row("TOK-01", requirement.Auth, requirement.Gating),
		row("TOK-13", requirement.Auth, requirement.Advice),
		row("TOK-07", requirement.Auth, requirement.Information),
		row("BRR-01", requirement.Auth, requirement.Gating),
		row("BRR-14", requirement.Full, requirement.Advice),
		row("BRR-18", requirement.Funding, requirement.Gating),
		row("SPC-01", requirement.Funding, requirement.Gating),
		row("SPC-08", requirement.Funding, requirement.Gating),
		row("API-01", requirement.Funding, requirement.Gating),
		row("API-08", requirement.Funding, requirement.Gating),
		row("BRR-10", requirement.Full, requirement.Gating),
		row("JWT-08", requirement.Full, requirement.Advice),
		row("ISO-02", requirement.Full, requirement.Advice),
		row("ISO-03", requirement.Full, requirement.Advice),
	}
}

func run(profile string) *exchange.Log {
	return &exchange.Log{
		Run:   exchange.Run{Profile: profile},
		Roles: exchange.Roles{ProbeTarget: exchange.Info},
		Ended: &exchange.Ended{Complete: true},
	}
}

// good judges everything of the profile as pass, but for the overrides; what is beyond it was not probed.
func good(profile requirement.Profile, overrides judgements) judgements {
	out := judgements{}
	for _, r := range catalogue() {
		out[r.ID] = requirement.Missing("it was not asked for")
		if profile.Includes(r.Profile) {
			out[r.ID] = requirement.Passed()
		}
	}
	for id, j := range overrides {
		out[id] = j
	}
	return out
}

var _ = Describe("Decide", func() {
	decide := func(profile string, overrides judgements) verdict.Verdict {
		return verdict.Decide(catalogue(), good(requirement.Profile(profile), overrides), run(profile))
	}

	DescribeTable("the decision per profile", func(profile string, overrides judgements, want verdict.Decision) {
		v := decide(profile, overrides)
		Expect(v.Decision).To(Equal(want), "%v", v.Reasons)
		Expect(len(v.Reasons) == 0).To(Equal(want == verdict.Certified))
	},
		Entry("all pass: auth", "auth", nil, verdict.Certified),
		Entry("all pass: funding", "funding", nil, verdict.Certified),
		Entry("all pass: full", "full", nil, verdict.Certified),
		Entry("a warning on a gating row costs nothing", "auth", judgements{"TOK-01": requirement.Warned("w", "", "")}, verdict.Certified),
		Entry("not applicable on a gating row costs nothing", "auth", judgements{"TOK-01": requirement.Missing("m")}, verdict.Certified),
		Entry("a gating fail", "auth", judgements{"TOK-01": requirement.Failed("f", "", "")}, verdict.NotCertified),
		Entry("a gating fail beyond the profile", "auth", judgements{"SPC-01": requirement.Failed("f", "", "")}, verdict.Certified),
		Entry("a gating fail within funding", "funding", judgements{"SPC-01": requirement.Failed("f", "", "")}, verdict.NotCertified),
		Entry("an advice fail", "funding", judgements{"TOK-13": requirement.Failed("f", "", "")}, verdict.Certified),
		Entry("an advice fail costs full", "full", judgements{"TOK-13": requirement.Failed("f", "", "")}, verdict.NotCertified),
		Entry("an information fail never costs", "full", judgements{"TOK-07": requirement.Failed("f", "", "")}, verdict.Certified),
		Entry("a gating row inconclusive", "auth", judgements{"TOK-01": requirement.Unclear("u")}, verdict.Repeat),
		Entry("a gating row blocked", "auth", judgements{"TOK-01": {Outcome: requirement.Blocked, BlockedBy: "BRR-01"}}, verdict.Repeat),
		Entry("an advice row inconclusive", "full", judgements{"TOK-13": requirement.Unclear("u")}, verdict.Certified),
		Entry("fail wins over inconclusive", "auth", judgements{"TOK-01": requirement.Unclear("u"), "BRR-01": requirement.Failed("f", "", "")}, verdict.NotCertified),
		Entry("funding without a document", "funding", judgements{"SPC-01": requirement.Missing("m")}, verdict.Repeat),
		Entry("funding without funding calls", "funding", judgements{"SPC-08": requirement.Missing("m")}, verdict.Repeat),
		Entry("funding without a callable operation", "funding", judgements{"API-01": requirement.Missing("m")}, verdict.Repeat),
		Entry("funding without a protected operation", "funding", judgements{"API-08": requirement.Missing("m")}, verdict.Repeat),
		Entry("funding with a warning there", "funding", judgements{"API-01": requirement.Warned("w", "", "")}, verdict.Certified),
		Entry("full without a staging environment", "full", judgements{"ISO-02": requirement.Missing("m")}, verdict.Repeat),
		Entry("full without a client of another audience", "full", judgements{"ISO-03": requirement.Missing("m")}, verdict.Repeat),
		Entry("full without the wait for an expired token", "full", judgements{"BRR-10": requirement.Missing("m")}, verdict.Repeat),
		Entry("full with opaque tokens", "full", judgements{"JWT-08": requirement.Missing("m")}, verdict.Certified),
		Entry("full with an own row inconclusive", "full", judgements{"JWT-08": requirement.Unclear("u")}, verdict.Repeat),
		Entry("full with an own row blocked", "full", judgements{"JWT-08": {Outcome: requirement.Blocked, BlockedBy: "BRR-01"}}, verdict.Repeat),
		Entry("full with a warning on an own row", "full", judgements{"JWT-08": requirement.Warned("w", "", "")}, verdict.Certified),
		Entry("full with a failed own row", "full", judgements{"JWT-08": requirement.Failed("f", "", "")}, verdict.NotCertified),
		Entry("full without the opt-in rows", "full", judgements{"BRR-14": requirement.Missing("m")}, verdict.Certified),
	)

	It("gives the reasons with ids, what is broken first, and puts the same reason together", func() {
		v := decide("funding", judgements{
			"TOK-01": requirement.Unclear("no answer"),
			"BRR-01": requirement.Failed("anonymous calls get data", "401", "200"),
			"SPC-01": {Outcome: requirement.Blocked, BlockedBy: "BRR-01"},
			"SPC-08": {Outcome: requirement.Blocked, BlockedBy: "BRR-01"},
		})
		var told []string
		for _, r := range v.Reasons {
			told = append(told, r.String())
		}
		Expect(told).To(Equal([]string{
			"BRR-01: anonymous calls get data",
			"TOK-01: no answer",
			"SPC-01, SPC-08: blocked by BRR-01",
		}))
		Expect(v.Failed()).To(BeTrue())
		Expect(v.Unsettled()).To(BeTrue())
	})

	It("takes a requirement of the profile that was not judged for inconclusive", func() {
		j := good(requirement.Auth, nil)
		delete(j, "TOK-01")
		v := verdict.Decide(catalogue(), j, run("auth"))
		Expect(v.Decision).To(Equal(verdict.Repeat))
		Expect(v.Results[0].Judgement.Outcome).To(Equal(requirement.Inconclusive))
		Expect(v.Results[0].Judgement.Fault).To(Equal(requirement.Suite))
	})

	It("takes what an operator gave for executed, whatever came of it", func() {
		log := run("full")
		log.Run.StagingTokenURL, log.Run.Other = "https://staging.node.example/token", true
		overrides := judgements{"ISO-02": requirement.Missing("tokens are opaque"), "ISO-03": requirement.Missing("tokens carry no audience")}
		Expect(verdict.Decide(catalogue(), good(requirement.Full, overrides), log).Decision).To(Equal(verdict.Certified))
	})

	It("does not certify a node on which nothing is protected", func() {
		log := run("auth")
		log.Roles.ProbeTarget = ""
		v := verdict.Decide(catalogue(), good(requirement.Auth, nil), log)
		Expect(v.Decision).To(Equal(verdict.Repeat))
		Expect(v.Reasons).To(ConsistOf(HaveField("Kind", verdict.Unprotected)))
	})

	It("does not certify evidence that ends early", func() {
		log := run("auth")
		log.Ended = &exchange.Ended{Cause: "the child ran out of memory"}
		v := verdict.Decide(catalogue(), good(requirement.Auth, nil), log)
		Expect(v.Decision).To(Equal(verdict.Repeat))
		Expect(v.Reasons).To(ConsistOf(HaveField("Text", ContainSubstring("ran out of memory"))))
		j := good(requirement.Auth, judgements{"TOK-01": requirement.Unclear("u")})
		Expect(verdict.Decide(catalogue(), j, log).Reasons[0].Kind).To(Equal(verdict.Incomplete), "the cause before what came of it")

		log.Ended = nil
		Expect(verdict.Decide(catalogue(), good(requirement.Auth, nil), log).Decision).To(Equal(verdict.Repeat))
	})

	It("does not certify a run without gating requirements", func() {
		v := verdict.Decide(nil, nil, run("auth"))
		Expect(v.Decision).To(Equal(verdict.Repeat))
		Expect(v.Reasons).To(ConsistOf(HaveField("Kind", verdict.NothingSeen)))
	})

	Describe("a partial run", func() {
		It("is partial whatever it saw, and tells what failed", func() {
			log := run("auth")
			log.Run.Partial = "--only TOK-01"
			log.Planned = []exchange.Label{"TOK-01.ok"}
			v := verdict.Decide(catalogue(), good(requirement.Auth, nil), log)
			Expect(v.Decision).To(Equal(verdict.Partial))
			Expect(v.Failed()).To(BeFalse())

			v = verdict.Decide(catalogue(), good(requirement.Auth, judgements{"TOK-01": requirement.Failed("f", "", "")}), log)
			Expect(v.Decision).To(Equal(verdict.Partial))
			Expect(v.Failed()).To(BeTrue())
		})

		It("leaves out what it did not ask for", func() {
			log := run("auth")
			log.Run.Partial = "--only TOK-01"
			log.Planned = []exchange.Label{"TOK-01.ok"}
			v := verdict.Decide(catalogue(), good(requirement.Auth, nil), log)
			Expect(v.Results).To(HaveLen(1))
			Expect(v.Coverage.Judged).To(Equal(1))
		})

		It("leaves out what it asked for by half", func() {
			log := run("auth")
			log.Run.Partial = "--quick"
			log.Planned = []exchange.Label{"TOK-01.ok", "TOK-13.ok"}
			rows := catalogue()
			rows[0].Needs = append(rows[0].Needs, "token.repeat-1")
			v := verdict.Decide(rows, good(requirement.Auth, nil), log)
			Expect(v.Results).To(ConsistOf(HaveField("Requirement.ID", requirement.ID("TOK-13"))))
		})
	})

	Describe("rows beyond the profile", func() {
		It("are judged as advice when their opt-in probe was sent", func() {
			v := decide("auth", judgements{"BRR-14": requirement.Failed("f", "", ""), "SPC-01": requirement.Failed("f", "", "")})
			Expect(v.Decision).To(Equal(verdict.Certified))
			Expect(v.Results).To(ContainElement(And(
				HaveField("Requirement.ID", requirement.ID("BRR-14")), HaveField("Gate", requirement.Advice), HaveField("Extra", true))))
			Expect(v.Results).NotTo(ContainElement(HaveField("Requirement.ID", requirement.ID("JWT-08"))))
			Expect(v.Results).NotTo(ContainElement(HaveField("Requirement.ID", requirement.ID("SPC-01"))))
		})
	})

	It("gate below their profile when it is the expired token that was tried", func() {
		v := decide("auth", judgements{"BRR-10": requirement.Failed("f", "", "")})
		Expect(v.Decision).To(Equal(verdict.NotCertified))
		Expect(v.Notes).To(ContainElement(ContainSubstring("gates all the same")))
		Expect(decide("auth", judgements{"BRR-10": requirement.Unclear("u")}).Decision).To(Equal(verdict.Certified), "nothing was judged")
	})

	It("notes that roles were not tested apart", func() {
		v := decide("funding", judgements{"BRR-18": requirement.Missing("no second client was given")})
		Expect(v.Decision).To(Equal(verdict.Certified))
		Expect(v.Notes).To(ContainElement("Role separation was not tested, see BRR-18."))
		Expect(decide("funding", nil).Notes).To(BeEmpty())
	})

	It("counts outcomes, and never n/a or blocked as pass", func() {
		v := decide("auth", judgements{
			"TOK-01": requirement.Missing("m"),
			"TOK-13": {Outcome: requirement.Blocked},
			"TOK-07": requirement.Warned("w", "", ""),
		})
		Expect(v.Totals).To(Equal(verdict.Totals{Pass: 1, Warn: 1, NotApplicable: 1, Blocked: 1}))
		Expect(v.Totals.Sum()).To(Equal(len(v.Results)))
		for _, o := range verdict.Outcomes() {
			n := 0
			for _, r := range v.Results {
				if r.Judgement.Outcome == o {
					n++
				}
			}
			Expect(v.Totals.Of(o)).To(Equal(n), string(o))
		}
	})

	It("calls itself a preview while the catalogue is not covered", func() {
		v := decide("auth", nil)
		Expect(v.Preview).To(BeTrue())
		Expect(v.Coverage.Notice()).To(Equal("This is a preview: it covers 14 of the 130 requirements of the catalogue" +
			" (of the groups TOK, BRR, SPC, API, JWT, ISO) and has no value as a certificate."))
		v.Coverage.Covered = v.Coverage.Size
		Expect(v.Coverage.Notice()).To(BeEmpty())
	})
})

var _ = Describe("Worse", func() {
	It("orders the outcomes from pass to fail", func() {
		all := verdict.Outcomes()
		for i, a := range all {
			for k, b := range all {
				Expect(verdict.Worse(a, b)).To(Equal(i > k), "%s worse than %s", a, b)
			}
		}
	})

	It("trusts no outcome that it does not know", func() {
		Expect(verdict.Worse("splendid", requirement.Fail)).To(BeTrue())
	})
})
