package step

import (
	"context"

	"github.com/rin-network/rin/conformance/worker"
	"github.com/rin-network/rin/tui/walk"
)

// newCertify is the screen of the whole suite.
func newCertify(w *World) Screen {
	return newStage(w, walk.Certify, "certify the node", func(ctx context.Context) walk.Scene {
		scene, _ := w.Walk.CertifyNode(ctx, func(worker.Event) {})
		return scene
	})
}
