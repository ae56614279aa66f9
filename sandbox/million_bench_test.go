package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/rin-network/rin/sandbox"
)

const fundingPages = "/ris-synergy/try-out/funding/v3/fundings?page[size]=20"

// BenchmarkFundingPage compares a protected page of twenty with a handler that writes the same bytes.
func BenchmarkFundingPage(b *testing.B) {
	compareGet(b, fundingsPath+"?page[size]=20&fundingType=CALL")
}

// BenchmarkMillion compares pages of twenty, mostly uncached, of a sandbox with a million calls and of one with a thousand: pages at the
// beginning, in the middle and at the end, and each filter. "ratio" is the time with a million calls divided by the time with a thousand.
func BenchmarkMillion(b *testing.B) {
	const many, few = 1_000_000, 1_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	large, largeURL := benchNode(b, sandbox.Config{Calls: many})
	_, smallURL := benchNode(b, sandbox.Config{Calls: few})
	started := time.Now()
	large.Prepare()
	b.Logf("the index of a million calls was made in %s", time.Since(started).Round(time.Millisecond))
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.Logf("a million calls keep %d MB", (after.HeapAlloc-before.HeapAlloc)>>20)
	funder := "funderId=" + firstFunder(b, smallURL)
	for _, place := range []struct {
		name, query string
		at          float64 // where the page begins, as a fraction of the calls
	}{
		{"first", "", 0}, {"middle", "", 0.5}, {"last", "", 0.99},
		{"type", "fundingType=CALL", 0.3}, {"group", "targetGroup=UNIVERSITY", 0.2}, {"region", "region=TYROL", 0.02}, {"scope", "applicantsScope=REGIONAL", 0.05},
		{"funder", funder, 0.01}, {"running", "runningCalls=true", 0.05}, {"not-running", "runningCalls=false", 0.1},
		{"all", "fundingType=CALL&targetGroup=UNIVERSITY&applicantsScope=NATIONAL&runningCalls=true", 0.001},
	} {
		b.Run(place.name, func(b *testing.B) {
			n := 0
			page := func(url string, calls int) time.Duration {
				n++
				offset := int(place.at*float64(calls)) + n%50
				started := time.Now()
				body, err := benchSend(http.DefaultClient, request{http.MethodGet, fmt.Sprintf("%s%s&page[page]=%d&%s", url, fundingPages, offset, place.query), "", nil})
				if err != nil {
					b.Fatal(err)
				}
				if len(body) < 100 {
					b.Fatalf("an empty page at %d", offset)
				}
				return time.Since(started)
			}
			var ofLarge, ofSmall time.Duration
			for b.Loop() {
				ofLarge += page(largeURL, many)
				ofSmall += page(smallURL, few)
			}
			ratio := ofLarge.Seconds() / ofSmall.Seconds()
			b.ReportMetric(ratio, "ratio")
			if ratio > 2 {
				b.Errorf("%.2f times the time with %d calls, the target is at most 2", ratio, few)
			}
		})
	}
}

// firstFunder returns the id of a funder that both sandboxes have.
func firstFunder(b *testing.B, url string) string {
	b.Helper()
	body, err := benchSend(http.DefaultClient, request{http.MethodGet, url + fundingPages, "", nil})
	if err != nil {
		b.Fatal(err)
	}
	var page []struct {
		Funder []struct{ Funder struct{ ID string } }
	}
	if err := json.Unmarshal(body, &page); err != nil || len(page) == 0 {
		b.Fatalf("no page: %v", err)
	}
	return page[0].Funder[0].Funder.ID
}
