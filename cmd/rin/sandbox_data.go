package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/account/ledger"
)

// dataFlags say where a sandbox keeps what must outlive it.
type dataFlags struct{ dir string }

func (d *dataFlags) register(f *pflag.FlagSet) {
	f.StringVar(&d.dir, "data", "", "keep clients, their accounts and requests for access in this `directory`, also when the sandbox is killed (default in memory)")
}

// shown tells the nodes that their secrets are about to be printed: whoever reads one may rely on it, whatever happens then.
func (o openNetwork) shown() error {
	for _, n := range o.Nodes() {
		if err := n.Shown(); err != nil {
			return internal(err)
		}
	}
	return nil
}

// open gives a network the ledger of the directory, if there is to be one. close gives it back.
func (d *dataFlags) open(config *sandbox.NetworkConfig) (close func() error, err error) {
	if d.dir == "" {
		return func() error { return nil }, nil
	}
	kept, err := ledger.Open(d.dir)
	if err != nil {
		hint := "name a directory that can be written"
		var fault *ledger.Fault
		if errors.As(err, &fault) {
			hint = fault.Hint
		}
		return nil, usage(fmt.Errorf("--data: %w", err), hint)
	}
	config.Ledger = kept
	return kept.Close, nil
}
