package recorder_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

func compress(data string, into func(io.Writer) io.WriteCloser) string {
	var b bytes.Buffer
	w := into(&b)
	io.WriteString(w, data)
	w.Close()
	return b.String()
}

func gzipped(data string) string {
	return compress(data, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

func zlibbed(data string) string {
	return compress(data, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
}

func deflated(data string) string {
	return compress(data, func(w io.Writer) io.WriteCloser {
		f, err := flate.NewWriter(w, flate.BestSpeed)
		Expect(err).NotTo(HaveOccurred())
		return f
	})
}

func coded(coding, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", coding)
		io.WriteString(w, body)
	}
}

func readLimit(n int64) func(*recorder.Options) { return func(o *recorder.Options) { o.ReadLimit = n } }

func timeout(d time.Duration) func(*recorder.Options) {
	return func(o *recorder.Options) { o.Timeout = d }
}

var _ = Describe("Limits", func() {
	DescribeTable("content codings are undone",
		func(coding, wire string) {
			r := newFixture()
			a := r.send(recorder.Request{URL: serve(coded(coding, wire)).URL})
			Expect(string(a.Body)).To(Equal("hello"))
			Expect(a.OK()).To(BeTrue())
			Expect(string(r.recorded().Response.Body)).To(Equal("hello"))
			Expect(r.recorded().Response.Size).To(BeEquivalentTo(5))
		},
		Entry("none", "identity", "hello"),
		Entry("gzip", "GZip", gzipped("hello")),
		Entry("x-gzip", "x-gzip", gzipped("hello")),
		Entry("deflate", "deflate", zlibbed("hello")),
		Entry("bare deflate", "deflate", deflated("hello")),
		Entry("twice", "deflate, gzip", gzipped(zlibbed("hello"))),
	)

	DescribeTable("a body that cannot be decoded is reported, and the request not repeated",
		func(coding, wire, message string) {
			r := newFixture()
			a := r.send(recorder.Request{URL: serve(coded(coding, wire)).URL})
			Expect(a.Status).To(Equal(200))
			Expect(a.OK()).To(BeFalse())
			x := r.recorded()
			Expect(x.Response.BodyError).To(Equal(message))
			Expect(x.Attempts).To(Equal(1))
		},
		Entry("not gzip", "gzip", "this is not gzip", "content coding gzip: gzip: invalid header"),
		Entry("cut gzip", "gzip", gzipped("hello")[:20], "content coding gzip: unexpected end"),
		Entry("unknown coding", "br", "xyz", `content coding "br" is not known and was not asked for`),
		Entry("too many codings", "gzip,gzip,gzip,gzip", "xyz", "expected at most 3 content codings, got 4"),
	)

	It("does not reserve the memory that a gzip trailer claims", func() {
		wire := gzipped("hello")
		wire = wire[:len(wire)-4] + "\xff\xff\xff\x00" // says 16 MB
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a := newFixture().send(recorder.Request{URL: serve(coded("gzip", wire)).URL})
		runtime.ReadMemStats(&after)
		Expect(a.Body).To(Equal([]byte("hello")))
		Expect(after.TotalAlloc - before.TotalAlloc).To(BeNumerically("<", 4<<20))
	})

	It("decodes equal bodies once, and lets exchanges share their bytes", func() {
		long := strings.Repeat("a record of the node, ", 1000)
		for _, coding := range []string{"gzip", "identity"} {
			wire := long
			if coding == "gzip" {
				wire = gzipped(long)
			}
			r := newFixture()
			node := serve(coded(coding, wire)).URL
			first, second := r.send(recorder.Request{Label: "a.ok", URL: node}), r.send(recorder.Request{Label: "b.ok", URL: node})
			Expect(string(second.Body)).To(Equal(long))
			Expect(&second.Body[0]).To(BeIdenticalTo(&first.Body[0]))
			first.Exchange.Label, second.Exchange.Label = "", ""
			Expect(second.Exchange.Response).To(Equal(first.Exchange.Response))
			short := r.send(recorder.Request{Label: "c.ok", URL: node, Limit: 1000})
			Expect(short.Body).To(HaveLen(1000))
			Expect(short.Exchange.Response.Truncated).To(BeTrue())
		}
	})

	It("does not share a body that holds a secret", func() {
		r := newFixture()
		node := serve(coded("gzip", gzipped(clientSecret+strings.Repeat("a record of the node, ", 1000)))).URL
		first, second := r.send(recorder.Request{Label: "a.ok", URL: node}), r.send(recorder.Request{Label: "b.ok", URL: node})
		Expect(second.Body).To(Equal(first.Body))
		Expect(&second.Body[0]).NotTo(BeIdenticalTo(&first.Body[0]))
		Expect(string(second.Exchange.Response.Body)).NotTo(ContainSubstring(clientSecret))
	})

	It("counts the bodies that exchanges share in the limit of the run", func() {
		const size = 1 << 20
		r := newFixture(func(o *recorder.Options) { o.TotalLimit = 7 * size / 2 })
		node := serve(coded("gzip", gzipped(strings.Repeat("x", size)))).URL
		whole := 0
		for i := range 5 {
			if a := r.send(recorder.Request{Label: evidence.Label(fmt.Sprintf("a%d.ok", i)), URL: node}); len(a.Body) == size {
				whole++
			}
		}
		Expect(whole).To(Equal(3))
	})

	It("accepts an empty body with a content coding, as HEAD has", func() {
		r := newFixture()
		a := r.send(recorder.Request{Method: "HEAD", URL: serve(status(200, "Content-Encoding", "gzip")).URL})
		Expect(a.OK()).To(BeTrue())
	})

	It("stops a bomb at the read limit", func() {
		r := newFixture(readLimit(1 << 20))
		bomb := gzipped(gzipped(strings.Repeat("\x00", 64<<20)))
		Expect(len(bomb)).To(BeNumerically("<", 1<<20))
		a := r.send(recorder.Request{URL: serve(coded("gzip, gzip", bomb)).URL})
		Expect(a.Body).To(HaveLen(1 << 20))
		Expect(r.recorded().Response.Truncated).To(BeTrue())
		Expect(a.OK()).To(BeFalse())
	})

	It("stops an endless body at the read limit", func() {
		r := newFixture(readLimit(100_000))
		a := r.send(recorder.Request{URL: serve(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		}).URL})
		Expect(a.Body).To(HaveLen(100_000))
		Expect(r.recorded().Response.Truncated).To(BeTrue())
	})

	It("does not call a body of exactly the read limit truncated", func() {
		r := newFixture(readLimit(5))
		a := r.send(recorder.Request{URL: serve(text("hello")).URL})
		Expect(a.OK()).To(BeTrue())
	})

	DescribeTable("ends an answer that takes too long",
		func(raw bool, begin func(http.ResponseWriter)) {
			r := newFixture(timeout(50 * time.Millisecond))
			a := r.send(recorder.Request{Raw: raw, NoRetry: true, URL: serve(func(w http.ResponseWriter, q *http.Request) {
				begin(w)
				<-q.Context().Done()
			}).URL})
			Expect(a.Failure().Kind).To(Equal(evidence.FailureTimeout))
			Expect(a.Failure().Message).To(Equal("no complete answer within 50ms"))
			Expect(r.recorded().Response).To(BeNil())
		},
		Entry("nothing comes", false, func(http.ResponseWriter) {}),
		Entry("the body drips", false, drip),
		Entry("raw, nothing comes", true, func(http.ResponseWriter) {}),
		Entry("raw, the body drips", true, drip),
	)

	It("ends a request with the run, without an answer and a repeat", func() {
		r := newFixture()
		ctx, cancel := context.WithCancel(context.Background())
		r.recorder.Send(ctx, recorder.Request{Label: "info.ok", URL: serve(func(_ http.ResponseWriter, q *http.Request) {
			cancel()
			<-q.Context().Done()
		}).URL})
		Expect(r.recorded().Failure.Kind).To(Equal(evidence.FailureCanceled))
		Expect(r.recorder.Sent()).To(Equal(1))
	})

	DescribeTable("bounds the header",
		func(raw bool) {
			r := newFixture()
			a := r.send(recorder.Request{Raw: raw, URL: serve(status(200, "X-Long", strings.Repeat("a", 80<<10))).URL})
			Expect(a.Failure().Kind).To(Equal(evidence.FailureProtocol))
			Expect(a.Failure().Message).To(ContainSubstring("header"))
		},
		Entry("by net/http", false),
		Entry("raw", true),
	)

	DescribeTable("bounds informational answers",
		func(raw bool) {
			r := newFixture()
			a := r.send(recorder.Request{Raw: raw, URL: serve(hijacked(strings.Repeat("HTTP/1.1 103 Early Hints\r\nA: "+strings.Repeat("a", 100)+"\r\n\r\n", 5000))).URL})
			Expect(a.Failure().Kind).To(Equal(evidence.FailureProtocol), a.Failure().Message)
		},
		Entry("by net/http", false),
		Entry("raw", true),
	)

	It("reads past a few informational answers", func() {
		for _, raw := range []bool{false, true} {
			a := newFixture().send(recorder.Request{Raw: raw, URL: serve(hijacked("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")).URL})
			Expect(string(a.Body)).To(Equal("ok"))
		}
	})

	DescribeTable("stops reading an endless body at the limit and closes its connection",
		func(raw bool) {
			left := make(chan struct{})
			s := serve(func(w http.ResponseWriter, _ *http.Request) {
				defer close(left)
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					return
				}
				defer conn.Close()
				_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n") // no "Connection: close"
				for err == nil {
					_, err = conn.Write(make([]byte, 64<<10))
				}
			})
			r := newFixture(readLimit(1000), timeout(3*time.Second)) // a request that ends only with the timeout has read on
			began := time.Now()
			r.send(recorder.Request{URL: s.URL, Raw: raw})
			Expect(time.Since(began)).To(BeNumerically("<", 3*time.Second))
			Expect(r.recorded().Response).To(And(HaveField("Truncated", true), HaveField("Size", BeEquivalentTo(1000))))
			Eventually(left).Should(BeClosed())
		},
		Entry("usual", false),
		Entry("raw", true),
	)
})

func drip(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "1000")
	io.WriteString(w, "one drop")
	w.(http.Flusher).Flush()
}

var _ = Describe("The limit of all bodies together", func() {
	const free = 64 << 10 // bytes of each body that do not count

	It("cuts later bodies off, but keeps small answers", func() {
		r := newFixture(func(o *recorder.Options) { o.TotalLimit = 256 << 10 })
		large, small := serve(text(strings.Repeat("x", 300<<10))), serve(text(strings.Repeat("x", free)))
		length := func(url string) (int, bool) {
			a := r.send(recorder.Request{URL: url})
			return len(a.Body), a.Exchange.Response.Truncated
		}
		for i, want := range []int{300 << 10, free, free} { // beyond its free part the first body has 236 KiB, and uses up all 256 KiB in steps of 64
			got, cut := length(large.URL)
			Expect(got).To(Equal(want), "answer %d", i)
			Expect(cut).To(Equal(want < 300<<10), "answer %d", i)
		}
		got, cut := length(small.URL)
		Expect(got).To(Equal(free))
		Expect(cut).To(BeFalse(), "it ended there by itself")
	})

	It("counts decoded bytes", func() {
		r := newFixture(func(o *recorder.Options) { o.TotalLimit = 128 << 10 })
		a := r.send(recorder.Request{URL: serve(coded("gzip", gzipped(strings.Repeat("x", 1<<20)))).URL})
		Expect(a.Body).To(HaveLen(free + 128<<10))
		Expect(a.Exchange.Response.Truncated).To(BeTrue())
		Expect(a.OK()).To(BeFalse())
	})
})
