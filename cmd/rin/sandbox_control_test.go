package main_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"

	"github.com/rin-network/rin/sandbox/control"
)

// controlToken is the token of the control listeners of [controlledSandbox].
const controlToken = "a-token-for-the-tests"

// controlledSandbox starts a sandbox with a control listener, and returns the base URLs of both listeners.
func controlledSandbox(args ...string) (base, controlURL string, session *gexec.Session) {
	GinkgoHelper()
	cmd := exec.Command(binary, append([]string{"sandbox", "--addr", "127.0.0.1:0", "--control", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), "RIN_CONTROL_TOKEN="+controlToken)
	session, err := gexec.Start(cmd, nil, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Kill().Wait("10s") })
	Eventually(session.Out, "20s").Should(gbytes.Say(`(?s)listening on http.*page\[size\]=2'\n`))
	text := string(session.Out.Contents())
	base = regexp.MustCompile(`listening on (\S+)`).FindStringSubmatch(text)[1]
	controlURL = regexp.MustCompile(`control +(\S+) \(`).FindStringSubmatch(text)[1]
	return base, controlURL, session
}

// ownStates gives a test a folder of state files of its own, and returns the environment that names it.
func ownStates() []string {
	GinkgoHelper()
	return []string{"XDG_RUNTIME_DIR=" + GinkgoT().TempDir()}
}

// startIn starts a sandbox with an environment, and waits until it serves.
func startIn(env []string, args ...string) *gexec.Session {
	GinkgoHelper()
	cmd := exec.Command(binary, append([]string{"sandbox", "--addr", "127.0.0.1:0", "--calls", "3"}, args...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	session, err := gexec.Start(cmd, nil, nil)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Kill().Wait("10s") })
	Eventually(session.Out, "20s").Should(gbytes.Say(`page\[size\]=2'\n`))
	return session
}

var _ = Describe("The control listener of rin sandbox", func() {
	It("is on by default, and the commands find it by a file that only its user can read", func() {
		env := ownStates()
		session := startIn(env)
		Expect(string(session.Out.Contents())).To(MatchRegexp(`(?m)^  control +http://127\.0\.0\.1:\d+ \(this machine only`))
		files, err := filepath.Glob(filepath.Join(strings.TrimPrefix(env[0], "XDG_RUNTIME_DIR="), "rin", "*.json"))
		Expect(err).NotTo(HaveOccurred())
		Expect(files).To(HaveLen(1))
		state, err := os.Stat(files[0])
		Expect(err).NotTo(HaveOccurred())
		Expect(state.Mode()).To(Equal(os.FileMode(0o600)))
		played := rin(env, "sandbox", "play", "503-twice")
		Expect(played.code).To(Equal(0), played.err)
		Expect(played.out).To(ContainSubstring("plays: 503-twice"))
		session.Signal(syscall.SIGTERM)
		Eventually(session, "10s").Should(gexec.Exit(0))
		Expect(files[0]).NotTo(BeAnExistingFile())
		none := rin(env, "sandbox", "status")
		Expect(none.code).To(Equal(3))
		Expect(none.err).To(ContainSubstring("no sandbox of this user is running"))
	})

	It("lists the sandboxes to choose from if several are running, and forgets one that was killed", func() {
		env := ownStates()
		first, second := startIn(env), startIn(env, "--seed", "2")
		got := rin(env, "sandbox", "reset")
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(MatchRegexp(`2 sandboxes are running:\n  --control http://\S+ +XA at http://\S+, since .*\n  --control http`))
		chosen := regexp.MustCompile(`--control (\S+)`).FindStringSubmatch(got.err)[1]
		Expect(rin(env, "sandbox", "reset", "--control", chosen).code).To(Equal(0))
		Expect(rin(append(env, "RIN_CONTROL="+strings.Replace(chosen, "127.0.0.1", "localhost", 1)), "sandbox", "reset").code).To(Equal(0))
		first.Kill().Wait("10s")
		Expect(rin(env, "sandbox", "reset").code).To(Equal(0), "only the second is left")
		second.Kill().Wait("10s")
	})

	It("takes the token of the environment, and refuses changes without it", func() {
		env := append(ownStates(), "RIN_CONTROL_TOKEN=a-token-for-this-test")
		url := regexp.MustCompile(`control +(\S+)`).FindStringSubmatch(string(startIn(env).Out.Contents()))[1]
		Expect(rin(ownStates(), "sandbox", "status", "--control", url).code).To(Equal(0))
		refused := rin(ownStates(), "sandbox", "reset", "--control", url)
		Expect(refused.code).To(Equal(2))
		Expect(refused.err).To(ContainSubstring("needs the token"))
		Expect(rin([]string{env[1]}, "sandbox", "reset", "--control", url).code).To(Equal(0))
		short := rin([]string{"RIN_CONTROL_TOKEN=short"}, "sandbox", "--addr", "127.0.0.1:0")
		Expect(short.code).To(Equal(2))
		Expect(short.err).To(ContainSubstring("at least 16"))
	})

	It("is in the credentials file, with its token", func() {
		file := filepath.Join(GinkgoT().TempDir(), "credentials.json")
		startIn(ownStates(), "--credentials", file)
		text, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		var read struct{ Control struct{ URL, Token string } }
		Expect(json.Unmarshal(text, &read)).To(Succeed())
		Expect(control.Client{Context: context.Background(), Base: read.Control.URL, Token: read.Control.Token}.Reset()).To(Succeed())
		Expect(control.Client{Context: context.Background(), Base: read.Control.URL}.Reset()).NotTo(Succeed())
	})

	It("serves without the file if there is no place for it, and says so", func() {
		session := startIn(nil)
		Eventually(func() string { return string(session.Err.Contents()) }, "10s").Should(ContainSubstring("commands will not find this sandbox by themselves"))
	})

	It("does not exist with --control off", func() {
		env := ownStates()
		Expect(string(startIn(env, "--control", "off").Out.Contents())).NotTo(MatchRegexp(`(?m)^  control`))
		Expect(rin(env, "sandbox", "status").code).To(Equal(3))
	})

	It("needs its token for reading, too, off loopback, and warns", func() {
		env := ownStates()
		session := startIn(env, "--control", "0.0.0.0:0")
		Expect(string(session.Err.Contents())).To(ContainSubstring("other machines reach the control listener"))
		url := regexp.MustCompile(`control +(\S+) \(with its token`).FindStringSubmatch(string(session.Out.Contents()))[1]
		Expect(control.Client{Context: context.Background(), Base: url}.Nodes()).Error().To(MatchError(ContainSubstring("needs the token")))
		Expect(rin(env, "sandbox", "status").code).To(Equal(0))
	})

	It("ends cleanly, and refuses an address that is not available", func() {
		_, url, session := controlledSandbox("--calls", "3")
		Expect(rin([]string{"RIN_CONTROL=" + url}, "sandbox", "deviate", "token-status-201").code).To(Equal(0))
		session.Signal(syscall.SIGTERM)
		Eventually(session, "10s").Should(gexec.Exit(0))
		for _, address := range []string{"192.0.2.1:8081", "8081"} {
			got := rin(nil, "sandbox", "--addr", "127.0.0.1:0", "--control", address)
			Expect(got.code).To(Equal(2), address)
			Expect(got.err).To(ContainSubstring("--control"), address)
		}
	})
})
