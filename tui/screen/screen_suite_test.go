package screen_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/charmbracelet/bubbletea"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
	"github.com/rin-network/rin/tui/tuitest"
)

func TestScreen(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "screen")
}

// fixture is a sandbox node, a walk on it, and one screen of that walk.
type fixture struct {
	screen.Screen
	*screen.Session
	node     *tuitest.Node
	outgoing []tea.Msg // the messages from the screen to the application
}

// options configure a fixture; with the zero value, the node has no deviations and the walk has chosen it.
type options struct {
	config  sandbox.Config
	change  func(http.Handler) http.Handler
	certify tuitest.Suite
	save    func(folder string, files []flow.File) (string, error)
	// skipRegistry starts the walk before it reads the registry.
	skipRegistry bool
	// changeTarget changes the target before the walk starts; changeSession changes the session of the screens.
	changeTarget  func(*target.Target)
	changeSession func(*screen.Session)
}

func newFixture(display flow.Step, o options) *fixture {
	GinkgoHelper()
	node := tuitest.NewNode(GinkgoTB(), o.config, o.change)
	if o.certify == nil {
		o.certify = node.Suite()
	}
	start := node.Target()
	if o.changeTarget != nil {
		o.changeTarget(&start)
	}
	w := node.Walk(GinkgoTB(), start, o.certify)
	if !o.skipRegistry {
		tuitest.ChooseNode(GinkgoTB(), w)
	}
	session := &screen.Session{Context: context.Background(), Walk: w, Theme: tuitest.NewTheme(), Language: "en", Save: o.save}
	if o.changeSession != nil {
		o.changeSession(session)
	}
	f := &fixture{Session: session, node: node}
	f.Screen = screen.Screens(session)[display]
	f.settle(f.Open())
	return f
}

// settle runs a command and the commands that follow from its messages, until none is left. It keeps the messages to the application.
func (b *fixture) settle(first tea.Cmd) {
	GinkgoHelper()
	tuitest.Settle(GinkgoTB(), first, func(msg tea.Msg) tea.Cmd {
		switch msg.(type) {
		case screen.NextStep, screen.GoToStep:
			b.outgoing = append(b.outgoing, msg)
			return nil
		}
		return b.Update(msg)
	})
}

// press presses keys, one after the other: "enter", "right", "x".
func (b *fixture) press(keys ...string) *fixture {
	GinkgoHelper()
	for _, k := range keys {
		b.settle(b.Update(tuitest.Key(k)))
	}
	return b
}

// frame draws the screen without colours for a terminal of this size. It checks the layout, and that no secret is visible.
func (b *fixture) frame(width, height int) string {
	GinkgoHelper()
	seen := b.render(screen.Size{Width: width, Height: height - 4})
	Expect(seen).NotTo(ContainSubstring("\x1b"), "the screen has no styles of its own without colours, and drops those that a node sends")
	return seen
}

// render draws the screen. It checks the layout, and that no secret is visible unless secrets are revealed.
func (b *fixture) render(room screen.Size) string {
	GinkgoHelper()
	seen := b.View(room)
	Expect(strings.Split(seen, "\n")).To(HaveLen(room.Height), seen)
	tuitest.CheckFits(GinkgoTB(), seen, room)
	tuitest.CheckHarmless(GinkgoTB(), seen)
	if !b.Revealed {
		tuitest.CheckNoSecrets(GinkgoTB(), seen, b.node.Credentials(), b.Walk)
	}
	return tuitest.FixPort(seen)
}

// checkLayout checks the screen in three widths, first as it is and then after each key.
func (b *fixture) checkLayout(keys ...string) {
	GinkgoHelper()
	for n := range len(keys) + 1 {
		b.press(keys[max(0, n-1):n]...)
		for _, width := range []int{40, 80, 120} {
			b.frame(width, 24)
		}
	}
}

// hints returns the keys that do something now, as the footer describes them.
func (b *fixture) hints() string {
	var out []string
	for _, k := range b.Keys() {
		out = append(out, k.Help().Key+" "+k.Help().Desc)
	}
	return strings.Join(out, ", ")
}

// golden compares a screen in three widths, dark, light and without colour, with the golden.
func (b *fixture) golden(name string) {
	GinkgoHelper()
	for _, size := range []screen.Size{{Width: 20, Height: 2}, {Width: 24, Height: 5}, {Width: 30, Height: 8}, {Width: 100, Height: 3}, {Width: 300, Height: 80}} {
		b.render(size) // checks the layout only
	}
	all := ""
	for _, size := range []screen.Size{{Width: 40, Height: 11}, {Width: 80, Height: 20}, {Width: 120, Height: 36}} {
		for _, colours := range tuitest.Colours() {
			b.colour(colours)
			all += tuitest.Picture(size, colours, b.render(size))
		}
	}
	b.colour("none")
	tuitest.Golden(GinkgoTB(), name, all)
}

// colour makes the terminal "dark" or "light", or takes its colours away ("none").
func (b *fixture) colour(name string) {
	GinkgoHelper()
	tuitest.SetColours(b.Theme, name)
	b.settle(b.Update(screen.SecretsToggled{})) // draws the screen again
}

// begin presses a key and returns the commands that follow, without running them: see deliver and waitFor.
func (b *fixture) begin(key string) *tuitest.Commands {
	return tuitest.NewCommands(b.Update(tuitest.Key(key)))
}

// deliver passes the next n messages of the commands to the screen; it stops early after an [screen.ActionDone]. With n = -1, it only stops there.
func (b *fixture) deliver(commands *tuitest.Commands, n int) {
	GinkgoHelper()
	for ; n != 0; n-- {
		msg, ok := commands.Next(GinkgoTB())
		Expect(ok).To(BeTrue(), "no command is left")
		commands.Start(b.Update(msg))
		if _, done := msg.(screen.ActionDone); done {
			return
		}
	}
}
