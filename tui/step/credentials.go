package step

import (
	"context"
	"fmt"

	"github.com/rin-network/rin/tui/walk"
)

// newCredentials is the screen that looks at the credentials.
func newCredentials(w *World) Screen {
	return newStage(w, walk.Credentials, "present them", func(context.Context) walk.Scene {
		c := w.Walk.Target().Credentials
		scene := walk.Scene{Step: walk.Credentials, Says: []string{fmt.Sprintf("Client ID %s, and a secret of %d characters.", c.ClientID, len([]rune(c.ClientSecret.Reveal())))}}
		scene.Says = append(scene.Says, walk.Cautions(c)...)
		return scene
	})
}
