//go:build !race

package clientrules_test

// The race detector allocates more, so memory is measured without it.

import (
	"runtime"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/journal"
)

var _ = Describe("The memory of a report", func() {
	It("is less than 200 bytes for each request beside the journal", func() {
		record := journal.Record{Entries: largeRecord(100_000)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		clientrules.Judge(record)
		runtime.ReadMemStats(&after)
		Expect((after.TotalAlloc - before.TotalAlloc) / uint64(len(record.Entries))).To(BeNumerically("<", 200))
	})
})
