package requirement_test

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/requirement"
)

var _ = Describe("The catalogue", func() {
	catalogue := requirement.Catalogue()

	It("has unique ids, ordered inside their groups, groups in the order of the catalogue", func() {
		order := map[string]int{}
		for i, g := range requirement.Groups() {
			order[g.Name] = i
		}
		rank := func(r requirement.Requirement) (int, string) { return order[r.ID.Group()], string(r.ID) }
		for i, r := range catalogue {
			Expect(order).To(HaveKey(r.ID.Group()))
			if i == 0 {
				continue
			}
			beforeGroup, before := rank(catalogue[i-1])
			group, id := rank(r)
			Expect(beforeGroup < group || beforeGroup == group && before < id).To(BeTrue(), "%s stands after %s", id, before)
		}
	})

	for _, r := range catalogue {
		It(string(r.ID)+" says all that a reader needs", func() {
			Expect(string(r.ID)).To(MatchRegexp(`^[A-Z]{3}-[0-9]{2}$`))
			for what, text := range map[string]string{"Title": r.Title, "Quote": r.Quote, "Probe": r.Probe, "Forgives": r.Forgives,
				"Fix": r.Fix, "Breaks": r.Breaks, "Source": r.Source.Text()} {
				Expect(text).NotTo(BeEmpty(), what)
				Expect(text).To(Equal(strings.TrimSpace(text)), what)
			}
			Expect(r.Title).NotTo(HaveSuffix("."))
			Expect([]requirement.Level{requirement.Network, requirement.StandardMust, requirement.StandardShould,
				requirement.Recommended}).To(ContainElement(r.Level))
			Expect([]requirement.Gate{requirement.Gating, requirement.Advice, requirement.Information}).To(ContainElement(r.Gate))
			Expect([]requirement.Profile{requirement.Auth, requirement.API, requirement.Funding, requirement.Full}).To(ContainElement(r.Profile))
			Expect(r.Check).NotTo(BeNil())
			if r.ID == "SEC-07" {
				Expect(r.Reads).To(BeEmpty(), "it is attested, because probing would lock accounts")
			} else {
				Expect(len(r.Needs)+len(r.Reads)).To(BeNumerically(">", 0), "it looks at no exchange")
			}
			for _, before := range r.After {
				_, known := requirement.Find(before)
				Expect(known).To(BeTrue(), "it comes after %s, which is not in the catalogue", before)
			}
		})
	}

	It("names only requests that the table of cases has", func() {
		for _, r := range catalogue {
			for _, label := range slices.Concat(r.Needs, r.Reads, []evidence.Label{r.Control}) {
				if label != "" && label != evidence.WholeRun && !hasNumber(label) {
					Expect(probe.Known(label)).To(BeTrue(), "%s names %s", r.ID, label)
				}
			}
		}
	})

	It("depends on nothing in a circle", func() {
		var visit func(id requirement.ID, path []requirement.ID)
		visit = func(id requirement.ID, path []requirement.ID) {
			Expect(path).NotTo(ContainElement(id))
			r, _ := requirement.Find(id)
			for _, before := range r.After {
				visit(before, append(slices.Clone(path), id))
			}
		}
		for _, r := range catalogue {
			visit(r.ID, nil)
		}
	})

	It("shows as an example the request that only the archive of a requirement holds", func() {
		r, _ := requirement.Find("VER-02")
		example, found := requirement.ExampleRequest(r)
		Expect(found).To(BeTrue())
		Expect(example.Request.URL).To(HaveSuffix("/ris/info/v999/oauth/info/"))
	})

	It("consists of titled groups", func() {
		size := 0
		for _, g := range requirement.Groups() {
			Expect(g.Title).NotTo(BeEmpty())
			size += len(g.Requirements)
		}
		Expect(catalogue).To(HaveLen(size))
	})
})

// hasNumber reports the labels of the values of a filter or parameter, which the document brings about.
func hasNumber(label evidence.Label) bool {
	return strings.HasPrefix(string(label.Case()), "filter-") && strings.ContainsAny(string(label.Case()), "0123456789")
}
