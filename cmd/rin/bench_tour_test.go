//go:build linux

package main_test

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkFirstFrame measures from the start of the process until the first frame of rin tour is on the terminal: on one that answers the
// question for its background, and on one that never does. Nothing else is measured against: a person waits for exactly this.
func BenchmarkFirstFrame(b *testing.B) {
	rin := build(b, "github.com/rin-network/rin/cmd/rin")
	for _, row := range []struct {
		name    string
		answers bool
		limit   float64 // milliseconds
	}{
		{"answering", true, 100},
		{"silent", false, 300},
	} {
		b.Run(row.name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				took = append(took, untilFrame(b, rin, row.answers))
			}
			slices.Sort(took)
			atMost(b, float64(took[len(took)/2].Microseconds())/1000, "ms-median", row.limit)
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms-most")
		})
	}
}

// untilFrame starts a tour, waits for its first frame and leaves it.
func untilFrame(b *testing.B, rin string, answers bool) time.Duration {
	b.Helper()
	command := exec.Command(rin, "tour")
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.TempDir(), "TERM=xterm-256color"}
	s, err := sit(answers, "", command)
	if err != nil {
		b.Fatal(err)
	}
	defer s.leave()
	select {
	case <-s.framed:
	case <-time.After(10 * time.Second):
		b.Fatalf("no frame within 10 s:\n%q", s.all())
	}
	s.types("\x03")
	<-s.exited
	return s.firstFrame()
}
