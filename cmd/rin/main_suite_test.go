package main_test

import (
	"os"
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
	states, err := os.MkdirTemp("", "rin-states")
	Expect(err).NotTo(HaveOccurred())
	Expect(os.Setenv("XDG_RUNTIME_DIR", states)).To(Succeed()) // the sandboxes of the tests leave the user's own folder alone
	DeferCleanup(os.RemoveAll, states)
	arguments := []string{"-ldflags=-s -w"}
	if os.Getenv("RIN_RACE") != "" { // make race: the detector watches the program, and not only its tests
		arguments = append(arguments, "-race")
	}
	binary, err = gexec.Build("github.com/rin-network/rin/cmd/rin", arguments...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(gexec.CleanupBuildArtifacts)
})
