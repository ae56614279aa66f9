package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// onTerminal starts rin on a terminal.
func onTerminal(answers bool, typed string, env []string, args ...string) *terminal {
	GinkgoHelper()
	s, err := startOnTerminal(answers, typed, rinCommand(env, args...))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(s.leave)
	return s
}

func rinCommand(env []string, args ...string) *exec.Cmd {
	command := exec.Command(binary, args...)
	command.Dir = GinkgoT().TempDir()
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + command.Dir, "TERM=xterm-256color"}, env...)
	return command
}

// shows waits for a text on the terminal.
func (s *terminal) shows(text string) {
	GinkgoHelper()
	Eventually(s.all, "20s").Should(ContainSubstring(text))
}

// ends waits for the command to exit with this code, and expects the terminal in its original state. It returns all output.
func (s *terminal) ends(code int) string {
	GinkgoHelper()
	Eventually(s.exited, "20s").Should(Receive())
	Expect(s.command.ProcessState.ExitCode()).To(Equal(code), s.all())
	Expect(s.modes()).To(Equal(s.before), "the modes of the terminal")
	Expect(s.tty.Close()).To(Succeed())
	Eventually(s.drained, "20s").Should(BeClosed())
	all := s.all()
	for _, mode := range []string{"?1049", "?25", "?2004", "?1000", "?1002", "?1003", "?1006", "?1004"} {
		on, off := "\x1b["+mode+"h", "\x1b["+mode+"l"
		if mode == "?25" { // the cursor is on in the beginning
			on, off = off, on
		}
		Expect(strings.LastIndex(all, on)).To(BeNumerically("<=", strings.LastIndex(all, off)), mode)
	}
	Expect(all).NotTo(MatchRegexp(`\x1b\[\?100[0236]h`), "the mouse is left alone")
	return all
}

// withoutSequences removes the sequences that style a text or move the cursor.
func withoutSequences(text string) string {
	return regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`).ReplaceAllString(text, "")
}

var _ = Describe("rin on a terminal", func() {
	It("does not query the terminal if it draws nothing", func() {
		for _, args := range [][]string{{"version"}, {"--help"}, {"explain", "BRR-02", "--no-color"}} {
			s := onTerminal(false, "", nil, args...)
			Expect(s.ends(0)).NotTo(ContainSubstring("\x1b"), "%v", args)
		}
	})

	It("draws for a light background if the terminal reports one, else for a dark one", func() {
		light, dark := onTerminal(true, "", nil, "tour"), onTerminal(false, "", nil, "tour")
		light.shows("\x1b[1;38;5;25m" + frame)
		dark.shows("\x1b[1;38;5;117m" + frame)
	})

	It("draws colours on a terminal even if CI is set", func() {
		onTerminal(true, "", []string{"CI=true"}, "tour").shows("\x1b[1;38;5;25m" + frame)
	})

	It("does not query the terminal without colours, and shows none", func() {
		for _, s := range []*terminal{onTerminal(true, "", []string{"NO_COLOR="}, "tour"), onTerminal(true, "", nil, "tour", "--no-color")} {
			s.shows(frame)
			Expect(s.all()).NotTo(Or(ContainSubstring("\x1b]11"), ContainSubstring("38;5")))
		}
	})

	It("keeps keys that are typed before the first frame", func() {
		for _, answers := range []bool{true, false} {
			onTerminal(answers, "?", nil, "tour").shows("any key closes this")
		}
	})

	DescribeTable("leaves the terminal as it was", func(reach func(*terminal), leave func(*terminal), code int) {
		// Under nohup, this process ignores SIGHUP, and the command would inherit that. If it catches SIGHUP, the command has the default instead.
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, syscall.SIGHUP)
		DeferCleanup(signal.Stop, caught)
		s := onTerminal(true, "", nil, "tour")
		s.shows(frame)
		reach(s)
		leave(s)
		s.ends(code)
	},
		Entry("ctrl+c at the start", func(*terminal) {}, typing("\x03"), 0),
		Entry("ctrl+c in the help", then("?", "any key closes this"), typing("\x03"), 0),
		Entry("ctrl+c in a form", then("\x1b[B\x1b[B\r", "oken URL"), typing("\x03"), 0),
		Entry("ctrl+c in a search", then("/", ""), typing("\x03"), 0),
		Entry("ctrl+c while the suite runs", then("0\r", "10/11"), typing("\x03"), 0),
		Entry("SIGTERM", func(*terminal) {}, signalled(syscall.SIGTERM), 3),
		Entry("SIGHUP", func(*terminal) {}, signalled(syscall.SIGHUP), 3),
		Entry("SIGINT from elsewhere", func(*terminal) {}, signalled(syscall.SIGINT), 3),
	)

	It("says where the files are after the screen is gone", func() {
		s := onTerminal(true, "", nil, "tour")
		s.shows(frame)
		typing("-")(s)
		s.shows("11/11")
		typing("\r")(s)
		s.shows("The files are in ")
		typing("\x03")(s)
		_, after, _ := strings.Cut(s.ends(0), "\x1b[?1049l")
		Expect(withoutSequences(after)).To(ContainSubstring("the files of the tour are in " + s.command.Dir + "/rin-tour (README.md says how to run the clients)"))
	})

	It("says that the terminal is too small, and continues when it is large enough", func() {
		s := onTerminal(true, "", nil, "tour")
		s.shows(frame)
		rows := uint16(4)
		Eventually(func() string { // the tour may hear of a new size a moment after its first frame
			rows = 9 - rows
			s.resize(18, rows)
			return s.all()
		}, "20s").Should(ContainSubstring("too small"))
		s.resize(40, 15)
		Eventually(func() string { _, after, _ := strings.Cut(s.all(), "too small"); return withoutSequences(after) }).Should(ContainSubstring(frame))
	})

	It("prints the tour line by line without a screen or a keyboard, or with --plain", func() {
		dumb := onTerminal(true, "", []string{"TERM=dumb"}, "tour", "--step", "node")
		flag := onTerminal(true, "", nil, "tour", "--plain", "--step", "node")
		for _, s := range []*terminal{dumb, flag} {
			Expect(s.ends(0)).To(And(ContainSubstring("1. Choose a node"), Not(ContainSubstring("\x1b"))))
		}
		noKeys := rinCommand(nil, "tour", "--step", "node")
		noKeys.Stdin = strings.NewReader("")
		s, err := startOnTerminal(true, "", noKeys)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(s.leave)
		Expect(s.ends(0)).To(And(ContainSubstring("1. Choose a node"), Not(ContainSubstring("\x1b"))))

		var out bytes.Buffer
		piped := rinCommand(nil, "tour", "--step", "node")
		piped.Stdout = &out
		s, err = startOnTerminal(true, "", piped)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(s.leave)
		Expect(s.ends(0)).To(BeEmpty())
		Expect(out.String()).To(And(ContainSubstring("1. Choose a node"), Not(ContainSubstring("\x1b"))))
	})
})

func typing(keys string) func(*terminal) { return func(s *terminal) { s.types(keys) } }

// then returns a function that types keys and waits for the text that they lead to.
func then(keys, text string) func(*terminal) {
	return func(s *terminal) {
		GinkgoHelper()
		s.types(keys)
		s.shows(text)
	}
}

func signalled(signal syscall.Signal) func(*terminal) {
	return func(s *terminal) { Expect(s.command.Process.Signal(signal)).To(Succeed()) }
}
