package tui

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/charmbracelet/bubbletea"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
	"github.com/rin-network/rin/tui/tuitest"
)

func TestTour(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "tour")
}

// tour is the application on a node of its own, with helpers that press keys and check frames.
type tour struct {
	*App
	*tuitest.Node
	ended  bool // whether the application has ended
	frames int
}

// tourOptions configure a tour; the zero value is a sandbox without faults and its real suite.
type tourOptions struct {
	change  func(http.Handler) http.Handler
	certify tuitest.Suite
}

func newTour(o tourOptions) *tour {
	GinkgoHelper()
	t := &tour{Node: tuitest.NewNode(GinkgoTB(), sandbox.Config{}, o.change)}
	if o.certify == nil {
		o.certify = t.Suite()
	}
	t.App = New(&screen.Session{Context: context.Background(), Walk: t.Walk(GinkgoTB(), t.Target(), o.certify), Language: "en", Theme: tuitest.NewTheme(),
		Getenv: func(string) (string, bool) { return "", false },
		Write:  func(string) error { return nil },
		Keep:   func(string) (string, error) { return "/tmp/rin-curl-1.sh", nil },
		Save:   func(folder string, _ []flow.File) (string, error) { return folder, nil }})
	t.settle(t.screen().Open())
	return t
}

// colour makes the terminal dark, light or none.
func (t *tour) colour(name string) {
	tuitest.SetColours(t.session.Theme, name)
	t.settle(t.screen().Update(screen.SecretsToggled{})) // redraws
	if t.help != nil {
		t.help.Refresh()
	}
}

// resize gives the terminal a size.
func (t *tour) resize(width, height int) *tour {
	GinkgoHelper()
	t.deliver(tea.WindowSizeMsg{Width: width, Height: height})
	return t
}

// press presses keys one after the other, and waits for all effects of each.
func (t *tour) press(keys ...string) *tour {
	GinkgoHelper()
	for _, k := range keys {
		t.deliver(tuitest.Key(k))
	}
	return t
}

func (t *tour) deliver(msg tea.Msg) {
	GinkgoHelper()
	_, cmd := t.Update(msg)
	t.frame()
	t.settle(cmd)
}

// settle runs a command and all commands that follow from it, and checks every frame meanwhile.
func (t *tour) settle(first tea.Cmd) {
	GinkgoHelper()
	tuitest.Settle(GinkgoTB(), first, func(msg tea.Msg) tea.Cmd {
		if _, quit := msg.(tea.QuitMsg); quit {
			t.ended = true
			return nil
		}
		_, cmd := t.Update(msg)
		t.frame()
		return cmd
	})
}

// frame returns the visible frame. It checks that the frame fits the terminal, has no control characters except styles, and no hidden secret.
func (t *tour) frame() string {
	GinkgoHelper()
	t.frames++
	seen := t.View()
	tuitest.CheckFits(GinkgoTB(), seen, t.size)
	tuitest.CheckHarmless(GinkgoTB(), seen)
	if !t.session.Revealed {
		tuitest.CheckNoSecrets(GinkgoTB(), seen, t.Credentials(), t.session.Walk)
	}
	return seen
}

// golden compares the whole screen in several sizes, dark, light and without colour, with the accepted one.
func (t *tour) golden(name string, sizes ...screen.Size) {
	GinkgoHelper()
	all := ""
	for _, size := range sizes {
		t.resize(size.Width, size.Height)
		for _, colours := range tuitest.Colours() {
			t.colour(colours)
			all += tuitest.Picture(size, colours, tuitest.FixPort(t.frame()))
		}
	}
	tuitest.Golden(GinkgoTB(), name, all)
}

// hostileText acts on a terminal that prints it unchanged: it clears the screen, sets links, clipboard and title, with control characters of one
// and two bytes. It also reverses and hides text, breaks the line, and has characters of two columns.
const hostileText = "EVIL👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧\x1b[2J\x1b[31m\x1b]8;;http://evil.example\x07\x1b]52;c;cm0=\x07\x1b]0;EVIL\x07\x1bPq\x1b\\\u009b31m\u009d0;x\u009c\x7f\b\r\n\n\t\u202e\u2066\u200f\ufeff\u2028界界👩‍👩‍👧e\u0301‹client_secret›EVIL"

// failingSuite returns a suite whose error contains the text of a node.
func failingSuite() tuitest.Suite {
	return tuitest.ScriptedSuite(report.Report{}, nil, errors.New("the suite did not run: "+hostileText))
}
