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
	// share is the part of its capacity at which the sandbox is loaded.
	share = 0.8
	// measuring is how long the capacity is measured. warmUp is how long the load runs before memory is measured, so that journal and caches are full.
	measuring, warmUp = 5 * time.Second, 10 * time.Second
	// growth is the part by which memory may grow after the warm-up; slack is the noise of the garbage collector, in bytes.
	growth, slack = 0.05, 4 << 20
	// minShare is the part of the wanted rate that must be reached: otherwise the sandbox was not busy enough.
	minShare = 0.95
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
		Expect(soaked.rate()).To(BeNumerically(">=", minShare*wanted), "this machine was too busy with other things")
	})
})
