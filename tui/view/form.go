package view

import (
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/huh"
	"github.com/charmbracelet/lipgloss"
)

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
