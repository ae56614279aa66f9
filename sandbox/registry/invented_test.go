package registry_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/registry"
)

var _ = Describe("invented members", func() {
	It("differ in id, acronym, name and address, however many there are", func() {
		seen := map[string]int{}
		for i := range 1000 {
			m := registry.Invented(i)
			for _, value := range []string{m.ID, m.Acronym, strings.TrimSpace(m.Name), m.Contact} {
				Expect(value).NotTo(BeEmpty())
				Expect(seen).NotTo(HaveKey(value), "member %d", i)
				seen[value] = i
			}
		}
	})

	It("begin with the member of a single node, and are written as real ones are", func() {
		Expect(registry.Invented(0)).To(Equal(registry.First()))
		Expect(registry.Invented(1)).To(Equal(registry.Member{ID: "XB", Acronym: "TUMB", Name: "Technische Universität Musterberg", Contact: "ris@tumb.example"}))
		Expect(registry.Invented(2).Name).To(HaveSuffix(" "), "a blank that clients trim")
		Expect(registry.Invented(3).ID).To(Equal("XD_Test"))
		Expect(registry.Invented(25).ID).To(Equal("XZ"))
		Expect(registry.Invented(26).ID).To(Equal("XAA"))
	})
})
