package devtls_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/devtls"
)

// testServer is a server that answers with the protocol of the request.
type testServer struct {
	address string
	trusted *x509.CertPool
}

func serve(settings devtls.Settings) testServer {
	GinkgoHelper()
	identity, err := devtls.New(settings, rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	server := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s over TLS: %t", r.Proto, r.TLS != nil)
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(identity.Listen(inner)) }()
	DeferCleanup(func() {
		Expect(server.Close()).To(Succeed())
		Expect(<-ended).To(MatchError(http.ErrServerClosed))
	})
	trusted := x509.NewCertPool()
	Expect(trusted.AppendCertsFromPEM(identity.Authority())).To(BeTrue())
	return testServer{inner.Addr().String(), trusted}
}

func (s testServer) handshake(config *tls.Config) error {
	config.RootCAs = s.trusted
	conn, err := (&tls.Dialer{Config: config}).DialContext(context.Background(), "tcp", s.address)
	if err == nil {
		err = conn.Close()
	}
	return err
}

func (s testServer) get(scheme string) (string, error) {
	wire := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.trusted}, ForceAttemptHTTP2: true}
	defer wire.CloseIdleConnections()
	answer, err := (&http.Client{Transport: wire}).Get(scheme + "://" + s.address + "/")
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return string(body), err
}

var _ = Describe("A node with TLS", func() {
	const day = 24 * time.Hour
	legacy := func(version uint16) *tls.Config {
		return &tls.Config{MinVersion: version, MaxVersion: version}
	}

	It("speaks HTTP/2 to clients that trust its authority, and refuses cleartext", func() {
		node := serve(devtls.Settings{})
		Expect(node.get("https")).To(Equal("HTTP/2.0 over TLS: true"))
		Expect(node.get("http")).To(ContainSubstring("HTTP request to an HTTPS server"))
		Expect(node.handshake(legacy(tls.VersionTLS12))).To(Succeed())
		for _, old := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
			Expect(node.handshake(legacy(old))).To(MatchError(ContainSubstring("protocol version")))
		}
	})

	It("is refused by clients that trust another authority", func() {
		stranger := serve(devtls.Settings{})
		node := serve(devtls.Settings{})
		node.trusted = stranger.trusted
		Expect(errors.As(node.handshake(&tls.Config{}), new(x509.UnknownAuthorityError))).To(BeTrue())
	})

	DescribeTable("can have a certificate that a client must refuse",
		func(settings devtls.Settings, fault any) {
			err := serve(settings).handshake(&tls.Config{})
			Expect(errors.As(err, fault)).To(BeTrue(), "%v", err)
		},
		Entry("an expired certificate", devtls.Settings{Age: 91 * day}, new(x509.CertificateInvalidError)),
		Entry("a certificate that is valid from tomorrow", devtls.Settings{Age: -day}, new(x509.CertificateInvalidError)),
		Entry("a certificate for another host", devtls.Settings{Hosts: []string{"node.example"}}, new(x509.HostnameError)),
		Entry("a chain without its intermediate", devtls.Settings{WithoutIntermediate: true}, new(x509.UnknownAuthorityError)),
		Entry("a self-signed certificate", devtls.Settings{SelfSigned: true}, new(x509.UnknownAuthorityError)),
		Entry("a certificate of an unknown authority", devtls.Settings{UnknownAuthority: true}, new(x509.UnknownAuthorityError)),
	)

	It("can speak an old version of TLS, alone or beside the new ones", func() {
		only := serve(devtls.Settings{Oldest: tls.VersionTLS11, Newest: tls.VersionTLS11})
		Expect(only.handshake(legacy(tls.VersionTLS11))).To(Succeed())
		Expect(only.handshake(&tls.Config{})).To(HaveOccurred())
		also := serve(devtls.Settings{Oldest: tls.VersionTLS10})
		Expect(also.handshake(legacy(tls.VersionTLS10))).To(Succeed())
		Expect(also.handshake(&tls.Config{})).To(Succeed())
	})

	It("can answer cleartext on the same port, even while another client sends nothing", func() {
		node := serve(devtls.Settings{Cleartext: true})
		silent, err := net.Dial("tcp", node.address)
		Expect(err).NotTo(HaveOccurred())
		defer silent.Close()
		Expect(node.get("http")).To(Equal("HTTP/1.1 over TLS: false"))
		Expect(node.get("https")).To(Equal("HTTP/2.0 over TLS: true"))
	})

	It("refuses contradictory settings", func() {
		_, err := devtls.New(devtls.Settings{Oldest: tls.VersionTLS13, Newest: tls.VersionTLS12}, rand.Reader)
		Expect(err).To(MatchError(ContainSubstring("got TLS 1.2 and TLS 1.3")))
		_, err = devtls.New(devtls.Settings{Lifetime: -day}, rand.Reader)
		Expect(err).To(MatchError(ContainSubstring("above 0")))
	})
})

var _ = Describe("A file", func() {
	It("is recognised only if it is the authority of a sandbox and nothing else", func() {
		identity, err := devtls.New(devtls.Settings{}, rand.Reader)
		Expect(err).NotTo(HaveOccurred())
		authority := identity.Authority()
		Expect(devtls.IsDevelopmentAuthority(authority)).To(BeTrue())
		Expect(devtls.IsDevelopmentAuthority(append(authority, authority...))).To(BeFalse(), "a bundle")
		Expect(devtls.IsDevelopmentAuthority([]byte("my diary"))).To(BeFalse())
	})
})
