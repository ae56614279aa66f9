package probe

import (
	"context"
	"errors"
	"fmt"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
)

// registryRequests is what reading the registry may cost, repeats and a redirect included.
const registryRequests = 4

// locate fills in the URLs of the node, from the registry if there is one.
func (r *run) locate(ctx context.Context) (target.Target, error) {
	document := r.Target.RegistryDocument
	if len(document) == 0 && r.Target.Registry == "" {
		return discover.Complete(r.Target, discover.Entry{}).Defaults(), nil
	}
	if len(document) == 0 {
		var err error
		if document, err = r.readRegistry(ctx); err != nil {
			return target.Target{}, err
		}
	}
	entry, err := discover.FindEntry(document, r.Target.NodeID)
	if err != nil {
		return target.Target{}, fmt.Errorf("read the registry: %w", err)
	}
	r.entry = entry
	r.Journal.Registry(r.Redactor.Bytes(entry.Raw), r.Redactor.Registry(entry.Facts))
	t := discover.Complete(r.Target, entry)
	if t.TokenURL == "" || t.InfoURL == "" {
		return target.Target{}, fmt.Errorf("the registry's entry %s: expected the URLs oauth2 and info, got %q and %q", entry.ID, t.TokenURL, t.InfoURL)
	}
	t = t.Defaults()
	if err := t.Validate(); err != nil {
		return target.Target{}, fmt.Errorf("the registry's entry %s: %w", entry.ID, err)
	}
	return t, nil
}

func (r *run) readRegistry(ctx context.Context) ([]byte, error) {
	recorder, err := r.Recorder(r.Target, registryRequests)
	if err != nil {
		return nil, fmt.Errorf("prepare reading the registry: %w", err)
	}
	defer recorder.Close()
	a := recorder.Send(ctx, discover.RegistryRequest(r.Target.Registry))
	r.before = recorder.Sent()
	r.count(exchange.Registry.With(exchange.OK))
	switch {
	case a.Failure() != nil:
		return nil, fmt.Errorf("read the registry: no answer from %s: %s", r.Target.Registry, a.Failure().Message)
	case !a.OK():
		return nil, fmt.Errorf("read the registry: expected 200 from %s, got %d", r.Target.Registry, a.Status)
	case len(a.Body) == 0:
		return nil, errors.New("read the registry: the answer is empty")
	}
	return a.Body, nil
}
