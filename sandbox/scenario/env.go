package scenario

import (
	"context"
	"net/http"
	"time"

	"github.com/rin-network/rin/sandbox/address"
)

// Env is what scenarios may know of their node and ask from it.
type Env struct {
	// Places are the addresses of the node.
	Places address.Map
	// Now is the node's clock.
	Now func() time.Time
	// Pause waits for d, or until ctx ends, whose error it then returns.
	Pause func(ctx context.Context, d time.Duration) error
	// Caller tells which client's good access token a request has; "" without one.
	Caller func(r *http.Request) string
	// Refuse refuses the access token of a request, as the node does, because of detail.
	Refuse func(w http.ResponseWriter, r *http.Request, detail string)
	// Later answers a token request that is good at another time, with a status.
	Later func(w http.ResponseWriter, r *http.Request, status int, description string)
	// Rotate gives the node new keys. Tokens of the ones before stay good until the overlap has passed.
	Rotate func(overlap time.Duration) error
}
