//go:build e2e

package e2e_test

import (
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/fault"
)

var _ = Describe("The sandbox, right and with each fault of its operations", func() {
	It("is judged alike by kin-openapi and rin, except for listed differences", func(ctx SpecContext) {
		now := func() time.Time { return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC) }
		recorded := func(deviations ...string) *evidence.Log {
			node, err := sandbox.New(sandbox.Config{
				Seed: 1, Calls: 10, AsOf: now(), Clock: now, Random: rand.NewChaCha8([32]byte{1}), Loopback: true, Deviations: deviations,
			})
			Expect(err).NotTo(HaveOccurred())
			server := httptest.NewServer(node)
			defer server.Close()
			addresses, known := node.Addresses(server.URL), node.Credentials()[0]
			result, err := conformance.Certify(ctx, target.Target{
				TokenURL: addresses.Token, InfoURL: addresses.Info, SpecURL: addresses.Spec, Profile: "funding",
				Credentials: target.Credentials{ClientID: known.ClientID, ClientSecret: target.NewSecret(known.Secret)},
			}, conformance.Options{Inputs: conformance.Inputs{Suite: "test", Clock: now}})
			Expect(err).NotTo(HaveOccurred())
			return result.Log
		}
		Expect(expectExplained(secondOpinions(recorded()))).To(BeEmpty(), "the sandbox is right, and both see it")
		seen := map[string]bool{}
		for _, d := range fault.Deviations() {
			if slices.ContainsFunc(d.Breaks, func(id string) bool { return strings.HasPrefix(id, "API-") || id == "INF-01" }) {
				By(d.Name)
				maps.Copy(seen, expectExplained(secondOpinions(recorded(d.Name))))
			}
		}
		for _, known := range differences() {
			Expect(seen).To(HaveKey(known.between), "this difference is gone")
		}
	})
})
