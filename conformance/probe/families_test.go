package probe

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
)

var _ = Describe("Kinds of families", func() {
	It("have a name that no other request has", func() {
		seen, families := map[string]evidence.Label{}, map[string]evidence.Family{}
		var twice []evidence.Label
		for _, c := range table() {
			kind := string(c.Label.Case())
			if r := c.Label.Resource(); r != evidence.Info && !c.isRole() {
				kind = string(c.Label)
			}
			if before, known := seen[kind]; known && (c.Family != "" || families[kind] != "") && c.Family != families[kind] {
				twice = append(twice, before, c.Label)
			}
			seen[kind], families[kind] = c.Label, c.Family
		}
		Expect(twice).To(BeEmpty())
	})
})
