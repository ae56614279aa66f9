//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// tmux is a terminal with a shell in it, which a test types into and reads.
type tmux struct{ socket string }

// newTmux starts a server of its own, on a light background. Its shell has no variables about colours, whatever the environment of the test.
func newTmux() tmux {
	GinkgoHelper()
	if isMissing("tmux") {
		Skip("tmux is not installed")
	}
	t := tmux{fmt.Sprintf("rin-e2e-%d", os.Getpid())}
	config := t.file("set -g set-clipboard on\nset -g window-style 'bg=#fdf6e3'\nset -g default-terminal tmux-256color\nset -g escape-time 0\n")
	t.run("-f", config, "new-session", "-d", "-x", "80", "-y", "24",
		"env", "-u", "CI", "-u", "NO_COLOR", "-u", "COLORTERM", "-u", "CLICOLOR", "-u", "CLICOLOR_FORCE", "-u", "COLORFGBG", "PS1=ready$ ", "ENV=", "sh")
	DeferCleanup(func() { _ = exec.Command("tmux", "-L", t.socket, "kill-server").Run() })
	t.sees("ready$")
	return t
}

func (t tmux) file(text string) string {
	GinkgoHelper()
	file, err := os.CreateTemp(GinkgoT().TempDir(), "tmux")
	Expect(err).NotTo(HaveOccurred())
	_, err = file.WriteString(text)
	Expect(err).NotTo(HaveOccurred())
	Expect(file.Close()).To(Succeed())
	return file.Name()
}

func (t tmux) run(args ...string) string {
	GinkgoHelper()
	out, err := exec.Command("tmux", append([]string{"-L", t.socket}, args...)...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%v: %s", args, out)
	return string(out)
}

func (t tmux) types(keys ...string) { GinkgoHelper(); t.run(append([]string{"send-keys"}, keys...)...) }

// screen returns the visible text.
func (t tmux) screen() string { GinkgoHelper(); return t.run("capture-pane", "-p") }

func (t tmux) sees(text string) {
	GinkgoHelper()
	Eventually(t.screen, "15s", "20ms").Should(ContainSubstring(text))
}

// flag returns the value of a flag of the terminal.
func (t tmux) flag(name string) string {
	GinkgoHelper()
	return strings.TrimSpace(t.run("display-message", "-p", "#{"+name+"}"))
}

var _ = Describe("rin tour in tmux", func() {
	It("walks from start to certified by enter, reflows, searches, copies, and leaves the terminal clean", func() {
		t := newTmux()
		t.types(binary+" tour", "Enter")
		t.sees("1/11 Choose a node")
		Expect(t.flag("alternate_on")).To(Equal("1"))
		Expect(t.run("capture-pane", "-p", "-e")).To(ContainSubstring("38;5;25m"), "the colours of a light background")

		t.types("?")
		t.sees("jump to a step")
		t.types("Escape")
		t.sees("The built-in sandbox")
		t.types("Enter")
		t.sees("The registry lists")
		t.types("Enter")
		t.sees("2/11")
		t.types("3")
		t.sees("3/11")
		t.types("Enter")
		t.sees("The authorization server has issued an access token.")
		t.sees("token 4:5")

		t.types("Tab")
		t.sees("client_secret=‹")
		t.run("resize-window", "-x", "40", "-y", "15")
		t.sees("\n" + strings.Repeat("─", 40) + "\n")
		t.sees("[Request]")
		for line := range strings.Lines(t.screen()) {
			Expect(len([]rune(strings.TrimSpace(line)))).To(BeNumerically("<=", 40))
		}
		t.run("resize-window", "-x", "19", "-y", "6")
		t.sees("too small")
		t.run("resize-window", "-x", "80", "-y", "24")
		t.sees("[Request]")

		t.types("c")
		Eventually(func() string {
			out, _ := exec.Command("tmux", "-L", t.socket, "show-buffer").CombinedOutput() // fails while nothing was copied
			return string(out)
		}, "10s").Should(And(HavePrefix("curl "), ContainSubstring("$RIN_CLIENT_SECRET"), ContainSubstring("/oauth/token")))

		t.types("5")
		t.sees("5/11")
		t.types("Enter")
		t.sees("The node offers:")
		t.types("Tab", "Tab")
		t.sees("[Response]")
		t.types("/", "majorVersion", "Enter")
		t.sees("1 of 2")
		t.types("Escape")
		Eventually(t.screen, "15s").ShouldNot(ContainSubstring("1 of 2"), "a key that comes too soon after Escape is read as Alt and the key")

		t.types("0")
		t.sees("10/11")
		t.types("Enter")
		t.sees("Certified")

		t.types("C-c")
		t.sees(" tour\nready$") // the prompt after the command: keys that come before it are the tour's
		Expect(t.screen()).NotTo(ContainSubstring("10 "), "nothing of the tour is left")
		Expect(t.flag("alternate_on")).To(Equal("0"))
		Expect(t.flag("cursor_flag")).To(Equal("1"))
		Expect(t.flag("mouse_any_flag")).To(Equal("0"))
		t.types("stty -a", "Enter")
		t.sees(" icanon")
		t.sees(" echo ")
	})
})
