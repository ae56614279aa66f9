package step

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"

	"github.com/rin-network/rin/tui/view"
)

// form is a form that a screen shows in its own place, until it is filled in or left.
type form struct {
	*huh.Form
	width int
}

// newForm makes a form of fields, one below the other.
func newForm(t view.Theme, fields ...huh.Field) *form {
	keys := huh.NewDefaultKeyMap()
	keys.Quit = key.NewBinding(key.WithDisabled()) // the application has a key for it, and esc is the screen's
	keys.Input.AcceptSuggestion = key.NewBinding(key.WithDisabled())
	group := huh.NewGroup(fields...).WithShowHelp(false)
	return &form{Form: huh.NewForm(group).WithTheme(t.Form()).WithKeyMap(keys).WithShowHelp(false).WithShowErrors(true)}
}

// left tells the key that leaves a form without taking what was typed.
func left(msg tea.Msg) bool {
	k, ok := msg.(tea.KeyMsg)
	return ok && k.String() == "esc"
}

// take gives the form a message; done tells that it was filled in.
func (f *form) take(msg tea.Msg) (done bool, cmd tea.Cmd) {
	model, cmd := f.Update(msg)
	if updated, ok := model.(*huh.Form); ok {
		f.Form = updated
	}
	return f.State == huh.StateCompleted, cmd
}

// lines draws the form in a width.
func (f *form) lines(width int) []string {
	if f.width != width {
		f.width = width
		f.WithWidth(width)
	}
	lines := strings.Split(f.View(), "\n")
	for i, line := range lines {
		lines[i] = view.Fit(line, width)
	}
	return lines
}
