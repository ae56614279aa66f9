package main

import (
	"context"
	"sync"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
)

// inside is the sandbox of a tour, which is started when somebody asks for it: on a terminal that is beside the first frame.
type inside struct {
	w world

	mu     sync.Mutex
	at     target.Target
	served chan error // nil until it runs
}

// start serves a sandbox on a free port until ctx is done, and aims at it with the credentials of its demo clients. One that runs is not
// started again.
func (i *inside) start(ctx context.Context) (target.Target, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.served != nil {
		return i.at, nil
	}
	if err := ctx.Err(); err != nil {
		return target.Target{}, err
	}
	opened, err := open(i.w, "127.0.0.1:0", sandbox.NetworkConfig{Nodes: []sandbox.Config{{Logger: discard()}}, JournalLimit: -1})
	if err != nil {
		return target.Target{}, err
	}
	served := make(chan error, 1)
	go func() { served <- opened.serve(ctx) }()
	i.served = served
	i.at = demoTarget(opened.base, opened.first().Credentials())
	expired, err := opened.first().TokenAt(i.w.now().Add(-2*opened.first().TokenTTL()), opened.base, i.at.Credentials.ClientID)
	if err != nil {
		return i.at, internal(err)
	}
	i.at.ExpiredToken = target.NewSecret(expired)
	return i.at, nil
}

// end stops the sandbox, if it runs, and waits for its end.
func (i *inside) end(stop context.CancelFunc) error {
	stop()
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.served == nil {
		return nil
	}
	return <-i.served
}
