//go:build !race

package recorder_test

// The race detector allocates more, so memory is measured without it.

import (
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/recorder"
)

var _ = Describe("Memory", func() {
	DescribeTable("a large body is held once while it is read",
		func(coding string, encode func(string) string) {
			const size = 16 << 20
			wire := encode(strings.Repeat("{\"id\":\"12345678\"},", size/18))
			node := serve(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", coding)
				w.Header().Set("Content-Length", strconv.Itoa(len(wire)))
				io.WriteString(w, wire)
			})
			r := newFixture()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a := r.send(recorder.Request{URL: node.URL})
			runtime.ReadMemStats(&after)
			Expect(len(a.Body)).To(BeNumerically(">", size-18))
			Expect(float64(after.TotalAlloc-before.TotalAlloc)/size).To(BeNumerically("<", 5), "memory allocated, in bodies; with io.ReadAll it is 5.5")
		},
		Entry("plain", "identity", func(text string) string { return text }),
		Entry("compressed", "gzip", gzipped),
	)
})
