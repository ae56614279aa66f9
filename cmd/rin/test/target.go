// Package test holds helpers for the test suites below it and for the tests of the command: a served node with its clock, a target with every
// input that a sandbox offers, and a search for secrets in what a command wrote. Only tests import it.
package test

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/funding"
)

// longAgo is longer than the lifetime of any token that a sandbox issues in a test.
const longAgo = 3 * time.Hour

// Clients returns the clients of a sandbox, and a fourth one for [FullTarget], which may be locked out. Its secret is longer than what bcrypt reads, and
// has characters that must be encoded. It has an affiliation of its own, so that it sees other annotations than the first client.
func Clients() []sandbox.ClientConfig {
	return append(sandbox.DemoClients(""), sandbox.ClientConfig{
		ID: "demo-client-spare", Secret: "Spare+secret/with%and&-7f3Kq9ZxW2vB8nM4tR6yH1jL5pD0sG-Qe7Uw3Ic9Oa2Nf4Xb6Tk8Vz-end",
		Role: "EXTERNAL_API_CLIENT", Affiliation: "another-affiliation",
	})
}

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
	var spare *target.Credentials
	if len(clients) > 3 {
		spare = new(credentials(clients[3]))
	}
	return target.Target{
		Registry: base + address.Map{}.Registry(), NodeID: funding.NodeID, CACert: node.Authority(),
		TokenURL: addresses.Token, InfoURL: addresses.Info, SpecURL: addresses.Spec,
		Profile: string(requirement.Full), Credentials: credentials(clients[0]), Second: &second, Other: &other, Spare: spare,
		Staging:         &target.Staging{TokenURL: addresses.ElsewhereToken, Credentials: credentials(node.ElsewhereClient())},
		ExpiredToken:    target.NewSecret(expired),
		AllowTokenInURL: true, AllowSecretInURL: true,
		BruteForce: &evidence.Attestation{Holds: true, How: "rate limit at the gateway"},
	}, nil
}

func credentials(c sandbox.Credential) target.Credentials {
	return target.Credentials{ClientID: c.ClientID, ClientSecret: target.NewSecret(c.Secret)}
}

// Serve serves a node as the command does, until stop is called.
func Serve(node *sandbox.Server, scheme string) (base string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen for a node: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- sandbox.Serve(ctx, listener, node) }()
	return scheme + "://" + listener.Addr().String(), func() { cancel(); <-ended }, nil
}

// Clock is the time of a node and of its run. Only their pauses move it, so that they take no real time.
type Clock struct {
	begin time.Time

	mu     sync.Mutex
	paused time.Duration
}

// NewClock returns a clock that shows begin until a pause moves it.
func NewClock(begin time.Time) *Clock { return &Clock{begin: begin} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begin.Add(c.paused)
}

// Pause moves the clock by d.
func (c *Clock) Pause(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused += d
	return ctx.Err()
}

// seedVariable names the variable with the seed of a suite's runs. Another seed draws other requests; the outcome must be the same.
const seedVariable = "RIN_SEED"

// Seed returns the seed of a suite's runs.
func Seed(getenv func(string) string) (draw.Seed, error) {
	seed, err := draw.ParseSeed(cmp.Or(getenv(seedVariable), "1"))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", seedVariable, err)
	}
	return seed, nil
}
