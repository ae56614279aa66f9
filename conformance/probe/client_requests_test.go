package probe

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"net/url"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/target"
)

var _ = Describe("The one wrong secret of a client", func() {
	wrong := func(seed draw.Seed, secret string) string {
		w, _ := wrongFor(seed.Source("test"), target.Credentials{ClientID: "client", ClientSecret: target.NewSecret(secret)})
		return w
	}

	It("differs only after the first 72 bytes if the secret is long enough", func() {
		for _, n := range []int{72, 73, 80, 120} {
			secret := strings.Repeat("Secret-7", 15)[:n]
			for seed := range draw.Seed(20) {
				Expect(wrong(seed, secret)).To(And(HavePrefix(secret[:72]), Not(Equal(secret))))
			}
		}
	})

	It("is drawn, never empty, and never right", func() {
		seen := map[string]bool{}
		for seed := range draw.Seed(60) {
			for _, secret := range []string{"s", "7", "secret", "a-Secret-of-71-bytes" + strings.Repeat("x", 51)} {
				w := wrong(seed, secret)
				Expect(w).NotTo(BeElementOf("", secret))
				seen[w] = true
			}
		}
		Expect(len(seen)).To(BeNumerically(">", 100))
	})
})

var _ = Describe("A form-encoded text", func() {
	It("means the same in each spelling", func() {
		seen := map[string]bool{}
		for seed := range draw.Seed(20) {
			encoded := formEncoded(seed.Source("test"), "a+b c/%~é")
			seen[encoded] = true
			Expect(url.QueryUnescape(encoded)).To(Equal("a+b c/%~é"))
		}
		Expect(seen).To(HaveLen(4))
	})
})
