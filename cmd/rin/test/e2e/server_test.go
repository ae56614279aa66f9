//go:build e2e

package e2e_test

import (
	"net"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

// serve starts a server that prints its URL first and ends with its standard input; it is stopped with the test.
func serve(dir string, env []string, argv ...string) (origin string) {
	GinkgoHelper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	return start(cmd, `(http://[^\s/]+)`, time.Minute)
}

// start runs a server in a process group of its own and returns the origin that it prints: the first group of the pattern. Its output is shown when
// the test fails. The process group ends with the test.
func start(cmd *exec.Cmd, pattern string, within time.Duration) (origin string) {
	GinkgoHelper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := cmd.StdinPipe()
	Expect(err).NotTo(HaveOccurred())
	session, err := gexec.Start(cmd, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		_ = input.Close()
		endGroup(session)
	})
	ready := regexp.MustCompile(pattern)
	Eventually(func(g Gomega) {
		if session.ExitCode() >= 0 {
			StopTrying("the server ended before it listened").Now()
		}
		found := ready.FindSubmatch(session.Out.Contents())
		g.Expect(found).To(HaveLen(2))
		origin = string(found[1])
	}).WithTimeout(within).WithPolling(50 * time.Millisecond).Should(Succeed())
	return origin
}

// endGroup ends a process with all that it started.
func endGroup(session *gexec.Session) {
	if session.ExitCode() < 0 {
		_ = syscall.Kill(-session.Command.Process.Pid, syscall.SIGKILL)
		session.Wait("10s")
	}
}

// freePort returns a port of loopback that was free a moment ago, for a server that cannot choose one itself.
func freePort() string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	Expect(err).NotTo(HaveOccurred())
	return port
}
