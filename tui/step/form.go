package step

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"
	"github.com/charmbracelet/x/ansi"

	"github.com/rin-network/rin/tui/view"
)

// form is a form that a screen shows in its own place, until it is filled in or left.
type form struct {
	*huh.Form
	size view.Size
}

// newForm makes a form of fields, one below the other.
func newForm(t view.Theme, fields ...huh.Field) *form {
	keys := huh.NewDefaultKeyMap()
	keys.Quit = key.NewBinding(key.WithDisabled()) // the application has a key for it, and esc is the screen's
	keys.Input.AcceptSuggestion = key.NewBinding(key.WithDisabled())
	group := huh.NewGroup(fields...).WithShowHelp(false)
	return &form{Form: huh.NewForm(group).WithTheme(t.Form()).WithKeyMap(keys).WithShowHelp(false).WithShowErrors(false)}
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

// resized tells a form that its room is another one.
type resized struct{}

// lines draws the form, with what is wrong below it. In little room the field that is typed into is seen.
func (f *form) lines(t view.Theme, room view.Size) []string {
	var wrong []string
	for _, err := range f.Errors() {
		wrong = append(wrong, view.Hang(t.Bad.Render("✗")+" ", err.Error(), room.Width)...)
	}
	room.Height = max(3, room.Height-len(wrong))
	if f.size != room {
		f.size = room
		f.WithWidth(room.Width).WithHeight(room.Height)
		f.Update(resized{}) // draws anew: it has nothing else to do with it
	}
	lines := strings.Split(f.View(), "\n")
	for len(lines) > 0 && strings.TrimSpace(ansi.Strip(lines[len(lines)-1])) == "" {
		lines = lines[:len(lines)-1]
	}
	for i, line := range lines {
		lines[i] = view.Fit(strings.TrimRight(line, " "), room.Width)
	}
	return append(lines, wrong...)
}
