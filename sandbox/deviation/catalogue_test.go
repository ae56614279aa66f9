package deviation_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/deviation"
)

var _ = Describe("the catalogue", func() {
	It("names each deviation once, says why, and what it breaks", func() {
		seen := map[string]bool{}
		for _, d := range deviation.All() {
			Expect(d.Name).To(MatchRegexp(`^[a-z0-9]+(-[a-z0-9]+)*$`))
			Expect(seen).NotTo(HaveKey(d.Name))
			seen[d.Name] = true
			Expect(d.Why).To(HaveSuffix("."), d.Name)
			Expect(d.Breaks).NotTo(BeEmpty(), d.Name)
			for _, id := range d.Breaks {
				Expect(id).To(MatchRegexp(`^[A-Z]{3}-[0-9]{2}$`), d.Name)
			}
			Expect(d.Wrap).NotTo(BeNil(), d.Name)
		}
	})

	It("finds a deviation by its name, and helps with a misspelt one", func() {
		for _, d := range deviation.All() {
			found, err := deviation.Find(d.Name)
			Expect(err).NotTo(HaveOccurred())
			Expect(found.Why).To(Equal(d.Why))
		}
		_, err := deviation.Find("detail-unprotectde")
		Expect(err).To(MatchError(ContainSubstring("did you mean detail-unprotected")))
		_, err = deviation.Find("zzzzzzzzzzzzzzzzzzzzzzzzzzzz")
		Expect(err).To(MatchError(And(ContainSubstring("is unknown"), Not(ContainSubstring("did you mean")))))
	})
})
