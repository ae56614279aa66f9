package step

import (
	"errors"
	"strings"

	"github.com/charmbracelet/huh"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// accountForm asks for a client, or for what is presented on purpose in a later step.
type accountForm struct {
	*form
	world *World
	// hidden are the fields whose text is masked, as long as it is no place of a secret.
	hidden []hiddenField
	// account is what was typed, with the secrets that the places hold.
	account func() (walk.Account, error)
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
		if place(text) {
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

// typed is the secret that a text is or names; an empty text is the one that is there.
func (f *accountForm) typed(text string, kept target.Secret) (target.Secret, error) {
	switch {
	case text == "":
		return kept, nil
	case place(text):
		return f.world.Secret(text)
	}
	return target.NewSecret(text), nil
}

const (
	aboutID     = "As the node's operator issued it"
	aboutSecret = "Masked; or env:NAME, file:PATH"
)

// newClientForm asks for client ID and secret.
func newClientForm(w *World) *accountForm {
	f, now := &accountForm{world: w}, w.Walk.Account()
	id, secret := now.First.ClientID, ""
	f.form = newForm(w.Theme,
		huh.NewInput().Title("Client ID").Description(aboutID).Value(&id),
		f.masked("Client secret", aboutSecret, !now.First.ClientSecret.IsZero(), &secret))
	f.account = func() (walk.Account, error) {
		var err error
		now.First.ClientID = id
		now.First.ClientSecret, err = f.typed(secret, now.First.ClientSecret)
		return now, err
	}
	f.beside = func(width int) []string {
		if place(secret) {
			return view.Hang(w.Theme.Muted.Render("·")+" ", "The secret is read from there when you press enter.", width)
		}
		c := target.Credentials{ClientID: id, ClientSecret: target.NewSecret(secret)}
		if secret == "" {
			c.ClientSecret = now.First.ClientSecret
		}
		if id == "" && c.ClientSecret.IsZero() {
			return nil // nobody is told of mistakes before the first key
		}
		return cautions(w.Theme, c, width)
	}
	return f
}

// newOthersForm asks for what the step "what if" presents on purpose.
func newOthersForm(w *World) *accountForm {
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
	f.account = func() (walk.Account, error) {
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
		case id == now.First.ClientID:
			err = errors.New("the second client is the first one, so it was not taken")
		}
		return now, errors.Join(err, fault)
	}
	f.beside = func(width int) []string {
		return view.Wrap("Both are for step 8, where they are refused, as they should be. Without them it leaves these two mistakes out.", width)
	}
	return f
}

// draw draws the form with what there is to say of it.
func (f *accountForm) draw(t view.Theme, room view.Size) string {
	if room.Width >= wide {
		width := room.Width / 2
		return f.paint(t, f.beside(room.Width-width-2), view.Size{Width: width, Height: room.Height})
	}
	said := f.beside(room.Width)
	said = said[:min(len(said), max(2, room.Height-8))]
	above := f.lines(t, view.Size{Width: room.Width, Height: room.Height - len(said) - 1})
	return strings.Join(view.Window(append(append(above, ""), said...), 0, room.Height), "\n")
}

// paint puts the form at the left, and what is said of it at the right.
func (f *accountForm) paint(t view.Theme, said []string, room view.Size) string {
	lines := view.Window(f.lines(t, room), 0, room.Height)
	return view.Beside(strings.Join(lines, "\n"), strings.Join(said, "\n"), room.Width)
}
