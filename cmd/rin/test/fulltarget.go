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

// longAgo is before any lifetime of a token that a sandbox issues in a test.
const longAgo = 3 * time.Hour

// FullTarget is a node at base as its registry describes it and as its URLs really are, for the profile full: clients of each kind, a
// staging environment, a token that has expired by now, all that is opt-in, and what an operator attests.
func FullTarget(base string, node *sandbox.Server, now time.Time) (target.Target, error) {
	clients := node.Credentials()
	second, other := credentials(clients[1]), credentials(clients[2])
	expired, err := node.TokenAt(now.Add(-longAgo), base, clients[0].ClientID)
	if err != nil {
		return target.Target{}, fmt.Errorf("make an expired token: %w", err)
	}
	at := node.Addresses(base)
	return target.Target{
		Registry: base + address.Map{}.Registry(), NodeID: funding.NodeID, CACert: node.Authority(),
		TokenURL: at.Token, InfoURL: at.Info, SpecURL: at.Spec,
		Profile: string(requirement.Full), Credentials: credentials(clients[0]), Second: &second, Other: &other,
		Staging:         &target.Staging{TokenURL: at.StagingToken, Credentials: credentials(node.Staging())},
		ExpiredToken:    target.NewSecret(expired),
		AllowTokenInURL: true, AllowSecretInURL: true,
		BruteForce: &evidence.Attestation{Holds: true, How: "rate limit at the gateway"},
	}, nil
}

func credentials(c sandbox.Credential) target.Credentials {
	return target.Credentials{ClientID: c.ClientID, ClientSecret: target.NewSecret(c.Secret)}
}
