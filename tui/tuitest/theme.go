package tuitest

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/rin-network/rin/tui/view"
)

// NewTheme is that of a terminal without colours, whatever the terminal of the test is.
func NewTheme() view.Theme {
	t := view.NewTheme(lipgloss.NewRenderer(io.Discard))
	Colour(t, "none")
	return t
}

// Colours are the names of what a terminal may be.
func Colours() []string { return []string{"none", "dark", "light"} }

// Colour makes the terminal of a theme dark, light or one without colours.
func Colour(t view.Theme, name string) {
	t.Renderer.SetHasDarkBackground(name == "dark")
	t.Renderer.SetColorProfile(termenv.ANSI256)
	if name == "none" {
		t.Renderer.SetColorProfile(termenv.Ascii)
	}
}
