package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/term"

	"github.com/rin-network/rin/tui/step"
	"github.com/rin-network/rin/tui/view"
)

// ErrBroken says that the tour ended by a fault of its own.
var ErrBroken = errors.New("the tour broke off")

// Run shows the tour on a terminal until the person leaves it, and leaves the terminal as it was.
func Run(ctx context.Context, w *step.World, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // what a screen still waits for ends with the tour
	w.Context = ctx
	w.Write = func(sequence string) error { // the lock of a file keeps it from standing in the middle of a frame
		_, err := io.WriteString(out, sequence)
		return err
	}
	app := New(w)
	if file, ok := out.(*os.File); ok { // Bubble Tea tells the size as well, but after the first frame
		if width, height, err := term.GetSize(int(file.Fd())); err == nil {
			app.size = view.Size{Width: width, Height: height}
		}
	}
	program := tea.NewProgram(app, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithAltScreen(), tea.WithoutSignalHandler())
	_, err := program.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return nil
}
