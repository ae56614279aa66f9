package requirement_test

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
)

// maxQuote bounds a quote, in characters. The link leads to the whole text.
const maxQuote = 300

var _ = Describe("The sources", func() {
	for _, r := range requirement.Catalogue() {
		It("of "+string(r.ID)+" can be looked up", func() {
			Expect(r.Quote).NotTo(BeEmpty())
			Expect(utf8.RuneCountInString(r.Quote)).To(BeNumerically("<=", maxQuote), "the quote is long")
			Expect(r.Quote).NotTo(ContainSubstring("  "), "white space of the source is one blank")
			Expect(r.Source.Citations).NotTo(BeEmpty())
			for _, c := range r.Source.Citations {
				if strings.HasPrefix(c.Text, "Interface document") {
					Expect(c.URL).To(BeEmpty(), "the interface document is not public")
					continue
				}
				link, err := url.Parse(c.URL)
				Expect(err).NotTo(HaveOccurred())
				Expect(link.Scheme).To(Equal("https"), c.Text)
				Expect(link.Fragment).NotTo(BeEmpty(), "%s is linked, but not the section", c.Text)
				Expect(c.Text).To(Or(MatchRegexp(`^RFC \d+ (§\d+(\.\d+)*|Appendix [A-Z])$`), MatchRegexp(`^(OpenAPI 3\.0\.3|WHATWG Fetch|Public API framework page of the network), \S`),
					Equal("Public info document of the network, version 1.0"), Equal("Practice of the network's client")))
			}
		})

		first, cited := requirement.InterfaceRule(r.Source.Citations[0])
		if r.Level == requirement.Network {
			It("of "+string(r.ID)+" begin with a rule of the interface document", func() { Expect(cited).To(BeTrue()) })
		}
		if cited {
			It("of "+string(r.ID)+" quote the words of the interface document", func() {
				Expect(strings.Join(first.Words, " ")).To(ContainSubstring(r.Quote))
			})
		}
	}

	It("link an RFC's sections and appendices as rfc-editor.org names them", func() {
		Expect(requirement.RFC(6749, "5.1").URL()).To(Equal("https://www.rfc-editor.org/rfc/rfc6749.html#section-5.1"))
		Expect(requirement.RFC(6749, "B").URL()).To(Equal("https://www.rfc-editor.org/rfc/rfc6749.html#appendix-B"))
		Expect(requirement.RFC(6749, "B").Text()).To(Equal("RFC 6749 Appendix B"))
	})

	It("keep their order and their links when they are joined", func() {
		joined := requirement.NET("R6").And(requirement.RFC(6749, "3.2")).AsDerived()
		Expect(joined.Text()).To(Equal("Interface document, NET-R6; RFC 6749 §3.2"))
		Expect(joined.URL()).To(HaveSuffix("#section-3.2"))
		Expect(joined.Derived).To(BeTrue())
		Expect(joined.Citations).To(HaveLen(2))
	})

	It("know the twenty rules of the interface document", func() {
		rules := requirement.InterfaceRules()
		Expect(rules).To(HaveLen(20))
		for i, rule := range rules {
			Expect(rule.Name).To(Equal("R" + strconv.Itoa(i+1)))
			Expect(rule.Place).NotTo(BeEmpty())
			Expect(rule.Words).NotTo(BeEmpty())
		}
	})
})
