package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui"
	"github.com/rin-network/rin/tui/step"
	"github.com/rin-network/rin/tui/terminal"
	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// terminal is where the walk is shown: keys come from one and the screen is one. Without either it is told line by line.
func (t *tourFlags) terminal(w world, cmd *cobra.Command) (in, out *os.File, ok bool) {
	in, typed := w.in.(*os.File)
	out, shown := w.out.(*os.File)
	return in, out, typed && shown && !t.plain && term.IsTerminal(int(in.Fd())) && screenOf(w, out, cmd).live
}

// show walks on a terminal.
func (t *tourFlags) show(ctx context.Context, cmd *cobra.Command, w world, way *walk.Walk, own *inside, in, out *os.File) (err error) {
	if !signal.Ignored(syscall.SIGHUP) { // a terminal that goes away ends the walk, unless somebody saw to that
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	// A tour waits for a person most of the time, and may hold a response of megabytes: rather collect often than grow to twice of it.
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	colored := screenOf(w, out, cmd).color
	keyboard, background, err := terminal.Open(in, out, colored, w.getenv)
	if err != nil {
		return internal(err)
	}
	defer func() { err = errors.Join(err, keyboard.Close()) }()
	return tui.Run(ctx, &step.World{
		Walk: way, Language: t.language, NodeID: t.node.target.NodeID, Save: saveTyped(w),
		Getenv: w.getenv, Keep: keepText,
		Start: own.start, ReadFile: w.readFile,
		Secret: func(place string) (target.Secret, error) { return readSecret(w, "secret", place, &stdinOnce{}) },
		Theme:  view.NewTheme(terminal.Renderer(out, colored, background)),
	}, keyboard, out)
}
