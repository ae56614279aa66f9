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

// newEntry makes the entry of a request of client "a" that began and ended so many milliseconds after noon.
func newEntry(number uint64, began, ended int, change func(*journal.Entry)) journal.Entry {
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

var _ = Describe("An answer that the document describes as the only one", func() {
	It("is never held against the client", func() {
		for _, status := range []int{303, 400, 401, 403, 404, 405, 410, 429, 500, 503} {
			described := func(e *journal.Entry) {
				e.Operation, e.Status, e.Described, e.RetryAfter = journal.Call, status, true, "1"
			}
			Expect(judge(newEntry(1, 0, 1, described), newEntry(2, 2, 3, described), newEntry(3, 4, 5, described), newEntry(4, 6, 7, described))).To(BeEmpty(), fmt.Sprint(status))
		}
		refused := func(e *journal.Entry) { e.Operation, e.Status = journal.Call, 405 }
		Expect(judge(newEntry(1, 0, 1, refused))).To(Equal([]clientrules.ID{"CLT-21"}))
	})
})

var _ = Describe("Concurrent requests", func() {
	It("are not repetitions of a refused request", func() {
		refused := func(e *journal.Entry) {
			e.Status, e.Refusal = 401, &journal.Refusal{Code: "invalid_token", Detail: "the token expired"}
		}
		var entries []journal.Entry
		for i := range 8 {
			entries = append(entries, newEntry(uint64(i+1), i, 100+i, refused))
		}
		renewed := newEntry(9, 110, 120, func(e *journal.Entry) {
			e.Operation, e.Issued, e.Authorization = journal.Token, &journal.IssuedToken{Print: "t2", Expires: e.Time.Add(time.Hour)}, journal.Authorization{}
		})
		Expect(judge(append(entries, renewed)...)).To(BeEmpty())
		repeated := newEntry(9, 1200, 1210, refused)
		Expect(judge(append(entries, repeated, newEntry(10, 1300, 1310, refused), newEntry(11, 1400, 1410, refused))...)).To(Equal([]clientrules.ID{"CLT-02"}))
	})

	It("are not repetitions of a refused request, either, where they came one by one on connections of their own", func() {
		var entries []journal.Entry
		for i := range 7 { // a busy machine lets the program send one call in half a second
			entries = append(entries, newEntry(uint64(i+1), 500*i, 500*i+1, func(e *journal.Entry) {
				e.Peer, e.Status, e.Refusal = fmt.Sprint("127.0.0.1:", i), 401, &journal.Refusal{Code: "invalid_token", Detail: "the token expired"}
			}))
		}
		Expect(judge(entries...)).To(BeEmpty())
		var repeated []journal.Entry
		for i, e := range entries[:3] { // each connection has delivered a refusal before
			e.Number, e.Time, e.Ended = uint64(8+i), e.Time.Add(4*time.Second), e.Ended.Add(4*time.Second)
			repeated = append(repeated, e)
		}
		Expect(judge(append(entries[:7:7], repeated...)...)).To(Equal([]clientrules.ID{"CLT-02"}))
		for i := range entries {
			entries[i].Peer = "127.0.0.1:1"
		}
		Expect(judge(entries...)).To(Equal([]clientrules.ID{"CLT-02"}))
	})

	It("may come from a worker that had not heard of Retry-After, if the program shows that it has several workers", func() {
		path := func(path string) func(*journal.Entry) { return func(e *journal.Entry) { e.Path = path } }
		busy := func(e *journal.Entry) { e.Path, e.Status, e.RetryAfter = "/a", 429, "1" }
		other := newEntry(2, 11, 20, path("/b"))
		repeated := newEntry(3, 1200, 1210, path("/a"))
		Expect(judge(newEntry(1, 0, 10, busy), other, repeated)).To(Equal([]clientrules.ID{"CLT-17"}), "one request after the other")
		pair := []journal.Entry{newEntry(4, 9000, 9100, path("/c")), newEntry(5, 9010, 9100, path("/d"))}
		Expect(judge(append(pair, newEntry(1, 0, 10, busy), other, repeated)...)).To(BeEmpty())
		hasty := newEntry(3, 20, 30, path("/a"))
		Expect(judge(append(pair, newEntry(1, 0, 10, busy), hasty)...)).To(Equal([]clientrules.ID{"CLT-17"}), "the worker that heard of it repeats at once")
		later, heeding := newEntry(6, 7000, 7010, path("/a")), newEntry(6, 1100, 1110, path("/a"))
		Expect(judge(append(pair, newEntry(1, 0, 10, busy), hasty, later)...)).To(Equal([]clientrules.ID{"CLT-17"}), "it reads the list again later")
		Expect(judge(append(pair, newEntry(1, 0, 10, busy), hasty, heeding)...)).To(BeEmpty(), "another worker repeats after the wait, the one that heard of it")
	})

	It("may come from a worker that had not heard of Retry-After, also where each request has a connection of its own", func() {
		throttled := newEntry(1, 0, 1, func(e *journal.Entry) { e.Status, e.RetryAfter = 503, "5" })
		another := func(e *journal.Entry) { e.Peer, e.Path = "127.0.0.1:2", "/other" }
		repeated := newEntry(3, 6000, 6001, func(e *journal.Entry) { e.Peer = "127.0.0.1:3" })
		Expect(judge(throttled, newEntry(2, 20, 21, another), repeated)).To(BeEmpty())
		Expect(judge(throttled, newEntry(2, 400, 401, another), repeated)).To(Equal([]clientrules.ID{"CLT-17"}))
		Expect(judge(throttled, newEntry(2, 20, 21, func(e *journal.Entry) { e.Path = "/other" }), repeated)).To(Equal([]clientrules.ID{"CLT-17"}), "one connection")
	})

	It("are not concluded from connections that a pool shares among several clients", func() {
		on := func(client, connection string, change func(*journal.Entry)) func(*journal.Entry) {
			return func(e *journal.Entry) {
				e.Client, e.Proven, e.Authorization.Print, e.Peer = client, true, "token of "+client, "127.0.0.1:"+connection
				change(e)
			}
		}
		busy := func(e *journal.Entry) { e.Status, e.RetryAfter, e.Path = 503, "1", "/busy" }
		good := func(*journal.Entry) {}
		hasty := []journal.Entry{
			newEntry(1, 0, 1, on("a", "1", busy)), newEntry(2, 3, 4, on("a", "2", busy)), newEntry(3, 6, 7, on("a", "1", busy)), newEntry(4, 9, 10, on("a", "2", good)),
		}
		Expect(judge(hasty...)).To(BeEmpty(), "client a may have two workers")
		hasty = append(hasty, newEntry(5, 12, 13, on("b", "1", good)), newEntry(6, 15, 16, on("b", "2", good)))
		Expect(judge(hasty...)).To(Equal([]clientrules.ID{"CLT-17"}), "client b, in the same program, uses both connections, too")
	})

	It("may reach past the end of a list, but not by far", func() {
		// read returns the requests of a program with some connections that asks for pages of ten in rounds, of a list of 15 records beside a longer one.
		read := func(connections, pages, roundTrip int) []journal.Entry {
			entries := []journal.Entry{newEntry(1, 0, 1, func(e *journal.Entry) {
				e.Query, e.Page = "kind=B&page[page]=0&page[size]=10", &journal.Page{Size: 10, Items: 10, Next: true}
			}),
				newEntry(2, 2, 3, func(e *journal.Entry) {
					e.Query, e.Page = "kind=B&page[page]=10&page[size]=10", &journal.Page{Start: 10, Size: 10, Items: 10}
				})}
			for i := range pages {
				began := 10 + i/connections*roundTrip
				entries = append(entries, newEntry(uint64(3+i), began, began+5, func(e *journal.Entry) {
					items := max(0, min(10, 15-10*i))
					e.Query, e.Page = fmt.Sprintf("page[page]=%d&page[size]=10", 10*i), &journal.Page{Start: 10 * i, Size: 10, Items: items, Next: i == 0}
					e.Peer = fmt.Sprint("127.0.0.1:", 2+i%connections)
				}))
			}
			return entries
		}
		Expect(judge(read(5, 9, 6)...)).To(BeEmpty(), "no more after the first round than it has connections")
		Expect(judge(read(50, 50, 6)...)).To(BeEmpty(), "all in flight")
		Expect(judge(read(2, 5, 6)...)).To(BeEmpty(), "a few pages")
		Expect(judge(read(4, 12, 6)...)).To(Equal([]clientrules.ID{"CLT-47"}))
		Expect(judge(read(5, 40, 6)...)).To(Equal([]clientrules.ID{"CLT-24"}))
	})

	It("should pause together", func() {
		// work returns the requests of several workers, after one of them was asked to wait. The first request
		// begins at began milliseconds.
		work := func(workers, requests, began int) []journal.Entry {
			entries := []journal.Entry{newEntry(1, 0, 1, func(e *journal.Entry) { e.Path, e.Status, e.RetryAfter = "/a", 429, "3" })}
			for i := range workers * requests {
				start := began + 10*(i/workers)
				entries = append(entries, newEntry(uint64(2+i), start, start+5, func(e *journal.Entry) { e.Path, e.Peer = fmt.Sprint("/b", i), fmt.Sprint("127.0.0.1:", 2+i%workers) }))
			}
			return append(entries, newEntry(uint64(2+workers*requests), 3100, 3101, func(e *journal.Entry) { e.Path = "/a" }))
		}
		Expect(judge(work(5, 4, 2)...)).To(Equal([]clientrules.ID{"CLT-48"}))
		Expect(judge(work(5, 2, 2)...)).To(BeEmpty(), "they may not have heard of it")
		Expect(judge(work(5, 4, 3050)...)).To(BeEmpty(), "after the wait")
		Expect(judge(work(5, 4, 1100)...)).To(Equal([]clientrules.ID{"CLT-17"}), "a second later they must have heard of it")
	})

	It("do not ignore Retry-After", func() {
		busy := func(e *journal.Entry) { e.Status, e.RetryAfter = 429, "1" }
		Expect(judge(newEntry(1, 0, 50, busy), newEntry(2, 10, 60, busy), newEntry(3, 1100, 1110, func(*journal.Entry) {}))).To(BeEmpty())
		Expect(judge(newEntry(1, 0, 50, busy), newEntry(2, 500, 510, func(*journal.Entry) {}))).To(Equal([]clientrules.ID{"CLT-17"}))
	})

	It("are not rapid retries of each other", func() {
		var entries []journal.Entry
		for i := range 20 {
			entries = append(entries, newEntry(uint64(i+1), i, 500+i, func(e *journal.Entry) { e.Status = 500 }))
		}
		Expect(judge(entries...)).To(BeEmpty())
	})
})

var _ = Describe("A request without a client id", func() {
	anonymous := func(number uint64, peer, agent string) journal.Entry {
		return newEntry(number, int(number), int(number), func(e *journal.Entry) {
			e.Client, e.Peer, e.Agent, e.Operation, e.Path = "", peer, agent, journal.Registry, "/registry"
			e.Authorization = journal.Authorization{}
		})
	}
	owned := func(number uint64, client, peer string) journal.Entry {
		return newEntry(number, int(number), int(number), func(e *journal.Entry) {
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
		stray := newEntry(3, 3, 3, func(e *journal.Entry) {
			e.Client, e.Peer, e.Agent, e.Authorization.Print, e.Status = "", "10.0.0.1:1", "other", "token of b", 401
		})
		Expect(requestsOf(owned(1, "a", "127.0.0.1:1"), owned(2, "b", "127.0.0.1:2"), stray)).To(Equal(map[string]int{"a": 1, "b": 2}))
	})
})

var _ = Describe("A report", func() {
	It("has a limited size, whatever the number of clients and faults", func() {
		var entries []journal.Entry
		for i := range 300 {
			entries = append(entries, newEntry(uint64(i+1), i*200, i*200, func(e *journal.Entry) {
				e.Client, e.Ignored = fmt.Sprintf("client-%03d", i%150), []string{"x"}
			}))
		}
		for i := range 300 {
			entries = append(entries, newEntry(uint64(i+301), i*200, i*200, func(e *journal.Entry) { e.Ignored = []string{"x"} }))
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

	It("counts concurrent requests correctly", func() {
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
		report := b.judge().Clients[0]
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

var _ = Describe("The identity of a request", func() {
	busy := func(query string) func(*journal.Entry) {
		return func(e *journal.Entry) { e.Query, e.Status = query, 500 }
	}

	It("does not depend on the order and the encoding of its parameters", func() {
		spellings := []string{"page[page]=10&page[size]=5", "page%5Bsize%5D=5&page%5Bpage%5D=10", "page%5bpage%5d=10&page[size]=%35"}
		var entries []journal.Entry
		for i := range 9 {
			entries = append(entries, newEntry(uint64(i+1), i*10, i*10+1, busy(spellings[i%3])))
		}
		Expect(judge(entries...)).To(ContainElement(clientrules.ID("CLT-18")))
	})

	It("lets a failed page be read again in another spelling", func() {
		page := func(number uint64, query string, start, status int) journal.Entry {
			return newEntry(number, int(number)*200, int(number)*200+1, func(e *journal.Entry) {
				e.Query, e.Status = query, status
				if status == 200 {
					e.Page = &journal.Page{Start: start, Size: 10, Items: 10, Next: start < 10}
				}
			})
		}
		Expect(judge(page(1, "page[page]=0&page[size]=10", 0, 200), page(2, "page[page]=10&page[size]=10", 0, 500),
			page(3, "page%5Bsize%5D=10&page%5Bpage%5D=10", 10, 200))).To(BeEmpty())
	})
})

var _ = Describe("A list without links", func() {
	page := func(number uint64, start, items int) journal.Entry {
		return newEntry(number, int(number)*200, int(number)*200+1, func(e *journal.Entry) {
			e.Query, e.Page = fmt.Sprintf("page[page]=%d&page[size]=10", start), &journal.Page{Start: start, Size: 10, Items: items}
		})
	}

	It("is read until a page is empty, even after a short page", func() {
		Expect(judge(page(1, 0, 10), page(2, 10, 4), page(3, 20, 0))).To(BeEmpty())
	})
})

var _ = Describe("A large list", func() {
	list := func(number uint64, size int64, etag string) journal.Entry {
		return newEntry(number, int(number)*2000, int(number)*2000+1, func(e *journal.Entry) {
			e.Bytes, e.IfNoneMatch, e.Page = size, etag, &journal.Page{Items: 500}
		})
	}

	It("that is read three times is waste, unless the client sends If-None-Match or the list is small", func() {
		Expect(judge(list(1, 100_000, ""), list(2, 100_000, ""), list(3, 100_000, ""))).To(Equal([]clientrules.ID{"CLT-32"}))
		Expect(judge(list(1, 100_000, ""), list(2, 100_000, ""))).To(BeEmpty())
		Expect(judge(list(1, 100_000, ""), list(2, 100_000, `"a"`), list(3, 100_000, `"a"`))).To(BeEmpty())
		Expect(judge(list(1, 99_999, ""), list(2, 99_999, ""), list(3, 99_999, ""))).To(BeEmpty())
	})

	It("that is read three times in pages is waste, too, unless the pages are small together", func() {
		rounds := func(size int64) (entries []journal.Entry) {
			for number := uint64(1); number <= 6; number++ {
				e := list(number, size, "")
				second := number%2 == 0
				e.Query = "page[page]=0&page[size]=50"
				if e.Page = (&journal.Page{Size: 50, Items: 50, Next: !second}); second {
					e.Query, e.Page.Start = "page[page]=50&page[size]=50", 50
				}
				entries = append(entries, e)
			}
			return entries
		}
		Expect(judge(rounds(60_000)...)).To(Equal([]clientrules.ID{"CLT-32"}))
		Expect(judge(rounds(40_000)...)).To(BeEmpty())
	})
})

var _ = Describe("A copy of a list", func() {
	list := func(number uint64, etag string, status int) journal.Entry {
		return newEntry(number, int(number)*2000, int(number)*2000+1, func(e *journal.Entry) { e.IfNoneMatch, e.Status = etag, status })
	}

	It("is waste if its ETag is sent without quotes", func() {
		Expect(judge(list(1, "", 200), list(2, "a1b2", 200))).To(Equal([]clientrules.ID{"CLT-34"}))
		Expect(judge(list(1, "", 200), list(2, `W/"a1b2"`, 200), list(3, "*", 304))).To(BeEmpty())
	})

	It("is waste if it is fetched again after 304", func() {
		Expect(judge(list(1, "", 200), list(2, `"a"`, 304), list(3, "", 200))).To(Equal([]clientrules.ID{"CLT-34"}))
		Expect(judge(list(1, "", 200), list(2, `"a"`, 304), list(3, `"a"`, 304))).To(BeEmpty())
		other := list(3, `"b"`, 200)
		other.Query = "page[page]=50"
		Expect(judge(list(1, "", 200), list(2, `"a"`, 304), other, list(4, "", 200))).To(BeEmpty(), "another page has changed")
	})
})

var _ = Describe("The requests for records that were not read", func() {
	ask := func(number uint64, status int) journal.Entry {
		return newEntry(number, int(number)*500, int(number)*500+1, func(e *journal.Entry) { e.Path, e.Operation, e.Status = "/1", journal.Detail, status })
	}
	unread := func(entries ...journal.Entry) []string {
		return clientrules.UnreadRequests(journal.Record{Entries: entries})
	}

	It("do not include one for a record that does not exist", func() {
		Expect(unread(ask(1, 429), ask(2, 404))).To(BeEmpty())
		Expect(unread(ask(1, 503), ask(2, 410))).To(BeEmpty())
	})

	It("include one that failed after the record was missing", func() {
		Expect(unread(ask(1, 404), ask(2, 503))).To(HaveLen(1))
		Expect(unread(ask(1, 429), ask(2, 403))).To(HaveLen(1))
	})
})

var _ = Describe("Copies of several resources", func() {
	// The clients of Node use two connections in turn, although they send one request after the other.
	askAt := func(pace int, number uint64, path string, status int) journal.Entry {
		return newEntry(number, int(number)*pace, int(number)*pace+1, func(e *journal.Entry) {
			e.Path, e.IfNoneMatch, e.Status, e.Peer = path, `"a"`, status, fmt.Sprint("127.0.0.1:", 1+number%2)
		})
	}
	ask := func(number uint64, path string, status int) journal.Entry { return askAt(500, number, path, status) }

	It("may be asked about by several workers at once", func() {
		var entries []journal.Entry
		for i, path := range []string{"/1", "/1", "/1", "/2", "/2", "/2"} {
			entries = append(entries, askAt(20, uint64(i+1), path, 304))
		}
		Expect(judge(entries...)).To(BeEmpty())
	})

	It("are waste if the client asks about each of them again after 304", func() {
		Expect(judge(ask(1, "/1", 304), ask(2, "/1", 304), ask(3, "/1", 304), ask(4, "/2", 304), ask(5, "/2", 304), ask(6, "/2", 304))).To(Equal([]clientrules.ID{"CLT-34"}))
	})

	It("may be asked about in rounds, and one of them again and again", func() {
		Expect(judge(ask(1, "/1", 304), ask(2, "/2", 304), ask(3, "/1", 304), ask(4, "/2", 304), ask(5, "/1", 304), ask(6, "/2", 304))).To(BeEmpty())
		Expect(judge(ask(1, "/1", 304), ask(2, "/1", 304), ask(3, "/1", 304), ask(4, "/1", 304), ask(5, "/2", 304))).To(BeEmpty())
	})
})

var _ = Describe("The counts of a client", func() {
	It("tell failures of the node from refusals", func() {
		answered := func(number uint64, status int) journal.Entry {
			return newEntry(number, int(number)*2000, int(number)*2000+1, func(e *journal.Entry) { e.Status = status })
		}
		client := clientrules.Judge(journal.Record{Entries: []journal.Entry{answered(1, 500), answered(2, 404), answered(3, 503), answered(4, 200)}}).Clients[0]
		Expect([]int{client.Refused, client.Failed}).To(Equal([]int{1, 2}))
	})
})

var _ = Describe("Workers that fetch a token each", func() {
	issue := func(number uint64, began, ended int, fingerprint string) journal.Entry {
		return newEntry(number, began, ended, func(e *journal.Entry) {
			e.Operation, e.Method, e.Authorization = journal.Token, "POST", journal.Authorization{}
			e.Issued = &journal.IssuedToken{Print: fingerprint, Expires: e.Time.Add(time.Hour)}
		})
	}
	call := func(number uint64, began int, fingerprint string, status int) journal.Entry {
		return newEntry(number, began, began+5, func(e *journal.Entry) {
			e.Path, e.Authorization.Print, e.Status = fmt.Sprint("/", number), fingerprint, status
			if status == 401 {
				e.Refusal = &journal.Refusal{Code: "invalid_token", Detail: "the token expired"}
			}
		})
	}
	workers := func(first uint64, began int) (entries []journal.Entry) {
		for i := range uint64(4) {
			entries = append(entries, issue(first+i, began, began+50, fmt.Sprint("w", i)), call(first+4+i, began+60, fmt.Sprint("w", i), 200))
		}
		return entries
	}

	It("are worth a note at the start", func() {
		Expect(judge(workers(1, 0)...)).To(Equal([]clientrules.ID{"CLT-38"}))
		Expect(judge(workers(1, 0)[:6]...)).To(BeEmpty(), "three of them")
	})

	It("are worth a note when each token serves several calls", func() {
		Expect(judge(append(workers(1, 0), call(9, 300, "w0", 200), call(10, 310, "w1", 200), call(11, 320, "w2", 200), call(12, 330, "w3", 200))...)).To(Equal([]clientrules.ID{"CLT-38"}))
	})

	It("are waste when each call has a token of its own", func() {
		var entries []journal.Entry
		for i := range uint64(12) { // two workers, of which the second is half a step behind
			began := int(i) * 20
			entries = append(entries, issue(2*i+1, began, began+15, fmt.Sprint("w", i)), call(2*i+2, began+18, fmt.Sprint("w", i), 200))
		}
		Expect(judge(entries...)).To(Equal([]clientrules.ID{"CLT-01"}))
		Expect(judge(entries[:8]...)).To(Equal([]clientrules.ID{"CLT-38"}), "four of them may be those of four workers")
	})

	It("are waste when one program replaces them all early, though each served some calls", func() {
		early := func(tokens uint64, calls int) (entries []journal.Entry) {
			number, at := uint64(1), 0
			for i := range tokens {
				entries = append(entries, issue(number, at, at+1, fmt.Sprint("t", i)))
				for range calls {
					number, at = number+1, at+120
					entries = append(entries, call(number, at, fmt.Sprint("t", i), 200))
				}
				number, at = number+1, at+120
			}
			return entries
		}
		Expect(judge(early(10, 3)...)).To(Equal([]clientrules.ID{"CLT-01"}))
		Expect(judge(early(5, 3)...)).To(BeEmpty(), "five runs of a script")
	})

	It("are not blamed when the token that they shared has expired", func() {
		shared := []journal.Entry{issue(1, 0, 5, "old"), call(2, 10, "old", 200), call(3, 100, "old", 401)}
		Expect(judge(append(shared, workers(4, 200)...)...)).To(BeEmpty())
	})
})
