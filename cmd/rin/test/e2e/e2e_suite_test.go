//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

func TestEndToEnd(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "servers of other makers")
}

var (
	binary  string // the built rin
	servers string // a temporary folder with the servers installed; empty without npm
)

var _ = BeforeSuite(func() {
	var err error
	binary, err = gexec.Build("github.com/rin-network/rin/cmd/rin")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(gexec.CleanupBuildArtifacts)
	if missing("node", "npm") {
		return
	}
	servers = GinkgoT().TempDir()
	Expect(os.CopyFS(servers, os.DirFS("testdata"))).To(Succeed())
	install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
	install.Dir = servers
	out, err := install.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
})

// missing says loudly which programs are not here.
func missing(programs ...string) bool {
	gone := false
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			fmt.Fprintf(os.Stderr, "\n*** SKIPPED: %s is not installed, so what needs it was not tested ***\n\n", p)
			gone = true
		}
	}
	return gone
}

// published is the folder of the network's published documents; empty when it is not beside the project.
func published() string {
	dir := os.Getenv("RIN_PUBLISHED")
	if _, err := os.Stat(filepath.Join(dir, "funding.json")); dir == "" || err != nil {
		fmt.Fprintf(os.Stderr, "\n*** SKIPPED: RIN_PUBLISHED names no folder with the published documents ***\n\n")
		return ""
	}
	return dir
}
