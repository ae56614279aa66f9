package screen_test

import (
	"errors"
	"io/fs"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
)

var _ = Describe("Take away", func() {
	var existing map[string]bool
	save := func(folder string, files []flow.File) (string, error) {
		if folder == "/dev/null" {
			return "", errors.New("mkdir /dev/null: not a directory")
		}
		if existing[folder] {
			return "", &fs.PathError{Op: "open", Path: folder, Err: fs.ErrExist}
		}
		existing[folder] = true
		return "/home/ada/" + folder, nil
	}
	BeforeEach(func() { existing = map[string]bool{} })

	It("lists the files, writes them with enter, says where, and ends the tour with enter", func() {
		b := newFixture(flow.TakeAway, options{save: save})
		Expect(b.frame(80, 24)).To(And(ContainSubstring("client.sh"), ContainSubstring("client.ts"), ContainSubstring("walk.har"), ContainSubstring("enter writes to the folder rin-tour"), ContainSubstring("certify the node first")))
		b.golden("take-away")
		b.press("enter")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("✓ The files are in /home/ada/rin-tour."), ContainSubstring("enter ends the tour")))
		Expect(b.hints()).To(HavePrefix("enter end the tour"))
		b.golden("take-away-written")
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
	})

	It("says that the built-in node ends with the tour, and how to start it again", func() {
		b := newFixture(flow.TakeAway, options{save: save})
		b.node.RestartCommand = "rin sandbox --addr 127.0.0.1:10001 --seed 1"
		b.press("enter")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("! This node ends with the tour."), ContainSubstring("    rin sandbox --addr 127.0.0.1:10001 --seed 1")))
		b.golden("take-away-again")
	})

	It("never overwrites files, and proposes another folder", func() {
		existing["rin-tour"], existing["rin-tour-2"] = true, true
		b := newFixture(flow.TakeAway, options{save: save}).press("enter")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("The folder rin-tour has some of these files already"), ContainSubstring("enter writes to rin-tour-2")))
		b.golden("take-away-taken")
		Expect(b.press("enter").frame(80, 24)).To(ContainSubstring("enter writes to rin-tour-3"))
		Expect(b.press("enter").frame(80, 24)).To(ContainSubstring("The files are in /home/ada/rin-tour-3."))
	})

	It("writes to a typed folder; esc cancels", func() {
		b := newFixture(flow.TakeAway, options{save: save}).press("e")
		Expect(b.Typing()).To(BeTrue())
		b.press("ctrl+u", "m", "y", "0", "?")
		Expect(b.frame(40, 15)).To(ContainSubstring("Folder: my0?"))
		b.golden("take-away-typing")
		b.press("esc")
		Expect(b.Typing()).To(BeFalse())
		Expect(b.frame(80, 24)).To(ContainSubstring("the folder rin-tour"))
		b.press("e", "ctrl+u", "l", "a", "b", "enter")
		Expect(existing).To(HaveKey("lab"))
		b.press("e", "ctrl+u", " ", "enter")
		Expect(b.frame(80, 24)).To(ContainSubstring("The folder lab has some of these files already"), "a blank name keeps the folder")
		b.press("e")
		for range 5 {
			b.press(strings.Repeat("long ", 40))
		}
		b.frame(40, 15)
	})

	It("shows an error of this machine, and tries again", func() {
		b := newFixture(flow.TakeAway, options{save: save}).press("e", "ctrl+u", "/dev/null", "enter")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("not a directory"), ContainSubstring("enter try again")))
		Expect(b.press("e", "ctrl+u", "x", "enter").frame(80, 24)).To(ContainSubstring("The files are in /home/ada/x."))
	})

	It("has the report once the node is certified", func() {
		b := newFixture(flow.TakeAway, options{save: save})
		Expect(b.Walk.CertifyNode(b.Context, ignoreEvent).OK()).To(BeTrue())
		b.settle(b.Open())
		Expect(b.frame(80, 24)).To(And(ContainSubstring("report.html"), Not(ContainSubstring("certify the node first"))))
	})
})
