//go:build !race

package evidence_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
)

// make race leaves this file out: it moves gigabytes through the goroutines that the other specs of reader_test.go use, too, and the detector takes memory itself.

var _ = Describe("A large file", func() {
	It("bounds the length of a line, in a compressed file, too", func() {
		_, err := evidence.ReadLog(io.MultiReader(strings.NewReader(runLine), endless('x')))
		Expect(err).To(MatchError(ContainSubstring("line 2: longer than 134217728 bytes")))
		_, err = evidence.ReadLog(bytes.NewReader(bomb(runLine2, strings.Repeat(" ", 16<<20), 9)))
		Expect(err).To(MatchError(ContainSubstring("line 2: longer than 134217728 bytes")))
	})

	It("bounds the length of the whole text of a compressed file", func() {
		_, err := evidence.ReadLog(bytes.NewReader(bomb(runLine2, strings.Repeat(strings.Repeat(" ", 1<<20)+"\n", 16), 65)))
		Expect(err).To(MatchError(ContainSubstring("file is larger than 1073741824 bytes")))
	})

	It("takes memory for the largest body, not for the file, when it is written and when it is read", func() {
		const size, exchanges = 1 << 20, 300
		body := strings.Repeat(`{"id":"0","title":"Junge Köpfe"},`, size/34)
		var file bytes.Buffer
		written := allocated(func() {
			j := evidence.NewJournal(evidence.NewWriter(&file, clock))
			j.Begin(evidence.Run{Started: start})
			for i := range exchanges {
				x := answered(evidence.Label(fmt.Sprintf("op/list.%d", i)), 200)
				x.Response = response(200, "") // without a copy of the body for each exchange
				x.Response.Body, x.Response.Wire, x.Response.Size = []byte(body), int64(len(body)), int64(len(body))
				j.Add(x)
			}
			Expect(j.Err()).NotTo(HaveOccurred())
		}) - exchanges*uint64(len(body)) // the exchanges themselves
		Expect(file.Len()).To(BeNumerically("<", 200<<10), "bytes of the file")
		read := allocated(func() {
			log, err := evidence.ReadLog(&file)
			Expect(err).NotTo(HaveOccurred())
			Expect(log.Exchanges).To(HaveLen(exchanges))
		})
		fmt.Fprintf(GinkgoWriter, "%d exchanges of %d bytes: %.1f bodies allocated to write, %.1f to read\n",
			exchanges, size, float64(written)/size, float64(read)/size)
		Expect(written).To(BeNumerically("<", 20*size), "of 300 bodies")
		Expect(read).To(BeNumerically("<", 20*size))
	})

	It("takes a large body twice at most when it is read: as its line and as its content", func() {
		const size = 16 << 20
		var file bytes.Buffer
		j := evidence.NewJournal(evidence.NewWriter(&file, clock))
		j.Begin(evidence.Run{Started: start})
		x := answered("op/list.ok", 200)
		x.Response = response(200, strings.Repeat(`{"id":"0","title":"Junge Köpfe"},`, size/34))
		j.Add(x)
		Expect(j.Err()).NotTo(HaveOccurred())
		read := allocated(func() {
			_, err := evidence.ReadLog(&file)
			Expect(err).NotTo(HaveOccurred())
		})
		Expect(float64(read)/size).To(BeNumerically("<", 3), "bodies allocated")
	})
})

// bomb returns a small compressed file that holds a text many times.
func bomb(head, text string, times int) []byte {
	GinkgoHelper()
	file := append(zipped(head), bytes.Repeat(zipped(text), times)...)
	Expect(len(file)).To(BeNumerically("<", 2<<20), "it is a bomb")
	return file
}

// allocated returns the number of bytes that do allocates, which is never less than the memory that it takes.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
