package funding_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/fixtures/generate"
	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/funding"
)

// filters is a query for the list. The service must find the records that accepts accepts, but by its index.
type filters struct {
	kind, group, region, funder, scope string
	running                            string
}

func (a filters) values() url.Values {
	v := url.Values{}
	for name, value := range map[string]string{funding.ParamType: a.kind, funding.ParamGroup: a.group, funding.ParamRegion: a.region,
		funding.ParamFunder: a.funder, funding.ParamScope: a.scope, funding.ParamRunning: a.running} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return v
}

func (a filters) accepts(f generate.Facets, now time.Time) bool {
	call := f.Type == model.TypeCall || f.Type == model.TypeOngoingCall
	open := len(f.Stages) == 0 || !now.Before(f.Stages[0].Start) && (f.Stages[0].End.IsZero() || now.Before(f.Stages[0].End))
	return (a.kind == "" || string(f.Type) == a.kind) && (a.scope == "" || string(f.Scope) == a.scope) &&
		(a.group == "" || slices.Contains(f.TargetGroups, model.TargetGroup(a.group))) &&
		(a.region == "" || slices.Contains(f.Regions, model.Region(a.region))) &&
		(a.funder == "" || slices.Contains(f.FunderIDs, a.funder)) &&
		(a.running == "" || call && strconv.FormatBool(open) == a.running)
}

// drawFilters draws a query in which some of the filters are set.
func drawFilters(draw *rand.Rand, g *generate.Generator) filters {
	some := func(odds int, choose func() string) string {
		if draw.IntN(odds) > 0 {
			return ""
		}
		return choose()
	}
	return filters{
		kind:    some(3, func() string { return string(pick(draw, model.FundingTypes())) }),
		group:   some(3, func() string { return string(pick(draw, model.TargetGroups())) }),
		region:  some(4, func() string { return string(pick(draw, model.Regions())) }),
		scope:   some(4, func() string { return string(pick(draw, model.Scopes())) }),
		funder:  some(3, func() string { return pick(draw, append(g.Facets(draw.IntN(g.Len())).FunderIDs, "none")) }),
		running: some(2, func() string { return pick(draw, []string{"true", "false"}) }),
	}
}

func pick[T any](draw *rand.Rand, from []T) T { return from[draw.IntN(len(from))] }

var _ = Describe("the filters", func() {
	DescribeTable("find the same as a scan of all records, at any time, page by page", func(calls int) {
		g := records(GinkgoTB(), calls)
		now := asOf()
		s := service(GinkgoTB(), g, func() time.Time { return now })
		draw := rand.New(rand.NewPCG(uint64(calls), 1))
		for range 60 {
			now = asOf().Add(time.Duration(draw.Int64N(int64(3*365*24*time.Hour))) - 400*24*time.Hour)
			q := drawFilters(draw, g)
			want := []string{}
			for i := range g.Len() {
				if f := g.Facets(i); q.accepts(f, now) {
					want = append(want, f.ID)
				}
			}
			Expect(ids(s, q.values())).To(Equal(want), "%+v at %s", q, now)
			size := 7 + draw.IntN(150)
			paged := []string{}
			for offset := 0; ; offset += size {
				v := q.values()
				v.Set(funding.ParamPage, strconv.Itoa(offset))
				v.Set(funding.ParamSize, strconv.Itoa(size))
				page := ids(s, v)
				if len(page) == 0 {
					break
				}
				paged = append(paged, page...)
			}
			Expect(paged).To(Equal(want), "%+v by %d", q, size)
		}
	}, Entry("one record and its programme", 1), Entry("fewer records than bits in a word", 40), Entry("some more than a word", 60), Entry("many words", 700))

	It("give different entity tags to different queries, and to different sets of open calls", func() {
		g := records(GinkgoTB(), 300)
		now := asOf()
		s := service(GinkgoTB(), g, func() time.Time { return now })
		tags := map[string]string{}
		for _, query := range []string{"", "page[size]=150", "page[size]=150&page[page]=1", "page[size]=20", "fundingType=CALL", "fundingType=CALL&page[size]=20",
			"runningCalls=true", "runningCalls=false", "runningCalls=true&page[size]=20", "runningCalls=false&page[size]=20"} {
			tag := list(s, query).Header().Get("ETag")
			Expect(tags).NotTo(HaveKey(tag), "%s and %s", query, tags[tag])
			tags[tag] = query
		}
		for _, query := range []string{"runningCalls=true", "runningCalls=true&page[size]=20"} {
			now = asOf()
			before := list(s, query)
			Expect(list(s, query).Header()["Etag"]).To(Equal(before.Header()["Etag"]))
			now = asOf().AddDate(0, 6, 0)
			after := list(s, query)
			Expect(after.Header()["Etag"]).NotTo(Equal(before.Header()["Etag"]))
			Expect(after.Body.String()).NotTo(Equal(before.Body.String()))
		}
	})
})

func ids(s *funding.Service, query url.Values) []string {
	GinkgoHelper()
	var found []struct{ ID string }
	answer := list(s, query.Encode())
	Expect(answer.Code).To(Equal(200), fmt.Sprint(query))
	Expect(json.Unmarshal(answer.Body.Bytes(), &found)).To(Succeed())
	out := []string{}
	for _, f := range found {
		out = append(out, f.ID)
	}
	return out
}
