package probe_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
)

// cappedPages makes the node list 64 records in numbered pages of at most twelve, whatever size is asked for; change edits some of the records.
func cappedPages(change func(i int, record map[string]any)) func(*node) {
	return func(n *node) {
		n.items = nil
		for i := range 64 {
			record := map[string]any{
				"id": fmt.Sprintf("F-%03d", 7*i), "type": []string{"CALL", "PROGRAMME"}[i%2], "targetGroups": []string{"UNIVERSITY"}, "acronym": strings.Repeat(string(rune('a'+i%26)), 3+i/26),
				"overhead": 5 + i%4, "remote": true, "deadline": fmt.Sprintf("2027-%02d-01T12:00:00Z", 1+i%12), "funder": []any{map[string]any{"name": "A", "country": "AT"}},
			}
			change(i, record)
			n.items = append(n.items, record)
		}
		n.document = strings.Replace((&node{}).spec(), `{"name":"page[size]"`, `{"name":"page[page]","in":"query","schema":{"type":"integer","minimum":1}},{"name":"page[size]"`, 1)
		n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
			if !strings.HasSuffix(q.URL.Path, "/fundings") || !strings.HasPrefix(q.Header.Get("Authorization"), "Bearer access-token") {
				return false
			}
			page, size := 1, 12
			if value, err := strconv.Atoi(q.URL.Query().Get("page[page]")); err == nil {
				page = max(1, value)
			}
			if value, err := strconv.Atoi(q.URL.Query().Get("page[size]")); err == nil {
				size = min(12, max(1, value))
			}
			page = min(page, len(n.items)+1)
			begin, end := min((page-1)*size, len(n.items)), min(page*size, len(n.items))
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"total": len(n.items), "items": n.items[begin:end]})
			return true
		}
	}
}

var _ = Describe("The records whose details are requested", func() {
	// drawn returns the ids of the drawn items that a run with a seed requests.
	drawn := func(seed int, change func(i int, record map[string]any)) []string {
		GinkgoHelper()
		log := certify(targetOf(newNode(cappedPages(change))), func(o *probe.Options) { o.Target.Seed = draw.Seed(seed) })
		var ids []string
		for _, c := range evidence.DrawnItems() {
			if x, sent := log.Get(evidence.Resource("op/getFunding").With(c)); sent {
				ids = append(ids, x.Given["id"])
			}
		}
		return ids
	}
	id := func(i int) string { return fmt.Sprintf("F-%03d", 7*i) }

	It("include the rare records of every page: one for each kind of value that other records lack", func() {
		rare := []func(record map[string]any){
			func(r map[string]any) { delete(r, "deadline") },
			func(r map[string]any) { r["deadline"] = nil },
			func(r map[string]any) { r["overhead"] = 0 },
			func(r map[string]any) { r["remote"] = false },
			func(r map[string]any) { r["acronym"] = "" },
			func(r map[string]any) { r["targetGroups"] = []string{} },
			func(r map[string]any) { r["funder"] = []any{map[string]any{"name": "A"}} },
			func(r map[string]any) { r["note"] = "x" },
		}
		Expect(drawn(1, func(i int, record map[string]any) {
			if i%8 == 3 {
				rare[i/8](record)
			}
		})).To(ContainElements(id(3), id(11), id(19), id(27), id(35), id(43), id(51), id(59)))
	})

	It("include the smallest and the largest number, also in a text, and the longest text", func() {
		Expect(drawn(7, func(i int, record map[string]any) {
			record["amount"] = map[string]any{"value": fmt.Sprintf("%d.00", 40_000+i)}
			switch i {
			case 14:
				record["amount"] = map[string]any{"value": "25250000.00"}
			case 33:
				record["amount"] = map[string]any{"value": "40.00"}
			case 41:
				record["title"] = strings.Repeat("Forschung ", 30)
			}
		})).To(ContainElements(id(14), id(33), id(41)))
	})

	It("include two records that are rare in the same way, because one may have been changed meanwhile", func() {
		ids := drawn(2, func(i int, record map[string]any) {
			if i == 37 || i == 52 {
				record["overhead"] = 0
			}
		})
		Expect(ids).To(ContainElements(id(37), id(52)))
		Expect(ids).To(HaveLen(len(evidence.DrawnItems())))
	})

	It("include ids of a rare form, on the last page as well", func() {
		odd := []string{"FF/2025/004", "F-100%", "F+005", "Förd-7", "F 005", "90210", "f-005"}
		Expect(drawn(3, func(i int, record map[string]any) {
			if n := 62 - i; n >= 0 && n < len(odd) { // the last one is requested in any case
				record["id"] = odd[n]
			}
		})).To(ContainElements(odd))
	})

	It("are of all kinds, unless the answer has subtypes: those of the published API are calls and programmes only", func() {
		grant := func(i int, record map[string]any) {
			if i == 20 {
				record["type"], record["overhead"] = "GRANT", 0
			}
		}
		Expect(drawn(8, grant)).To(ContainElement(id(20)))
		log := certify(targetOf(newNode(cappedPages(grant), func(n *node) {
			n.document = strings.Replace(n.document, `"schema":{"type":"object"}}}}}}}}}`, `"schema":{"type":"object","discriminator":{"propertyName":"type"}}}}}}}}}}`, 1)
		})), func(o *probe.Options) { o.Target.Seed = 8 })
		for _, x := range log.Exchanges {
			Expect(x.Request.URL).NotTo(HaveSuffix("/fundings/" + id(20)))
		}
	})

	It("are the same for the same seed, and different for another seed", func() {
		plain := func(int, map[string]any) {}
		Expect(drawn(5, plain)).To(Equal(drawn(5, plain)))
		Expect(drawn(5, plain)).NotTo(Equal(drawn(6, plain)))
	})

	It("are not requested twice", func() {
		ids := map[string]bool{}
		for _, id := range drawn(7, func(int, map[string]any) {}) {
			Expect(ids).NotTo(HaveKey(id))
			ids[id] = true
		}
	})
})
