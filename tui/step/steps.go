package step

import (
	"context"

	"github.com/rin-network/rin/tui/walk"
)

// Screens makes the screens of all steps, in their order.
func Screens(w *World) []Screen {
	return []Screen{
		newNode(w), newCredentials(w),
		newStage(w, walk.Token, "ask for a token", w.Walk.FetchToken),
		newReading(w),
		newStage(w, walk.Info, "call info", w.Walk.CallInfo),
		newSpecification(w), newCalls(w), newWhatIf(w), newCertify(w), newTakeAway(w),
	}
}

// newReading is the screen that reads the token; it fetches one if there is none.
func newReading(w *World) Screen {
	return newStage(w, walk.Reading, "read the token", func(ctx context.Context) walk.Scene {
		if _, ok := w.Walk.Issued(); !ok {
			if fetched := w.Walk.FetchToken(ctx); !fetched.Well() {
				return fetched
			}
		}
		return w.Walk.ReadToken(ctx)
	})
}
