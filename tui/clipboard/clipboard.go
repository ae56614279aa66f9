// Package clipboard writes what puts a text into the clipboard of the terminal that a person sits at: OSC 52, which goes through SSH, and
// through tmux and screen where they let it.
package clipboard

import (
	"strings"

	"github.com/aymanbagabas/go-osc52/v2"
)

// Longest is how many bytes of text the most careful terminals take.
const Longest = 74_994

// Terminal is what is known of the terminal from the environment.
type Terminal struct {
	// Tmux and Screen tell that one of them stands between.
	Tmux, Screen bool
	// Bare tells of a terminal without a clipboard, such as the console of Linux.
	Bare bool
}

// Of reads the environment.
func Of(getenv func(string) (string, bool)) Terminal {
	term, _ := getenv("TERM")
	tmux, _ := getenv("TMUX")
	t := Terminal{Tmux: tmux != "", Bare: term == "" || term == "dumb" || term == "linux"}
	t.Screen = !t.Tmux && strings.HasPrefix(term, "screen")
	return t
}

// Sequence is what to write to the terminal; ok is false where that is of no use. No terminal answers it: whether the text arrived, only
// the person knows.
func (t Terminal) Sequence(text string) (sequence string, ok bool) {
	if t.Bare || len(text) > Longest {
		return "", false
	}
	plain := osc52.New(text)
	switch {
	case t.Tmux: // it takes the one or lets the other through, by its settings set-clipboard and allow-passthrough
		return plain.String() + plain.Tmux().String(), true
	case t.Screen:
		return plain.Screen().String(), true
	}
	return plain.String(), true
}
