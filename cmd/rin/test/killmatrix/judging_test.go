package killmatrix_test

import (
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/cmd/rin/test"
	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/sandbox"
)

var _ = Describe("Judging", Serial, func() {
	// A check that decodes all answers again for each answer takes many times as long. The test compares two times of one run, so it does not depend on
	// the machine. It takes the best of several rounds, because other programs may use the processor. Allocations do not vary, so their limit is tight.
	It("takes at most three times what decoding the bodies once takes, and allocates at most 1.35 times as much", func(ctx SpecContext) {
		const limit, memoryLimit, rounds = 3.0, 1.35, 5
		log := recordEvidence(ctx, 60)
		best, memory := 1000.0, 1000.0
		for range rounds {
			decoding := costOf(func() { decodeBodies(log) })
			judging := costOf(func() { requirement.JudgeAll(requirement.Catalogue(), requirement.Read(log)) })
			best = min(best, float64(judging.time)/float64(decoding.time))
			memory = min(memory, float64(judging.memory)/float64(decoding.memory))
		}
		GinkgoWriter.Printf("judging takes %.2f times what decoding takes, and allocates %.2f times as much\n", best, memory)
		Expect(best).To(BeNumerically("<=", limit))
		Expect(memory).To(BeNumerically("<=", memoryLimit))
	})
})

// cost is the time and the memory that a piece of work takes.
type cost struct {
	time   time.Duration
	memory uint64 // allocated, in bytes
}

func costOf(work func()) cost {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	started := time.Now()
	work()
	elapsed := time.Since(started)
	runtime.ReadMemStats(&after)
	return cost{elapsed, after.TotalAlloc - before.TotalAlloc}
}

// recordEvidence certifies a correct node with so many calls for the profile funding, as the demo does, and returns the
// evidence.
func recordEvidence(ctx SpecContext, calls int) *evidence.Log {
	GinkgoHelper()
	clock := test.NewClock(now())
	node, err := sandbox.New(sandbox.Config{
		Seed: 1, Calls: calls, AsOf: now(), Clock: clock.Now, Pause: clock.Pause, Random: rand.NewChaCha8([32]byte{1}), Loopback: true,
	})
	Expect(err).NotTo(HaveOccurred())
	base, stop, err := inCleartext(node)
	Expect(err).NotTo(HaveOccurred())
	defer stop()
	t, err := test.FullTarget(base, node, now())
	Expect(err).NotTo(HaveOccurred())
	t.Profile = string(requirement.Funding)
	result, err := conformance.Certify(ctx, t, conformance.Options{Inputs: conformance.Inputs{Suite: "test", Clock: clock.Now, Pause: clock.Pause}})
	Expect(err).NotTo(HaveOccurred())
	return result.Log
}

// decodeBodies decodes the body of each answer once.
func decodeBodies(log *evidence.Log) {
	for _, x := range log.Exchanges {
		if x.Response != nil {
			var value any
			_ = json.Unmarshal(x.Response.Body, &value) // not every body is JSON
		}
	}
}
