package step

import (
	"context"

	"github.com/rin-network/rin/tui/walk"
)

// newSpecification is the screen that reads the node's document.
func newSpecification(w *World) Screen {
	return newStage(w, walk.Specification, "read the specification", func(ctx context.Context) walk.Scene {
		scene, _ := w.Walk.ReadSpecification(ctx)
		return scene
	})
}
