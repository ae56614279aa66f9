package step

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// credentials is the screen that shows the client, looks for the usual mistakes, and lets a person type others.
type credentials struct {
	*World
	pane *view.Pane
	form *accountForm
	room view.Size
	note string // what became of what was typed
}

func newCredentials(w *World) Screen {
	s := &credentials{World: w, pane: view.NewPane(w.Theme)}
	s.pane.Show(s.lines)
	return s
}

// Open implements Screen. Where there are no credentials, they are asked for at once.
func (s *credentials) Open() tea.Cmd {
	s.note = ""
	s.pane.Refresh()
	if !s.given() && s.form == nil && (s.Walk.Located() || s.Start == nil) {
		return s.ask(newClientForm(s.World))
	}
	return nil
}

// given tells whether the walk has a client.
func (s *credentials) given() bool {
	c := s.Walk.Target().Credentials
	return c.ClientID != "" && !c.ClientSecret.IsZero()
}

func (s *credentials) ask(f *accountForm) tea.Cmd {
	s.form, s.note = f, ""
	return s.form.Init()
}

// Typing implements Screen.
func (s *credentials) Typing() bool { return s.form != nil }

// Exchange implements Screen: nothing is sent here.
func (s *credentials) Exchange() (exchange.Exchange, bool) { return exchange.Exchange{}, false }

// Update implements Screen.
func (s *credentials) Update(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case Revealing:
		s.pane.Refresh()
		return nil
	case Edit:
		return s.ask(newClientForm(s.World))
	}
	if s.form != nil {
		return s.fill(msg)
	}
	if k, ok := msg.(tea.KeyMsg); ok {
		return s.press(k)
	}
	return nil
}

func (s *credentials) fill(msg tea.Msg) tea.Cmd {
	if left(msg) {
		s.form = nil
		return nil
	}
	done, cmd := s.form.take(msg)
	if !done {
		s.form.unmask()
		return cmd
	}
	account, err := s.form.account()
	s.form = nil
	if err != nil {
		s.note = err.Error()
	} else {
		s.Walk.Present(account)
	}
	s.pane.Refresh()
	return nil
}

func (s *credentials) press(msg tea.KeyMsg) tea.Cmd {
	switch {
	case key.Matches(msg, enter("")) && s.given():
		return next
	case key.Matches(msg, enter("")), key.Matches(msg, edit()):
		return s.ask(newClientForm(s.World))
	case key.Matches(msg, others()):
		return s.ask(newOthersForm(s.World))
	}
	s.pane.Update(msg)
	return nil
}

// View implements Screen.
func (s *credentials) View(room view.Size) string {
	if s.form != nil {
		return s.form.draw(s.Theme, room)
	}
	if s.room != room {
		s.room = room
		s.pane.Refresh()
	}
	return s.pane.View(room)
}

// lines are why the step is there, and the facts.
func (s *credentials) lines(width int) []string {
	g := walk.Credentials.Guide()
	facts := s.facts(width)
	out := append(view.Wrap(g.Why, width), "")
	out = append(out, view.Hang(s.Theme.Muted.Render("Rule: "), g.Rule, width)...)
	if len(out)+1+len(facts) > s.room.Height { // the facts are seen first
		return append(append(facts, ""), out...)
	}
	return append(append(out, ""), facts...)
}

// facts are the client, and what is to be said of it.
func (s *credentials) facts(width int) []string {
	var out []string
	if s.note != "" {
		out = append(append(out, view.Hang(s.Theme.Bad.Render("✗")+" ", s.note, width)...), "")
	}
	at := s.Walk.Target()
	field := func(name, value string) {
		out = append(out, view.Hang(s.Theme.Header.Render(fmt.Sprintf("%-14s", name)), value, width)...)
	}
	if !s.given() {
		out = append(out, view.Wrap("There are no credentials for this node yet.", width)...)
		return append(out, s.Theme.Key.Render("enter")+" type them")
	}
	field("Client ID", at.Credentials.ClientID)
	field("Client secret", s.secret(at.Credentials.ClientSecret))
	if c := at.Second; c != nil {
		field("Without role", c.ClientID+", "+s.secret(c.ClientSecret))
	}
	if !at.ExpiredToken.IsZero() {
		field("Expired token", s.secret(at.ExpiredToken))
	}
	out = append(out, "")
	out = append(out, cautions(s.Theme, at.Credentials, width)...)
	return append(out, "", s.Theme.Key.Render("enter")+" go on with them", s.Theme.Key.Render("e")+"     edit them")
}

// cautions are the usual mistakes that credentials show, in lines.
func cautions(t view.Theme, c target.Credentials, width int) []string {
	found := walk.Cautions(c)
	if len(found) == 0 {
		return view.Hang(t.Good.Render("✓")+" ", "They show none of the usual mistakes. Nothing was sent yet.", width)
	}
	var out []string
	for _, text := range found {
		out = append(out, view.Hang(t.Warn.Render("!")+" ", text, width)...)
	}
	return out
}

// secret is a secret as it is shown at the moment: how long it is, or the text itself.
func (w *World) secret(s target.Secret) string {
	text := s.Reveal()
	if w.Revealed {
		return text
	}
	return fmt.Sprintf("%s (%d characters)", strings.Repeat("•", 8), len([]rune(text)))
}

// Keys implements Screen.
func (s *credentials) Keys() []key.Binding {
	if s.form != nil {
		return view.FormKeys()
	}
	lead := enter("next")
	if !s.given() {
		lead = enter("type them")
	}
	return append([]key.Binding{lead, edit(), others()}, view.ScrollKeys()...)
}

func others() key.Binding {
	return key.NewBinding(key.WithKeys("o"), key.WithHelp("o", "other clients"))
}

// place tells a text that names where a secret is, from a secret.
func place(text string) bool {
	kind, name, found := strings.Cut(text, ":")
	return found && name != "" && (kind == "env" || kind == "file")
}
