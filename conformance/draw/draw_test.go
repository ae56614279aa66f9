package draw_test

import (
	"crypto/rand"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/draw"
)

func TestDraw(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Draw")
}

var _ = Describe("A seed", func() {
	It("is read as it is printed", func() {
		seed, err := draw.NewSeed(rand.Reader)
		Expect(err).NotTo(HaveOccurred())
		Expect(draw.ParseSeed(seed.String())).To(Equal(seed))
		Expect(draw.Seed(0).String()).To(BeEmpty())
	})

	It("of another form is refused", func() {
		for _, text := range []string{"", "0", "-1", "x", "1.5", "99999999999999999999"} {
			_, err := draw.ParseSeed(text)
			Expect(err).To(MatchError(ContainSubstring("expected a number from 1 to")), text)
		}
	})

	It("draws the same for a purpose, and something else for another purpose or seed", func() {
		drawn := func(seed draw.Seed, purpose ...string) string { return seed.Source(purpose...).Text(draw.Base64, 40) }
		Expect(drawn(7, "a", "b")).To(Equal(drawn(7, "a", "b")))
		Expect(drawn(7, "a", "b")).NotTo(Equal(drawn(7, "a", "c")))
		Expect(drawn(7, "a", "b")).NotTo(Equal(drawn(7, "ab")), "purposes are kept apart")
		Expect(drawn(7, "a")).NotTo(Equal(drawn(8, "a")))
	})
})

var _ = Describe("A drawn value", func() {
	It("has the shape of its example and is another value", func() {
		source := draw.Seed(3).Source("shape")
		for _, example := range []string{"eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl", "6f1c0a7e-0d5b-4c3e-9b1a-2f3e4d5c6b7a", "opaque123", "0123456789", "a_b-c.d"} {
			like := source.Like(example)
			Expect(like).NotTo(Equal(example))
			Expect(like).To(HaveLen(len(example)))
			for i, c := range example {
				if strings.ContainsRune(".-_", c) {
					Expect(rune(like[i])).To(Equal(c), "%s and %s", example, like)
				}
			}
		}
		Expect(source.Like("6f1c0a7e-0d5b")).To(MatchRegexp(`^[0-9a-f]{8}-[0-9a-f]{4}$`))
		Expect(source.Like("12345")).To(MatchRegexp(`^[0-9]{5}$`))
		Expect(source.Like("--")).To(Equal("--"), "nothing in it can be drawn")
	})

	It("names only hosts that do not exist", func() {
		source := draw.Seed(3).Source("host")
		reserved := regexp.MustCompile(`^[a-z]+\.[a-z]+\.(example(\.(org|com|net))?|test|invalid)$`)
		for range 50 {
			Expect(source.Host()).To(MatchRegexp(reserved.String()))
		}
	})

	It("is a UUID of version 4", func() {
		Expect(draw.Seed(1).Source().UUID()).To(MatchRegexp(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`))
	})
})

var _ = Describe("A choice of kinds", func() {
	kinds := []string{"a", "b", "c", "d", "e", "f", "g", "h"}

	It("is the same for the same seed and place, and differs between places", func() {
		c := draw.Choice{Seed: 5}
		Expect(c.Kinds("words", "list", kinds, 4)).To(Equal(c.Kinds("words", "list", kinds, 4)))
		places := map[string]bool{}
		for _, place := range []string{"list", "detail", "info", "other"} {
			places[strings.Join(c.Kinds("words", place, kinds, 4), "")] = true
		}
		Expect(len(places)).To(BeNumerically(">", 1))
	})

	It("has no kind twice and at most all of them", func() {
		all := draw.Choice{Seed: 5}.Kinds("words", "list", kinds, 20)
		Expect(slices.Sorted(slices.Values(all))).To(Equal(kinds))
		Expect(draw.Choice{Seed: 5}.Kinds("words", "list", kinds, -1)).To(BeEmpty())
	})

	It("begins with kinds that were never drawn, so that two runs of half the family draw all kinds", func() {
		first := draw.Choice{Seed: 5}.Kinds("words", "list", kinds, 4)
		second := draw.Choice{Seed: 6, Earlier: map[string][]string{"words": first}}.Kinds("words", "list", kinds, 4)
		Expect(slices.Sorted(slices.Values(append(first, second...)))).To(Equal(kinds))
	})
})
