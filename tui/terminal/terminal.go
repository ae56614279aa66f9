// Package terminal knows the terminal that the tour is shown on: its colours and its background.
//
// Whether the background is light can only be asked, and not every terminal answers, nor at once: the question is put before Bubble Tea
// starts, the wait has a bound, and neither an answer that comes late nor a key that comes early is lost to the other side.
package terminal

import (
	"io"
	"os"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Wait is how long a terminal is waited for: long enough for a connection around half the world, short enough for a person.
const Wait = 150 * time.Millisecond

// Open makes a terminal's keyboard. A terminal that shows colours is asked for its background; the environment knows what else is known.
// Who opened it closes it.
func Open(in *os.File, out io.Writer, colored bool, getenv func(string) (string, bool)) (*Keyboard, Background, error) {
	k, err := newKeyboard(in)
	if err != nil || !colored {
		return k, Unknown, err
	}
	if kind, _ := getenv("TERM"); answers(kind) {
		_ = k.ask(out, Wait) // a terminal that cannot be asked is drawn on as well
	}
	if k.said.background != Unknown {
		return k, k.said.background, nil
	}
	hint, _ := getenv("COLORFGBG")
	return k, hinted(hint), nil
}

// Renderer draws for a terminal. colored says whether it may use colours at all; which, the environment says.
func Renderer(out io.Writer, colored bool, on Background) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(out)
	r.SetHasDarkBackground(on != Light)
	profile := termenv.Ascii
	if colored {
		profile = termenv.NewOutput(out).EnvColorProfile()
	}
	r.SetColorProfile(profile)
	return r
}
