package tui

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"time"

	"github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/teatest"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/tuitest"
)

// program is a tour that Bubble Tea runs: its loop, its renderer and its goroutines are the real ones.
type program struct {
	*tour
	run    *teatest.TestModel
	output bytes.Buffer // everything that the program has written so far
}

// startProgram starts a tour on a terminal without colours.
func startProgram(o tourOptions, width, height int) *program {
	GinkgoHelper()
	p := &program{tour: newTour(o)}
	p.run = teatest.NewTestModel(GinkgoTB(), p.App, teatest.WithInitialTermSize(width, height))
	DeferCleanup(p.run.Quit) // in case the test fails before the program ends
	return p
}

// waitFor waits until the program has written all texts since the last call of waitFor.
func (p *program) waitFor(texts ...string) *program {
	GinkgoHelper()
	teatest.WaitFor(GinkgoTB(), io.TeeReader(p.run.Output(), &p.output), func(written []byte) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !bytes.Contains(written, []byte(text)) })
	}, teatest.WithDuration(3*time.Minute), teatest.WithCheckInterval(time.Millisecond))
	return p
}

// send presses keys and does not wait for their effect.
func (p *program) send(keys ...string) *program {
	for _, k := range keys {
		p.run.Send(tuitest.Key(k))
	}
	return p
}

// wait waits until the program ends, and returns its model and everything that it has written.
func (p *program) wait() (*App, string) {
	GinkgoHelper()
	app, ok := p.run.FinalModel(GinkgoTB(), teatest.WithFinalTimeout(3*time.Minute)).(*App)
	Expect(ok).To(BeTrue())
	_, err := io.Copy(&p.output, p.run.FinalOutput(GinkgoTB()))
	Expect(err).NotTo(HaveOccurred())
	return app, p.output.String()
}

// expectClean expects the program to restore the terminal: the cursor is visible, and every other mode that was set is reset.
func expectClean(written string, touched ...string) {
	GinkgoHelper()
	const cursor = "25"
	modes := map[string]string{}
	for _, m := range regexp.MustCompile(`\x1b\[\?([0-9]+)([hl])`).FindAllStringSubmatch(written, -1) {
		modes[m[1]] = m[2]
	}
	for _, mode := range append(touched, cursor) {
		Expect(modes).To(HaveKey(mode))
	}
	for mode, got := range modes {
		want := "l"
		if mode == cursor {
			want = "h"
		}
		Expect(got).To(Equal(want), "mode %s", mode)
	}
}

// Private modes of a terminal that the tour sets while it runs.
const (
	alternateScreen = "1049"
	bracketedPaste  = "2004"
)

var _ = Describe("The program", func() {
	// A step ignores keys while it is busy, so each key waits for a text that is drawn after the answer.
	It("leads to the certificate with enter alone, despite resizes and detours, and restores the terminal", func() {
		p := startProgram(tourOptions{}, 80, 24)
		for _, seen := range []string{
			"enter read registry", "enter choose", "2/11 Check your credentials", "enter ask for a token", "enter next step", "enter read the token",
			"enter next step", "enter call info", "enter next step", "enter read the specification", "enter next  → open",
		} {
			p.waitFor(seen).send("enter")
		}

		p.waitFor("enter read the list").run.Send(tea.WindowSizeMsg{Width: 40, Height: 15})
		p.waitFor("7/11 Read funding calls       token 5:00").send("?")
		p.waitFor("Keys", "any other key closes this").send("down", "x")
		p.waitFor("enter read the list").send("enter")
		p.waitFor("page 1: 1 to 20", "enter open").run.Send(tea.WindowSizeMsg{Width: 120, Height: 40})
		p.waitFor("7/11 Read funding calls", "enter open").send("3")
		p.waitFor("3/11 Ask for an access token").send("7")

		for _, seen := range []string{
			"enter open", "enter next step  ← back to list", "enter make it",
			"✓ the token is missing", "✓ the token is garbage", "What if the token has expired", "✓ somebody changed a let…",
			"✓ the secret is wrong", "✓ the account lacks the …", "enter let it happen",
			"✓ a good token", "✓ the node limits", "✓ the node restarts", "✓ an answer ends", "✓ the token expires", "enter certify the node",
		} {
			p.waitFor(seen).send("enter")
		}
		p.waitFor("Certified for profile funding", "enter next step").send("ctrl+c")

		app, written := p.wait()
		Expect(app.step).To(Equal(flow.Certify))
		Expect(app.View()).To(And(HavePrefix("10/11 Certify the node"), ContainSubstring("✓ Certified for profile funding")))
		result, _, ok := app.session.Walk.Report()
		Expect(ok).To(BeTrue())
		Expect(result.Verdict.Headline).To(Equal("Certified for profile funding"))
		tuitest.CheckNoSecrets(GinkgoTB(), written, p.Credentials(), app.session.Walk)
		expectClean(written, bracketedPaste)
	})
})
