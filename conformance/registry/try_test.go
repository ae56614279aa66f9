package registry_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/requirement"
)

var _ = Describe("ReadCatalogue", func() {
	It("reads the rows that differ, as JSON or YAML, and ignores what is for people", func() {
		for _, text := range []string{
			`[{"id":"TOK-08","gate":"gating","title":"x"},{"id":"TOK-02","gate":"gating","profile":"auth"},{"id":"ISO-02","profile":"funding"}]`,
			"- {id: TOK-08, gate: gating}\n- id: ISO-02\n  profile: funding\n",
		} {
			catalogue, changed, err := registry.ReadCatalogue([]byte(text))
			Expect(err).NotTo(HaveOccurred())
			Expect(changed).To(HaveLen(2))
			Expect(changed[0].String()).To(Equal("TOK-08 gating instead of advice"))
			Expect(changed[1].String()).To(Equal("ISO-02 from profile funding on instead of full"))
			Expect(catalogue).To(HaveLen(len(requirement.Catalogue())))
			for _, r := range catalogue {
				if r.ID == "TOK-08" {
					Expect(r.Gate).To(Equal(requirement.Gating))
				}
			}
		}
	})

	DescribeTable("refuses, with line and hint",
		func(text string, says ...string) {
			_, _, err := registry.ReadCatalogue([]byte(text))
			Expect(err).To(HaveOccurred())
			for _, s := range says {
				Expect(err.Error()).To(ContainSubstring(s))
			}
		},
		Entry("a requirement of another version", "- {id: TOK-02, gate: gating}\n- {id: NEW-01, gate: gating}\n", "line 2: NEW-01: expected a requirement of the catalogue", "registry try without a catalogue"),
		Entry("a row twice", "- {id: TOK-02, gate: gating}\n- {id: TOK-02, gate: advice}\n", "line 2: TOK-02: expected each requirement once", "line 1 has it already"),
		Entry("a row with a misspelt member", "- {id: TOK-02, gates: advice}\n", "line 1: TOK-02: expected a gate or a profile, got neither"),
		Entry("an unknown gate", "- {id: TOK-02, gate: fatal}\n", `TOK-02.gate: expected one of gating, advice, information, got "fatal"`),
		Entry("an unknown profile", "- {id: TOK-02, profile: all}\n", `TOK-02.profile: expected one of auth, api, funding, full, got "all"`),
		Entry("a row without an id", "- {gate: gating}\n", "line 1: expected a row with an id"),
		Entry("words", "- TOK-02\n", "expected a row with an id"),
		Entry("a mapping", "TOK-02: gating\n", "expected a list of requirements, got a mapping"),
		Entry("nothing", "", "expected a list of requirements"),
		Entry("broken text", "- {", "expected YAML"),
	)
})
