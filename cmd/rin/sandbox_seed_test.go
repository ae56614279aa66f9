package main_test

import (
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("rin sandbox --seed", func() {
	secrets := func(args ...string) string {
		GinkgoHelper()
		session := startIn(ownStates(), args...)
		found := regexp.MustCompile(`(?m)^  secret +(\S+)$`).FindAllStringSubmatch(string(session.Out.Contents()), -1)
		var all []string
		for _, f := range found {
			all = append(all, f[1])
		}
		Expect(len(all)).To(BeNumerically(">=", 3))
		_, keys := get(regexp.MustCompile(`listening on (\S+)`).FindStringSubmatch(string(session.Out.Contents()))[1] + "/realms/ris/protocol/openid-connect/certs")
		return strings.Join(append(all, keys), "\n")
	}

	It("decides secrets and signing keys on loopback, and nothing else does", func() {
		first := secrets("--seed", "7")
		Expect(secrets("--seed", "7")).To(Equal(first))
		Expect(secrets("--seed", "8")).NotTo(Equal(first))
		Expect(secrets()).NotTo(Equal(secrets()), "without --seed they are random")
		Expect(secrets("--seed", "7", "--control", "off")).To(Equal(first))
	})

	It("decides no secrets where other machines reach the sandbox, and says so", func() {
		for _, args := range [][]string{{"--addr", "0.0.0.0:0"}, {"--control", "0.0.0.0:0"}, {"--public-url", "https://node.example"}} {
			session := startIn(ownStates(), append([]string{"--seed", "7"}, args...)...)
			Expect(string(session.Err.Contents())).To(ContainSubstring("secrets and keys are random"), strings.Join(args, " "))
		}
	})
})
