//go:build e2e

package e2e_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/certificate"
)

var _ = Describe("A signed run", Ordered, func() {
	var dir, python string
	var commands map[string]string // of rin verify --explain, by the program that each runs

	BeforeAll(func() {
		dir = GinkgoT().TempDir()
		for _, args := range [][]string{{"demo"}, {"sign", "--new-key", "operator.key"}, {"sign", "rin-report", "--key", "operator.key"}} {
			run := exec.Command(binary, args...)
			run.Dir = dir
			out, err := run.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(out))
		}
		explain := exec.Command(binary, "verify", "rin-report", "--key", "operator.pub", "--explain")
		explain.Dir = dir
		out, err := explain.Output()
		Expect(err).NotTo(HaveOccurred(), string(out))
		commands = map[string]string{}
		for _, part := range strings.Split(string(out), "\n\n") {
			for _, program := range []string{"openssl", "python3", "cosign", "sha256sum"} {
				if strings.HasPrefix(part, "# ") && strings.Contains(part, program+" ") {
					commands[program] = part
				}
			}
		}
		if isMissing("python3") {
			return
		}
		environment := filepath.Join(dir, "python")
		if out, err := exec.Command("python3", "-m", "venv", environment).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "\n*** SKIPPED: python3 -m venv does not work, so no Python checked a signature: %s ***\n\n", out)
			return
		}
		if out, err := exec.Command(filepath.Join(environment, "bin", "pip"), "install", "--quiet", "securesystemslib", "cryptography", "PyJWT").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "\n*** SKIPPED: securesystemslib, cryptography and PyJWT cannot be installed, so no Python checked a signature: %s ***\n\n", out)
			return
		}
		python = filepath.Join(environment, "bin")
	})
	// shell runs commands as a person pastes them.
	shell := func(text string) (string, error) {
		run := exec.Command("bash", "-euo", "pipefail", "-c", text)
		run.Dir = dir
		run.Env = append(os.Environ(), "PATH="+python+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := run.CombinedOutput()
		return string(out), err
	}
	// forge changes a character of the signed statement, and nothing else.
	forge := func() {
		GinkgoHelper()
		path := filepath.Join(dir, "rin-report", certificate.ClaimFile)
		before, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		changed := []byte(string(before))
		changed[200] ^= 1 // a character of the payload
		Expect(os.WriteFile(path, changed, 0o600)).To(Succeed())
		DeferCleanup(os.WriteFile, path, before, os.FileMode(0o600))
	}

	// trustMark returns a trust mark that the operator's key signed and rin accepts.
	trustMark := func() string {
		GinkgoHelper()
		text, err := os.ReadFile(filepath.Join(dir, "operator.key"))
		Expect(err).NotTo(HaveOccurred())
		key, err := certificate.ReadKey(text)
		Expect(err).NotTo(HaveOccurred())
		now := time.Now()
		mark, err := certificate.SignMark(certificate.Mark{
			Issuer: "https://registry.example", Subject: "https://node.example/info/", Type: "https://registry.example/marks/funding",
			Issued: now, Expires: now.Add(time.Hour), Ref: "https://registry.example/XA/" + certificate.CertificateFile,
		}, key)
		Expect(err).NotTo(HaveOccurred())
		public, ok := key.Public().(ed25519.PublicKey)
		Expect(ok).To(BeTrue())
		_, err = certificate.ReadMark(mark, public, now)
		Expect(err).NotTo(HaveOccurred())
		return mark
	}

	It("is verified by OpenSSL with the commands that rin verify --explain prints", func() {
		if isMissing("openssl", "bash") {
			Skip("no OpenSSL")
		}
		out, err := shell(commands["openssl"])
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("Signature Verified Successfully"))
		forge()
		out, err = shell(commands["openssl"])
		Expect(err).To(HaveOccurred(), out)
	})

	It("is verified by Python's securesystemslib", func() {
		if python == "" {
			Skip("no Python packages")
		}
		assign, _, _ := strings.Cut(commands["openssl"], "; work=")
		_, assign, _ = strings.Cut(assign, "\n")
		out, err := shell(assign + "\n" + commands["python3"])
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("verified by securesystemslib"))
		forge()
		out, err = shell(assign + "\n" + commands["python3"])
		Expect(err).To(HaveOccurred(), out)
	})

	// The test does not build cosign, because that takes longer than all other tests here.
	It("is verified by cosign with the command that rin verify --explain prints", func() {
		if isMissing("cosign", "bash") {
			fmt.Fprintf(os.Stderr, "*** go install github.com/sigstore/cosign/v2/cmd/cosign@v2.6.5 builds cosign, in a quarter of an hour ***\n\n")
			Skip("no cosign")
		}
		assign, _, _ := strings.Cut(commands["openssl"], "; work=")
		_, assign, _ = strings.Cut(assign, "\n")
		// No proxy listens there, so cosign only warns that it could not refresh its trust root, which it does not need here.
		assign += "; export HTTPS_PROXY=http://127.0.0.1:9 TUF_ROOT=$(mktemp -d)\n"
		out, err := shell(assign + commands["cosign"])
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("Verified OK"))
		evidence := filepath.Join(dir, "rin-report", certificate.EvidenceFile)
		before, err := os.ReadFile(evidence)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(evidence, append(before[:len(before):len(before)], 0), 0o600)).To(Succeed())
		out, err = shell(assign + commands["cosign"])
		Expect(os.WriteFile(evidence, before, 0o600)).To(Succeed())
		Expect(err).To(HaveOccurred(), out)
		forge()
		out, err = shell(assign + commands["cosign"])
		Expect(err).To(HaveOccurred(), out)
	})

	It("has files with the digests of the claim, by sha256sum", func() {
		if isMissing("sha256sum", "bash") {
			Skip("no sha256sum")
		}
		out, err := shell(commands["sha256sum"])
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(strings.Count(out, ": OK")).To(Equal(5), out)
	})

	It("is signed with a key that OpenSSL reads, and a key of OpenSSL signs", func() {
		if isMissing("openssl", "bash") {
			Skip("no OpenSSL")
		}
		out, err := shell("openssl pkey -in operator.key -pubout | cmp - operator.pub && umask 077 && openssl genpkey -algorithm ed25519 -out other.key && openssl pkey -in other.key -pubout -out other.pub")
		Expect(err).NotTo(HaveOccurred(), out)
		out, err = shell("cp -r rin-report again && " + binary + " sign again --key other.key && " + binary + " verify again --key other.pub")
		Expect(err).NotTo(HaveOccurred(), out)
		out, err = shell(binary + " verify again --key operator.pub")
		Expect(err).To(HaveOccurred(), out)
		Expect(out).To(HavePrefix("does not hold: signature: "))
	})

	It("may have a trust mark, which PyJWT verifies", func() {
		if python == "" {
			Skip("no Python packages")
		}
		mark := trustMark()
		check := `python3 -c '
import jwt, sys
mark, key = sys.argv[1], open("operator.pub").read()
assert jwt.get_unverified_header(mark) == {"alg": "EdDSA", "typ": "trust-mark+jwt"}
claims = jwt.decode(mark, key, algorithms=["EdDSA"], issuer="https://registry.example", options={"require": ["iss", "sub", "iat", "exp"]})
print("verified by PyJWT", claims["trust_mark_type"])' `
		out, err := shell(check + mark)
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("verified by PyJWT https://registry.example/marks/funding"))
		header, rest, _ := strings.Cut(mark, ".")
		out, err = shell(check + header + "." + "e" + rest)
		Expect(err).To(HaveOccurred(), out)
	})

	It("may have a trust mark, which OpenSSL verifies", func() {
		if isMissing("openssl") {
			Skip("no OpenSSL")
		}
		mark := trustMark()
		check := func(mark string) (string, error) {
			GinkgoHelper()
			signed, signature := mark[:strings.LastIndex(mark, ".")], mark[strings.LastIndex(mark, ".")+1:]
			raw, err := base64.RawURLEncoding.DecodeString(signature)
			Expect(err).NotTo(HaveOccurred())
			Expect(os.WriteFile(filepath.Join(dir, "mark.signed"), []byte(signed), 0o600)).To(Succeed())
			Expect(os.WriteFile(filepath.Join(dir, "mark.sig"), raw, 0o600)).To(Succeed())
			return shell("openssl pkeyutl -verify -rawin -pubin -inkey operator.pub -in mark.signed -sigfile mark.sig")
		}
		out, err := check(mark)
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("Signature Verified Successfully"))
		out, err = check("e" + mark)
		Expect(err).To(HaveOccurred(), out)
	})
})
