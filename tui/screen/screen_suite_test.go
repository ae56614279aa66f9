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

func TestStep(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "step")
}

// bench is a node, a walk on it and a screen of that walk.
type bench struct {
	screen.Screen
	*screen.Session
	ground *tuitest.Node
	left   []tea.Msg // what the screen asked of the application
}

// bed says what a bench differs in from a plain one.
type bed struct {
	config  sandbox.Config
	change  func(http.Handler) http.Handler
	certify tuitest.Suite
	save    func(folder string, files []flow.File) (string, error)
	// away leaves out the reading of the registry.
	away bool
	// aim changes what is known at the start; equip changes what the screens share.
	aim   func(*target.Target)
	equip func(*screen.Session)
}

func newBench(display flow.Step, b bed) *bench {
	GinkgoHelper()
	ground := tuitest.NewNode(GinkgoTB(), b.config, b.change)
	if b.certify == nil {
		b.certify = ground.Suite()
	}
	to := ground.Target()
	if b.aim != nil {
		b.aim(&to)
	}
	w := ground.Walk(GinkgoTB(), to, b.certify)
	if !b.away {
		tuitest.Arrive(GinkgoTB(), w)
	}
	world := &screen.Session{Context: context.Background(), Walk: w, Theme: tuitest.NewTheme(), Language: "en", Save: b.save}
	if b.equip != nil {
		b.equip(world)
	}
	bench := &bench{Session: world, ground: ground}
	bench.Screen = screen.Screens(world)[display]
	bench.does(bench.Open())
	return bench
}

// does runs a command, and whatever comes of it, until nothing is under way.
func (b *bench) does(first tea.Cmd) {
	GinkgoHelper()
	tuitest.Settle(GinkgoTB(), first, func(msg tea.Msg) tea.Cmd {
		switch msg.(type) {
		case screen.NextStep, screen.GoToStep:
			b.left = append(b.left, msg)
			return nil
		}
		return b.Update(msg)
	})
}

// press presses keys, one after the other: "enter", "right", "x".
func (b *bench) press(keys ...string) *bench {
	GinkgoHelper()
	for _, k := range keys {
		b.does(b.Update(tuitest.Key(k)))
	}
	return b
}

// frame is the screen in a size, without colour; it holds the layout and no secret.
func (b *bench) frame(width, height int) string {
	GinkgoHelper()
	seen := b.drawn(screen.Size{Width: width, Height: height - 4})
	Expect(seen).NotTo(ContainSubstring("\x1b"), "without colours there are no styles, and a node's are none")
	return seen
}

func (b *bench) drawn(room screen.Size) string {
	GinkgoHelper()
	seen := b.View(room)
	Expect(strings.Split(seen, "\n")).To(HaveLen(room.Height), seen)
	tuitest.Fits(GinkgoTB(), seen, room)
	tuitest.Harmless(GinkgoTB(), seen)
	if !b.Revealed {
		tuitest.Discreet(GinkgoTB(), seen, b.ground.Credentials(), b.Walk)
	}
	return tuitest.SamePort(seen)
}

// holds looks at the screen in three widths, and again after each of some keys.
func (b *bench) holds(keys ...string) {
	GinkgoHelper()
	for n := range len(keys) + 1 {
		b.press(keys[max(0, n-1):n]...)
		for _, width := range []int{40, 80, 120} {
			b.frame(width, 24)
		}
	}
}

// hints are the keys that mean something now.
func (b *bench) hints() string {
	var out []string
	for _, k := range b.Keys() {
		out = append(out, k.Help().Key+" "+k.Help().Desc)
	}
	return strings.Join(out, ", ")
}

// golden compares a screen in three widths, dark, light and without colour, with what was accepted before.
func (b *bench) golden(name string) {
	GinkgoHelper()
	for _, size := range []screen.Size{{Width: 20, Height: 2}, {Width: 24, Height: 5}, {Width: 30, Height: 8}, {Width: 100, Height: 3}, {Width: 300, Height: 80}} {
		b.drawn(size) // holds the layout, whatever else
	}
	all := ""
	for _, size := range []screen.Size{{Width: 40, Height: 11}, {Width: 80, Height: 20}, {Width: 120, Height: 36}} {
		for _, colours := range tuitest.Colours() {
			b.colour(colours)
			all += tuitest.Picture(size, colours, b.drawn(size))
		}
	}
	b.colour("none")
	tuitest.Golden(GinkgoTB(), name, all)
}

// colour makes the terminal dark, light or none.
func (b *bench) colour(name string) {
	GinkgoHelper()
	tuitest.Colour(b.Theme, name)
	b.does(b.Update(screen.SecretsToggled{})) // draws anew
}

// begin presses a key, and does not wait for what comes of it: take does.
func (b *bench) begin(key string) *tuitest.Commands {
	return tuitest.NewCommands(b.Update(tuitest.Key(key)))
}

// take hands the screen so many messages; all until an action was played for -1.
func (b *bench) take(under *tuitest.Commands, n int) {
	GinkgoHelper()
	for ; n != 0; n-- {
		msg, ok := under.Next(GinkgoTB())
		Expect(ok).To(BeTrue(), "nothing is under way any more")
		under.Start(b.Update(msg))
		if _, played := msg.(screen.ActionDone); played {
			return
		}
	}
}
