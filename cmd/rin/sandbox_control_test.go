package main_test

import (
	"context"
	"os/exec"
	"regexp"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"

	"github.com/rin-network/rin/sandbox/control"
)

// controlledSandbox starts a sandbox with a control listener, and returns the base URLs of both listeners.
func controlledSandbox(args ...string) (base, controlURL string, session *gexec.Session) {
	GinkgoHelper()
	cmd := exec.Command(binary, append([]string{"sandbox", "--addr", "127.0.0.1:0", "--control", "127.0.0.1:0"}, args...)...)
	session, err := gexec.Start(cmd, nil, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Kill().Wait("10s") })
	Eventually(session.Out, "20s").Should(gbytes.Say(`(?s)listening on http.*page\[size\]=2'\n`))
	text := string(session.Out.Contents())
	base = regexp.MustCompile(`listening on (\S+)`).FindStringSubmatch(text)[1]
	controlURL = regexp.MustCompile(`control +(\S+) \(this machine only\)`).FindStringSubmatch(text)[1]
	return base, controlURL, session
}

var _ = Describe("rin sandbox --control", func() {
	It("is controlled while it serves, and ends cleanly", func() {
		_, url, session := controlledSandbox("--calls", "3")
		client := control.Client{Context: context.Background(), Base: url}
		Expect(client.Deviate("XA", "token-status-201")).To(HaveField("Deviations", []string{"token-status-201"}))
		session.Signal(syscall.SIGTERM)
		Eventually(session, "10s").Should(gexec.Exit(0))
	})

	It("never listens beyond this machine", func() {
		for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:8081", "node.example:8081", "8081"} {
			got := rin(nil, "sandbox", "--addr", "127.0.0.1:0", "--control", address)
			Expect(got.code).To(Equal(2), address)
			Expect(got.err).To(ContainSubstring("--control"), address)
		}
	})

	It("has no control listener by default", func() {
		cmd := exec.Command(binary, "sandbox", "--addr", "127.0.0.1:0", "--calls", "3")
		session, err := gexec.Start(cmd, nil, nil)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { session.Kill().Wait("10s") })
		Eventually(session.Out, "20s").Should(gbytes.Say(`listening on`))
		Expect(string(session.Out.Contents())).NotTo(MatchRegexp(`(?m)^  control`))
	})
})
