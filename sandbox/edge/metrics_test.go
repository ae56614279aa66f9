package edge_test

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/edge"
)

var _ = Describe("A page", func() {
	It("has the metrics of every node", func() {
		first, second := edge.NewRequestCounts("list", "other"), edge.NewRequestCounts("list", "other")
		first.Count("list", "GET", 200, 3*time.Millisecond)
		first.Count("list", "GET", 304, 100*time.Microsecond)
		first.Count("list", "GET", 204, time.Hour)
		second.Count("list", "POST", 405, -time.Second)
		var p edge.MetricsPage
		p.Requests(edge.NodeMetrics{ID: "XA", Requests: first}, edge.NodeMetrics{ID: "XB", Requests: second})
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

	It("has no label value that a client chooses", func() {
		requests := edge.NewRequestCounts("list", "other")
		for _, name := range []string{"", "/etc/passwd", "list\n"} {
			for _, method := range []string{"BREW", "get", "", "a\"b"} {
				for _, status := range []int{0, 101, 999, -1} {
					requests.Count(name, method, status, time.Second)
				}
			}
		}
		var p edge.MetricsPage
		p.Requests(edge.NodeMetrics{ID: "XA", Requests: requests})
		families, err := parse(string(p.Bytes()))
		Expect(err).NotTo(HaveOccurred())
		Expect(families["rin_requests_total"].samples).To(Equal(map[string]float64{`rin_requests_total{node="XA",operation="other",method="other",status="none"}`: 48}))
	})

	It("escapes names that operators choose", func() {
		var p edge.MetricsPage
		p.Gauge("rin_test", "A \\ and\na line.", edge.Sample{Value: 0.5, Labels: []string{"node", "a\"b\\c\nd\xff"}})
		Expect(string(p.Bytes())).To(Equal("# HELP rin_test A \\\\ and\\na line.\n# TYPE rin_test gauge\nrin_test{node=\"a\\\"b\\\\c\\nd�\"} 0.5\n"))
		_, err := parse(string(p.Bytes()))
		Expect(err).NotTo(HaveOccurred())
	})

	It("has the metrics of the process", func() {
		var p edge.MetricsPage
		p.Process()
		families, err := parse(string(p.Bytes()))
		Expect(err).NotTo(HaveOccurred())
		Expect(families["go_goroutines"].samples["go_goroutines"]).To(BeNumerically(">=", 1))
		Expect(families["go_memstats_sys_bytes"].samples["go_memstats_sys_bytes"]).To(BeNumerically(">", 1<<20))
		Expect(families["rin_build_info"].samples).To(HaveLen(1))
	})

	It("counts requests that end at the same time", func() {
		requests := edge.NewRequestCounts("list", "other")
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 1000 {
					requests.Count("list", "GET", 200, time.Millisecond)
				}
			})
		}
		group.Wait()
		var p edge.MetricsPage
		p.Requests(edge.NodeMetrics{ID: "XA", Requests: requests})
		families, err := parse(string(p.Bytes()))
		Expect(err).NotTo(HaveOccurred())
		Expect(families["rin_requests_total"].samples).To(HaveKeyWithValue(HaveSuffix(`status="2xx"}`), 8000.0))
	})
})

var _ = DescribeTable("The parser of these tests refuses", func(text string) {
	_, err := parse(text)
	Expect(err).To(HaveOccurred())
},
	Entry("a last line without a line end", "# HELP a b\n# TYPE a gauge\na 1"),
	Entry("a family without help", "# TYPE a gauge\na 1\n"),
	Entry("a family in two pieces", "# HELP a b\n# TYPE a gauge\na 1\n# HELP a b\n# TYPE a gauge\na{b=\"c\"} 1\n"),
	Entry("a sample twice", "# HELP a b\n# TYPE a gauge\na 1\na 2\n"),
	Entry("a sample of no family", "# HELP a b\n# TYPE a gauge\nb 1\n"),
	Entry("a counter whose name does not end in _total", "# HELP a b\n# TYPE a counter\na 1\n"),
	Entry("a value that is not a number", "# HELP a b\n# TYPE a gauge\na x\n"),
	Entry("an unescaped quote", "# HELP a b\n# TYPE a gauge\na{b=\"c\"d\"} 1\n"),
	Entry("a histogram that shrinks", "# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n"),
	Entry("a histogram without +Inf", "# HELP a b\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_sum 1\na_count 2\n"),
)

func BenchmarkCount(b *testing.B) {
	requests := edge.NewRequestCounts("token", "list", "detail", "info", "other")
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			requests.Count("detail", "GET", 200, 130*time.Microsecond)
		}
	})
}

// family is one metric family of a page.
type family struct {
	kind    string
	samples map[string]float64 // by name and labels, as they are written
}

var (
	nameLine   = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)+\})? ([^ ]+)$`)
)

// parse reads a page as strictly as promtool check metrics does: HELP and TYPE once before the samples of a family, families in one
// piece, no sample twice, counters by their name, histograms cumulative up to +Inf.
func parse(text string) (map[string]family, error) {
	families := map[string]family{}
	current, help := "", ""
	if !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("the last line has no line end")
	}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fail := func(what string) (map[string]family, error) {
			return nil, fmt.Errorf("line %d: %s: %s", i+1, what, line)
		}
		if rest, found := strings.CutPrefix(line, "# HELP "); found {
			var text string
			help, text, found = strings.Cut(rest, " ")
			if !found || text == "" || !nameLine.MatchString(help) {
				return fail("a name and a help text expected")
			}
			continue
		}
		if rest, found := strings.CutPrefix(line, "# TYPE "); found {
			name, kind, _ := strings.Cut(rest, " ")
			if _, known := families[name]; known || name != help {
				return fail("a family in several pieces, or without help")
			}
			if (kind == "counter") != strings.HasSuffix(name, "_total") {
				return fail("counters end in _total, and nothing else does")
			}
			families[name], current = family{kind, map[string]float64{}}, name
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			return fail("not a sample")
		}
		value, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return fail(err.Error())
		}
		f := families[current]
		if base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(m[1], "_bucket"), "_sum"), "_count"); m[1] != current && (f.kind != "histogram" || base != current) {
			return fail("a sample outside its family")
		}
		if _, known := f.samples[m[1]+m[2]]; known {
			return fail("a sample twice")
		}
		f.samples[m[1]+m[2]] = value
	}
	for name, f := range families {
		if err := f.check(name); err != nil {
			return nil, err
		}
	}
	return families, nil
}

var lessOrEqual = regexp.MustCompile(`,?le="([^"]+)"`)

// check returns an error unless the buckets of each histogram are cumulative up to +Inf.
func (f family) check(name string) error {
	if f.kind != "histogram" {
		return nil
	}
	type bucket struct{ bound, count float64 }
	buckets := map[string][]bucket{}
	for key, value := range f.samples {
		labels, isBucket := strings.CutPrefix(key, name+"_bucket")
		if !isBucket {
			continue
		}
		m := lessOrEqual.FindStringSubmatch(labels)
		if m == nil {
			return fmt.Errorf("%s has no le", key)
		}
		bound, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return err
		}
		rest := strings.Replace(labels, m[0], "", 1)
		buckets[rest] = append(buckets[rest], bucket{bound, value})
	}
	for labels, all := range buckets {
		sort.Slice(all, func(i, j int) bool { return all[i].bound < all[j].bound })
		for i := range all {
			if i > 0 && all[i].count < all[i-1].count {
				return fmt.Errorf("%s%s is not cumulative at %g", name, labels, all[i].bound)
			}
		}
		if last := all[len(all)-1]; last.bound <= 1e300 || last.count != f.samples[name+"_count"+labels] {
			return fmt.Errorf("%s%s: +Inf is missing or not the count", name, labels)
		}
		if _, exists := f.samples[name+"_sum"+labels]; !exists {
			return fmt.Errorf("%s%s has no sum", name, labels)
		}
	}
	return nil
}
