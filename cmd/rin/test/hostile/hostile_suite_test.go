// Package hostile_test certifies nodes that attack their tester, with the built binary. Each attack is a value in the table of its theme.
// Every run must end in time, use little memory, reach a verdict that names the cause, send nothing to places that the node names, and
// write nothing that acts on a terminal, a browser, an XML reader or a Markdown renderer.
//
// "make hostile" runs all attacks, many of which take seconds. "make test" runs the typical ones of each theme, side by side with one
// binary. RIN_HOSTILE selects attacks by name.
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
