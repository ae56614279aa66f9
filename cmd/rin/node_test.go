package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

// node is a sandbox on an HTTP server. A test may wrap its handler to change requests and answers.
type node struct {
	*httptest.Server
	clients []sandbox.Credential
	sandbox *sandbox.Server
}

// newNode serves a small sandbox; wrap may be nil.
func newNode(wrap func(http.Handler) http.Handler, deviations ...string) node {
	GinkgoHelper()
	s, err := sandbox.New(sandbox.Config{Calls: 10, Loopback: true, Deviations: deviations, AsOf: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)})
	Expect(err).NotTo(HaveOccurred())
	var handler http.Handler = s
	if wrap != nil {
		handler = wrap(s)
	}
	n := node{httptest.NewServer(handler), s.Credentials(), s}
	DeferCleanup(func() {
		n.CloseClientConnections()
		n.Close()
	})
	return n
}

// answerChallenge serves the stored text at the well-known place at which an admission looks for it; nothing is stored at first.
func answerChallenge(answer *atomic.Value) func(http.Handler) http.Handler {
	answer.Store("")
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if strings.HasPrefix(req.URL.Path, "/.well-known/rin-challenge/") {
				fmt.Fprintln(w, answer.Load())
				return
			}
			next.ServeHTTP(w, req)
		})
	}
}

// env returns the environment variables with the secrets of the node's clients.
func (n node) env() []string {
	expired, err := n.sandbox.TokenAt(time.Now().Add(-time.Hour), n.URL, n.clients[0].ClientID)
	Expect(err).NotTo(HaveOccurred())
	return []string{
		"SECRET=" + n.clients[0].Secret, "SECRET2=" + n.clients[1].Secret, "OTHER=" + n.clients[2].Secret,
		"STAGING=" + n.sandbox.ElsewhereClient().Secret, "EXPIRED=" + expired,
	}
}

// everything returns the flags for every input of a run that [node.flags] leaves out.
func (n node) everything() []string {
	return []string{
		"--profile", "full", "--other-client-id", n.clients[2].ClientID, "--other-client-secret", "env:OTHER",
		"--staging-token-url", n.URL + "/elsewhere/oauth/token", "--staging-client-id", n.sandbox.ElsewhereClient().ClientID, "--staging-client-secret", "env:STAGING",
		"--expired-token", "env:EXPIRED", "--allow-token-in-url", "--allow-secret-in-url",
		"--attest-brute-force", "yes: the secret is " + n.clients[0].Secret,
	}
}

// flags returns the flags that name the node by its URLs, and two of its clients.
func (n node) flags(more ...string) []string {
	return append([]string{
		"--token-url", n.URL + "/oauth/token",
		"--info-url", n.URL + "/ris-synergy/info/v1/oauth/info/",
		"--spec-url", n.URL + "/ris-synergy/funding/v3/api-docs",
		"--client-id", n.clients[0].ClientID, "--client-secret", "env:SECRET",
		"--client-id2", n.clients[1].ClientID, "--client-secret2", "env:SECRET2",
		"--profile", "funding",
	}, more...)
}

// certify runs rin certify on the node and returns its outcome and the directory of its report.
func (n node) certify(more ...string) (outcome, string) {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	args := append([]string{"certify", "--report-dir", dir}, n.flags(more...)...)
	return rin(n.env(), args...), dir
}
