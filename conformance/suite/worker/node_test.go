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

// newNode starts a node whose info endpoint is served by info, or correctly if info is nil.
func newNode(info http.HandlerFunc) *conformancetest.Node {
	return conformancetest.Start(GinkgoT(), func(n *conformancetest.Node) { n.Info = info })
}

// jobAt returns a job that certifies a node for the profile auth and writes its evidence into a folder of this test.
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

// startChild starts a real child without [worker.Run], so that a test can close its stdin or send it a signal.
func startChild(job worker.Options) (*exec.Cmd, func() error) {
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
