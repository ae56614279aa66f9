package verdict_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

type judgements = map[requirement.ID]requirement.Judgement

// catalogue returns a small catalogue with a row of each kind that the rules of the profiles name.
func catalogue() []requirement.Requirement {
	row := func(id requirement.ID, p requirement.Profile, g requirement.Gate) requirement.Requirement {
		return requirement.Requirement{ID: id, Profile: p, Gate: g,
			Needs: []evidence.Label{evidence.Resource(id).With(evidence.OK)}}
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

func run(profile string) *evidence.Log {
	return &evidence.Log{
		Run:   evidence.Run{Profile: profile},
		Roles: evidence.Roles{ProbeTarget: evidence.Info},
		Ended: &evidence.Ended{Complete: true},
	}
}

// passAll judges each requirement of the profile as pass, and the others as not asked for. overrides replace these judgements.
func passAll(profile requirement.Profile, overrides judgements) judgements {
	out := judgements{}
	for _, r := range catalogue() {
		out[r.ID] = requirement.Inapplicable("it was not asked for")
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
		return verdict.Decide(catalogue(), passAll(requirement.Profile(profile), overrides), run(profile), nil)
	}

	DescribeTable("depends on the profile", func(profile string, overrides judgements, want verdict.Decision) {
		v := decide(profile, overrides)
		Expect(v.Decision).To(Equal(want), "%v", v.Reasons)
		Expect(len(v.Reasons) == 0).To(Equal(want == verdict.Certified))
	},
		Entry("all pass: auth", "auth", nil, verdict.Certified),
		Entry("all pass: funding", "funding", nil, verdict.Certified),
		Entry("all pass: full", "full", nil, verdict.Certified),
		Entry("a warning on a gating row costs nothing", "auth", judgements{"TOK-01": requirement.Warned("w", "", "")}, verdict.Certified),
		Entry("not applicable on a gating row costs nothing", "auth", judgements{"TOK-01": requirement.Inapplicable("m")}, verdict.Certified),
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
		Entry("funding without a document", "funding", judgements{"SPC-01": requirement.Inapplicable("m")}, verdict.Repeat),
		Entry("funding without funding calls", "funding", judgements{"SPC-08": requirement.Inapplicable("m")}, verdict.Repeat),
		Entry("funding without a callable operation", "funding", judgements{"API-01": requirement.Inapplicable("m")}, verdict.Repeat),
		Entry("funding without a protected operation", "funding", judgements{"API-08": requirement.Inapplicable("m")}, verdict.Repeat),
		Entry("funding with a warning there", "funding", judgements{"API-01": requirement.Warned("w", "", "")}, verdict.Certified),
		Entry("full without a staging environment", "full", judgements{"ISO-02": requirement.Inapplicable("m")}, verdict.Repeat),
		Entry("full without a client of another audience", "full", judgements{"ISO-03": requirement.Inapplicable("m")}, verdict.Repeat),
		Entry("full without a second client", "full", judgements{"BRR-18": requirement.Inapplicable("m")}, verdict.Repeat),
		Entry("funding without a second client", "funding", judgements{"BRR-18": requirement.Inapplicable("m")}, verdict.Certified),
		Entry("full without the wait for an expired token", "full", judgements{"BRR-10": requirement.Inapplicable("m")}, verdict.Repeat),
		Entry("full with opaque tokens", "full", judgements{"JWT-08": requirement.Inapplicable("m")}, verdict.Certified),
		Entry("full with an own row inconclusive", "full", judgements{"JWT-08": requirement.Unclear("u")}, verdict.Repeat),
		Entry("full with an own row blocked", "full", judgements{"JWT-08": {Outcome: requirement.Blocked, BlockedBy: "BRR-01"}}, verdict.Repeat),
		Entry("full with a warning on an own row", "full", judgements{"JWT-08": requirement.Warned("w", "", "")}, verdict.Certified),
		Entry("full with a failed own row", "full", judgements{"JWT-08": requirement.Failed("f", "", "")}, verdict.NotCertified),
		Entry("full without the opt-in rows", "full", judgements{"BRR-14": requirement.Inapplicable("m")}, verdict.Certified),
	)

	It("lists reasons with their ids, broken rules first, and merges equal reasons", func() {
		v := decide("funding", judgements{
			"TOK-01": requirement.Unclear("no answer"),
			"BRR-01": requirement.Failed("anonymous calls get data", "401", "200"),
			"SPC-01": {Outcome: requirement.Blocked, BlockedBy: "BRR-01"},
			"SPC-08": {Outcome: requirement.Blocked, BlockedBy: "BRR-01"},
		})
		var texts []string
		for _, r := range v.Reasons {
			texts = append(texts, r.String())
		}
		Expect(texts).To(Equal([]string{
			"BRR-01: anonymous calls get data",
			"TOK-01: no answer",
			"SPC-01, SPC-08: blocked by BRR-01",
		}))
		Expect(v.Failed()).To(BeTrue())
		Expect(v.Unsettled()).To(BeTrue())
	})

	It("counts a requirement of the profile that was not judged as inconclusive", func() {
		j := passAll(requirement.Auth, nil)
		delete(j, "TOK-01")
		v := verdict.Decide(catalogue(), j, run("auth"), nil)
		Expect(v.Decision).To(Equal(verdict.Repeat))
		Expect(v.Results[0].Judgement.Outcome).To(Equal(requirement.Inconclusive))
		Expect(v.Results[0].Judgement.Fault).To(Equal(requirement.Suite))
	})

	It("accepts not-applicable in the profile full if the operator gave the input", func() {
		log := run("full")
		log.Run.StagingTokenURL, log.Run.Other = "https://staging.node.example/token", true
		overrides := judgements{"ISO-02": requirement.Inapplicable("tokens are opaque"), "ISO-03": requirement.Inapplicable("tokens carry no audience")}
		Expect(verdict.Decide(catalogue(), passAll(requirement.Full, overrides), log, nil).Decision).To(Equal(verdict.Certified))
	})

	It("does not certify a node on which nothing is protected", func() {
		log := run("auth")
		log.Roles.ProbeTarget = ""
		v := verdict.Decide(catalogue(), passAll(requirement.Auth, nil), log, nil)
		Expect(v.Decision).To(Equal(verdict.Repeat))
		Expect(v.Reasons).To(ConsistOf(HaveField("Kind", verdict.Unprotected)))
	})

	It("does not certify evidence that ends early", func() {
		log := run("auth")
		log.Ended = &evidence.Ended{Cause: "the child ran out of memory"}
		v := verdict.Decide(catalogue(), passAll(requirement.Auth, nil), log, nil)
		Expect(v.Decision).To(Equal(verdict.Repeat))
		Expect(v.Reasons).To(ConsistOf(HaveField("Text", ContainSubstring("ran out of memory"))))
		j := passAll(requirement.Auth, judgements{"TOK-01": requirement.Unclear("u")})
		Expect(verdict.Decide(catalogue(), j, log, nil).Reasons[0].Kind).To(Equal(verdict.Incomplete), "the cause comes before its effects")

		log.Ended = nil
		Expect(verdict.Decide(catalogue(), passAll(requirement.Auth, nil), log, nil).Decision).To(Equal(verdict.Repeat))
	})

	It("names the address that stopped answering, and does not certify requirements whose requests were not sent there", func() {
		log := run("auth")
		for _, l := range []evidence.Label{"info.head", "info.post"} {
			log.NotSent = append(log.NotSent, evidence.NotSent{Label: l, Kind: evidence.Stopped, Because: "https://a.example stopped answering: 2 requests in a row"})
		}
		v := verdict.Decide(catalogue(), passAll(requirement.Auth, nil), log, nil)
		Expect(v.Decision).To(Equal(verdict.Repeat))
		Expect(v.Reasons).To(Equal([]verdict.Reason{{Kind: verdict.Incomplete, Text: "https://a.example stopped answering: 2 requests in a row; 2 requests were not sent"}}))
	})

	It("does not certify a run without gating requirements", func() {
		v := verdict.Decide(nil, nil, run("auth"), nil)
		Expect(v.Decision).To(Equal(verdict.Repeat))
		Expect(v.Reasons).To(ConsistOf(HaveField("Kind", verdict.NothingSeen)))
	})

	Describe("a partial run", func() {
		It("is partial whatever it found, and still reports a failure", func() {
			log := run("auth")
			log.Run.Partial = "--only TOK-01"
			log.Planned = []evidence.Label{"TOK-01.ok"}
			v := verdict.Decide(catalogue(), passAll(requirement.Auth, nil), log, nil)
			Expect(v.Decision).To(Equal(verdict.Partial))
			Expect(v.Failed()).To(BeFalse())

			v = verdict.Decide(catalogue(), passAll(requirement.Auth, judgements{"TOK-01": requirement.Failed("f", "", "")}), log, nil)
			Expect(v.Decision).To(Equal(verdict.Partial))
			Expect(v.Failed()).To(BeTrue())
		})

		It("leaves out requirements that it was not asked for", func() {
			log := run("auth")
			log.Run.Partial = "--only TOK-01"
			log.Planned = []evidence.Label{"TOK-01.ok"}
			v := verdict.Decide(catalogue(), passAll(requirement.Auth, nil), log, nil)
			Expect(v.Results).To(ConsistOf(HaveField("Requirement.ID", requirement.ID("TOK-01"))))
		})

		It("is open if a requirement that it names was not judged, also beyond the profile", func() {
			log := run("auth")
			log.Run.Partial, log.Run.Only = "--only", []string{"TOK-01", "BRR-14"}
			judged := passAll(requirement.Full, nil)
			judged["BRR-14"] = requirement.Inapplicable("m")
			v := verdict.Decide(catalogue(), judged, log, nil)
			Expect(v.Unsettled()).To(BeTrue())
			Expect(v.Reasons).To(ConsistOf(HaveField("Text", "asked for, and not judged: m")))
			judged["BRR-14"] = requirement.Passed("token.ok")
			Expect(verdict.Decide(catalogue(), judged, log, nil).Unsettled()).To(BeFalse())
			log.Run.Partial, judged["BRR-14"] = "--rerun-failed", requirement.Inapplicable("m")
			Expect(verdict.Decide(catalogue(), judged, log, nil).Unsettled()).To(BeFalse(), "it had been blocked, and may never have applied")
			log.Run.Failed = []string{"BRR-14"}
			Expect(verdict.Decide(catalogue(), judged, log, nil).Unsettled()).To(BeTrue(), "it had failed")
			log.Run.Partial, judged["BRR-14"] = "--label-filter", requirement.Inapplicable("m")
			Expect(verdict.Decide(catalogue(), judged, log, nil).Unsettled()).To(BeFalse(), "a filter names groups")
		})

		It("leaves out a requirement if only some of its exchanges were planned", func() {
			log := run("auth")
			log.Run.Partial = "--quick"
			log.Planned = []evidence.Label{"TOK-01.ok", "TOK-13.ok"}
			rows := catalogue()
			rows[0].Needs = append(rows[0].Needs, "token.repeat-1")
			v := verdict.Decide(rows, passAll(requirement.Auth, nil), log, nil)
			Expect(v.Results).To(ConsistOf(HaveField("Requirement.ID", requirement.ID("TOK-13"))))
		})
	})

	Describe("rows beyond the profile", func() {
		It("are judged as advice when their opt-in probe was sent", func() {
			v := decide("auth", judgements{"BRR-14": requirement.Failed("f", "", ""), "SPC-01": requirement.Failed("f", "", "")})
			Expect(v.Decision).To(Equal(verdict.Certified))
			Expect(v.Results).To(ContainElement(And(
				HaveField("Requirement.ID", requirement.ID("BRR-14")), HaveField("Gate", requirement.Advice), HaveField("Extra", true))))
			Expect(v.Notes).To(ContainElement(HavePrefix("BRR-14 is beyond profile auth")))
			kept := decide("auth", judgements{"BRR-14": requirement.Passed("token.ok")})
			Expect(kept.Notes).NotTo(ContainElement(ContainSubstring("BRR-14")), "nothing that a reader must know")
			Expect(v.Results).NotTo(ContainElement(HaveField("Requirement.ID", requirement.ID("JWT-08"))))
			Expect(v.Results).NotTo(ContainElement(HaveField("Requirement.ID", requirement.ID("SPC-01"))))
		})
	})

	It("lets the refusal of an expired token gate below its profile", func() {
		v := decide("auth", judgements{"BRR-10": requirement.Failed("f", "", "")})
		Expect(v.Decision).To(Equal(verdict.NotCertified))
		Expect(v.Notes).To(ContainElement(ContainSubstring("gates all the same")))
		Expect(decide("auth", judgements{"BRR-10": requirement.Unclear("u")}).Decision).To(Equal(verdict.Certified), "nothing was judged")
	})

	It("notes that the separation of roles was not tested", func() {
		v := decide("funding", judgements{"BRR-18": requirement.Inapplicable("no second client was given")})
		Expect(v.Decision).To(Equal(verdict.Certified))
		Expect(v.Notes).To(ContainElement("Role separation was not tested, see BRR-18."))
		Expect(decide("funding", nil).Notes).To(BeEmpty())
	})

	It("counts outcomes, and never counts not-applicable or blocked as pass", func() {
		v := decide("auth", judgements{
			"TOK-01": requirement.Inapplicable("m"),
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

	It("ranks an unknown outcome as the worst", func() {
		Expect(verdict.Worse("splendid", requirement.Fail)).To(BeTrue())
	})
})

var _ = Describe("A baseline", func() {
	const future, past, today = verdict.Day("2026-06-01"), verdict.Day("2026-03-13"), verdict.Day("2026-03-14")
	entry := func(id requirement.ID, until verdict.Day) verdict.KnownFailure {
		return verdict.KnownFailure{ID: id, Reason: "NET-1", Until: until}
	}
	failed, blocked := requirement.Failed("f", "", ""), requirement.Judgement{Outcome: requirement.Blocked, BlockedBy: "TOK-01"}
	decide := func(profile string, overrides judgements, entries ...verdict.KnownFailure) verdict.Verdict {
		log := run(profile)
		log.Run.Started = time.Date(2026, 3, 14, 23, 0, 0, 0, time.UTC)
		return verdict.Decide(catalogue(), passAll(requirement.Profile(profile), overrides), log, &verdict.Baseline{Known: entries})
	}

	DescribeTable("excuses known failures until their last day, and fails on stale entries", func(profile string, overrides judgements, entries []verdict.KnownFailure, failed, unsettled bool) {
		v := decide(profile, overrides, entries...)
		Expect(v.Decision).To(Equal(verdict.Partial), "never a certificate")
		Expect(v.Failed()).To(Equal(failed), "%v", v.Reasons)
		Expect(v.Unsettled()).To(Equal(unsettled), "%v", v.Reasons)
	},
		Entry("nothing listed, nothing failed", "auth", nil, nil, false, false),
		Entry("a known failure", "auth", judgements{"TOK-01": failed}, []verdict.KnownFailure{entry("TOK-01", future)}, false, false),
		Entry("a known failure on its last day", "auth", judgements{"TOK-01": failed}, []verdict.KnownFailure{entry("TOK-01", today)}, false, false),
		Entry("a known failure after its last day", "auth", judgements{"TOK-01": failed}, []verdict.KnownFailure{entry("TOK-01", past)}, true, false),
		Entry("an expired entry without a failure", "auth", nil, []verdict.KnownFailure{entry("TOK-01", past)}, true, false),
		Entry("a new failure", "auth", judgements{"TOK-01": failed, "BRR-01": failed}, []verdict.KnownFailure{entry("TOK-01", future)}, true, false),
		Entry("a listed requirement that passes", "auth", nil, []verdict.KnownFailure{entry("TOK-01", future)}, true, false),
		Entry("a listed requirement that is a warning now", "auth", judgements{"TOK-01": requirement.Warned("w", "", "")}, []verdict.KnownFailure{entry("TOK-01", future)}, true, false),
		Entry("a listed requirement that could not be judged", "auth", judgements{"TOK-01": requirement.Unclear("u")}, []verdict.KnownFailure{entry("TOK-01", future)}, false, true),
		Entry("a listed requirement that does not apply", "auth", judgements{"TOK-01": requirement.Inapplicable("m")}, []verdict.KnownFailure{entry("TOK-01", future)}, false, false),
		Entry("a listed requirement beyond the profile", "auth", nil, []verdict.KnownFailure{entry("SPC-01", future)}, false, false),
		Entry("a requirement blocked by a known failure", "auth", judgements{"TOK-01": failed, "BRR-01": blocked}, []verdict.KnownFailure{entry("TOK-01", future)}, false, false),
		Entry("a requirement blocked by a new failure", "auth", judgements{"TOK-01": failed, "BRR-01": blocked}, nil, true, true),
		Entry("a known failed advice in full", "full", judgements{"TOK-13": failed}, []verdict.KnownFailure{entry("TOK-13", future)}, false, false),
		Entry("a new failed advice in full", "full", judgements{"TOK-13": failed}, nil, true, false),
		Entry("a failed advice that costs nothing", "auth", judgements{"TOK-13": failed}, nil, false, false),
	)

	It("sorts each entry into exactly one list", func() {
		v := decide("auth", judgements{"TOK-01": failed, "TOK-07": requirement.Inapplicable("m")},
			entry("TOK-01", future), entry("BRR-01", future), entry("TOK-13", past), entry("TOK-07", future), entry("SPC-01", future))
		Expect(*v.Excused).To(Equal(verdict.Excused{
			Known: []verdict.KnownFailure{entry("TOK-01", future)}, Passed: []verdict.KnownFailure{entry("BRR-01", future)},
			Expired: []verdict.KnownFailure{entry("TOK-13", past)}, NotJudged: []verdict.KnownFailure{entry("TOK-07", future), entry("SPC-01", future)},
		}))
		Expect(v.Reasons).To(ConsistOf(
			verdict.Reason{Kind: verdict.BaselinePassed, Requirements: []requirement.ID{"BRR-01"}, Text: "the baseline lists it as a known failure, and it passed: remove the entry"},
			verdict.Reason{Kind: verdict.BaselineExpired, Requirements: []requirement.ID{"TOK-13"}, Text: "the excuse of the baseline ended on 2026-03-13: fix the node and remove the entry"},
		))
		Expect(v.Results[0].Known).To(HaveValue(Equal(entry("TOK-01", future))))
	})

	It("leaves Excused nil if none was given", func() {
		v := verdict.Decide(catalogue(), passAll(requirement.Auth, nil), run("auth"), nil)
		Expect(v.Excused).To(BeNil())
		Expect(v.Decision).To(Equal(verdict.Certified))
	})
})
