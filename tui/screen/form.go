package screen

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
)

// form is a form that a screen shows in its own place, until it is filled in or left.
type form struct {
	*huh.Form
	size Size
}

// newForm makes a form of fields, one below the other.
func newForm(t Theme, fields ...huh.Field) *form {
	keys := huh.NewDefaultKeyMap()
	keys.Quit = key.NewBinding(key.WithDisabled()) // the application has a key for it, and esc is the screen's
	keys.Input.AcceptSuggestion = key.NewBinding(key.WithDisabled())
	group := huh.NewGroup(fields...).WithShowHelp(false)
	return &form{Form: huh.NewForm(group).WithTheme(t.Form()).WithKeyMap(keys).WithShowHelp(false).WithShowErrors(false)}
}

// isEscape tells the key that leaves a form without taking what was typed.
func isEscape(msg tea.Msg) bool {
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
func (f *form) lines(t Theme, room Size) []string {
	var wrong []string
	for _, err := range f.Errors() {
		wrong = append(wrong, Hang(t.Bad.Render("✗")+" ", err.Error(), room.Width)...)
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
		lines[i] = Fit(strings.TrimRight(line, " "), room.Width)
	}
	return append(lines, wrong...)
}

// Form are the styles of a form. All are made by the theme's renderer: what huh comes with would ask the terminal again.
func (t Theme) Form() *huh.Theme {
	plain := t.Renderer.NewStyle()
	field := huh.FieldStyles{
		Base: plain.PaddingLeft(2), Title: plain, Description: t.Muted, ErrorIndicator: t.Bad.SetString(" ✗"), ErrorMessage: t.Bad,
		SelectSelector: plain, Option: plain, NextIndicator: plain, PrevIndicator: plain, Directory: plain, File: plain,
		MultiSelectSelector: plain, SelectedOption: plain, SelectedPrefix: plain, UnselectedOption: plain, UnselectedPrefix: plain,
		TextInput:     huh.TextInputStyles{Cursor: plain.Reverse(true), CursorText: plain, Placeholder: t.Muted, Prompt: t.Muted, Text: plain},
		FocusedButton: t.Selected, BlurredButton: plain, Card: plain, NoteTitle: t.Title, Next: plain,
	}
	focused := field
	focused.Base = plain.Border(lipgloss.Border{Left: "›"}, false, false, false, true).PaddingLeft(1)
	focused.Title = t.Title
	return &huh.Theme{
		Form: huh.FormStyles{Base: plain}, Group: huh.GroupStyles{Base: plain, Title: t.Title, Description: t.Muted},
		FieldSeparator: plain.SetString("\n\n"), Focused: focused, Blurred: field,
	}
}

// FormKeys are the keys of a form, for a help text.
func FormKeys() []key.Binding {
	return []key.Binding{
		key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "next field")),
		key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "leave the form")),
		key.NewBinding(key.WithKeys("shift+tab"), key.WithHelp("shift+tab", "field before")),
	}
}
