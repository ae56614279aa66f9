package killmatrix_test

import (
	"testing"
	"time"
)

// BenchmarkMatrix measures the whole kill matrix (target: 6 minutes on two cores).
func BenchmarkMatrix(b *testing.B) {
	const limit = 6 * time.Minute
	all, err := selected(".")
	if err != nil {
		b.Fatal(err)
	}
	clean, err := certify(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := measure(b.Context(), clean, all); err != nil {
			b.Fatal(err)
		}
	}
	duration := b.Elapsed() / time.Duration(b.N)
	b.ReportMetric(duration.Seconds(), "s/matrix")
	b.ReportMetric(float64(len(all.deviations)), "deviations")
	if duration > limit {
		b.Errorf("the matrix took %s, the target is at most %s", duration.Round(time.Second), limit)
	}
}
