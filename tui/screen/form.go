package screen

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
)

// form replaces the contents of a screen until it is completed or left.
type form struct {
	*huh.Form
	size   Size
	fields []huh.Field
	finish string // what enter does in the last field
}

// newForm makes a form with fields below each other. finish says what enter does in the last field.
func newForm(t Theme, finish string, fields ...huh.Field) *form {
	keys := huh.NewDefaultKeyMap()
	keys.Quit = key.NewBinding(key.WithDisabled()) // the application handles ctrl+c, the screen handles esc
	keys.Input.AcceptSuggestion = key.NewBinding(key.WithDisabled())
	group := huh.NewGroup(fields...).WithShowHelp(false)
	return &form{Form: huh.NewForm(group).WithTheme(t.formTheme()).WithKeyMap(keys).WithShowHelp(false).WithShowErrors(false), fields: fields, finish: finish}
}

// isEscape reports whether a message is the key that leaves a form without using its values.
func isEscape(msg tea.Msg) bool {
	k, ok := msg.(tea.KeyMsg)
	return ok && k.String() == "esc"
}

// update hands a message to the form; done reports whether the form is completed.
func (f *form) update(msg tea.Msg) (done bool, cmd tea.Cmd) {
	model, cmd := f.Update(msg)
	if updated, ok := model.(*huh.Form); ok {
		f.Form = updated
	}
	return f.State == huh.StateCompleted, cmd
}

// resized makes a form draw itself again.
type resized struct{}

// lines draws the form and its errors. If it does not fit, the focused field is visible.
func (f *form) lines(t Theme, room Size) []string {
	var problems []string
	for _, err := range f.Errors() {
		problems = append(problems, Hang(t.Bad.Render("✗")+" ", err.Error(), room.Width)...)
	}
	room.Height = max(3, room.Height-len(problems))
	if f.size != room {
		f.size = room
		f.WithWidth(room.Width).WithHeight(room.Height)
		f.Update(resized{})
	}
	lines := strings.Split(f.View(), "\n")
	for len(lines) > 0 && strings.TrimSpace(ansi.Strip(lines[len(lines)-1])) == "" {
		lines = lines[:len(lines)-1]
	}
	for i, line := range lines {
		lines[i] = Fit(strings.TrimRight(line, " "), room.Width)
	}
	return append(lines, problems...)
}

// formTheme returns the styles of a form. They use the renderer of the theme, because those of huh would query the terminal again.
func (t Theme) formTheme() *huh.Theme {
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

// keys lists the keys of the focused field for the help.
func (f *form) keys() []key.Binding {
	focused := f.GetFocusedField()
	lead := enter("next field", nil)
	if focused == f.fields[len(f.fields)-1] {
		lead = enter(f.finish, nil)
	}
	commands := []command{lead, escape("leave the form", nil)}
	if focused != f.fields[0] {
		commands = append(commands, bind("shift+tab", "previous field", nil))
	}
	return helpOf(commands)
}
