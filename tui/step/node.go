package step

import (
	"context"
	"fmt"

	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// newNode is the screen that reads the registry and chooses a node.
func newNode(w *World) Screen {
	s := newStage(w, walk.Node, "read the registry", func(ctx context.Context) walk.Scene {
		at := w.Walk.Target()
		if at.Registry == "" && len(at.RegistryDocument) == 0 {
			return walk.Scene{Step: walk.Node, Says: []string{"The node was given by its URLs."}}
		}
		scene, entries := w.Walk.ReadRegistry(ctx)
		if !scene.Well() || len(entries) == 0 {
			return scene
		}
		id := w.NodeID
		if id == "" {
			id = entries[0].ID
		}
		if err := w.Walk.Choose(id); err != nil {
			scene.Trouble = &walk.Trouble{What: err.Error()}
		}
		return scene
	})
	s.extra = func(width int) []string {
		at := w.Walk.Target()
		return view.Hang("", fmt.Sprintf("You are at %s: tokens at %s, info at %s.", at.NodeID, at.TokenURL, at.InfoURL), width)
	}
	return s
}
