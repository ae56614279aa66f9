//go:build unix

// Package clients_test judges clients by rin client-test: programs that keep the rules, which must earn no fault and no waste, and programs with one fault
// each, which must be named by a right rule. Each folder with a clients.json is a corpus.
//
// "make clients" runs all of them with the built binary. "make test" runs a sample. RIN_CLIENTS selects clients by folder and name. A client whose language
// or library is missing is skipped with a loud line.
package clients_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

func TestClients(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "clients")
}

// binary is the rin that judges, built once.
var binary string

var _ = BeforeSuite(func() {
	var err error
	binary, err = gexec.Build("github.com/rin-network/rin/cmd/rin", "-ldflags=-s -w")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(gexec.CleanupBuildArtifacts)
})
