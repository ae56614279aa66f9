package sandbox_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

const openPath = "/ris-synergy/try-out/funding/v3/fundings"

// record is the part of a funding that the filters use.
type record struct {
	ID                        string
	Type                      string
	TargetGroups              []string
	EligibleApplicantsRegions []string
	EligibleApplicantsScope   string
	Funder                    []struct{ Funder struct{ ID string } }
	CallStages                []struct{ CallStageStart, CallStageEnd time.Time }
	Annotations               []struct{ AffiliationID string }
}

func (r record) isCall() bool { return r.Type == "CALL" || r.Type == "ONGOING_CALL" }

func (r record) runs(now time.Time) bool {
	if len(r.CallStages) == 0 {
		return r.isCall()
	}
	first := r.CallStages[0]
	return !now.Before(first.CallStageStart) && (first.CallStageEnd.IsZero() || now.Before(first.CallStageEnd))
}

func fundedBy(r record, id string) bool {
	return slices.ContainsFunc(r.Funder, func(f struct{ Funder struct{ ID string } }) bool { return f.Funder.ID == id })
}

var _ = Describe("the list of fundings", func() {
	var node runningNode

	list := func(query string) []record {
		GinkgoHelper()
		var records []record
		got := get(node, openPath+query, nil)
		Expect(got.status).To(Equal(200), got.body)
		decode(got, &records)
		return records
	}

	BeforeEach(func() {
		node = newNode(sandbox.Config{Clock: func() time.Time { return noon }, Seed: 7})
	})

	It("is complete without paging, in the order of unique ids", func() {
		all := list("")
		Expect(len(all)).To(BeNumerically(">=", 200))
		ids := make([]string, len(all))
		for i, r := range all {
			ids[i] = r.ID
		}
		Expect(slices.IsSorted(ids)).To(BeTrue())
		Expect(slices.Compact(slices.Clone(ids))).To(HaveLen(len(ids)))
	})

	DescribeTable("filters", func(query string, keep func(record) bool) {
		var want, got []string
		for _, r := range list("") {
			if keep(r) {
				want = append(want, r.ID)
			}
		}
		for _, r := range list("?" + query) {
			got = append(got, r.ID)
		}
		Expect(want).NotTo(BeEmpty())
		Expect(got).To(Equal(want))
	},
		Entry("by type", "fundingType=CALL", func(r record) bool { return r.Type == "CALL" }),
		Entry("by target group", "targetGroup=COMPANY", func(r record) bool { return slices.Contains(r.TargetGroups, "COMPANY") }),
		Entry("by region", "region=TYROL", func(r record) bool { return slices.Contains(r.EligibleApplicantsRegions, "TYROL") }),
		Entry("by scope", "applicantsScope=REGIONAL", func(r record) bool { return r.EligibleApplicantsScope == "REGIONAL" }),
		Entry("by running calls", "runningCalls=True", func(r record) bool { return r.isCall() && r.runs(noon) }),
		Entry("by calls that do not run", "runningCalls=FALSE", func(r record) bool { return r.isCall() && !r.runs(noon) }),
		Entry("by several filters at once", "fundingType=CALL&region=TYROL&runningCalls=true", func(r record) bool {
			return r.Type == "CALL" && slices.Contains(r.EligibleApplicantsRegions, "TYROL") && r.runs(noon)
		}),
		Entry("not by an empty value or an unknown parameter", "fundingType=&runningCalls=&page[size]=&x=1", func(record) bool { return true }),
	)

	It("filters by the id of a funder", func() {
		funder := list("?page[size]=1")[0].Funder[0].Funder.ID
		var want, got []string
		for _, r := range list("") {
			if fundedBy(r, funder) {
				want = append(want, r.ID)
			}
		}
		for _, r := range list("?funderId=" + url.QueryEscape(funder)) {
			got = append(got, r.ID)
		}
		Expect(got).To(Equal(want))
		Expect(list("?funderId=nobody")).To(BeEmpty())
	})

	It("has running calls on any as-of day", func() {
		now := list("?runningCalls=true")
		then := time.Date(2031, time.June, 5, 0, 0, 0, 0, time.UTC)
		node = newNode(sandbox.Config{Clock: func() time.Time { return noon }, AsOf: then, Seed: 7})
		later := list("?runningCalls=true")
		Expect(len(later)).To(BeNumerically(">", len(now)/2))
		Expect(later[0].runs(then.Add(12 * time.Hour))).To(BeTrue())
	})

	DescribeTable("refuses", func(query, parameter string, allowed []string) {
		got := get(node, openPath+"?"+query, nil)
		Expect(got.status).To(Equal(400), got.body)
		Expect(got.header.Get("Content-Type")).To(Equal("application/problem+json"))
		var problem struct {
			Status    int
			Parameter string
			Allowed   []string
		}
		decode(got, &problem)
		Expect(problem.Status).To(Equal(400))
		Expect(problem.Parameter).To(Equal(parameter))
		Expect(problem.Allowed).To(Equal(allowed))
	},
		Entry("a type outside the vocabulary", "fundingType=call", "fundingType",
			[]string{"PROGRAMME", "CALL", "ONGOING_CALL", "RESEARCH_CONTRACT", "AWARD", "GRANT", "SCHOLARSHIP"}),
		Entry("a scope outside the vocabulary", "applicantsScope=GLOBAL", "applicantsScope", []string{"NATIONAL", "REGIONAL"}),
		Entry("a value that is not a boolean", "runningCalls=yes", "runningCalls", []string{"true", "false"}),
		Entry("a size of 0", "page[size]=0", "page[size]", nil),
		Entry("a negative size", "page[size]=-1", "page[size]", nil),
		Entry("a size that is not a number", "page%5Bsize%5D=abc", "page[size]", nil),
		Entry("a size beyond the largest", "page[size]=10001", "page[size]", nil),
		Entry("a size that does not fit into an integer", "page[size]=99999999999999999999", "page[size]", nil),
		Entry("a size of a null byte", "page[size]=%00", "page[size]", nil),
		Entry("a negative page", "page[page]=-1", "page[page]", nil),
		Entry("a parameter given twice", "region=TYROL&region=TYROL", "region", nil),
		Entry("a query that cannot be decoded", "a=%zz", "", nil),
	)

	It("reads page[page] as an offset, with raw and with encoded brackets", func() {
		all := list("")
		Expect(list("?page[page]=3&page[size]=4")).To(Equal(all[3:7]))
		Expect(list("?page%5Bpage%5D=3&page%5Bsize%5D=4")).To(Equal(all[3:7]))
		Expect(list("?page[page]=3")).To(Equal(all[3:]))
		Expect(get(node, openPath+"?page[page]=100000&page[size]=2", nil).body).To(Equal("[]"))
	})

	It("links pages to their neighbours, with the other parameters kept", func() {
		link := func(query string) string {
			GinkgoHelper()
			return get(node, openPath+query, nil).header.Get("Link")
		}
		to := func(relation, query string) string { return "<" + openPath + "?" + query + `>; rel="` + relation + `"` }
		const size = "page%5Bsize%5D=4"
		Expect(link("")).To(BeEmpty(), "without paging there are no pages")
		Expect(link("?" + size)).To(Equal(to("first", "page%5Bpage%5D=0&"+size) + ", " + to("next", "page%5Bpage%5D=4&"+size)))
		Expect(link("?page[page]=6&page[size]=4&targetGroup=UNIVERSITY")).To(Equal(strings.Join([]string{
			to("first", "page%5Bpage%5D=0&"+size+"&targetGroup=UNIVERSITY"), to("prev", "page%5Bpage%5D=2&"+size+"&targetGroup=UNIVERSITY"),
			to("next", "page%5Bpage%5D=10&"+size+"&targetGroup=UNIVERSITY")}, ", ")))
		Expect(link("?page[page]=100000&" + size)).NotTo(ContainSubstring("next"))
	})

	It("links numbered pages by their numbers", func() {
		node = newNode(sandbox.Config{Clock: func() time.Time { return noon }, Seed: 7, Paging: "number"})
		link := get(node, openPath+"?page[page]=3&page[size]=4", nil).header.Get("Link")
		for relation, page := range map[string]string{"first": "0", "prev": "2", "next": "4"} {
			Expect(link).To(ContainSubstring("page%5Bpage%5D=" + page + `&page%5Bsize%5D=4>; rel="` + relation + `"`))
		}
	})

	It("reads page[page] as a number if configured so", func() {
		all := list("")
		node = newNode(sandbox.Config{Clock: func() time.Time { return noon }, Seed: 7, Paging: "number"})
		Expect(list("?page[page]=3&page[size]=4")).To(Equal(all[12:16]))
		Expect(list("?page[page]=2147483647&page[size]=10000")).To(BeEmpty())
	})
})

var _ = Describe("one funding", func() {
	It("equals the item of the list; an unknown id is answered 404", func() {
		node := newNode(sandbox.Config{Clock: func() time.Time { return noon }})
		var listed []json.RawMessage
		decode(get(node, openPath+"?page[page]=5&page[size]=1", nil), &listed)
		var first record
		Expect(json.Unmarshal(listed[0], &first)).To(Succeed())
		Expect(get(node, openPath+"/"+first.ID, nil).body).To(Equal(string(listed[0])))
		Expect(get(node, openPath+"/"+first.ID+"/", nil).body).To(Equal(string(listed[0])))

		for _, id := range []string{"none", "O'Brien", "%00", "%FF", "..%2F..%2Fconformance", strings.Repeat("a", 2<<10), "%C3%84", "%7Bid%7D", first.ID + "x"} {
			got := get(node, openPath+"/"+id, nil)
			Expect(got.status).To(Equal(404), id)
			Expect(got.header.Get("Content-Type")).To(Equal("application/problem+json"))
		}
	})

	It("shows annotations to the affiliation of the caller only", func() {
		node := newNode(sandbox.Config{Calls: 400, Clock: func() time.Time { return noon }})
		token := fetchToken(node, stagingToken, node.Credentials()[0])
		var own, open []record
		decode(get(node, fundingsPath, bearer(token)), &own)
		decode(get(node, openPath, nil), &open)
		seen := 0
		for _, r := range own {
			for _, annotation := range r.Annotations {
				seen++
				Expect(annotation.AffiliationID).To(Equal(sandbox.DemoAffiliation))
			}
		}
		Expect(seen).To(BeNumerically(">", 0))
		for _, r := range open {
			Expect(r.Annotations).To(BeEmpty())
		}
	})
})

var _ = Describe("answers as representations", func() {
	for _, path := range []string{openPath, openPath + "/XF-00000002", "/ris-synergy/try-out/funding/v3/api-docs", "/ris-synergy/try-out/info/v1/oauth/info/", "/registry/registry.json"} {
		It("have an entity tag, gzip and HEAD at "+path, func() {
			node := newNode(sandbox.Config{Clock: func() time.Time { return noon }})
			plain := get(node, path, nil)
			Expect(plain.status).To(Equal(200))
			Expect(plain.header.Get("Vary")).To(ContainSubstring("Accept-Encoding"))
			Expect(plain.header.Get("ETag")).To(MatchRegexp(`^"[^"]+"$`))

			head := send(node, http.MethodHead, path, "", nil)
			Expect(head.status).To(Equal(200))
			Expect(head.body).To(BeEmpty())
			Expect(head.header.Get("ETag")).To(Equal(plain.header.Get("ETag")))

			unchanged := get(node, path, http.Header{"If-None-Match": {`"other", W/` + plain.header.Get("ETag")}})
			Expect(unchanged.status).To(Equal(304))
			Expect(unchanged.body).To(BeEmpty())

			Expect(get(node, path, http.Header{"If-None-Match": {"*"}}).status).To(Equal(304))

			zipped := get(node, path, http.Header{"Accept-Encoding": {"br, gzip;q=0.5"}})
			if zipped.header.Get("Content-Encoding") == "gzip" {
				reader, err := gzip.NewReader(strings.NewReader(zipped.body))
				Expect(err).NotTo(HaveOccurred())
				unzipped, err := io.ReadAll(reader)
				Expect(err).NotTo(HaveOccurred())
				Expect(string(unzipped)).To(Equal(plain.body))
				Expect(zipped.header.Get("ETag")).NotTo(Equal(plain.header.Get("ETag")))
			} else {
				Expect(len(plain.body)).To(BeNumerically("<", 1400))
			}
			Expect(get(node, path, http.Header{"Accept-Encoding": {"gzip;q=0, identity"}}).header).NotTo(HaveKey("Content-Encoding"))
		})
	}

	It("have another entity tag for another content", func() {
		tags := map[string]bool{}
		for _, c := range []sandbox.Config{{Seed: 1}, {Seed: 2}, {Seed: 1, Calls: 201}, {Seed: 1, AsOf: noon.AddDate(0, 0, 1)}} {
			c.Clock = func() time.Time { return noon }
			tags[get(newNode(c), openPath, nil).header.Get("ETag")] = true
		}
		Expect(tags).To(HaveLen(4))
	})
})
