// Package terminal knows the terminal that the tour is shown on: its colours and its background.
package terminal

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Renderer draws for a terminal. colored says whether it may use colours at all; which, the environment says.
func Renderer(out io.Writer, colored, dark bool) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(out)
	r.SetHasDarkBackground(dark)
	profile := termenv.Ascii
	if colored {
		profile = termenv.NewOutput(out).EnvColorProfile()
	}
	r.SetColorProfile(profile)
	return r
}
