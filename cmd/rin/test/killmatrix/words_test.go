package killmatrix_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
)

var _ = Describe("The report on a wrong node", func() {
	asGiven := func(*target.Target) {}
	withoutSpec := func(t *target.Target) { t.SpecURL, t.Registry, t.NodeID, t.Profile = "", "", "", "" }

	// words are what the operator reads of a requirement: reason, fix and notes.
	DescribeTable("says what helps", func(ctx SpecContext, deviation string, change func(*target.Target), id requirement.ID, words ...string) {
		found, err := certifyChanged(ctx, change, deviation)
		Expect(err).NotTo(HaveOccurred())
		r := found[id]
		Expect(r.Outcome).To(BeElementOf(requirement.Warn, requirement.Fail, requirement.Blocked), "%s: %s", id, r.Reason)
		text := strings.Join(append([]string{r.Reason, r.Fix}, r.Notes...), "\n")
		for _, word := range words {
			Expect(text).To(ContainSubstring(word))
		}
	},
		Entry("which issuer and audience the refused token names", "good-tokens-refused", asGiven,
			requirement.ID("INF-01"), "the token names the issuer \"http", "and the audience \"http", "compare issuer, audience and keys"),
		Entry("that every operation refuses the token, and not each one by itself", "good-tokens-refused", asGiven,
			requirement.ID("API-01"), "every operation refuses the token, as the info resource does"),
		Entry("that the claim iss is missing", "iss-missing", asGiven, requirement.ID("JWT-04"), "the claim iss is missing", "add iss to the access token"),
		Entry("that the claims that name the client are missing", "client-not-named", asGiven, requirement.ID("JWT-04"),
			"the claim client_id (or azp) is missing", "add client_id or azp to the access token"),
		Entry("that the role is checked, but not for the next page", "role-not-checked-on-pages", asGiven, requirement.ID("BRR-18"),
			"for the next page", "the plain call of the list is refused (403)"),
		Entry("how to name the document whose URL was derived", "spec-gone", withoutSpec, requirement.ID("SPC-01"),
			"rin derived this URL from the info URL", "--spec-url"),
	)
})
