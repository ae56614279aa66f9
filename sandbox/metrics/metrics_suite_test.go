package metrics_test

import (
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/metrics"
)

func TestMetrics(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "metrics")
}

var _ = Describe("A page", func() {
	It("says what a scraper asks for, of every node", func() {
		first, second := metrics.NewRequests("list", "other"), metrics.NewRequests("list", "other")
		first.Count("list", "GET", 200, 3*time.Millisecond)
		first.Count("list", "GET", 304, 100*time.Microsecond)
		first.Count("list", "GET", 204, time.Hour)
		second.Count("list", "POST", 405, -time.Second)
		var p metrics.Page
		p.Requests(metrics.Node{ID: "XA", Requests: first}, metrics.Node{ID: "XB", Requests: second})
		families, err := parse(string(p.Bytes()))
		Expect(err).NotTo(HaveOccurred())
		Expect(families["rin_requests_total"].samples).To(Equal(map[string]float64{
			`rin_requests_total{node="XA",operation="list",method="GET",status="2xx"}`:  2,
			`rin_requests_total{node="XA",operation="list",method="GET",status="3xx"}`:  1,
			`rin_requests_total{node="XB",operation="list",method="POST",status="4xx"}`: 1,
		}))
		durations := families["rin_request_duration_seconds"].samples
		Expect(durations).To(SatisfyAll(
			HaveKeyWithValue(`rin_request_duration_seconds_bucket{node="XA",operation="list",le="0.0001"}`, 1.0),
			HaveKeyWithValue(`rin_request_duration_seconds_bucket{node="XA",operation="list",le="0.0025"}`, 1.0),
			HaveKeyWithValue(`rin_request_duration_seconds_bucket{node="XA",operation="list",le="0.005"}`, 2.0),
			HaveKeyWithValue(`rin_request_duration_seconds_bucket{node="XA",operation="list",le="30"}`, 2.0),
			HaveKeyWithValue(`rin_request_duration_seconds_count{node="XA",operation="list"}`, 3.0),
			HaveKeyWithValue(`rin_request_duration_seconds_sum{node="XA",operation="list"}`, 3600.0031),
			HaveKeyWithValue(`rin_request_duration_seconds_sum{node="XB",operation="list"}`, 0.0),
		))
	})

	It("has as many labels after any request as before it", func() {
		requests := metrics.NewRequests("list", "other")
		for _, name := range []string{"", "/etc/passwd", "list\n"} {
			for _, method := range []string{"BREW", "get", "", "a\"b"} {
				for _, status := range []int{0, 101, 999, -1} {
					requests.Count(name, method, status, time.Second)
				}
			}
		}
		var p metrics.Page
		p.Requests(metrics.Node{ID: "XA", Requests: requests})
		families, err := parse(string(p.Bytes()))
		Expect(err).NotTo(HaveOccurred())
		Expect(families["rin_requests_total"].samples).To(Equal(map[string]float64{`rin_requests_total{node="XA",operation="other",method="other",status="none"}`: 48}))
	})

	It("escapes names that operators choose", func() {
		var p metrics.Page
		p.Gauge("rin_test", "A \\ and\na line.", metrics.Sample{Value: 0.5, Labels: []string{"node", "a\"b\\c\nd\xff"}})
		Expect(string(p.Bytes())).To(Equal("# HELP rin_test A \\\\ and\\na line.\n# TYPE rin_test gauge\nrin_test{node=\"a\\\"b\\\\c\\nd�\"} 0.5\n"))
		_, err := parse(string(p.Bytes()))
		Expect(err).NotTo(HaveOccurred())
	})

	It("tells of the process", func() {
		var p metrics.Page
		p.Process()
		families, err := parse(string(p.Bytes()))
		Expect(err).NotTo(HaveOccurred())
		Expect(families["go_goroutines"].samples["go_goroutines"]).To(BeNumerically(">=", 1))
		Expect(families["go_memstats_sys_bytes"].samples["go_memstats_sys_bytes"]).To(BeNumerically(">", 1<<20))
		Expect(families["rin_build_info"].samples).To(HaveLen(1))
	})

	It("loses no count of requests that end at the same time", func() {
		requests := metrics.NewRequests("list", "other")
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 1000 {
					requests.Count("list", "GET", 200, time.Millisecond)
				}
			})
		}
		group.Wait()
		var p metrics.Page
		p.Requests(metrics.Node{ID: "XA", Requests: requests})
		families, err := parse(string(p.Bytes()))
		Expect(err).NotTo(HaveOccurred())
		Expect(families["rin_requests_total"].samples).To(HaveKeyWithValue(HaveSuffix(`status="2xx"}`), 8000.0))
	})
})

var _ = DescribeTable("The parser of these tests refuses", func(text string) {
	_, err := parse(text)
	Expect(err).To(HaveOccurred())
},
	Entry("no end", "# HELP a b\n# TYPE a gauge\na 1"),
	Entry("no help", "# TYPE a gauge\na 1\n"),
	Entry("a family in two pieces", "# HELP a b\n# TYPE a gauge\na 1\n# HELP a b\n# TYPE a gauge\na{b=\"c\"} 1\n"),
	Entry("a sample twice", "# HELP a b\n# TYPE a gauge\na 1\na 2\n"),
	Entry("a sample of nobody", "# HELP a b\n# TYPE a gauge\nb 1\n"),
	Entry("a counter without its ending", "# HELP a b\n# TYPE a counter\na 1\n"),
	Entry("no number", "# HELP a b\n# TYPE a gauge\na x\n"),
	Entry("an unescaped quote", "# HELP a b\n# TYPE a gauge\na{b=\"c\"d\"} 1\n"),
	Entry("a histogram that shrinks", "# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n"),
	Entry("a histogram without +Inf", "# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_sum 1\na_count 2\n"),
)

func BenchmarkCount(b *testing.B) {
	requests := metrics.NewRequests("token", "list", "detail", "info", "other")
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			requests.Count("detail", "GET", 200, 130*time.Microsecond)
		}
	})
}
