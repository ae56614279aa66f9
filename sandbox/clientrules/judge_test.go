package clientrules_test

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/journal"
)

// at is a request of a client that began and ended so many milliseconds after noon.
func at(number uint64, began, ended int, change func(*journal.Entry)) journal.Entry {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	e := journal.Entry{
		Number: number, Time: noon.Add(time.Duration(began) * time.Millisecond), Ended: noon.Add(time.Duration(ended) * time.Millisecond),
		Node: "XA", Operation: journal.List, Origin: "http://127.0.0.1:8080", Method: "GET", Path: "/fundings", Peer: "127.0.0.1:1", Client: "a", Agent: "tool/1",
		Accept: "application/json", Authorization: journal.Authorization{Fields: 1, Scheme: "Bearer", Print: "t1"}, Status: 200,
	}
	change(&e)
	return e
}

func judge(entries ...journal.Entry) []clientrules.ID {
	ids := []clientrules.ID{}
	for _, s := range clientrules.Judge(journal.Record{Entries: entries}).Clients {
		for _, f := range s.Findings {
			ids = append(ids, f.Rule)
		}
	}
	return ids
}

var _ = Describe("Requests side by side", func() {
	It("are not repetitions of a refused request", func() {
		dead := func(e *journal.Entry) {
			e.Status, e.Refusal = 401, &journal.Refusal{Code: "invalid_token", Detail: "the token expired"}
		}
		var entries []journal.Entry
		for i := range 8 {
			entries = append(entries, at(uint64(i+1), i, 100+i, dead))
		}
		renewed := at(9, 110, 120, func(e *journal.Entry) {
			e.Operation, e.Issued, e.Authorization = journal.Token, &journal.Issued{Print: "t2", Expires: e.Time.Add(time.Hour)}, journal.Authorization{}
		})
		Expect(judge(append(entries, renewed)...)).To(BeEmpty())
		again := at(9, 200, 210, dead)
		Expect(judge(append(entries, again, at(10, 300, 310, dead), at(11, 400, 410, dead))...)).To(Equal([]clientrules.ID{"CLT-02"}))
	})

	It("are not too early", func() {
		busy := func(e *journal.Entry) { e.Status, e.RetryAfter = 429, "1" }
		Expect(judge(at(1, 0, 50, busy), at(2, 10, 60, busy), at(3, 1100, 1110, func(*journal.Entry) {}))).To(BeEmpty())
		Expect(judge(at(1, 0, 50, busy), at(2, 500, 510, func(*journal.Entry) {}))).To(Equal([]clientrules.ID{"CLT-17"}))
	})

	It("are not a storm", func() {
		var entries []journal.Entry
		for i := range 20 {
			entries = append(entries, at(uint64(i+1), i, 500+i, func(e *journal.Entry) { e.Status = 500 }))
		}
		Expect(judge(entries...)).To(BeEmpty())
	})
})

var _ = Describe("A request without a client id", func() {
	anonymous := func(number uint64, peer, agent string) journal.Entry {
		return at(number, int(number), int(number), func(e *journal.Entry) {
			e.Client, e.Peer, e.Agent, e.Operation, e.Path = "", peer, agent, journal.Registry, "/registry"
			e.Authorization = journal.Authorization{}
		})
	}
	owned := func(number uint64, client, peer string) journal.Entry {
		return at(number, int(number), int(number), func(e *journal.Entry) {
			e.Client, e.Proven, e.Peer, e.Authorization.Print = client, true, peer, "token of "+client
		})
	}
	requestsOf := func(entries ...journal.Entry) map[string]int {
		counts := map[string]int{}
		for _, s := range clientrules.Judge(journal.Record{Entries: entries}).Clients {
			counts[s.Client] = s.Requests
		}
		return counts
	}

	It("belongs to the client on its connection", func() {
		Expect(requestsOf(anonymous(1, "127.0.0.1:1", "x"), owned(2, "a", "127.0.0.1:1"), owned(3, "b", "127.0.0.1:2"))).To(Equal(map[string]int{"a": 2, "b": 1}))
	})

	It("belongs to the only client with that program", func() {
		Expect(requestsOf(owned(1, "a", "127.0.0.1:1"), anonymous(2, "127.0.0.1:9", "tool/1"))).To(Equal(map[string]int{"a": 2}))
	})

	It("belongs to nobody when two clients are possible", func() {
		Expect(requestsOf(owned(1, "a", "127.0.0.1:1"), owned(2, "b", "127.0.0.1:2"), anonymous(3, "127.0.0.1:9", "tool/1"))).To(Equal(map[string]int{"a": 1, "b": 1, "": 1}))
	})

	It("belongs to the client whose token it has", func() {
		stray := at(3, 3, 3, func(e *journal.Entry) {
			e.Client, e.Peer, e.Agent, e.Authorization.Print, e.Status = "", "10.0.0.1:1", "other", "token of b", 401
		})
		Expect(requestsOf(owned(1, "a", "127.0.0.1:1"), owned(2, "b", "127.0.0.1:2"), stray)).To(Equal(map[string]int{"a": 1, "b": 2}))
	})
})

var _ = Describe("A report", func() {
	It("does not grow with the number of clients or faults", func() {
		var entries []journal.Entry
		for i := range 300 {
			entries = append(entries, at(uint64(i+1), i, i, func(e *journal.Entry) {
				e.Client, e.Ignored = fmt.Sprintf("client-%03d", i%150), []string{"x"}
			}))
		}
		for i := range 300 {
			entries = append(entries, at(uint64(i+301), i, i, func(e *journal.Entry) { e.Ignored = []string{"x"} }))
		}
		report := clientrules.Judge(journal.Record{Entries: entries, Counted: 700, Dropped: 100})
		Expect(report.Clients).To(HaveLen(100))
		Expect(report.Unlisted).To(Equal(51))
		Expect(report.Requests).To(Equal(600))
		Expect(report.Dropped).To(BeEquivalentTo(100))
		Expect(report.Clients[0].Client).To(Equal("a"))
		Expect(report.Clients[0].Findings[0].Count).To(Equal(300))
		Expect(report.Clients[0].Findings[0].Seen).To(HaveLen(5))
	})

	It("is right for many clients at once", func() {
		b := newCaller()
		token := b.token()
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				defer GinkgoRecover()
				for i := range 20 {
					Expect(b.page(i%3*10, token).status).To(Equal(http.StatusOK))
				}
			})
		}
		group.Wait()
		report := b.judged().Clients[0]
		Expect(report.Requests).To(Equal(161))
		Expect(report.Calls).To(Equal(160))
	})
})

var _ = Describe("The catalogue", func() {
	It("has unique ids in order, and for each rule its sources, why it matters, and how to follow it", func() {
		for i, r := range clientrules.Catalogue() {
			Expect(r.ID).To(Equal(clientrules.ID(fmt.Sprintf("CLT-%02d", i+1))))
			Expect(clientrules.Levels()).To(ContainElement(r.Level))
			Expect(r.Title).NotTo(BeEmpty())
			Expect(r.Sources).NotTo(BeEmpty())
			Expect(r.Why).To(HaveSuffix("."))
			Expect(r.Fix).NotTo(BeEmpty())
			found, ok := clientrules.Find(r.ID)
			Expect(ok).To(BeTrue())
			Expect(found.Title).To(Equal(r.Title))
		}
	})
})
