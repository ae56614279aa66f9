package probe_test

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
)

// covers reports whether a planned label may be the label that a requirement reads, which may name a role in place of a resource.
func covers(planned, read evidence.Label) bool {
	if planned == read {
		return true
	}
	if !read.Case().Includes(planned.Case()) {
		return false
	}
	if planned.Resource() == read.Resource() {
		return true
	}
	operation := strings.HasPrefix(string(planned.Resource()), "op/")
	switch read.Resource() {
	case evidence.ProbeTarget:
		return operation || planned.Resource() == evidence.Info
	case evidence.ListOperation, evidence.DetailOperation, evidence.EveryOperation:
		return operation
	}
	return false
}

// reads returns the labels that a requirement names.
func reads(r requirement.Requirement) []evidence.Label {
	labels := append(append([]evidence.Label{}, r.Needs...), r.Reads...)
	if r.Control != "" {
		labels = append(labels, r.Control)
	}
	return labels
}

var _ = Describe("Plans and requirements", func() {
	var planned []evidence.Label
	BeforeEach(func() {
		n, staging := newNode(), newNode()
		remote := target.Target{TokenURL: "https://sso.example/token", InfoURL: "https://api.example/info", SpecURL: "https://docs.example/api-docs",
			BaseURL: "https://api.example", Profile: "full"}
		here := withEverything(n, staging)
		here.ExpiredToken = target.NewSecret("a-token-that-has-expired")
		here.Spare = &target.Credentials{ClientID: spareID, ClientSecret: target.NewSecret(spareSecret)}
		here.Wait = new(10 * time.Minute)
		planned = certify(here, func(o *probe.Options) { o.Pause = func(context.Context, time.Duration) error { return nil } }).Planned
		planned = append(planned, probe.ForTarget(remote).Labels()...)
		planned = append(planned, probe.ForEndpoints(100, nil).Labels()...)
	})

	It("fit: whatever a requirement reads is planned", func() {
		// The requests about a registry and about the place of the operations have tests of their own.
		elsewhere := func(l evidence.Label) bool {
			return l == evidence.WholeRun || l.Resource() == "cleartext/list" || l.Resource() == "tls/base" || strings.HasPrefix(string(l), "entry/") || l.Resource() == evidence.Registry
		}
		for _, r := range requirement.Catalogue() {
			for _, l := range reads(r) {
				if elsewhere(l) {
					continue
				}
				found := false
				for _, p := range planned {
					found = found || covers(p, l)
				}
				Expect(found).To(BeTrue(), "%s reads %s, which no theme plans", r.ID, l)
			}
		}
	})

	It("fit: whatever is planned is read by a requirement, or is needed by a later request", func() {
		helpers := map[evidence.Case]string{
			"without-content-type": "finds the cause when the good call fails",
			"to-expire":            "issues the token that expires",
			"throw-away":           "issues the token that goes into a URL",
		}
		for _, p := range planned {
			read := helpers[p.Case()] != "" ||
				probe.InFamily(p) || // BRR-01, BRR-06 and TER-01 search everything that was recorded
				strings.HasPrefix(string(p), "base/") || // the place of the operations
				strings.HasPrefix(string(p), "op/") // all answers of operations are compared with the document (API-02 to API-07)
			for _, r := range requirement.Catalogue() {
				for _, l := range reads(r) {
					read = read || covers(p, l)
				}
			}
			Expect(read).To(BeTrue(), "%s is asked, and no requirement reads it", p)
		}
	})
})
