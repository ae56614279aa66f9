package hostile_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"

	_ "github.com/rin-network/rin/conformance"
)

func TestHostile(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "hostile")
}

// binary is the rin that is attacked, built once.
var binary string

var _ = BeforeSuite(func() {
	var err error
	binary, err = gexec.Build("github.com/rin-network/rin/cmd/rin", "-ldflags=-s -w")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(gexec.CleanupBuildArtifacts)
})
