package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// BenchmarkSandboxMillion measures the sandbox with a million calls: the times from the start to the first page and to the
// first filtered page (target of each: 2 s), the time to the first byte of the list without paging, and the peak of resident memory after 300 MB of that list
// (target: 300 MB).
func BenchmarkSandboxMillion(b *testing.B) {
	rin := build(b, "github.com/rin-network/rin/cmd/rin")
	const list = "/ris-synergy/try-out/funding/v3/fundings"
	var ready, filtered, streaming time.Duration
	var peak float64
	for b.Loop() {
		started := time.Now()
		took, base, cmd := start(b, list+"?page[size]=20", rin, "sandbox", "--addr", "127.0.0.1:0", "--calls", "1000000")
		ready += took
		fetch(b, base+list+"?page[size]=20&fundingType=CALL&runningCalls=true", "")
		filtered += time.Since(started)
		started = time.Now()
		answer, err := http.Get(base + list)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := answer.Body.Read(make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		streaming += time.Since(started)
		if _, err := io.CopyN(io.Discard, answer.Body, 300<<20); err != nil {
			b.Fatal(err)
		}
		_ = answer.Body.Close()
		megabytes, err := peakMemory(cmd.Process.Pid)
		end(cmd)
		if err != nil {
			b.Skip(err)
		}
		peak = max(peak, megabytes)
	}
	n := float64(b.N)
	reportAtMost(b, ready.Seconds()/n, "s/ready", 2)
	reportAtMost(b, filtered.Seconds()/n, "s/first-filter", 2)
	b.ReportMetric(float64(streaming.Microseconds())/1000/n, "ms/first-byte")
	reportAtMost(b, peak, "MB", 300)
}

// BenchmarkSandboxTenNodes compares the peak of resident memory of ten nodes with that of one, after each node has answered its list, a page
// and its document (target: less than twice).
func BenchmarkSandboxTenNodes(b *testing.B) {
	rin := build(b, "github.com/rin-network/rin/cmd/rin")
	measure := func(nodes string) float64 {
		_, base, cmd := start(b, "/registry/registry.json", rin, "sandbox", "--addr", "127.0.0.1:0", "--nodes", nodes)
		defer end(cmd)
		var registry struct{ Member []struct{ Info string } }
		if err := json.Unmarshal(fetch(b, base+"/registry/registry.json", ""), &registry); err != nil {
			b.Fatal(err)
		}
		for _, m := range registry.Member {
			api, _, _ := strings.Cut(m.Info, "/info/")
			for _, path := range []string{"/try-out/funding/v3/fundings", "/try-out/funding/v3/fundings?page[size]=20", "/funding/v3/api-docs"} {
				fetch(b, api+path, "")
			}
		}
		megabytes, err := peakMemory(cmd.Process.Pid)
		if err != nil {
			b.Skip(err)
		}
		return megabytes
	}
	var one, ten float64
	for b.Loop() {
		one, ten = one+measure("1"), ten+measure("10")
	}
	b.ReportMetric(ten/float64(b.N), "MB")
	reportAtMost(b, ten/one, "ten/one", 2)
}
