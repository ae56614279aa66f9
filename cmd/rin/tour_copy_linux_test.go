package main_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("Copying in rin tour", func() {
	// afterToken starts a tour and goes to its third step, which asks for a token.
	afterToken := func(env ...string) *terminal {
		s := onTerminal(true, "", env, "tour")
		s.shows(frame)
		s.types("\r")
		s.shows("The registry lists")
		s.types("\r")
		s.shows("2/11")
		s.types("\r")
		s.shows("3/11")
		s.types("\r")
		s.shows("POST /oauth/token")
		return s
	}

	It("passes the command to the terminal by OSC 52", func() {
		s := afterToken()
		s.types("c")
		s.shows("\x1b]52;c;Y3VybC") // "curl"
		s.shows("copied as curl")
		s.types("\x03")
		s.ends(0)
	})

	It("writes a file that only its owner can read if the terminal has no clipboard", func() {
		folder := GinkgoT().TempDir()
		s := afterToken("TERM=linux", "TMPDIR="+folder)
		s.types("c")
		s.shows("written to ")
		files, err := filepath.Glob(filepath.Join(folder, "rin-curl-*.sh"))
		Expect(err).NotTo(HaveOccurred())
		Expect(files).To(HaveLen(1))
		info, err := os.Stat(files[0])
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
		command, err := os.ReadFile(files[0])
		Expect(err).NotTo(HaveOccurred())
		Expect(string(command)).To(And(HavePrefix("curl "), ContainSubstring("$RIN_CLIENT_SECRET"), HaveSuffix("\n")))
		Expect(strings.Count(string(command), "\n")).To(Equal(1))
		s.types("\x03")
		s.ends(0)
	})
})
