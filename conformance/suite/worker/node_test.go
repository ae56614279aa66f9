//go:build unix

package worker_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/suite/worker"
)

// newNode is a node whose info endpoint is answered by info; nil for a good answer.
func newNode(info http.HandlerFunc) *conformancetest.Node {
	return conformancetest.Start(GinkgoT(), func(n *conformancetest.Node) { n.Info = info })
}

// jobAt certifies a node for the profile auth, with its evidence in a folder of this test.
func jobAt(node *conformancetest.Node) worker.Options {
	job := jobFor(child("serve"))
	job.Target = node.Target()
	job.Evidence = filepath.Join(GinkgoT().TempDir(), "evidence.jsonl.gz")
	return job
}

func evidenceOf(job worker.Options) *evidence.Log {
	GinkgoHelper()
	file, err := os.Open(job.Evidence)
	Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	log, err := evidence.ReadLog(file)
	Expect(err).NotTo(HaveOccurred())
	return log
}

// serving starts a real child without the parent of this package, so that a test can be a worse parent.
func serving(job worker.Options) (*exec.Cmd, func() error) {
	GinkgoHelper()
	cmd := exec.Command(os.Args[0], asChild, "serve")
	cmd.Env = []string{}
	cmd.Stderr = GinkgoWriter
	in, err := cmd.StdinPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(cmd.Start()).To(Succeed())
	DeferCleanup(func() { _ = cmd.Process.Kill() })
	Expect(json.NewEncoder(in).Encode(job)).To(Succeed())
	return cmd, in.Close
}
