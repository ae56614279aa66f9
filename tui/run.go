package tui

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/tui/step"
)

// ErrBroken says that the tour ended by a fault of its own.
var ErrBroken = errors.New("the tour broke off")

// Run shows the tour on a terminal until the person leaves it, and leaves the terminal as it was.
func Run(ctx context.Context, w *step.World, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // what a screen still waits for ends with the tour
	w.Context = ctx
	program := tea.NewProgram(New(w), tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithAltScreen(), tea.WithoutSignalHandler())
	_, err := program.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return nil
}
