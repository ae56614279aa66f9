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

// credentialsScreen shows the client, checks for common mistakes, and asks for other credentials.
type credentialsScreen struct {
	*Session
	pane    *Pane
	form    *accountForm
	room    Size
	problem string // with the values of the last form
}

func newCredentialsScreen(w *Session) Screen {
	s := &credentialsScreen{Session: w, pane: NewPane(w.Theme)}
	s.pane.Show(s.lines)
	return s
}

// Open implements [Screen]. It opens the form if there are no credentials.
func (s *credentialsScreen) Open() tea.Cmd {
	s.problem = ""
	s.pane.Refresh()
	if !s.complete() && s.form == nil && (s.Walk.HasNode() || s.Start == nil) {
		return s.askClient()
	}
	return nil
}

// complete reports whether the walk has client ID and secret.
func (s *credentialsScreen) complete() bool {
	c := s.Walk.Target().Credentials
	return c.ClientID != "" && !c.ClientSecret.IsZero()
}

func (s *credentialsScreen) askClient() tea.Cmd { return s.ask(newClientForm(s.Session)) }
func (s *credentialsScreen) askOthers() tea.Cmd { return s.ask(newOthersForm(s.Session)) }

func (s *credentialsScreen) ask(f *accountForm) tea.Cmd {
	s.form, s.problem = f, ""
	return s.form.Init()
}

// Typing implements [Screen].
func (s *credentialsScreen) Typing() bool { return s.form != nil }

// Exchange implements [Screen]. This step sends nothing.
func (s *credentialsScreen) Exchange() (evidence.Exchange, bool) { return evidence.Exchange{}, false }

// Update implements [Screen].
func (s *credentialsScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case SecretsToggled:
		s.pane.Refresh()
		return nil
	case OpenEditor:
		return s.askClient()
	}
	if s.form != nil {
		return s.updateForm(msg)
	}
	if k, ok := msg.(tea.KeyMsg); ok {
		if cmd, handled := press(k, s.commands()); handled {
			return cmd
		}
		s.pane.Update(k)
	}
	return nil
}

func (s *credentialsScreen) updateForm(msg tea.Msg) tea.Cmd {
	if isEscape(msg) {
		s.form = nil
		return nil
	}
	done, cmd := s.form.update(msg)
	if !done {
		s.form.unmask()
		return cmd
	}
	account, err := s.form.account()
	s.form = nil
	if err != nil {
		s.problem = err.Error()
	} else {
		s.Walk.SetAccount(account)
	}
	s.pane.Refresh()
	return nil
}

// Keys implements [Screen].
func (s *credentialsScreen) Keys() []key.Binding {
	if s.form != nil {
		return s.form.keys()
	}
	return helpOf(s.commands())
}

func (s *credentialsScreen) commands() []command {
	lead := enter("next", next)
	if !s.complete() {
		lead = enter("type them", s.askClient)
	}
	return append([]command{lead, edit("edit", s.askClient), bind("o", "other clients", s.askOthers)}, scrollHelp()...)
}

// View implements [Screen].
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

// lines shows the guide and the credentials; the credentials come first if not all fits.
func (s *credentialsScreen) lines(width int) []string {
	facts, guide := s.facts(width), s.Theme.guide(flow.Credentials, width)
	if len(guide)+1+len(facts) > s.room.Height {
		return append(append(facts, ""), guide...)
	}
	return append(append(guide, ""), facts...)
}

// facts shows the credentials and the mistakes in them.
func (s *credentialsScreen) facts(width int) []string {
	var lines []string
	if s.problem != "" {
		lines = append(Hang(s.Theme.Bad.Render("✗")+" ", s.problem, width), "")
	}
	t := s.Walk.Target()
	field := func(name, value string) {
		lines = append(lines, Hang(s.Theme.Header.Render(fmt.Sprintf("%-14s", name)), value, width)...)
	}
	if !s.complete() {
		lines = append(lines, Wrap("There are no credentials for this node yet.", width)...)
		return append(lines, s.Theme.Key.Render("enter")+" type them")
	}
	field("Client ID", t.Credentials.ClientID)
	field("Client secret", s.secret(t.Credentials.ClientSecret))
	if c := t.Second; c != nil {
		field("Without role", c.ClientID+", "+s.secret(c.ClientSecret))
	}
	if !t.ExpiredToken.IsZero() {
		field("Expired token", s.secret(t.ExpiredToken))
	}
	lines = append(lines, "")
	lines = append(lines, mistakes(s.Theme, t.Credentials, width)...)
	return append(lines, "", s.Theme.Key.Render("enter")+" continue with them", s.Theme.Key.Render("e")+"     edit them")
}

// mistakes lists the common mistakes in credentials.
func mistakes(t Theme, c target.Credentials, width int) []string {
	found := flow.CheckCredentials(c)
	if len(found) == 0 {
		return Hang(t.Good.Render("✓")+" ", "rin found no common mistake. No request has been sent yet.", width)
	}
	var lines []string
	for _, text := range found {
		lines = append(lines, Hang(t.Warn.Render("!")+" ", text, width)...)
	}
	return lines
}

// secret shows a secret, or only its length while secrets are hidden.
func (w *Session) secret(s target.Secret) string {
	text := s.Reveal()
	if w.Revealed {
		return text
	}
	return fmt.Sprintf("%s (%s)", strings.Repeat("•", 8), evidence.Count(len([]rune(text)), "character"))
}

// namesPlace reports whether a text names the place of a secret, such as env:NAME.
func namesPlace(text string) bool {
	kind, name, found := strings.Cut(text, ":")
	return found && name != "" && (kind == "env" || kind == "file")
}

// accountForm asks for the client, or for the credentials of the step "what if".
type accountForm struct {
	*form
	session *Session
	secrets []secretField
	// account returns the account with the values of the form.
	account func() (flow.Account, error)
	// remarks comments on the values while they are typed.
	remarks func(width int) []string
}

// secretField is a field that masks its value.
type secretField struct {
	input *huh.Input
	value *string
}

// newSecretField makes a field for a secret. If the field stays empty, the current secret is kept.
func (f *accountForm) newSecretField(title, description string, current target.Secret, value *string) *huh.Input {
	if !current.IsZero() {
		description += "; leave it empty to keep the current one"
	}
	input := huh.NewInput().Title(title).Description(description).EchoMode(huh.EchoModePassword).Value(value).Validate(func(text string) error {
		if namesPlace(text) {
			_, err := f.session.Secret(text)
			return err
		}
		return nil
	})
	f.secrets = append(f.secrets, secretField{input, value})
	return input
}

// unmask shows a value while it is the name of a place, which is not secret.
func (f *accountForm) unmask() {
	for _, s := range f.secrets {
		mode := huh.EchoModePassword
		if strings.HasPrefix(*s.value, "env:") || strings.HasPrefix(*s.value, "file:") {
			mode = huh.EchoModeNormal
		}
		s.input.EchoMode(mode)
	}
}

// read returns the secret of a value: the value itself, or the secret at the place that it names, or the current one if it is empty.
func (f *accountForm) read(value string, current target.Secret) (target.Secret, error) {
	switch {
	case value == "":
		return current, nil
	case namesPlace(value):
		return f.session.Secret(value)
	}
	return target.NewSecret(value), nil
}

const (
	aboutID     = "As the operator of the node issued it"
	aboutSecret = "Masked; or env:NAME, file:PATH"
)

// newClientForm asks for client ID and secret.
func newClientForm(w *Session) *accountForm {
	f, account := &accountForm{session: w}, w.Walk.Account()
	id, secret := account.Client.ClientID, ""
	f.form = newForm(w.Theme, "use them",
		huh.NewInput().Title("Client ID").Description(aboutID).Value(&id),
		f.newSecretField("Client secret", aboutSecret, account.Client.ClientSecret, &secret))
	f.account = func() (flow.Account, error) {
		var err error
		account.Client.ClientID = id
		account.Client.ClientSecret, err = f.read(secret, account.Client.ClientSecret)
		return account, err
	}
	f.remarks = func(width int) []string {
		if namesPlace(secret) {
			return Hang(w.Theme.Muted.Render("·")+" ", "rin reads the secret from there when you press enter.", width)
		}
		c := target.Credentials{ClientID: id, ClientSecret: target.NewSecret(secret)}
		if secret == "" {
			c.ClientSecret = account.Client.ClientSecret
		}
		if id == "" && c.ClientSecret.IsZero() {
			return nil // nothing is typed yet
		}
		return mistakes(w.Theme, c, width)
	}
	return f
}

// newOthersForm asks for the credentials that the step "what if" uses.
func newOthersForm(w *Session) *accountForm {
	f, account := &accountForm{session: w}, w.Walk.Account()
	var second target.Credentials
	if account.Second != nil {
		second = *account.Second
	}
	id, secret, expired := second.ClientID, "", ""
	f.form = newForm(w.Theme, "use them",
		huh.NewInput().Title("A client without the role").Description("Its ID; empty if there is none").Value(&id),
		f.newSecretField("Its secret", aboutSecret, second.ClientSecret, &secret),
		f.newSecretField("An expired token of the client", aboutSecret, account.Expired, &expired))
	f.account = func() (flow.Account, error) {
		var errSecond, errExpired error
		second.ClientID = id
		second.ClientSecret, errSecond = f.read(secret, second.ClientSecret)
		account.Expired, errExpired = f.read(expired, account.Expired)
		account.Second = &second
		switch {
		case id == "":
			account.Second = nil
		case errSecond == nil && second.ClientSecret.IsZero():
			errSecond = errors.New("the second client was not changed, because it has no secret")
		case id == account.Client.ClientID:
			errSecond = errors.New("the second client was not changed, because it is the same as the first")
		}
		return account, errors.Join(errSecond, errExpired)
	}
	f.remarks = func(width int) []string {
		return Wrap("Step 8 shows how the node refuses this client and this token. Without them, step 8 skips two mistakes.", width)
	}
	return f
}

// draw draws the form, with the remarks beside it or below it.
func (f *accountForm) draw(t Theme, room Size) string {
	if room.Width >= twoColumns {
		width := room.Width / 2
		lines := Window(f.lines(t, Size{Width: width, Height: room.Height}), 0, room.Height)
		return Beside(strings.Join(lines, "\n"), strings.Join(f.remarks(room.Width-width-2), "\n"), width)
	}
	remarks := f.remarks(room.Width)
	remarks = remarks[:min(len(remarks), max(2, room.Height-8))]
	lines := f.lines(t, Size{Width: room.Width, Height: room.Height - len(remarks) - 1})
	return strings.Join(Window(append(append(lines, ""), remarks...), 0, room.Height), "\n")
}
