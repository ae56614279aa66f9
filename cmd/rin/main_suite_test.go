package main_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

func TestRin(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "rin")
}

// binary is the path of the command rin, which is built once and run by the tests.
var binary string

var _ = BeforeSuite(func() {
	var err error
	binary, err = gexec.Build("github.com/rin-network/rin/cmd/rin", "-ldflags=-s -w")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(gexec.CleanupBuildArtifacts)
})
