package view

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/tui/message"
)

// Theme are the styles of the tour. Without colour they are weight and underlining alone; no meaning hangs on colour anywhere, each has a
// word or a sign beside it.
type Theme struct {
	// Renderer draws every style, also those of forms and tables.
	Renderer *lipgloss.Renderer
	// Title is for headlines, Muted for what matters less, Key for keys to press, Selected for the line under the cursor.
	Title, Muted, Key, Selected lipgloss.Style
	// Good, Warn and Bad colour verdicts.
	Good, Warn, Bad lipgloss.Style
	// Start and Header are the first line and the fields of a message; Name, Text, Number and Word are the parts of JSON.
	Start, Header, Name, Text, Number, Word lipgloss.Style
	// Found marks what a search found, Secret what is revealed.
	Found, Secret lipgloss.Style
}

// NewTheme makes the styles of a renderer, which knows the colours of the terminal and whether its background is dark.
func NewTheme(r *lipgloss.Renderer) Theme {
	plain := r.NewStyle()
	color := func(onLight, onDark string) lipgloss.Style {
		return plain.Foreground(lipgloss.AdaptiveColor{Light: onLight, Dark: onDark})
	}
	return Theme{
		Renderer: r,
		Title:    color("25", "117").Bold(true), Muted: color("242", "245"), Key: plain.Bold(true), Selected: plain.Reverse(true),
		Good: color("28", "114"), Warn: color("130", "221"), Bad: color("160", "210").Bold(true),
		Start: plain.Bold(true), Header: color("25", "117"),
		Name: color("25", "117"), Text: color("28", "114"), Number: color("130", "221"), Word: color("90", "183"),
		Found: plain.Reverse(true), Secret: color("160", "210").Italic(true),
	}
}

// Line gives a line of a message its colours.
func (t Theme) Line(l message.Line) string {
	switch l.Kind {
	case message.Start:
		return t.Start.Render(l.Text)
	case message.Header:
		name, value, found := strings.Cut(l.Text, ": ")
		if !found {
			return l.Text
		}
		return t.Header.Render(name+":") + " " + value
	case message.Note:
		return t.Muted.Render(l.Text)
	}
	return l.Text
}
