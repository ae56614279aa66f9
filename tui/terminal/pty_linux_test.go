package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// pty returns the two ends of a pseudo terminal: the test reads and writes at screen, the code at tty.
func pty() (screen, tty *os.File) {
	GinkgoHelper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	Expect(err).NotTo(HaveOccurred())
	Expect(unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)).To(Succeed())
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	Expect(err).NotTo(HaveOccurred())
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { _ = tty.Close(); _ = screen.Close() })
	return screen, tty
}

// env returns an environment with these variables.
func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, p := range pairs {
			if value, found := strings.CutPrefix(p, name+"="); found {
				return value, true
			}
		}
		return "", false
	}
}

// expectQuery reads the background query at the screen.
func expectQuery(screen *os.File) {
	GinkgoHelper()
	got := make([]byte, len(backgroundQuery))
	_, err := io.ReadFull(screen, got)
	Expect(err).NotTo(HaveOccurred())
	Expect(string(got)).To(Equal(backgroundQuery))
}

var _ = Describe("A terminal", func() {
	It("is queried, and the keys before, between and after its answers are read in order", func() {
		screen, tty := pty()
		before, err := term.GetState(int(tty.Fd()))
		Expect(err).NotTo(HaveOccurred())
		go func() {
			defer GinkgoRecover()
			expectQuery(screen)
			fmt.Fprint(screen, "a\x1b]11;rgb:ffff/ffff/ffff\x1b\\b\x1b[?6cc")
		}()
		began := time.Now()
		k, on, err := Open(tty, tty, true, env("TERM=xterm-256color", "COLORFGBG=15;0"))
		Expect(err).NotTo(HaveOccurred())
		Expect(time.Since(began)).To(BeNumerically("<", Wait))
		Expect(on).To(Equal(Light), "the answer counts more than the hint")
		Expect(term.GetState(int(tty.Fd()))).To(Equal(before), "the modes are as they were")

		_, err = term.MakeRaw(int(tty.Fd()))
		Expect(err).NotTo(HaveOccurred())
		fmt.Fprint(screen, "d")
		got := make([]byte, 0, 4)
		for len(got) < 4 {
			part := make([]byte, 3)
			n, err := k.Read(part)
			Expect(err).NotTo(HaveOccurred())
			got = append(got, part[:n]...)
		}
		Expect(string(got)).To(Equal("abcd"))
	})

	It("that does not answer delays the start by Wait only; a late answer is not a key", func() {
		screen, tty := pty()
		began := time.Now()
		k, on, err := Open(tty, tty, true, env("TERM=xterm", "COLORFGBG=0;15"))
		Expect(err).NotTo(HaveOccurred())
		Expect(time.Since(began)).To(BeNumerically("~", Wait, Wait/2))
		Expect(on).To(Equal(Light), "by the hint")
		_, err = term.MakeRaw(int(tty.Fd()))
		Expect(err).NotTo(HaveOccurred())
		expectQuery(screen)
		fmt.Fprint(screen, "\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?6c\x1b")
		buffer := make([]byte, 16)
		n, err := k.Read(buffer)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(buffer[:n])).To(Equal("\x1b"))
	})

	It("that answers only the second query causes no delay", func() {
		screen, tty := pty()
		go func() {
			defer GinkgoRecover()
			expectQuery(screen)
			fmt.Fprint(screen, attributes)
		}()
		began := time.Now()
		_, on, err := Open(tty, tty, true, env("TERM=screen"))
		Expect(err).NotTo(HaveOccurred())
		Expect(on).To(Equal(Unknown))
		Expect(time.Since(began)).To(BeNumerically("<", Wait))
	})

	DescribeTable("is not queried", func(colored bool, kind string) {
		screen, tty := pty()
		_, _, err := Open(tty, tty, colored, env("TERM="+kind))
		Expect(err).NotTo(HaveOccurred())
		fmt.Fprint(tty, "!")
		got := make([]byte, 8)
		n, err := screen.Read(got)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(got[:n])).To(Equal("!"))
	},
		Entry("if no colour is wanted", false, "xterm"), Entry("if it is dumb", true, "dumb"),
		Entry("if it is the Linux console", true, "linux"), Entry("if TERM is empty", true, ""),
	)

	It("passes a lone escape on, and ends a waiting Read when it is closed", func() {
		screen, tty := pty()
		k, _, err := Open(tty, tty, false, env())
		Expect(err).NotTo(HaveOccurred())
		_, err = term.MakeRaw(int(tty.Fd()))
		Expect(err).NotTo(HaveOccurred())
		fmt.Fprint(screen, "\x1b")
		buffer := make([]byte, 4)
		n, err := k.Read(buffer)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(buffer[:n])).To(Equal("\x1b"))
		ended := make(chan error, 1)
		go func() {
			_, err := k.Read(buffer)
			ended <- err
		}()
		Expect(k.Close()).To(Succeed())
		Eventually(ended).Should(Receive(Equal(io.EOF)))
	})
})
