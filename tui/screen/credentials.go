package screen

import (
	"errors"
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/flow"
)

// credentialsScreen is the screen that shows the client, looks for the usual mistakes, and lets a person type others.
type credentialsScreen struct {
	*Session
	pane *Pane
	form *accountForm
	room Size
	note string // what became of what was typed
}

func newCredentialsScreen(w *Session) Screen {
	s := &credentialsScreen{Session: w, pane: NewPane(w.Theme)}
	s.pane.Show(s.lines)
	return s
}

// Open implements Screen. Where there are no credentials, they are asked for at once.
func (s *credentialsScreen) Open() tea.Cmd {
	s.note = ""
	s.pane.Refresh()
	if !s.given() && s.form == nil && (s.Walk.HasNode() || s.Start == nil) {
		return s.ask(newClientForm(s.Session))
	}
	return nil
}

// givenNode tells whether the walk has a client.
func (s *credentialsScreen) given() bool {
	c := s.Walk.Target().Credentials
	return c.ClientID != "" && !c.ClientSecret.IsZero()
}

func (s *credentialsScreen) ask(f *accountForm) tea.Cmd {
	s.form, s.note = f, ""
	return s.form.Init()
}

// Typing implements Screen.
func (s *credentialsScreen) Typing() bool { return s.form != nil }

// Exchange implements Screen: nothing is sent here.
func (s *credentialsScreen) Exchange() (evidence.Exchange, bool) { return evidence.Exchange{}, false }

// Update implements Screen.
func (s *credentialsScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case SecretsToggled:
		s.pane.Refresh()
		return nil
	case OpenEditor:
		return s.ask(newClientForm(s.Session))
	}
	if s.form != nil {
		return s.fill(msg)
	}
	if k, ok := msg.(tea.KeyMsg); ok {
		return s.press(k)
	}
	return nil
}

func (s *credentialsScreen) fill(msg tea.Msg) tea.Cmd {
	if isEscape(msg) {
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
		s.Walk.SetAccount(account)
	}
	s.pane.Refresh()
	return nil
}

func (s *credentialsScreen) press(msg tea.KeyMsg) tea.Cmd {
	switch {
	case key.Matches(msg, enter("")) && s.given():
		return next
	case key.Matches(msg, enter("")), key.Matches(msg, edit()):
		return s.ask(newClientForm(s.Session))
	case key.Matches(msg, others()):
		return s.ask(newOthersForm(s.Session))
	}
	s.pane.Update(msg)
	return nil
}

// View implements Screen.
func (s *credentialsScreen) View(room Size) string {
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
func (s *credentialsScreen) lines(width int) []string {
	g := flow.Credentials.Guide()
	facts := s.facts(width)
	out := append(Wrap(g.Why, width), "")
	out = append(out, Hang(s.Theme.Muted.Render("Rule: "), g.Rule, width)...)
	if len(out)+1+len(facts) > s.room.Height { // the facts are seen first
		return append(append(facts, ""), out...)
	}
	return append(append(out, ""), facts...)
}

// facts are the client, and what is to be said of it.
func (s *credentialsScreen) facts(width int) []string {
	var out []string
	if s.note != "" {
		out = append(append(out, Hang(s.Theme.Bad.Render("✗")+" ", s.note, width)...), "")
	}
	at := s.Walk.Target()
	field := func(name, value string) {
		out = append(out, Hang(s.Theme.Header.Render(fmt.Sprintf("%-14s", name)), value, width)...)
	}
	if !s.given() {
		out = append(out, Wrap("There are no credentials for this node yet.", width)...)
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
func cautions(t Theme, c target.Credentials, width int) []string {
	found := flow.CheckCredentials(c)
	if len(found) == 0 {
		return Hang(t.Good.Render("✓")+" ", "They show none of the usual mistakes. Nothing was sent yet.", width)
	}
	var out []string
	for _, text := range found {
		out = append(out, Hang(t.Warn.Render("!")+" ", text, width)...)
	}
	return out
}

// secret is a secret as it is shown at the moment: how long it is, or the text itself.
func (w *Session) secret(s target.Secret) string {
	text := s.Reveal()
	if w.Revealed {
		return text
	}
	return fmt.Sprintf("%s (%s)", strings.Repeat("•", 8), evidence.Count(len([]rune(text)), "character"))
}

// Keys implements Screen.
func (s *credentialsScreen) Keys() []key.Binding {
	if s.form != nil {
		return FormKeys()
	}
	lead := enter("next")
	if !s.given() {
		lead = enter("type them")
	}
	return append([]key.Binding{lead, edit(), others()}, ScrollKeys()...)
}

func others() key.Binding {
	return key.NewBinding(key.WithKeys("o"), key.WithHelp("o", "other clients"))
}

// namesPlace tells a text that names where a secret is, from a secret.
func namesPlace(text string) bool {
	kind, name, found := strings.Cut(text, ":")
	return found && name != "" && (kind == "env" || kind == "file")
}

// accountForm asks for a client, or for what is presented on purpose in a later step.
type accountForm struct {
	*form
	world *Session
	// hidden are the fields whose text is masked, as long as it is no place of a secret.
	hidden []hiddenField
	// account is what was typed, with the secrets that the places hold.
	account func() (flow.Account, error)
	// beside are lines on what is typed so far.
	beside func(width int) []string
}

type hiddenField struct {
	input *huh.Input
	text  *string
}

// masked makes a field for a secret. Left empty it keeps the one that is there.
func (f *accountForm) masked(title, about string, kept bool, text *string) *huh.Input {
	if kept {
		about += "; empty keeps the present one"
	}
	input := huh.NewInput().Title(title).Description(about).EchoMode(huh.EchoModePassword).Value(text).Validate(func(text string) error {
		if namesPlace(text) {
			_, err := f.world.Secret(text)
			return err
		}
		return nil
	})
	f.hidden = append(f.hidden, hiddenField{input, text})
	return input
}

// unmask shows the name of a place while it is typed: it is no secret.
func (f *accountForm) unmask() {
	for _, h := range f.hidden {
		mode := huh.EchoModePassword
		if strings.HasPrefix(*h.text, "env:") || strings.HasPrefix(*h.text, "file:") {
			mode = huh.EchoModeNormal
		}
		h.input.EchoMode(mode)
	}
}

// typedURLs is the secret that a text is or names; an empty text is the one that is there.
func (f *accountForm) typed(text string, kept target.Secret) (target.Secret, error) {
	switch {
	case text == "":
		return kept, nil
	case namesPlace(text):
		return f.world.Secret(text)
	}
	return target.NewSecret(text), nil
}

const (
	aboutID     = "As the node's operator issued it"
	aboutSecret = "Masked; or env:NAME, file:PATH"
)

// newClientForm asks for client ID and secret.
func newClientForm(w *Session) *accountForm {
	f, now := &accountForm{world: w}, w.Walk.Account()
	id, secret := now.Client.ClientID, ""
	f.form = newForm(w.Theme,
		huh.NewInput().Title("Client ID").Description(aboutID).Value(&id),
		f.masked("Client secret", aboutSecret, !now.Client.ClientSecret.IsZero(), &secret))
	f.account = func() (flow.Account, error) {
		var err error
		now.Client.ClientID = id
		now.Client.ClientSecret, err = f.typed(secret, now.Client.ClientSecret)
		return now, err
	}
	f.beside = func(width int) []string {
		if namesPlace(secret) {
			return Hang(w.Theme.Muted.Render("·")+" ", "The secret is read from there when you press enter.", width)
		}
		c := target.Credentials{ClientID: id, ClientSecret: target.NewSecret(secret)}
		if secret == "" {
			c.ClientSecret = now.Client.ClientSecret
		}
		if id == "" && c.ClientSecret.IsZero() {
			return nil // nobody is told of mistakes before the first key
		}
		return cautions(w.Theme, c, width)
	}
	return f
}

// newOthersForm asks for what the step "what if" presents on purpose.
func newOthersForm(w *Session) *accountForm {
	f, now := &accountForm{world: w}, w.Walk.Account()
	var second target.Credentials
	if now.Second != nil {
		second = *now.Second
	}
	id, secret, expired := second.ClientID, "", ""
	f.form = newForm(w.Theme,
		huh.NewInput().Title("A client without the role").Description("Its ID; empty for none").Value(&id),
		f.masked("Its secret", aboutSecret, !second.ClientSecret.IsZero(), &secret),
		f.masked("An expired token of the client", aboutSecret, !now.Expired.IsZero(), &expired))
	f.account = func() (flow.Account, error) {
		var err, fault error
		second.ClientID = id
		second.ClientSecret, err = f.typed(secret, second.ClientSecret)
		now.Expired, fault = f.typed(expired, now.Expired)
		now.Second = &second
		switch {
		case id == "":
			now.Second = nil
		case err == nil && second.ClientSecret.IsZero():
			err = errors.New("the second client has no secret, so it was not taken")
		case id == now.Client.ClientID:
			err = errors.New("the second client is the first one, so it was not taken")
		}
		return now, errors.Join(err, fault)
	}
	f.beside = func(width int) []string {
		return Wrap("Both are for step 8, where they are refused, as they should be. Without them it leaves these two mistakes out.", width)
	}
	return f
}

// draw draws the form with what there is to say of it.
func (f *accountForm) draw(t Theme, room Size) string {
	if room.Width >= wide {
		width := room.Width / 2
		return f.paint(t, f.beside(room.Width-width-2), Size{Width: width, Height: room.Height})
	}
	said := f.beside(room.Width)
	said = said[:min(len(said), max(2, room.Height-8))]
	above := f.lines(t, Size{Width: room.Width, Height: room.Height - len(said) - 1})
	return strings.Join(Window(append(append(above, ""), said...), 0, room.Height), "\n")
}

// paint puts the form at the left, and what is said of it at the right.
func (f *accountForm) paint(t Theme, said []string, room Size) string {
	lines := Window(f.lines(t, room), 0, room.Height)
	return Beside(strings.Join(lines, "\n"), strings.Join(said, "\n"), room.Width)
}
