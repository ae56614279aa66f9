package step

import "github.com/rin-network/rin/tui/walk"

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
