package requirement_test

import (
	"runtime"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
)

var _ = Describe("A needed exchange without a record", func() {
	judge := func(ended *evidence.Ended) requirement.Judgement {
		log := &evidence.Log{Ended: ended}
		return requirement.NewJudge(requirement.Catalogue(), requirement.Read(log)).Judge("TOK-01")
	}

	It("is nobody's fault when the run ended first", func() {
		for _, ended := range []*evidence.Ended{nil, {Cause: "interrupt"}} {
			j := judge(ended)
			Expect(j.Outcome).To(Equal(requirement.Inconclusive))
			Expect(j.Reason).To(Equal("the run ended before token.ok had an answer"))
			Expect(j.Fault).To(Equal(requirement.Environment))
		}
	})

	It("is a fault of the suite in a complete run", func() {
		j := judge(&evidence.Ended{Complete: true})
		Expect(j.Outcome).To(Equal(requirement.Inconclusive))
		Expect(j.Fault).To(Equal(requirement.Suite))
	})
})

var _ = Describe("JudgeAll", func() {
	It("judges independent rows side by side, and each after those that it depends on", func() {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
		met := make(chan struct{})
		meet := func() requirement.Judgement {
			select {
			case met <- struct{}{}:
			case <-met:
			case <-time.After(10 * time.Second):
				return requirement.Failed("it was alone", "", "")
			}
			return requirement.Passed()
		}
		check := func(f func() requirement.Judgement) func(requirement.Evidence) requirement.Judgement {
			return func(requirement.Evidence) requirement.Judgement { return f() }
		}
		rows := []requirement.Requirement{
			{ID: "LAST-01", After: []requirement.ID{"FIRST-01", "FIRST-02"}, Check: check(func() requirement.Judgement { return requirement.Passed() })},
			{ID: "BLOCKED-01", After: []requirement.ID{"FAILS-01"}, Check: check(func() requirement.Judgement { return requirement.Passed() })},
			{ID: "FIRST-01", Check: check(meet)},
			{ID: "FIRST-02", Check: check(meet)},
			{ID: "FAILS-01", After: []requirement.ID{"FIRST-01"}, Check: check(func() requirement.Judgement { return requirement.Failed("broken", "", "") })},
		}
		judged := requirement.JudgeAll(rows, requirement.Read(&evidence.Log{}))
		outcomes := map[requirement.ID]requirement.Outcome{}
		for id, j := range judged {
			outcomes[id] = j.Outcome
		}
		Expect(outcomes).To(Equal(map[requirement.ID]requirement.Outcome{
			"FIRST-01": requirement.Pass, "FIRST-02": requirement.Pass, "LAST-01": requirement.Pass, "FAILS-01": requirement.Fail, "BLOCKED-01": requirement.Blocked,
		}))
		Expect(judged["BLOCKED-01"].BlockedBy).To(BeEquivalentTo("FAILS-01"))
	})
})
