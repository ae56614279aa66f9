package funding_test

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/fixtures/generate"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/funding"
)

func asOf() time.Time { return time.Date(2026, time.March, 3, 0, 0, 0, 0, time.UTC) }

func records(tb testing.TB, calls int) *generate.Generator {
	tb.Helper()
	g, err := generate.New(generate.Config{Seed: 1, AsOf: asOf(), Calls: calls})
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// service makes a funding service on the records of g with the clock now.
func service(tb testing.TB, g *generate.Generator, now func() time.Time) *funding.Service {
	tb.Helper()
	store, err := funding.NewStore(g, "test")
	if err != nil {
		tb.Fatal(err)
	}
	issuer, err := auth.NewIssuer(auth.Opaque, time.Minute, now, rand.Reader, rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	places := address.Map{Prefix: "p", Realm: "r"}
	guard := auth.NewGuard(auth.NewVerifier(issuer, nil, nil, places, now, 0), places)
	return funding.NewService(store, nil, guard, funding.PagingOffset, now, slog.New(slog.DiscardHandler))
}

func list(s *funding.Service, query string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.URL.RawQuery = query
	w := httptest.NewRecorder()
	s.OpenList().ServeHTTP(w, r)
	return w
}

var _ = Describe("runningCalls", func() {
	It("is true from the start of the first stage, included, to its end, excluded", func() {
		g := records(GinkgoTB(), 30)
		for i := range g.Len() {
			facets := g.Facets(i)
			if len(facets.Stages) == 0 {
				continue
			}
			first := facets.Stages[0]
			for at, want := range map[time.Time]bool{
				first.Start.Add(-time.Second): false,
				first.Start:                   true,
				first.End.Add(-time.Second):   true,
				first.End:                     false,
			} {
				var found []struct{ ID string }
				answer := list(service(GinkgoTB(), g, func() time.Time { return at }), "runningCalls=true")
				Expect(json.Unmarshal(answer.Body.Bytes(), &found)).To(Succeed())
				if want {
					Expect(found).To(ContainElement(HaveField("ID", facets.ID)))
				} else {
					Expect(found).NotTo(ContainElement(HaveField("ID", facets.ID)))
				}
			}
		}
	})
})

var _ = Describe("a store without records", func() {
	It("serves an empty list", func() {
		answer := list(service(GinkgoTB(), records(GinkgoTB(), 0), asOf), "")
		Expect(answer.Code).To(Equal(200))
		Expect(answer.Body.String()).To(Equal("[]"))
	})
})

// FuzzListQuery checks that the answer to each query is a list or a problem.
func FuzzListQuery(f *testing.F) {
	for _, seed := range []string{"", "page[page]=1&page[size]=2", "page%5Bsize%5D=abc", "?&&", "a=%FF", "a=%zz", "fundingType=CALL&runningCalls=TRUE",
		"region=TYROL&region=TYROL", "page[size]=%00", "page[page]=2147483647&page[size]=10000", ";", "funderId=%C3%B6"} {
		f.Add(seed)
	}
	s := service(f, records(f, 20), asOf)
	f.Fuzz(func(t *testing.T, query string) {
		answer := list(s, query)
		switch answer.Code {
		case http.StatusOK:
			var items []json.RawMessage
			if err := json.Unmarshal(answer.Body.Bytes(), &items); err != nil || items == nil {
				t.Fatalf("not an array: %v", err)
			}
		case http.StatusBadRequest:
			var p struct{ Status int }
			if err := json.Unmarshal(answer.Body.Bytes(), &p); err != nil || p.Status != http.StatusBadRequest {
				t.Fatalf("not a problem body: %v, %d", err, p.Status)
			}
		default:
			t.Fatalf("status %d", answer.Code)
		}
	})
}
