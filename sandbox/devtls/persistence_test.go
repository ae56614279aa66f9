package devtls_test

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/devtls"
)

var _ = Describe("An authority that is kept", func() {
	keep := func(hosts ...string) []byte {
		GinkgoHelper()
		authority, err := devtls.NewAuthority(hosts, time.Now(), rand.Reader)
		Expect(err).NotTo(HaveOccurred())
		text, err := authority.PEM()
		Expect(err).NotTo(HaveOccurred())
		return text
	}
	from := func(text []byte) func([]string) (*devtls.Authority, error) {
		return func(hosts []string) (*devtls.Authority, error) { return devtls.ReadAuthority(text, hosts, time.Now()) }
	}

	It("issues the certificates of a later sandbox, for clients that trust it", func() {
		text := keep("node.example", "192.0.2.7")
		before, after := serve(devtls.Settings{Authority: from(text)}), serve(devtls.Settings{Authority: from(text), Hosts: []string{"node.example", "192.0.2.7", "127.0.0.9"}})
		after.trusted = before.trusted
		for _, name := range []string{"node.example", "192.0.2.7", "127.0.0.9"} {
			Expect(after.handshake(&tls.Config{ServerName: name})).To(Succeed(), name)
		}
	})

	It("is trusted for its hosts and loopback only, as every authority of a sandbox", func() {
		text := keep()
		for _, settings := range []devtls.Settings{{Authority: from(text)}, {}} {
			settings.Hosts, settings.PermittedHosts = []string{"bank.example"}, []string{"127.0.0.1"}
			err := serve(settings).handshake(&tls.Config{ServerName: "bank.example"})
			var invalid x509.CertificateInvalidError
			Expect(errors.As(err, &invalid)).To(BeTrue(), "%v", err)
			Expect(invalid.Reason).To(Equal(x509.CANotAuthorizedForThisName))
		}
	})

	DescribeTable("is refused", func(damage func([]byte) []byte, hosts []string, after time.Duration, reason string) {
		_, err := devtls.ReadAuthority(damage(keep()), hosts, time.Now().Add(after))
		Expect(err).To(MatchError(ContainSubstring(reason)))
	},
		Entry("for another host", func(b []byte) []byte { return b }, []string{"node.example"}, time.Duration(0), "not for node.example"),
		Entry("for another address", func(b []byte) []byte { return b }, []string{"192.0.2.7"}, time.Duration(0), "not for 192.0.2.7"),
		Entry("after its end", func(b []byte) []byte { return b }, nil, devtls.AuthorityLifetime+time.Hour, "is valid from"),
		Entry("without its key", func(b []byte) []byte { return b[:bytes.Index(b, []byte("-----BEGIN PRIVATE"))] }, nil, time.Duration(0), "expected the certificate"),
		Entry("cut off", func(b []byte) []byte { return b[:len(b)-40] }, nil, time.Duration(0), "expected the certificate"),
		Entry("empty", func([]byte) []byte { return nil }, nil, time.Duration(0), "expected the certificate"),
		Entry("with another key", func(b []byte) []byte {
			_, key := pem.Decode(keep())
			return append(b[:bytes.Index(b, []byte("-----BEGIN PRIVATE"))], key...)
		}, nil, time.Duration(0), "does not belong"),
		Entry("with a changed certificate", func(b []byte) []byte {
			block, rest := pem.Decode(b)
			block.Bytes[len(block.Bytes)-1] ^= 1
			return append(pem.EncodeToMemory(block), rest...)
		}, nil, time.Duration(0), "damaged"),
	)
})
