package probe_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
)

// paging makes the node describe and serve pages: page[page] is the number of records to skip; turn may change page and size.
func paging(turn func(page, size int) (int, int)) func(*node) {
	return func(n *node) {
		n.document = strings.Replace((&node{}).spec(), `{"name":"page[size]"`, `{"name":"page[page]","in":"query","schema":{"type":"integer","minimum":0}},{"name":"page[size]"`, 1)
		n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
			page, err := strconv.Atoi(q.URL.Query().Get("page[page]"))
			size, noSize := strconv.Atoi(q.URL.Query().Get("page[size]"))
			if err != nil || noSize != nil || page < 0 || size < 0 || !strings.HasSuffix(q.URL.Path, "/fundings") || q.Header.Get("Authorization") == "" {
				return false
			}
			page, size = turn(page, size)
			page = min(page, len(n.items))
			w.Header().Set("Content-Type", "application/json")
			if page+size < len(n.items) {
				w.Header().Set("Link", fmt.Sprintf(`<?page%%5Bpage%%5D=%d&page%%5Bsize%%5D=%d>; rel="next"`, page+size, size))
			}
			_ = json.NewEncoder(w).Encode(n.items[page:min(page+size, len(n.items))])
			return true
		}
	}
}

func unchangedPage(page, size int) (int, int) { return page, size }

var _ = Describe("The pages of a list", func() {
	const list = evidence.Resource("op/listFundings")
	given := func(log *evidence.Log, name string, cases ...evidence.Case) []string {
		var out []string
		for _, c := range cases {
			if x, ok := log.Get(list.With(c)); ok {
				out = append(out, x.Given[name])
			}
		}
		return out
	}
	steps := func(step func(int) evidence.Case) []evidence.Case {
		var out []evidence.Case
		for n := range 9 {
			out = append(out, step(n+1))
		}
		return out
	}
	why := func(log *evidence.Log, c evidence.Case) string {
		skipped, _ := log.Skipped(list.With(c))
		return string(skipped.Kind) + ": " + skipped.Because
	}

	It("are read to the end, beyond the end and along the links", func() {
		n := newNode(paging(unchangedPage))
		log := certify(targetOf(n))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
		Expect(given(log, "value", steps(evidence.WalkCase)...)).To(HaveExactElements("0", "1", "3"))
		Expect(given(log, "size", evidence.WalkCase(1))).To(HaveExactElements("3"))
		Expect(why(log, evidence.WalkCase(4))).To(Equal("not-applicable: the pages before it were enough"))
		Expect(given(log, "value", "beyond-end")).To(HaveExactElements(MatchRegexp("^1[0-9]{5}$")))
		Expect(given(log, "from", "link-next")).To(HaveExactElements("op/listFundings.walk-1"))
		x, _ := log.Get(list.With("link-next"))
		Expect(x.Request.URL).To(HaveSuffix("/ris/funding/v3/fundings?page%5Bpage%5D=3&page%5Bsize%5D=3"))
		Expect(why(log, "list-again")).To(HavePrefix("not-applicable: nothing seems to have changed"))
		Expect(why(log, evidence.SecondWalk.Page(1))).To(HavePrefix("not-applicable"))
	})

	It("are not read if the list is empty", func() {
		n := newNode(paging(unchangedPage))
		n.items = []map[string]any{}
		log := certify(targetOf(n))
		x, _ := log.Get(list.With(evidence.OK))
		Expect(x.Status()).To(Equal(200))
		Expect(log.NotSent).NotTo(ContainElement(HaveField("Because", ContainSubstring("failed inside rin"))))
		Expect(given(log, "value", steps(evidence.WalkCase)...)).To(BeEmpty())
	})

	It("are read twice more when they do not add up", func() {
		log := certify(targetOf(newNode(paging(func(page, size int) (int, int) {
			if page == size {
				page = 0
			}
			return page, size
		}))))
		Expect(given(log, "value", steps(evidence.SecondWalk.Page)...)).To(Equal(given(log, "value", steps(evidence.WalkCase)...)))
		Expect(given(log, "value", steps(evidence.ThirdWalk.Page)...)).To(Equal(given(log, "value", steps(evidence.WalkCase)...)))
		for _, w := range []evidence.Walk{evidence.SecondWalk, evidence.ThirdWalk} {
			x, _ := log.Get(list.With(w.List()))
			Expect(x.Status()).To(Equal(200))
		}
	})

	It("are searched with one request if the document describes no parameter for them", func() {
		n := newNode(func(n *node) {
			n.document = strings.Replace((&node{}).spec(), `{"name":"page[size]"`, `{"name":"words2"`, 1)
			n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
				values := q.URL.Query()
				values.Del("page[size]")
				q.URL.RawQuery = values.Encode()
				return false
			}
		})
		log := certify(targetOf(n))
		Expect(given(log, "value", steps(evidence.WalkCase)...)).To(HaveExactElements("0"))
		Expect(given(log, "value", "size-negative", "page-text")).To(BeEmpty(), "no parameter is described")
	})

	It("are not followed to another origin", func() {
		log := certify(targetOf(newNode(func(n *node) {
			n.before = func(_ *node, w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Link", `<https://elsewhere.example/fundings?page=2>; rel="next"`)
				return false
			}
		})))
		Expect(why(log, "link-next")).To(Equal("not-applicable: the next page is on another origin, to which the token must not be sent"))
		Expect(slices.ContainsFunc(log.Exchanges, func(x evidence.Exchange) bool { return strings.Contains(x.Request.URL, "fundings?page=2") })).To(BeFalse())
	})

	It("are requested with raw brackets and with encoded ones", func() {
		n := newNode()
		certify(targetOf(n))
		sent := func(part string) bool {
			return slices.ContainsFunc(n.log(), func(s seen) bool { return strings.Contains(s.uri, part) })
		}
		Expect(sent("?page[size]=2")).To(BeTrue())
		Expect(sent("?page%5Bsize%5D=2")).To(BeTrue())
	})

	It("are requested with bad values", func() {
		log := certify(targetOf(newNode(paging(unchangedPage))))
		Expect(given(log, "value", "size-negative", "size-zero", "size-text", "size-huge", "page-negative", "page-text", "filter-bad", "unknown-query")).
			To(HaveExactElements(MatchRegexp(`^-\d+$`), Equal("0"), MatchRegexp(`^[a-z]+$`), MatchRegexp(`^\d{11,}$`), MatchRegexp(`^-\d+$`), MatchRegexp(`^[a-z]+$`),
				MatchRegexp(`^[A-Z]+$`), MatchRegexp(`^\d$`)))
	})

	It("are filtered by each value of each filter on this machine", func() {
		log := certify(targetOf(newNode(paging(unchangedPage))))
		types := []evidence.Case{evidence.FilterCase("fundingType", 1), evidence.FilterCase("fundingType", 2), evidence.FilterCase("fundingType", 3)}
		Expect(given(log, "value", types...)).To(HaveExactElements("CALL", "PROGRAMME", "AWARD"))
		Expect(given(log, "seen", types...)).To(HaveExactElements("true", "true", "false"))
		Expect(given(log, "value", evidence.FilterCase("funderId", 1), evidence.FilterCase("funderId", 2), evidence.FilterCase("funderId", 4))).To(HaveExactElements(Equal("org-1"), Equal("org-"), MatchRegexp(`^[0-9a-f-]{36}$`)))
		Expect(given(log, "page", "filter-paged")).To(HaveExactElements("1"))
		Expect(given(log, "value", "filter-both")).To(HaveExactElements("CALL"))
		Expect(given(log, "andValue", "filter-both")).To(HaveExactElements("org-1"))
		Expect(given(log, "value", "filter-running", "filter-not-running")).To(HaveExactElements("true", "false"))
	})
})
