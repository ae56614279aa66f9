//go:build unix

package hostile_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/cmd/rin/test"
	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox"
)

// visibleForms returns the part of each form that depends on the secret alone. Of base64 it leaves out the characters that also depend on the text
// before and after the secret.
func visibleForms(secret string) []string {
	out := forms(secret)
	for i, form := range out {
		if i >= len(out)-6 {
			out[i] = form[4 : len(form)-6]
		}
	}
	return out
}

var _ = Describe("Secrets", func() {
	var (
		node *echoingNode
		base string
		args []string
		env  []string
		dir  string
	)
	BeforeEach(func() {
		dir = GinkgoT().TempDir()
		secret := func(n int) string { return fmt.Sprintf(secretPrefix+"+/&=%%\"'<%d>\\~-0123456789abcdef", n) }
		role := model.RoleExternalAPIClient
		good, err := sandbox.New(sandbox.Config{Calls: 10, Loopback: true, Clients: []sandbox.ClientConfig{
			{ID: "first", Secret: secret(1), Role: role, Affiliation: "1"}, {ID: "second", Secret: secret(2)},
			{ID: "third", Secret: secret(3), Role: role, Affiliation: "1", Audience: "https://other.example"},
			{ID: "fourth", Secret: secret(4), Role: role, Affiliation: "1"},
		}})
		Expect(err).NotTo(HaveOccurred())
		node = &echoingNode{good: good, onRequest: func(int) {}, strays: newStrays()}
		server := httptest.NewUnstartedServer(node)
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.Start()
		DeferCleanup(server.Close)
		base = server.URL
		clients, staging := good.Credentials(), good.ElsewhereClient()
		expired, err := good.TokenAt(time.Now().Add(-time.Hour), base, clients[0].ClientID)
		Expect(err).NotTo(HaveOccurred())
		node.remember(node.strays.all()...)
		node.remember(clients[0].Secret, clients[1].Secret, clients[2].Secret, clients[3].Secret, staging.Secret, expired)
		file := filepath.Join(GinkgoT().TempDir(), "secret") // beside the outputs
		Expect(os.WriteFile(file, []byte(clients[2].Secret), 0o600)).To(Succeed())
		env = []string{"SECRET=" + clients[0].Secret, "SECRET2=" + clients[1].Secret, "SPARE=" + clients[3].Secret, "STAGING=" + staging.Secret, "EXPIRED=" + expired, "TMPDIR=" + dir}
		at := good.Addresses(base)
		args = []string{
			"certify", "--report-dir", filepath.Join(dir, "report"), "--format", "html,json,junit,har,markdown", "--profile", "full", "--wait", "0s", "--effort", "deep",
			"--token-url", at.Token, "--info-url", at.Info, "--spec-url", at.Spec,
			"--client-id", clients[0].ClientID, "--client-secret", "env:SECRET", "--client-id2", clients[1].ClientID, "--client-secret2", "env:SECRET2",
			"--other-client-id", clients[2].ClientID, "--other-client-secret", "file:" + file,
			"--spare-client-id", clients[3].ClientID, "--spare-client-secret", "env:SPARE",
			"--staging-token-url", at.ElsewhereToken, "--staging-client-id", staging.ClientID, "--staging-client-secret", "env:STAGING",
			"--expired-token", "env:EXPIRED", "--allow-token-in-url", "--allow-secret-in-url",
		}
	})
	// expectNoSecrets expects that no output contains a trace of a secret.
	expectNoSecrets := func(outputs map[string]string) {
		GinkgoHelper()
		Expect(filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				var name, text string
				name, text, err = test.ReadOutput(path)
				outputs[name] = text
			}
			return err
		})).To(Succeed())
		var searched []string
		for _, secret := range node.secrets {
			searched = append(searched, visibleForms(secret)...)
		}
		search := test.NewSecretScan(searched...)
		for name, text := range outputs {
			if trace, at, found := search.In(text); found {
				Fail(fmt.Sprintf("%s holds a secret as %.20s…: %.200q", name, trace, text[max(0, at-100):]))
			}
		}
		fmt.Fprintf(GinkgoWriter, "%d secrets and tokens in %d forms in %d outputs\n", len(node.secrets), len(visibleForms("0123456789abcdef")), len(outputs))
	}

	It("stay out of every output of a run, in whatever form the node echoes them", func() {
		var lines, environments []string
		node.onRequest = func(n int) {
			if n == 30 {
				lines, environments = processes()
			}
		}
		_, outputs, err := start(dir, env, args...)
		Expect(err).NotTo(HaveOccurred())
		Expect(len(node.secrets)).To(BeNumerically(">", 60), "secrets, tokens, forged and odd ones, and cookies")
		outputs["command lines"], outputs["environment of the worker"] = strings.Join(lines, "\n"), strings.Join(environments, "\n")
		if _, err := os.Stat("/proc/self/environ"); err == nil {
			Expect(outputs["command lines"]).To(ContainSubstring("worker"))
			Expect(outputs["command lines"]).To(ContainSubstring("certify"))
		}
		expectNoSecrets(outputs)
		evidence := outputs[filepath.Join(dir, "report", "evidence.jsonl")]
		for _, name := range []string{"client_secret", "client_secret2", "other_secret", "staging_secret", "expired_token", "access_token", "access_token2", "cookie"} {
			Expect(evidence).To(ContainSubstring("[["+name+":"), "the node echoed it")
		}
		for _, name := range []string{"token", "private_key"} {
			Expect(evidence).To(ContainSubstring("[["+name+":"), "the node gave it away")
		}
		for _, key := range node.strays.published {
			Expect(evidence).To(ContainSubstring(key["kid"]), "the key set was read with its private keys")
		}
		for name, text := range public() {
			quoted, err := json.Marshal(text)
			Expect(err).NotTo(HaveOccurred())
			Expect(evidence).To(ContainSubstring(strings.Trim(string(quoted), `"`)), name+" is not a secret")
		}
		for _, format := range []string{"report.html", "report.json", "junit.xml", "report.md", "exchanges.har"} {
			Expect(outputs).To(HaveKey(filepath.Join(dir, "report", format)))
		}
	})

	It("stay out of the output of a crashing worker", func() {
		if _, err := os.Stat("/proc/self/environ"); err != nil {
			Skip("this system does not show processes")
		}
		node.onRequest = func(n int) {
			if n == 60 {
				for _, pid := range workers() {
					Expect(syscall.Kill(pid, syscall.SIGQUIT)).To(Succeed()) // Go's runtime writes every goroutine to stderr
				}
			}
		}
		_, outputs, err := start(dir, env, args...)
		Expect(err).NotTo(HaveOccurred())
		Expect(outputs["stderr"]).To(ContainSubstring("goroutine"))
		expectNoSecrets(outputs)
	})
})

// workers returns the ids of the running worker processes of this binary, where the system shows them.
func workers() []int {
	var out []int
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is valid
	for _, path := range paths {
		line, err := os.ReadFile(path)
		var pid int
		if _, bad := fmt.Sscanf(path, "/proc/%d/", &pid); err == nil && bad == nil && string(line) == binary+"\x00worker\x00" {
			out = append(out, pid)
		}
	}
	return out
}

// processes returns the command lines of the running binary, and the environments of its workers. The environment of the parent process is left
// out, because its operator put the secrets there.
func processes() (lines, environments []string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is valid
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err == nil && strings.HasPrefix(string(line), binary+"\x00") {
			lines = append(lines, string(line))
		}
	}
	for _, pid := range workers() {
		environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		environments = append(environments, string(environment))
	}
	return lines, environments
}
