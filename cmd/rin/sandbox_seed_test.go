package main_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
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
		for _, format := range []string{"jwt-rs256", "jwt-eddsa"} {
			Expect(secrets("--seed", "7", "--token-format", format)).To(Equal(secrets("--seed", "7", "--token-format", format)), format)
		}
	})

	It("decides no secrets where other machines reach the sandbox, and says so", func() {
		for _, args := range [][]string{{"--addr", "0.0.0.0:0"}, {"--control", "0.0.0.0:0"}, {"--public-url", "https://node.example"}} {
			session := startIn(ownStates(), append([]string{"--seed", "7"}, args...)...)
			Expect(string(session.Err.Contents())).To(ContainSubstring("secrets and keys are random"), strings.Join(args, " "))
		}
	})
})

var _ = Describe("rin sandbox --data", func() {
	It("keeps the signing keys, so that tokens stay good over a restart", func() {
		dir := GinkgoT().TempDir()
		for _, format := range []string{"jwt-es256", "jwt-rs256", "opaque"} {
			data := filepath.Join(dir, format)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			Expect(err).NotTo(HaveOccurred())
			address := listener.Addr().String()
			Expect(listener.Close()).To(Succeed())
			begin := func() (*gexec.Session, drivenSandbox) {
				session := startIn(ownStates(), "--addr", address, "--data", data, "--token-format", format)
				return session, drivenSandbox{base: "http://" + address}
			}
			session, b := begin()
			b.secret = demoSecret(session)
			status, token := b.token()
			Expect(status).To(Equal(200))
			session.Signal(syscall.SIGTERM)
			Eventually(session, "10s").Should(gexec.Exit(0))
			_, b = begin()
			answer, _ := b.list(token, "")
			Expect(answer.StatusCode).To(Equal(200), format)
			seed, err := os.Stat(filepath.Join(data, "signing-keys.seed"))
			Expect(err).NotTo(HaveOccurred())
			Expect(seed.Mode()).To(Equal(os.FileMode(0o600)))
		}
	})

	It("refuses a damaged seed of the keys", func() {
		data := GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(data, "signing-keys.seed"), []byte("abc"), 0o600)).To(Succeed())
		got := rin(nil, "sandbox", "--addr", "127.0.0.1:0", "--data", data)
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(SatisfyAll(ContainSubstring("expected 64 hexadecimal digits"), ContainSubstring("hint: remove the file")))
	})
})
