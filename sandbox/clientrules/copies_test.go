package clientrules_test

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/sandbox/journal"
)

var _ = Describe("A client that gets an ETag with an answer that breaks off", func() {
	// answer makes an entry with a status and an ETag; condition is its If-None-Match.
	answer := func(number uint64, status int, condition string, change ...func(*journal.Entry)) journal.Entry {
		return newEntry(number, int(number)*2000, int(number)*2000+1, func(e *journal.Entry) {
			e.Status, e.ETag, e.IfNoneMatch = status, `"a"`, condition
			for _, c := range change {
				c(e)
			}
		})
	}
	cut := func(e *journal.Entry) { e.Cut = true }
	spoilt := func(e *journal.Entry) { e.Spoilt = true }

	It("loses the content if it sends the ETag and takes 304 for an answer", func() {
		Expect(judge(answer(1, 200, "", cut), answer(2, 304, `"a"`))).To(Equal([]clientrules.ID{"CLT-49"}))
		Expect(judge(answer(1, 200, "", spoilt), answer(2, 304, `"b", W/"a"`))).To(Equal([]clientrules.ID{"CLT-49"}))
	})

	It("may send an ETag that it has from a complete answer, or from an earlier run", func() {
		Expect(judge(answer(1, 200, ""), answer(2, 200, "", cut), answer(3, 304, `"a"`))).To(BeEmpty())
		Expect(judge(answer(1, 200, `"a"`, cut), answer(2, 304, `"a"`))).To(BeEmpty())
		other := func(e *journal.Entry) { e.Agent, e.Peer = "cron/1", "127.0.0.1:2" }
		Expect(judge(answer(1, 200, "", cut), answer(2, 304, `"a"`, other))).To(BeEmpty(), "another program with the same credentials")
		Expect(judge(answer(1, 200, "", cut), newEntry(2, 2000, 2001, func(e *journal.Entry) { e.Status, e.IfNoneMatch = 304, `"b"` }))).To(BeEmpty())
	})

	It("loses nothing if it fetches the content after 304", func() {
		Expect(judge(answer(1, 200, "", cut), answer(2, 304, `"a"`), answer(3, 200, ""))).NotTo(ContainElement(clientrules.ID("CLT-49")))
		Expect(judge(answer(1, 200, "", cut), answer(2, 200, `"a"`))).To(BeEmpty(), "the content had changed")
	})

	DescribeTable("gets the same ETag from the complete answer", func(scenario string) {
		b := newCaller()
		token := b.token()
		Expect(b.Nodes()[0].Play(fault.Play{Name: scenario, Path: "list"})).To(Succeed())
		b.page(0, token)
		entries := b.Journal().Record(0).Entries
		Expect(b.page(0, token).header.Get("ETag")).To(And(Not(BeEmpty()), Equal(entries[len(entries)-1].ETag)))
		Expect(b.getIf(firstPage, token, "If-None-Match", entries[len(entries)-1].ETag).status).To(Equal(http.StatusNotModified))
	}, Entry(nil, "connection-cut"), Entry(nil, "truncated-json"))
})

var _ = Describe("A client that wants a whole list, as its run without faults shows", func() {
	// read returns the record of a client that reads a list to its end, or only its first page, which links to another host.
	read := func(toEnd bool) journal.Record {
		b := newCaller()
		token := b.token()
		if toEnd {
			b.readOn(0, 10, token)
		} else {
			Expect(b.Nodes()[0].Play(fault.Play{Name: "next-on-other-host"})).To(Succeed())
			b.page(0, token)
		}
		return b.Journal().Record(0)
	}
	judgeAfter := func(record journal.Record, earlier ...journal.Record) (ids []clientrules.ID) {
		for _, f := range clientrules.Judge(record, earlier...).Clients[0].Findings {
			ids = append(ids, f.Rule)
		}
		return ids
	}

	It("has lost the rest if it stops after the first page", func() {
		Expect(judgeAfter(read(false), read(true))).To(Equal([]clientrules.ID{"CLT-26"}))
		Expect(judgeAfter(read(true), read(true))).To(BeEmpty())
		Expect(judgeAfter(read(false))).To(BeEmpty(), "nothing shows what it wants")
		Expect(judgeAfter(read(false), read(true), read(false))).To(BeEmpty(), "it does not want the whole list each time")
	})
})

var _ = Describe("A client that leaves a list after some pages", func() {
	// read returns the record of a client that reads some pages of ten records, of which a scenario spoils the first.
	read := func(pages int, scenario string) journal.Record {
		b := newCaller()
		token := b.token()
		if scenario != "" {
			Expect(b.Nodes()[0].Play(fault.Play{Name: scenario})).To(Succeed())
		}
		for i := range pages {
			Expect(b.page(10*i, token).status).To(Equal(http.StatusOK))
		}
		return b.Journal().Record(0)
	}
	rules := func(record, faultless, other journal.Record) (ids []clientrules.ID) {
		for _, f := range clientrules.JudgeWithRuns(record, []journal.Record{faultless}, []journal.Record{other}).Clients[0].Findings {
			ids = append(ids, f.Rule)
		}
		return ids
	}

	It("has enough records if it reads one page more where one was empty", func() {
		full, emptied := read(2, ""), read(3, "empty-page")
		Expect(rules(full, full, emptied)).To(Equal([]clientrules.ID{"CLT-35"}))
		Expect(rules(emptied, full, emptied)).To(Equal([]clientrules.ID{"CLT-35"}))
		Expect(rules(read(2, "short-page"), full, emptied)).To(Equal([]clientrules.ID{"CLT-35"}))
		Expect(rules(read(1, "short-page"), full, emptied)).To(Equal([]clientrules.ID{"CLT-26"}), "it has too few")
	})

	It("has lost the rest if it reads as many pages as always", func() {
		full, emptied := read(2, ""), read(2, "empty-page")
		Expect(rules(full, full, emptied)).To(Equal([]clientrules.ID{"CLT-26"}))
		Expect(rules(full, read(3, ""), emptied)).To(Equal([]clientrules.ID{"CLT-26"}), "it stops sooner here")
	})
})
