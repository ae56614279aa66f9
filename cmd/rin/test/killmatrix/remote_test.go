package killmatrix_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
)

var _ = Describe("The suite with the limits of a node elsewhere", func() {
	remote := func(t *target.Target) {
		t.Politeness.Rate, t.Politeness.Concurrency = 100*target.RemoteRate, target.RemoteConcurrency // limited, but so fast that the test does not take minutes
	}

	DescribeTable("notices that a node confuses simultaneous requests",
		func(ctx SpecContext, deviation string, broken requirement.ID) {
			found, err := certifyChanged(ctx, remote, deviation)
			Expect(err).NotTo(HaveOccurred())
			Expect(found[broken].Outcome).To(Equal(requirement.Fail), "%v", found[broken])
		},
		Entry("tokens of another client", "token-of-parallel-client", requirement.ID("API-01")),
	)
})
