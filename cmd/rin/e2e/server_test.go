//go:build e2e

package e2e_test

import (
	"encoding/json"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
)

// serve starts a server that prints its URL first and ends with its standard input; it is stopped with the test.
func serve(dir string, env []string, argv ...string) string {
	GinkgoHelper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	input, err := cmd.StdinPipe()
	Expect(err).NotTo(HaveOccurred())
	session, err := gexec.Start(cmd, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		_ = input.Close()
		session.Kill().Wait("10s")
	})
	Eventually(session.Out, "60s").Should(gbytes.Say(`http://\S+`))
	address, err := url.Parse(regexp.MustCompile(`http://\S+`).FindString(string(session.Out.Contents())))
	Expect(err).NotTo(HaveOccurred())
	return "http://" + address.Host
}

// freePort is a port of loopback that was free a moment ago, for a server that cannot choose one itself.
func freePort() string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	Expect(err).NotTo(HaveOccurred())
	return port
}

// certification is what the tests look at in a report.
type certification struct {
	exit     int
	summary  string
	dir      string
	Verdict  struct{ Decision string }
	Outcomes map[string]string `json:"-"`
}

// of lists the ids with that outcome.
func (c certification) of(outcome string) []string {
	var ids []string
	for id, o := range c.Outcomes {
		if o == outcome {
			ids = append(ids, id)
		}
	}
	return ids
}

// certify runs rin certify and reads its report.
func certify(secret string, args ...string) certification {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	cmd := exec.Command(binary, append([]string{"certify", "--report-dir", dir, "--client-secret", "env:E2E_SECRET"}, args...)...)
	cmd.Env = append(os.Environ(), "E2E_SECRET="+secret)
	session, err := gexec.Start(cmd, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	Eventually(session, "120s").Should(gexec.Exit())
	c := certification{exit: session.ExitCode(), summary: string(session.Out.Contents()), dir: dir, Outcomes: map[string]string{}}
	file, err := os.Open(filepath.Join(dir, "report.json"))
	Expect(err).NotTo(HaveOccurred(), string(session.Err.Contents()))
	defer file.Close()
	content, err := io.ReadAll(file)
	Expect(err).NotTo(HaveOccurred())
	var r struct {
		Verdict      struct{ Decision string }
		Requirements []struct{ ID, Outcome string }
	}
	Expect(json.Unmarshal(content, &r)).To(Succeed())
	c.Verdict = r.Verdict
	for _, q := range r.Requirements {
		c.Outcomes[q.ID] = q.Outcome
	}
	return c
}
