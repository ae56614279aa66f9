//go:build e2e

// Package e2e_test certifies servers that others wrote with the built binary: node-oidc-provider and Keycloak in front of the sandbox's API
// or of a small resource server, and mocks that must be refused. It serves an API from its document beside Prism and counts the errors and
// the speed of both. It also opens the sandbox's pages and a report in a browser. The tests need Node and npm, Java and Maven for Keycloak,
// and Chromium for pages and pictures, so they have the build tag e2e; "make e2e" runs them, and "make e2e-quick" those that are not slow. A test whose program is missing is skipped
// with a loud line.
//
// testdata/outcomes has one table for each node: the outcome of every requirement. After a change of the catalogue,
//
//	make e2e RIN_UPDATE_OUTCOMES=1
//
// rewrites the tables. It fails while a reason begins with "?". Read each such line, find out who is right by the RFC, and fix the
// requirement or remove the mark.
//
// kin-openapi judges all recorded answers a second time. difference_test.go lists the known differences from rin; any other difference
// fails.
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
	RunSpecs(t, "servers of other vendors")
}

// slow marks what "make e2e-quick" leaves out: a server that takes minutes to start, and a race against another program.
var slow = Label("slow")

var (
	binary  string // the built rin
	servers string // a temporary folder with the servers installed; empty without npm
)

var _ = BeforeSuite(func() {
	var err error
	binary, err = gexec.Build("github.com/rin-network/rin/cmd/rin")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(gexec.CleanupBuildArtifacts)
	if isMissing("node", "npm") {
		return
	}
	servers = GinkgoT().TempDir()
	Expect(os.CopyFS(servers, os.DirFS("testdata"))).To(Succeed())
	install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
	install.Dir = servers
	out, err := install.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
})

// isMissing reports whether one of these programs is not installed, and prints its name.
func isMissing(programs ...string) bool {
	missing := false
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			fmt.Fprintf(os.Stderr, "\n*** SKIPPED: %s is not installed, so what needs it was not tested ***\n\n", p)
			missing = true
		}
	}
	return missing
}

// publishedDocuments returns the folder of the network's published documents; "" if RIN_PUBLISHED does not name it.
func publishedDocuments() string {
	dir := os.Getenv("RIN_PUBLISHED")
	if _, err := os.Stat(filepath.Join(dir, "funding.json")); dir == "" || err != nil {
		fmt.Fprintf(os.Stderr, "\n*** SKIPPED: RIN_PUBLISHED names no folder with the published documents ***\n\n")
		return ""
	}
	return dir
}
