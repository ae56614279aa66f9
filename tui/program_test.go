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
	run *teatest.TestModel
	all bytes.Buffer // that was written so far
}

// started is a program on a terminal without colours.
func started(g ground, width, height int) *program {
	GinkgoHelper()
	p := &program{tour: newTour(g)}
	p.run = teatest.NewTestModel(GinkgoTB(), p.App, teatest.WithInitialTermSize(width, height))
	DeferCleanup(p.run.Quit) // where a test failed half-way
	return p
}

// sees waits until all of these were written since it saw something last.
func (p *program) sees(texts ...string) *program {
	GinkgoHelper()
	teatest.WaitFor(GinkgoTB(), io.TeeReader(p.run.Output(), &p.all), func(written []byte) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !bytes.Contains(written, []byte(text)) })
	}, teatest.WithDuration(time.Minute), teatest.WithCheckInterval(time.Millisecond))
	return p
}

// types presses keys, and does not wait for what comes of them.
func (p *program) types(keys ...string) *program {
	for _, k := range keys {
		p.run.Send(tuitest.Key(k))
	}
	return p
}

// ended is the model after the program has ended, and all that it wrote.
func (p *program) ended() (*App, string) {
	GinkgoHelper()
	app, ok := p.run.FinalModel(GinkgoTB(), teatest.WithFinalTimeout(time.Minute)).(*App)
	Expect(ok).To(BeTrue())
	_, err := io.Copy(&p.all, p.run.FinalOutput(GinkgoTB()))
	Expect(err).NotTo(HaveOccurred())
	return app, p.all.String()
}

// expectClean expects that a terminal is left with every mode as it was: the cursor shown, all others that were touched reset.
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
	for mode, is := range modes {
		want := "l"
		if mode == cursor {
			want = "h"
		}
		Expect(is).To(Equal(want), "mode %s", mode)
	}
}

// Private modes of a terminal that the tour sets while it runs.
const (
	alternateScreen = "1049"
	bracketedPaste  = "2004"
)

var _ = Describe("The program", func() {
	// A key that comes while a step is busy means nothing: what is waited for is drawn after the answer.
	It("leads to the certificate by enter alone, whatever is done on the way, and leaves the terminal as it was", func() {
		p := started(ground{}, 80, 24)
		for _, seen := range []string{
			"enter read registry", "enter choose", "2/10 Check your credentials", "enter ask for a token", "enter next step", "enter read the token",
			"enter next step", "enter call info", "enter next step", "enter read the specification", "enter next  → open",
		} {
			p.sees(seen).types("enter")
		}

		p.sees("enter read the list").run.Send(tea.WindowSizeMsg{Width: 40, Height: 15})
		p.sees("7/10 Read funding calls       token 5:00").types("?")
		p.sees("Keys", "any other key closes this").types("down", "x")
		p.sees("enter read the list").types("enter")
		p.sees("page 1: 1 to 20", "enter open").run.Send(tea.WindowSizeMsg{Width: 120, Height: 40})
		p.sees("7/10 Read funding calls", "enter open").types("3")
		p.sees("3/10 Ask for an access token").types("7")

		for _, seen := range []string{
			"enter open", "enter next step  ← back to list", "enter make it",
			"✓ the token is missing", "✓ the token is garbage", "What if the token has expired", "✓ somebody changed a let…",
			"✓ the secret is wrong", "✓ the account lacks the …", "enter certify the node",
		} {
			p.sees(seen).types("enter")
		}
		p.sees("Certified for profile funding", "enter next step").types("ctrl+c")

		app, written := p.ended()
		Expect(app.at).To(Equal(flow.Certify))
		Expect(app.View()).To(And(HavePrefix("9/10 Certify the node"), ContainSubstring("✓ Certified for profile funding")))
		result, _, ok := app.session.Walk.Report()
		Expect(ok).To(BeTrue())
		Expect(result.Verdict.Headline).To(Equal("Certified for profile funding"))
		tuitest.Discreet(GinkgoTB(), written, p.Credentials(), app.session.Walk)
		expectClean(written, bracketedPaste)
	})
})
