package requirement_test

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
)

var _ = Describe("A token in the answer of a token endpoint", func() {
	// Requests with good credentials, of a client that may have a token.
	allowed := []evidence.Label{
		"token.ok", "token.ok-after-wrong-secret", "token.ok-after-id-only", "token.ok-after-form", "token.repeat-1", "token.repeat-2", "token.repeat-3",
		"token.basic", "token.basic-unencoded", "token.basic-percent-encoded", "token.basic-empty-secret", "token.unknown-parameter", "token.empty-scope", "token.percent-encoded", "token.to-expire", "token.throw-away", "token.later", "token.to-revoke-hinted",
		"token.unknown-scope", "token.repeated-grant-type", "token.repeated-client-id", "token.repeated-client-secret", "token.repeated-scope", "token.secret-in-url", "token.get-basic", "token.query-parameters", "token.query-unknown-client",
		"token.parallel-1-1", "token2.parallel-1-2", "token.parallel-1-3", "token2.parallel-2-1", "token.parallel-2-2", "token2.parallel-2-3", "token.alone", "token.beside-lock",
		"token.scope-known", "token.scope-more", "token.scope-two", "token2.scope-known", "token2.scope-more", "token2.scope-two",
		"token2.ok", "token2.ok-after-wrong-secret", "token2.basic", "token2.basic-unencoded",
		"token2.role-requested", "token-other.resource", // BRR-18 and ISO-03 judge them
		"token2.two-clients",                                                                                                    // unless the token names the other client, see testdata/TER-06.txtar
		"token-other.ok", "token-other.basic", "token-other.basic-unencoded", "token-staging.ok", "token-staging.at-production", // ISO-02 judges the latter
		"entry/token.ok",
	}
	everything := target.Target{TokenURL: "https://as.must.example/oauth/token", InfoURL: "https://api.must.example/info", SpecURL: "https://api.must.example/docs",
		Profile: "full", Second: &target.Credentials{}, Other: &target.Credentials{}, Staging: &target.Staging{}, AllowTokenInURL: true, AllowSecretInURL: true}

	It("costs the certificate, unless the request had good credentials", func() {
		planned := append(probe.ForTarget(everything).Labels(), probe.ForProbeTarget(everything, evidence.Info).Labels()...)
		seen := 0
		for _, label := range planned {
			endpoint := label.Resource() == "cleartext/token" || strings.HasPrefix(string(label.Resource()), "token")
			if !endpoint || slices.Contains(allowed, label) {
				continue
			}
			seen++
			s := newStage()
			Expect(s.goodNode()).To(Succeed())
			Expect(s.read("token", "@ "+string(label)+`
POST https://as.must.example/oauth/token HTTP/1.1

>>> HTTP/1.1 200 OK
Content-Type: application/json

{"access_token":"[[access_token.x:0a0b0c0d:plain]]","token_type":"Bearer"}
`)).To(Succeed())
			judge := requirement.NewJudge(requirement.Catalogue(), requirement.Read(s.evidence()))
			var broken []requirement.ID
			for _, id := range requirement.IDs([]string{"TER-01", "TER-05", "TER-06", "TER-07", "TER-08", "TER-11"}) {
				r, _ := requirement.Find(id)
				if j := judge.Judge(id); j.Outcome == requirement.Fail && r.Gate == requirement.Gating && slices.ContainsFunc(j.Subjects, func(s requirement.Subject) bool { return s.Label == label }) {
					broken = append(broken, id)
				}
			}
			Expect(broken).To(HaveLen(1), string(label))
		}
		Expect(seen).To(BeNumerically(">", 15))
	})
})
