//go:build unix

package suite_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
)

// patience bounds each wait for something that comes at once unless the code is broken.
const patience = 30 * time.Second

// suiteProcess is a suite that runs in another process, see [play].
type suiteProcess struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan line // closed at its end
}

func start(part string) *suiteProcess {
	GinkgoHelper()
	p := &suiteProcess{cmd: exec.Command(os.Args[0], asSuite, part), lines: make(chan line, 1000)}
	p.cmd.Stderr = GinkgoWriter
	var err error
	p.stdin, err = p.cmd.StdinPipe()
	Expect(err).NotTo(HaveOccurred())
	stdout, err := p.cmd.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(p.cmd.Start()).To(Succeed())
	kill := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	DeferCleanup(func() { kill.Stop(); _ = p.cmd.Process.Kill() })
	go func() {
		defer close(p.lines)
		for in := bufio.NewScanner(stdout); in.Scan(); {
			var l line
			if json.Unmarshal(in.Bytes(), &l) != nil {
				l = line{Kind: "unreadable", Text: in.Text()}
			}
			p.lines <- l
		}
	}()
	return p
}

// until returns the lines up to the first one of that kind.
func (p *suiteProcess) until(kind string) []line {
	GinkgoHelper()
	var all []line
	for l := range p.lines {
		if all = append(all, l); l.Kind == kind {
			return all
		}
	}
	Fail("the suite ended without " + kind)
	return nil
}

// rest returns the remaining lines, and the exit status.
func (p *suiteProcess) rest() ([]line, int) {
	var all []line
	for l := range p.lines {
		all = append(all, l)
	}
	_ = p.cmd.Wait()
	return all, p.cmd.ProcessState.ExitCode()
}

func ofKind(lines []line, kind string) []line {
	return slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.Kind != kind })
}

func ids(lines []line) []requirement.ID {
	var out []requirement.ID
	for _, l := range lines {
		out = append(out, l.ID)
	}
	return out
}

func profileIDs(p requirement.Profile) []requirement.ID {
	var out []requirement.ID
	for _, r := range requirement.Catalogue() {
		if p.Includes(r.Profile) {
			out = append(out, r.ID)
		}
	}
	return out
}

var _ = Describe("The certification as a container of another suite", func() {
	It("is one spec for each requirement of the profile, in catalogue order, with the judgement as its report entry", func() {
		lines, status := start("within").rest()
		specs := ofKind(lines, "spec")
		Expect(specs[0].Text).To(Equal("our service does something of its own"))
		Expect(ids(specs[1:])).To(Equal(profileIDs(requirement.Auth)))
		Expect(ids(ofKind(lines, "judged"))).To(Equal(profileIDs(requirement.Auth)))
		for _, s := range specs[1:] {
			r, _ := requirement.Find(s.ID)
			Expect(s.Text).To(Equal("our service node " + string(r.ID) + " " + r.Title))
			want := "passed"
			switch {
			case s.Entry.Outcome == requirement.NotApplicable:
				want = "skipped"
			case requirement.Blocks(r.Gate, s.Entry.Outcome):
				want = "failed"
			}
			Expect(s.State).To(Equal(want), "%s is %s", s.ID, s.Entry.Outcome)
		}
		Expect(status).To(Equal(1), "nothing was answered")
	})

	It("has labels that every filter can name", func() {
		lines, _ := start("within").rest()
		for _, s := range ofKind(lines, "spec")[1:] {
			r, _ := requirement.Find(s.ID)
			Expect(s.Labels).To(ConsistOf(string(r.ID), r.ID.Group(), "level:"+string(r.Level), "gate:"+string(r.Gate), "profile:"+string(r.Profile)))
			for _, l := range s.Labels {
				Expect(types.ValidateAndCleanupLabel(l, types.CodeLocation{})).To(Equal(l))
				Expect(strings.ContainsAny(l, "&|!,()/")).To(BeFalse(), l)
			}
		}
	})

	It("judges nothing before the run has ended, because a later answer may break a rule that the first one kept", func() {
		suite := start("patient")
		suite.until("waiting")
		Consistently(suite.lines, "100ms").ShouldNot(Receive())
		_, err := io.WriteString(suite.stdin, "go on\n")
		Expect(err).NotTo(HaveOccurred())
		lines, _ := suite.rest()
		Expect(lines[0].Kind).To(Equal("ended"))
		Expect(ids(ofKind(lines, "judged"))).To(Equal(profileIDs(requirement.Auth)))
	})

	It("cancels the gathering when the suite is interrupted, and ends", func() {
		suite := start("interrupted")
		suite.until("waiting")
		Expect(suite.cmd.Process.Signal(syscall.SIGINT)).To(Succeed())
		lines, status := suite.rest()
		Expect(ofKind(lines, "cut")).To(HaveLen(1))
		Expect(ofKind(lines, "judged")).To(BeEmpty())
		Expect(lines[len(lines)-1].Kind).To(Equal("over"))
		Expect(status).To(Equal(1))
	})
})

var _ = Describe("The certification in a process of its own", func() {
	It("may run more than once, and prints nothing", func() {
		lines, status := start("alone").rest()
		var want []line
		for range 2 {
			for _, id := range profileIDs(requirement.Auth) {
				want = append(want, line{Kind: "judged", ID: id})
			}
			want = append(want, line{Kind: "over"})
		}
		for i := range lines {
			lines[i].State = ""
		}
		Expect(lines).To(Equal(want))
		Expect(status).To(BeZero())
	})

	It("ends the evidence at whatever moment a signal comes", func() {
		lines, _ := start("alone-signalled").rest()
		ends := ofKind(lines, "over")
		Expect(ends).To(HaveLen(40))
		for _, end := range ends {
			Expect(end.Text).NotTo(BeEmpty(), "the evidence has an end")
		}
	})

	It("ends with its context, whose cause reaches the gathering", func() {
		lines, _ := start("alone-cut").rest()
		Expect(ofKind(lines, "cut")).To(Equal([]line{{Kind: "cut", Text: "the deadline passed"}}))
		Expect(lines[len(lines)-1].Kind).To(Equal("over"))
		Expect(ofKind(lines, "judged")).NotTo(ContainElement(HaveField("State", "pass")))
	})
})
