package step

import (
	"context"

	"github.com/rin-network/rin/tui/walk"
)

// newWhatIf is the screen that makes mistakes on purpose.
func newWhatIf(w *World) Screen {
	return newStage(w, walk.WhatIf, "forget the token", func(ctx context.Context) walk.Scene { return w.Walk.Make(ctx, walk.Mistakes()[0]) })
}
