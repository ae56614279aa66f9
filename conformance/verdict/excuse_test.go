package verdict_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/baseline"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

var _ = Describe("A baseline", func() {
	const future, past, today = baseline.Day("2026-06-01"), baseline.Day("2026-03-13"), baseline.Day("2026-03-14")
	entry := func(id requirement.ID, until baseline.Day) baseline.Entry {
		return baseline.Entry{ID: id, Reason: "NET-1", Until: until}
	}
	failed, blocked := requirement.Failed("f", "", ""), requirement.Judgement{Outcome: requirement.Blocked, BlockedBy: "TOK-01"}
	knowing := func(profile string, overrides judgements, entries ...baseline.Entry) verdict.Verdict {
		log := run(profile)
		log.Run.Started = time.Date(2026, 3, 14, 23, 0, 0, 0, time.UTC)
		return verdict.DecideKnowing(&baseline.Baseline{Known: entries}, catalogue(), good(requirement.Profile(profile), overrides), log)
	}

	DescribeTable("what it makes of a run", func(profile string, overrides judgements, entries []baseline.Entry, failed, unsettled bool) {
		v := knowing(profile, overrides, entries...)
		Expect(v.Decision).To(Equal(verdict.Partial), "never a certificate")
		Expect(v.Failed()).To(Equal(failed), "%v", v.Reasons)
		Expect(v.Unsettled()).To(Equal(unsettled), "%v", v.Reasons)
	},
		Entry("nothing listed, nothing failed", "auth", nil, nil, false, false),
		Entry("a known failure", "auth", judgements{"TOK-01": failed}, []baseline.Entry{entry("TOK-01", future)}, false, false),
		Entry("a known failure on its last day", "auth", judgements{"TOK-01": failed}, []baseline.Entry{entry("TOK-01", today)}, false, false),
		Entry("a known failure after its last day", "auth", judgements{"TOK-01": failed}, []baseline.Entry{entry("TOK-01", past)}, true, false),
		Entry("an expired entry without a failure", "auth", nil, []baseline.Entry{entry("TOK-01", past)}, true, false),
		Entry("a new failure", "auth", judgements{"TOK-01": failed, "BRR-01": failed}, []baseline.Entry{entry("TOK-01", future)}, true, false),
		Entry("a listed one that passes", "auth", nil, []baseline.Entry{entry("TOK-01", future)}, true, false),
		Entry("a listed one that is a warning now", "auth", judgements{"TOK-01": requirement.Warned("w", "", "")}, []baseline.Entry{entry("TOK-01", future)}, true, false),
		Entry("a listed one that could not be judged", "auth", judgements{"TOK-01": requirement.Unclear("u")}, []baseline.Entry{entry("TOK-01", future)}, false, true),
		Entry("a listed one that does not apply", "auth", judgements{"TOK-01": requirement.Missing("m")}, []baseline.Entry{entry("TOK-01", future)}, false, false),
		Entry("a listed one beyond the profile", "auth", nil, []baseline.Entry{entry("SPC-01", future)}, false, false),
		Entry("what waits for a known failure", "auth", judgements{"TOK-01": failed, "BRR-01": blocked}, []baseline.Entry{entry("TOK-01", future)}, false, false),
		Entry("what waits for a new failure", "auth", judgements{"TOK-01": failed, "BRR-01": blocked}, nil, true, true),
		Entry("a known failed advice in full", "full", judgements{"TOK-13": failed}, []baseline.Entry{entry("TOK-13", future)}, false, false),
		Entry("a new failed advice in full", "full", judgements{"TOK-13": failed}, nil, true, false),
		Entry("a failed advice that costs nothing", "auth", judgements{"TOK-13": failed}, nil, false, false),
	)

	It("tells what became of each entry, once", func() {
		v := knowing("auth", judgements{"TOK-01": failed, "TOK-07": requirement.Missing("m")},
			entry("TOK-01", future), entry("BRR-01", future), entry("TOK-13", past), entry("TOK-07", future), entry("SPC-01", future))
		Expect(*v.Excused).To(Equal(verdict.Excused{
			Known: []baseline.Entry{entry("TOK-01", future)}, Mended: []baseline.Entry{entry("BRR-01", future)},
			Expired: []baseline.Entry{entry("TOK-13", past)}, Unseen: []baseline.Entry{entry("TOK-07", future), entry("SPC-01", future)},
		}))
		Expect(v.Reasons).To(ConsistOf(
			verdict.Reason{Kind: verdict.BaselineMended, Requirements: []requirement.ID{"BRR-01"}, Text: "the baseline lists it as a known failure, and it passed: take the entry out"},
			verdict.Reason{Kind: verdict.BaselineExpired, Requirements: []requirement.ID{"TOK-13"}, Text: "the excuse of the baseline ended on 2026-03-13: mend the node and take the entry out"},
		))
		Expect(v.Results[0].Known).To(HaveValue(Equal(entry("TOK-01", future))))
	})

	It("is not there unless it was given", func() {
		v := verdict.Decide(catalogue(), good(requirement.Auth, nil), run("auth"))
		Expect(v.Excused).To(BeNil())
		Expect(v.Decision).To(Equal(verdict.Certified))
	})
})
