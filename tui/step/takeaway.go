package step

import (
	"context"

	"github.com/rin-network/rin/tui/walk"
)

// newTakeAway is the screen that writes the files of the walk.
func newTakeAway(w *World) Screen {
	return newStage(w, walk.TakeAway, "write the files", func(context.Context) walk.Scene {
		scene := walk.Scene{Step: walk.TakeAway}
		place, err := w.Save("rin-tour", w.Walk.Takeaways())
		if err != nil {
			scene.Trouble = &walk.Trouble{What: err.Error()}
			return scene
		}
		scene.Says = []string{"Everything is in " + place + "."}
		return scene
	})
}
