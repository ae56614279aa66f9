package cors

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// maxTold bounds the origins that are remembered, and told, in the life of a node.
const maxTold = 16

// refusals tells each origin that may not call once.
type refusals struct {
	log  *slog.Logger
	mu   sync.Mutex
	told []string
}

func (f *refusals) tell(ctx context.Context, origin string) {
	f.mu.Lock()
	// No page has an origin below .invalid (RFC 6761 §6.4): whoever names one tries the node.
	fresh := origin != "" && !strings.HasSuffix(origin, ".invalid") && len(origin) <= 256 && len(f.told) < maxTold && !slices.Contains(f.told, origin)
	if fresh {
		f.told = append(f.told, origin)
	}
	f.mu.Unlock()
	if fresh {
		f.log.WarnContext(ctx, "a page of another origin wanted to call and its browser kept it from it: allow the origin (rin sandbox --cors)", "origin", origin)
	}
}
