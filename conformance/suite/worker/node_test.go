//go:build unix

package worker_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/suite/worker"
)

const workerAccessToken = "an-access-token-of-this-node-0123456789"

// workerNewNode is a node of a token endpoint and a guarded info resource. info answers who has a token.
func workerNewNode(info http.HandlerFunc) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if r.FormValue("client_secret") != secret || r.FormValue("grant_type") != "client_credentials" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
			return
		}
		_, _ = w.Write([]byte(`{"access_token":"` + workerAccessToken + `","token_type":"Bearer","expires_in":300}`))
	})
	mux.HandleFunc("/info/v1/oauth/info/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+workerAccessToken {
			w.Header().Set("WWW-Authenticate", `Bearer realm="node"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		info(w, r)
	})
	node := httptest.NewServer(mux)
	DeferCleanup(node.Close)
	return node
}

func goodInfo(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"endpoints":{}}`))
}

// jobAt certifies a node for the profile auth, with its evidence in a folder of this test.
func jobAt(node *httptest.Server) worker.Options {
	job := jobFor(child("serve"))
	job.Target.TokenURL, job.Target.InfoURL, job.Target.Profile = node.URL+"/token", node.URL+"/info/v1/oauth/info/", "auth"
	job.Evidence = filepath.Join(GinkgoT().TempDir(), "evidence.jsonl")
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
