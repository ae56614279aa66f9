// Package test holds helpers for the test suites below it and for the tests of the command: a target with every input that a sandbox offers,
// and a search for secrets in what a command wrote. Only tests import it.
package test

import (
	"fmt"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/funding"
)

// longAgo is longer than the lifetime of any token that a sandbox issues in a test.
const longAgo = 3 * time.Hour

// FullTarget returns a target for the profile full with every input that a sandbox offers, for tests that need every requirement judged: the
// node's registry entry and URLs, a client of each kind, a staging environment, an expired token, all opt-in probes, and an attestation.
func FullTarget(base string, node *sandbox.Server, now time.Time) (target.Target, error) {
	clients := node.Credentials()
	second, other := credentials(clients[1]), credentials(clients[2])
	expired, err := node.TokenAt(now.Add(-longAgo), base, clients[0].ClientID)
	if err != nil {
		return target.Target{}, fmt.Errorf("make an expired token: %w", err)
	}
	addresses := node.Addresses(base)
	return target.Target{
		Registry: base + address.Map{}.Registry(), NodeID: funding.NodeID, CACert: node.Authority(),
		TokenURL: addresses.Token, InfoURL: addresses.Info, SpecURL: addresses.Spec,
		Profile: string(requirement.Full), Credentials: credentials(clients[0]), Second: &second, Other: &other,
		Staging:         &target.Staging{TokenURL: addresses.ElsewhereToken, Credentials: credentials(node.Elsewhere())},
		ExpiredToken:    target.NewSecret(expired),
		AllowTokenInURL: true, AllowSecretInURL: true,
		BruteForce: &evidence.Attestation{Holds: true, How: "rate limit at the gateway"},
	}, nil
}

func credentials(c sandbox.Credential) target.Credentials {
	return target.Credentials{ClientID: c.ClientID, ClientSecret: target.NewSecret(c.Secret)}
}
