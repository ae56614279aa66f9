package probe_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
)

// cursors makes the node describe and serve pages whose cursors are valid for one reading, which a first page begins. turn may change where a page begins.
// refuse is called before turn, and may refuse a page that a cursor names.
func cursors(turn func(offset int) int, refuse func() bool) func(*node) {
	var readings atomic.Int64
	return func(n *node) {
		n.document = strings.Replace((&node{}).spec(), `{"name":"page[size]"`, `{"name":"cursor","in":"query","schema":{"type":"string"}},{"name":"page[size]"`, 1)
		n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
			size, err := strconv.Atoi(q.URL.Query().Get("page[size]"))
			if err != nil || size < 1 || !strings.HasSuffix(q.URL.Path, "/fundings") || q.Header.Get("Authorization") == "" {
				return false
			}
			reading, offset := int64(0), 0
			if cursor := q.URL.Query().Get("cursor"); cursor == "" {
				reading = readings.Add(1)
			} else if _, err := fmt.Sscanf(cursor, "reading-%d-from-%d", &reading, &offset); err != nil || refuse() {
				http.Error(w, "what cursor?", http.StatusBadRequest)
				return true
			}
			offset = min(turn(offset), len(n.items))
			page := map[string]any{"items": n.items[offset:min(offset+size, len(n.items))]}
			if offset+size < len(n.items) {
				page["nextCursor"] = fmt.Sprintf("reading-%d-from-%d", reading, offset+size)
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(page)
			return true
		}
	}
}

var _ = Describe("A list that is read along cursors", func() {
	const list = evidence.Resource("op/listFundings")
	never := func() bool { return false }
	// chain returns the cursors that the pages of a reading name, and expects that each page was requested by the cursor of the page before.
	chain := func(log *evidence.Log, reading string) (named []string) {
		GinkgoHelper()
		for n := 1; ; n++ {
			x, sent := log.Get(list.With(evidence.ReadingCase(reading, n)))
			if !sent {
				return named
			}
			if n > 1 {
				Expect(x.Request.URL).To(ContainSubstring("cursor="+named[n-2]), string(x.Label))
			}
			var page struct{ NextCursor string }
			_ = json.Unmarshal(x.Response.Body, &page) // a refusal has no cursor
			named = append(named, page.NextCursor)
		}
	}

	It("is read twice more if its pages lose items, each time from the first page along the new cursors", func() {
		log := certify(targetOf(newNode(cursors(func(offset int) int {
			if offset > 0 {
				offset++
			}
			return offset
		}, never))))
		seen := map[string]bool{}
		for _, reading := range []string{"small", "small-again", "small-third"} {
			named := chain(log, reading)
			Expect(len(named)).To(BeNumerically(">", 1), reading)
			Expect(seen).NotTo(HaveKey(named[0]), reading)
			seen[named[0]] = true
		}
		Expect(chain(log, "whole-third")).NotTo(BeEmpty())
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})

	It("is read a second time if a page was refused, but not a third time", func() {
		var pages atomic.Int64
		log := certify(targetOf(newNode(cursors(func(offset int) int { return offset }, func() bool { return pages.Add(1) == 1 }))))
		first, _ := log.Get(list.With(evidence.ReadingCase("small", 2)))
		Expect(first.Status()).To(Equal(400))
		Expect(len(chain(log, "small-again"))).To(BeNumerically(">", 1))
		why, _ := log.Skipped(list.With(evidence.ReadingCase("small-third", 1)))
		Expect(why.Because).To(Equal("the pages added up the second time"))
	})

	It("is read once if its pages add up", func() {
		log := certify(targetOf(newNode(cursors(func(offset int) int { return offset }, never))))
		Expect(len(chain(log, "small"))).To(BeNumerically(">", 1))
		Expect(chain(log, "small-again")).To(BeEmpty())
		Expect(chain(log, "small-third")).To(BeEmpty())
	})
})
