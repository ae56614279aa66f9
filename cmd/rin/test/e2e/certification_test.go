//go:build e2e

package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"

	"github.com/rin-network/rin/conformance/report"
)

// node holds the arguments with which rin certifies a node.
type node struct {
	token, info, spec, base string
	// staging is the token endpoint of another environment; empty for none.
	staging string
	// clients are those that the node's authorization server knows beside the consumer.
	clients []client
	// shortTokenHeader is the header field by which a token request asks for a token that lasts a second. It is empty if only the client shortLived
	// gets such tokens.
	shortTokenHeader string
}

// certification is one run with its report.
type certification struct {
	report.Report
	exit    int
	summary string
	dir     string
}

// certify runs rin certify for the profile full, with every input.
func (n node) certify() certification {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	args := []string{"certify", "--profile", "full", "--report-dir", dir, "--format", "json,html",
		"--registry", n.register(), "--node", "E2E",
		"--client-id", consumer.id, "--client-secret", "env:" + consumer.name,
		"--wait", "0s", "--allow-token-in-url", "--allow-secret-in-url", "--attest-brute-force", "yes: a server for tests on loopback"}
	env := append(os.Environ(), consumer.name+"="+consumer.secret)
	for flag, value := range map[string]string{"--spec-url": n.spec, "--base-url": n.base} {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	for _, c := range n.clients {
		switch c {
		case visitor:
			args = append(args, "--client-id2", c.id, "--client-secret2", "env:"+c.name)
		case elsewhere:
			args = append(args, "--other-client-id", c.id, "--other-client-secret", "env:"+c.name)
		case shortLived:
			args = append(args, "--expired-token", "env:"+c.name)
			env = append(env, c.name+"="+n.expiredToken(c))
			continue
		}
		env = append(env, c.name+"="+c.secret)
	}
	if n.staging != "" {
		args = append(args, "--staging-token-url", n.staging, "--staging-client-id", rehearsal.id, "--staging-client-secret", "env:"+rehearsal.name)
		env = append(env, rehearsal.name+"="+rehearsal.secret)
	}
	return rin(dir, env, args...)
}

// judge judges the same evidence for another profile.
func (c certification) judge(profile string) certification {
	GinkgoHelper()
	return rin(filepath.Join(c.dir, profile), os.Environ(), "judge", filepath.Join(c.dir, "evidence.jsonl.gz"), "--profile", profile,
		"--report-dir", filepath.Join(c.dir, profile), "--format", "json")
}

func rin(dir string, env []string, args ...string) certification {
	GinkgoHelper()
	cmd := exec.Command(binary, args...)
	cmd.Env = env
	session, err := gexec.Start(cmd, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	Eventually(session, 3*time.Minute).Should(gexec.Exit())
	c := certification{exit: session.ExitCode(), summary: string(session.Out.Contents()), dir: dir}
	content, err := os.ReadFile(filepath.Join(dir, "report.json"))
	Expect(err).NotTo(HaveOccurred(), string(session.Err.Contents()))
	Expect(json.Unmarshal(content, &c.Report)).To(Succeed())
	return c
}

// register writes a registry document with the node as its only member.
func (n node) register() (file string) {
	GinkgoHelper()
	content, err := json.Marshal(map[string]any{"member": []any{map[string]string{
		"id": "E2E", "acronym": "E2E", "name": "A node for tests", "contact": "ris@e2e.example", "oauth2": n.token, "info": n.info,
	}}})
	Expect(err).NotTo(HaveOccurred())
	file = filepath.Join(GinkgoT().TempDir(), "registry.json")
	Expect(os.WriteFile(file, content, 0o600)).To(Succeed())
	return file
}

// expiredToken returns a token that the node accepted before and refuses now. It is one of the consumer if the authorization server can issue it: the
// refusal of another client's token would prove nothing.
func (n node) expiredToken(c client) string {
	GinkgoHelper()
	if n.shortTokenHeader != "" {
		c = consumer
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.id}, "client_secret": {c.secret}}
	request, err := http.NewRequest(http.MethodPost, n.token, strings.NewReader(form.Encode()))
	Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if n.shortTokenHeader != "" {
		request.Header.Set(n.shortTokenHeader, "yes")
	}
	answer, err := http.DefaultClient.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	Expect(answer).To(HaveHTTPStatus(http.StatusOK))
	var granted struct {
		Token string `json:"access_token"`
	}
	Expect(json.NewDecoder(answer.Body).Decode(&granted)).To(Succeed())
	status := func() int {
		request, err := http.NewRequest(http.MethodGet, n.info, nil)
		Expect(err).NotTo(HaveOccurred())
		request.Header.Set("Authorization", "Bearer "+granted.Token)
		answer, err := http.DefaultClient.Do(request)
		Expect(err).NotTo(HaveOccurred())
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode
	}
	Expect(status()).To(Equal(http.StatusOK), "the token that is to expire")
	Eventually(status).WithTimeout(time.Minute).WithPolling(time.Second).Should(Equal(http.StatusUnauthorized))
	return granted.Token
}
