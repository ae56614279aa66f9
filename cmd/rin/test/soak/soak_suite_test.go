// Package soak_test keeps a sandbox busy for a while ("make soak"). It runs the built binary with journal, CORS, fault injection and scenarios
// at 80 % of its capacity; every answer must be right, and memory must not grow.
package soak_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

func TestSoak(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "soak")
}

const (
	// share is what part of its capacity the sandbox is asked for.
	share = 0.8
	// measuring is how long the capacity is measured, warmUp how long it is asked before its memory is looked at: journal and caches fill.
	measuring, warmUp = 5 * time.Second, 10 * time.Second
	// growth is what memory may differ at the end, in parts of what it was after the warm-up; slack is the noise of a collector, in bytes.
	growth, slack = 0.05, 4 << 20
	// kept is the part of the wanted rate that must have been reached: otherwise it was no soak at 80 %.
	kept = 0.95
)

var _ = Describe("A sandbox at 80 % of its capacity", func() {
	It("answers correctly and does not grow", func(ctx SpecContext) {
		if os.Getenv("RIN_SOAK") == "" {
			Skip("make soak runs it; RIN_SOAK=60s go test ./cmd/rin/test/soak does, too")
		}
		length, err := time.ParseDuration(os.Getenv("RIN_SOAK"))
		Expect(err).NotTo(HaveOccurred())
		binary, err := gexec.Build("github.com/rin-network/rin/cmd/rin")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(gexec.CleanupBuildArtifacts)
		s := start(binary)

		capacity := s.load(ctx, measuring, 0)
		fmt.Printf("\ncapacity   %6.0f requests/s with %d connections (%s)\n", capacity.rate(), connections, capacity)
		Expect(capacity.faults).To(BeEmpty())
		wanted := share * capacity.rate()
		warm := s.load(ctx, warmUp, wanted)
		Expect(warm.faults).To(BeEmpty())
		before := s.memory()
		soaked := s.load(ctx, length, wanted)
		after := s.memory()
		fmt.Printf("soaked     %6.0f requests/s for %s, %.0f wanted (%s)\n", soaked.rate(), length, wanted, soaked)
		fmt.Printf("memory     %s after the warm-up\n           %s at the end\n", before, after)

		Expect(soaked.faults).To(BeEmpty())
		Expect(after.resident).To(BeNumerically("<=", (1+growth)*before.resident+slack), "resident bytes")
		Expect(after.goroutines).To(BeNumerically("<=", before.goroutines+connections), "goroutines")
		Expect(soaked.rate()).To(BeNumerically(">=", kept*wanted), "this machine was too busy with other things")
	})
})
