package clientrules_test

import (
	"fmt"
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
