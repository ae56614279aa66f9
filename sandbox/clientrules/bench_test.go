package clientrules_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/journal"
)

// BenchmarkJudge judges full journals: of a client that walks through pages, and of a flood of failures.
func BenchmarkJudge(b *testing.B) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, kind := range []struct {
		name   string
		status int
	}{{"walk", 200}, {"unauthorized", 401}, {"busy", 503}} {
		b.Run(kind.name, func(b *testing.B) {
			var record journal.Record
			for i := range journal.DefaultLimit {
				at := noon.Add(time.Duration(i) * 10 * time.Millisecond)
				e := journal.Entry{Number: uint64(i + 1), Time: at, Ended: at, Node: "XA", Operation: journal.List, Method: "GET", Path: "/fundings",
					Query: fmt.Sprintf("page[page]=%d&page[size]=10", i*10), Client: "a", Status: kind.status, RetryAfter: "1"}
				if kind.status == 200 {
					e.Page = &journal.Page{Start: i * 10, Size: 10, Items: 10, Next: true}
				}
				record.Entries = append(record.Entries, e)
			}
			for b.Loop() {
				clientrules.Judge(record)
			}
		})
	}
}

// largeRecord returns the requests of fifty clients that walk through pages, each with its token and some failures.
func largeRecord(size int) []journal.Entry {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	entries := make([]journal.Entry, size)
	for i := range entries {
		at := noon.Add(time.Duration(i) * time.Millisecond)
		client, page := fmt.Sprint("client-", i%50), i/50%200
		e := journal.Entry{Number: uint64(i + 1), Earliest: uint64(i), Time: at, Ended: at, Node: "XA", Operation: journal.List, Origin: "http://127.0.0.1:8080", Method: "GET",
			Path: "/ris-synergy/funding/v3/fundings", Query: fmt.Sprintf("page[page]=%d&page[size]=10", page*10), Client: client, Proven: true, Agent: "tool/1",
			Accept: "application/json", Authorization: journal.Authorization{Fields: 1, Scheme: "Bearer", Print: client}, Peer: "127.0.0.1:" + fmt.Sprint(i%50), Status: 200,
			Page: &journal.Page{Start: page * 10, Size: 10, Items: 10, Next: page < 199}}
		if i%97 == 0 {
			e.Status, e.Page, e.RetryAfter = 503, nil, "1"
		}
		entries[i] = e
	}
	return entries
}

// BenchmarkReportMillion judges a full journal of the largest size. The figures are compared with 2 s and 200 MB beside the journal by a reader, and do
// not fail, because a busy machine misses 2 s. "peak-MB" is sampled.
func BenchmarkReportMillion(b *testing.B) {
	record := journal.Record{Entries: largeRecord(journal.MaxLimit)}
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	peak, ended, sampled := uint64(0), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		for {
			select {
			case <-ended:
				return
			case <-time.After(20 * time.Millisecond):
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapAlloc)
			}
		}
	}()
	started := time.Now()
	for b.Loop() {
		clientrules.Judge(record)
	}
	took := time.Since(started) / time.Duration(b.N)
	close(ended)
	<-sampled
	b.ReportMetric(took.Seconds(), "s/report")
	b.ReportMetric(float64(max(peak, before.HeapAlloc)-before.HeapAlloc)/(1<<20), "peak-MB")
}
