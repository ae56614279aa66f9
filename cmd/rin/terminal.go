package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// screen is what is known of the place that text goes to.
type screen struct {
	width int  // columns; 80 when it is no terminal
	live  bool // a terminal: a line may be drawn over
	color bool
}

// screenOf looks at a stream. Colour is for terminals only, and for nobody who set NO_COLOR, --no-color or a dumb terminal.
func screenOf(w world, stream io.Writer, cmd *cobra.Command) screen {
	s := screen{width: 80}
	file, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return s
	}
	s.live = true
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		s.width = width
	}
	_, never := w.getenv("NO_COLOR")
	if kind, _ := w.getenv("TERM"); kind == "dumb" {
		never, s.live = true, false
	}
	if flag, err := cmd.Flags().GetBool("no-color"); err == nil && flag {
		never = true
	}
	s.color = !never
	return s
}
