package mutants_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/registry"
	"github.com/rin-network/rin/sandbox/transport"
)

// calls keeps the list small; every kind of funding is among the records.
const calls = 10

// outcomes are what a run found, by requirement.
type outcomes map[requirement.ID]report.Requirement

// certified certifies a node with the deviations and returns what became of each requirement. A node without any is served over TLS.
func certified(ctx context.Context, deviations ...string) (outcomes, error) {
	var shared clock
	config := sandbox.Config{
		Seed: 1, Calls: calls, AsOf: now(), Clock: shared.now, Pause: shared.pause, Random: rand.NewChaCha8([32]byte{1}), Loopback: true, Deviations: deviations,
	}
	serve := inCleartext
	if needsTLS(deviations) {
		config.TLS, serve = &transport.Settings{}, overTLS
	}
	node, err := sandbox.New(config)
	if err != nil {
		return nil, err
	}
	base, stop, err := serve(node)
	if err != nil {
		return nil, err
	}
	defer stop()
	t, err := nodeTarget(base, node)
	if err != nil {
		return nil, err
	}
	if worksOnTLS(deviations) { // the registry of the field is another host, with a certificate of its own
		t.Registry, t.RegistryDocument = "", registryOf(node, t.Registry)
	}
	result, err := conformance.Certify(ctx, t, conformance.Options{Suite: "test", Clock: shared.now})
	if err != nil {
		return nil, err
	}
	if !result.Log.Ended.Complete {
		return nil, fmt.Errorf("the run broke off: %s", result.Log.Ended.Cause)
	}
	found := outcomes{}
	for _, r := range result.Report.Requirements {
		found[r.ID] = r
	}
	return found, nil
}

// nodeTarget is the node as its registry describes it, and as its URLs really are, with every input that a requirement asks for: clients of each kind, a staging
// environment, an expired token, all that is opt-in, and what an operator attests.
func nodeTarget(base string, node *sandbox.Server) (target.Target, error) {
	clients := node.Credentials()
	second, other := credentials(clients[1]), credentials(clients[2])
	expired, err := node.TokenAt(now().Add(-time.Hour), base, clients[0].ClientID)
	if err != nil {
		return target.Target{}, err
	}
	return target.Target{
		Registry: base + address.Map{}.Registry(), NodeID: registry.NodeID, CACert: node.Authority(),
		TokenURL: node.Addresses(base).Token, InfoURL: node.Addresses(base).Info, SpecURL: node.Addresses(base).Spec,
		Profile: string(requirement.Full), Credentials: credentials(clients[0]), Second: &second, Other: &other,
		Staging:         &target.Staging{TokenURL: node.Addresses(base).StagingToken, Credentials: credentials(node.Staging())},
		ExpiredToken:    target.NewSecret(expired),
		AllowTokenInURL: true, AllowSecretInURL: true,
		BruteForce: &exchange.Attestation{Holds: true, How: "rate limit at the gateway"},
	}, nil
}

func credentials(c sandbox.Credential) target.Credentials {
	return target.Credentials{ClientID: c.ClientID, ClientSecret: target.NewSecret(c.Secret)}
}
