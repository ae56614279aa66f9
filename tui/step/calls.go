package step

import (
	"context"

	"github.com/rin-network/rin/tui/walk"
)

// newCalls is the screen that reads funding calls.
func newCalls(w *World) Screen {
	return newStage(w, walk.Calls, "read the list", func(ctx context.Context) walk.Scene { return w.Walk.ListCalls(ctx, walk.Query{}) })
}
