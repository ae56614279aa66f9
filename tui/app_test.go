package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbletea"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/screen"
)

// canvas is a screen that fills its room with dots and remembers the keys that it gets.
type canvas struct {
	typing  bool
	lead    string
	pressed []string
}

func (c *canvas) Open() tea.Cmd { return nil }

func (c *canvas) Typing() bool { return c.typing }

func (c *canvas) Exchange() (evidence.Exchange, bool) { return evidence.Exchange{}, false }

func (c *canvas) View(room screen.Size) string {
	lines := make([]string, room.Height)
	for i := range lines {
		lines[i] = strings.Repeat("·", room.Width)
	}
	lines[0] = fmt.Sprintf("%d×%d", room.Width, room.Height)
	return strings.Join(lines, "\n")
}

func (c *canvas) Update(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyMsg); ok {
		c.pressed = append(c.pressed, k.String())
	}
	return nil
}

func (c *canvas) Keys() []key.Binding {
	return []key.Binding{
		key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", cmp.Or(c.lead, "ask for a token"))),
		key.NewBinding(key.WithKeys("tab"), key.WithHelp("tab", "pane")),
		key.NewBinding(key.WithKeys("s"), key.WithHelp("s", "send again")),
		key.NewBinding(key.WithKeys("/"), key.WithHelp("/", "search, and go to what is found with n and N")),
	}
}

// newCanvasTour returns a tour whose screens are canvases, so that a test sees what the application itself draws.
func newCanvasTour() (*tour, *canvas) {
	GinkgoHelper()
	t, c := newTour(tourOptions{}), &canvas{}
	for i := range t.screens {
		t.screens[i] = c
	}
	return t, c
}

var sizes = []screen.Size{{Width: 40, Height: 15}, {Width: 80, Height: 24}, {Width: 120, Height: 40}}

var _ = Describe("The frame around a screen", func() {
	It("matches its goldens", func() {
		t, _ := newCanvasTour()
		t.golden("start", sizes...)
		t.press("?").golden("help", sizes...)
		t.golden("small", screen.Size{Width: 19, Height: 15}, screen.Size{Width: 40, Height: 7}, screen.Size{Width: 8, Height: 2})
	})

	It("counts the token down", func() {
		t, _ := newCanvasTour()
		Expect(t.session.Walk.ReadRegistry(context.Background()).OK()).To(BeTrue())
		Expect(t.session.Walk.ChooseNode("XA")).To(Succeed())
		Expect(t.session.Walk.FetchToken(context.Background()).OK()).To(BeTrue())
		t.press("3").golden("countdown", sizes...)
		t.Clock.Add(61 * time.Second)
		t.deliver(tick(t.Clock.Now()))
		Expect(t.frame()).To(MatchRegexp(`token \d+:59`))
		t.press("r")
		t.resize(40, 15).colour("none")
		Expect(t.frame()).To(MatchRegexp(`3/11 Ask.*… secrets shown  token \d+:59`))
		t.Clock.Add(24 * time.Hour)
		t.deliver(tick(t.Clock.Now()))
		Expect(t.frame()).To(And(ContainSubstring("token expired"), Not(ContainSubstring("secrets shown"))), "the secrets are hidden without a key")
	})

	It("fits the keys into 40 columns, help and quit always", func() {
		t, c := newCanvasTour()
		t.resize(40, 15)
		Expect(t.foot()).To(Equal("enter ask for a token  ?  ctrl+c quit"))
		c.lead = "ask for a token in a very long sentence"
		Expect(t.foot()).To(Equal("enter ask for a token i…  ?  ctrl+c quit"))
		c.lead = "send"
		Expect(t.foot()).To(Equal("enter send  ? help  ctrl+c quit"))
		c.typing = true
		Expect(t.foot()).To(Equal("enter send  tab pane  ctrl+c quit"))
	})

	It("shows all of the help at 40×15, by scrolling", func() {
		t, c := newCanvasTour()
		t.resize(40, 15).press("?")
		seen := map[string]bool{}
		for range 40 {
			for line := range strings.Lines(t.frame()) {
				seen[strings.TrimSpace(line)] = true
			}
			t.press("down")
		}
		text := fmt.Sprint(seen)
		for _, group := range [][]key.Binding{c.Keys(), t.keys.all()} {
			for _, k := range group {
				Expect(text).To(ContainSubstring(k.Help().Key))
				for _, word := range strings.Fields(k.Help().Desc) {
					Expect(text).To(ContainSubstring(word))
				}
			}
		}
		t.press("x")
		Expect(t.frame()).To(ContainSubstring("40×11"), "another key closes it")
		Expect(c.pressed).To(BeEmpty())
	})

	It("jumps by digits and goes back by esc, unless a text is typed", func() {
		t, c := newCanvasTour()
		for digit, headline := range map[string]string{"1": "1/11 ", "5": "5/11 ", "9": "9/11 ", "0": "10/11 ", "-": "11/11 "} {
			Expect(t.press(digit).frame()).To(HavePrefix(headline))
		}
		Expect(t.press("3", "esc").frame()).To(HavePrefix("2/11 "))
		Expect(t.press("esc", "esc", "esc").frame()).To(HavePrefix("1/11 "))
		c.typing, c.pressed = true, nil
		t.press("5", "?", "r", "l", "esc")
		Expect(t.frame()).To(HavePrefix("1/11 "))
		Expect(c.pressed).To(Equal([]string{"5", "?", "r", "l", "esc"}))
		t.press("ctrl+c")
		Expect(t.ended).To(BeTrue(), "ctrl+c is not typed")
	})

	It("handles keys that arrive together one by one, and a pasted text as a whole", func() {
		t, c := newCanvasTour()
		t.deliver(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("35/ab")})
		Expect(t.frame()).To(HavePrefix("5/11 "))
		Expect(c.pressed).To(Equal([]string{"/", "a", "b"}))
		c.typing, c.pressed = true, nil
		t.deliver(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("35/ab"), Paste: true})
		Expect(c.pressed).To(Equal([]string{"[35/ab]"}))
	})

	It("ends after the last step", func() {
		t, _ := newCanvasTour()
		t.press("-")
		t.deliver(screen.NextStep{})
		Expect(t.ended).To(BeTrue())
	})
})

var _ = Describe("A tour that breaks", func() {
	It("leaves the terminal clean, and says that it broke", func() {
		var broken = errors.New("a fault of the suite")
		t := newTour(tourOptions{certify: func(context.Context, target.Target, func(worker.Event)) (report.Report, *evidence.Log, error) {
			panic(broken)
		}})
		t.session.Walk.ReadRegistry(context.Background())
		Expect(t.session.Walk.ChooseNode("XA")).To(Succeed())
		var out strings.Builder
		err := Run(context.Background(), t.session, strings.NewReader("0\r"), &out)
		Expect(err).To(MatchError(ErrBroken))
		expectClean(out.String(), alternateScreen, bracketedPaste)
	})
})
