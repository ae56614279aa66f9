package benign_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/registry"
)

// now is the time of every node here.
func now() time.Time { return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC) }

// calls keeps the list small; every kind of funding is among the records.
const calls = 10

// good is the configuration that a node here starts from.
func good() sandbox.Config {
	return sandbox.Config{Seed: 1, Calls: calls, AsOf: now(), Clock: now, Random: rand.NewChaCha8([32]byte{1}), Loopback: true}
}

// certified certifies a node for a profile.
func certified(ctx context.Context, profile requirement.Profile, config sandbox.Config) (report.Report, error) {
	node, err := sandbox.New(config)
	if err != nil {
		return report.Report{}, err
	}
	server := httptest.NewUnstartedServer(node)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	defer server.Close()
	clients := node.Credentials()
	second := credentials(clients[1])
	result, err := conformance.Certify(ctx, target.Target{
		Registry: server.URL + address.Map{}.Registry(), NodeID: registry.NodeID, SpecURL: node.Addresses(server.URL).Spec,
		Profile: string(profile), Credentials: credentials(clients[0]), Second: &second,
	}, conformance.Options{Suite: "test"})
	if err != nil {
		return report.Report{}, err
	}
	if !result.Log.Ended.Complete {
		return report.Report{}, fmt.Errorf("the run broke off: %s", result.Log.Ended.Cause)
	}
	return result.Report, nil
}

func credentials(c sandbox.Credential) target.Credentials {
	return target.Credentials{ClientID: c.ClientID, ClientSecret: target.NewSecret(c.Secret)}
}

// alarm is what a run says against a node beyond the warnings that are expected; empty when it is certified and nothing else is said.
func alarm(clean, found report.Report, warns map[string]bool) string {
	var b strings.Builder
	if found.Verdict.Decision != verdict.Certified {
		fmt.Fprintf(&b, "    the node is %s\n", found.Verdict.Decision)
	}
	for i, r := range found.Requirements {
		expected := clean.Requirements[i].Outcome
		if warns[string(r.ID)] && expected == requirement.Pass {
			expected = requirement.Warn
		}
		switch {
		case r.Outcome == expected, r.Outcome == requirement.NotApplicable && expected != requirement.Warn:
		default:
			fmt.Fprintf(&b, "    %s is %s, and %s is expected: %s (expected %s, got %s)\n", r.ID, r.Outcome, expected, r.Reason, r.Expected, r.Got)
			for _, s := range r.Subjects[:min(3, len(r.Subjects))] {
				fmt.Fprintf(&b, "        %s: expected %s, got %s\n", s.Name, s.Expected, s.Got)
			}
		}
	}
	return b.String()
}
