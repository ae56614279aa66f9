package verdict_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/verdict"
)

// contact returns a round in which every outcome occurs.
func contact() verdict.Contact {
	return verdict.Contact{
		Round: 2, Version: "v1", Catalogue: "1.0.0",
		Wrong: 40, Caught: 27, Otherwise: 2, Open: 1, Missed: 10,
		Right: 20, Certified: 18, Blamed: 1, Inconclusive: 1,
	}
}

var _ = Describe("A round of first contact", func() {
	It("says what was refused, rounded down, and which right nodes were not certified", func() {
		Expect(contact().Sentence()).To(Equal("At first contact (round 2) rin refused 72 % of 40 wrong nodes, " +
			"67 % for the rule that they break, and certified 18 of 20 right ones."))
		c := contact()
		c.Missed, c.Otherwise = c.Missed+c.Otherwise, 0
		Expect(c.Sentence()).To(Equal("At first contact (round 2) rin refused 67 % of 40 wrong nodes, each for the rule that it breaks, and certified 18 of 20 right ones."))
		Expect(contact().String()).To(Equal("round 2: 40 wrong nodes, 27 caught, 2 refused otherwise, 1 open, 10 missed; " +
			"20 right nodes, 18 certified, 1 blamed, 1 inconclusive"))
	})

	It("is read as it was written, and refused when it does not add up", func() {
		data, err := verdict.ContactsJSON([]verdict.Contact{contact()})
		Expect(err).NotTo(HaveOccurred())
		Expect(verdict.ReadContacts(data)).To(Equal([]verdict.Contact{contact()}))
		_, err = verdict.ReadContacts([]byte(strings.Replace(string(data), `"missed": 10`, `"missed": 9`, 1)))
		Expect(err).To(MatchError("read the rounds of first contact: round 2 does not add up"))
		_, err = verdict.ReadContacts([]byte(`{"schema": "other"}`))
		Expect(err).To(MatchError(ContainSubstring("expected schema rin.contact/v1")))
	})

	It("is recorded in a form that can be read", func() {
		Expect(func() { verdict.RecordedContacts() }).NotTo(Panic())
	})
})
