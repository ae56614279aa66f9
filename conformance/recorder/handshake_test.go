package recorder_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http/httptest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// modern and legacy return the two handshakes that a run makes.
func modern(url string) recorder.HandshakeRequest {
	return recorder.HandshakeRequest{Label: "tls/token.modern", URL: url, Oldest: tls.VersionTLS12, Newest: tls.VersionTLS13}
}

func legacy(url string) recorder.HandshakeRequest {
	return recorder.HandshakeRequest{Label: "tls/token.tls11", URL: url, Oldest: tls.VersionTLS11, Newest: tls.VersionTLS11}
}

// greet makes a handshake and asserts that the evidence holds what was returned.
func (r *fixture) greet(g recorder.HandshakeRequest) evidence.Handshake {
	GinkgoHelper()
	h := r.recorder.Handshake(context.Background(), g)
	kept, found := r.evidence().Handshake(g.Label)
	Expect(found).To(BeTrue())
	Expect(kept.Failure).To(Equal(h.Failure))
	Expect(kept.Distrust).To(Equal(h.Distrust))
	return kept
}

// serveBytes starts a server that answers every connection with these bytes, and then keeps the connection open or closes it. It returns the URL.
func serveBytes(bytes string, hold bool) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	done := make(chan struct{})
	DeferCleanup(func() {
		close(done)
		Expect(listener.Close()).To(Succeed())
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.ReadFull(conn, make([]byte, 5)) // wait for the ClientHello
				_, _ = io.WriteString(conn, bytes)
				if hold {
					<-done
					return
				}
				// Closing the connection with unread input would reset it, and the client would lose the answer.
				_ = conn.(*net.TCPConn).CloseWrite()
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
	}()
	return "https://" + listener.Addr().String()
}

// identity is a certificate with its private key.
type identity struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func sign(name string, by *identity, change func(*x509.Certificate)) *identity {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC),
	}
	if change != nil {
		change(template)
	}
	parent := identity{template, key}
	if by != nil {
		parent = *by
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent.certificate, key.Public(), parent.key)
	Expect(err).NotTo(HaveOccurred())
	certificate, err := x509.ParseCertificate(der)
	Expect(err).NotTo(HaveOccurred())
	return &identity{certificate, key}
}

func authority(c *x509.Certificate) { c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign }

func forLoopback(c *x509.Certificate) {
	c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
}

// serveChain starts a TLS server with this chain.
func serveChain(chain ...*identity) string {
	served := tls.Certificate{PrivateKey: chain[0].key}
	for _, c := range chain {
		served.Certificate = append(served.Certificate, c.certificate.Raw)
	}
	s := quiet(httptest.NewUnstartedServer(text("")))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{served}}
	s.StartTLS()
	return s.URL
}

var _ = Describe("A handshake", func() {
	trustRoots := func(roots ...*x509.Certificate) func(*recorder.Options) {
		return func(o *recorder.Options) {
			o.RootCAs = x509.NewCertPool()
			for _, c := range roots {
				o.RootCAs.AddCert(c)
			}
		}
	}

	It("records the negotiated parameters and the certificate, and counts as a request", func() {
		s := serveTLS(text(""), true)
		r := newFixture(trustRoots(s.Certificate()))
		h := r.greet(modern(s.URL))
		Expect(h.Completed()).To(BeTrue())
		Expect([]string{h.Version, h.Protocol, h.Cipher}).To(Equal([]string{"TLS 1.3", "h2", "TLS_AES_128_GCM_SHA256"}))
		Expect(h.Offered).To(Equal([]string{"TLS 1.2", "TLS 1.3"}))
		Expect(h.Distrust).To(BeEmpty())
		Expect(h.Chain).To(HaveLen(1))
		Expect(h.Chain[0].Names).To(ContainElements("example.com", "127.0.0.1"))
		Expect(r.recorder.Sent()).To(Equal(1))
	})

	It("with an old version completes if the server supports it, and fails with an alert otherwise", func() {
		s := quiet(httptest.NewUnstartedServer(text("")))
		s.TLS = &tls.Config{MinVersion: tls.VersionTLS10}
		s.StartTLS()
		Expect(newFixture().greet(legacy(s.URL)).Version).To(Equal("TLS 1.1"))

		h := newFixture().greet(legacy(serveTLS(text(""), false).URL))
		Expect(h.Completed()).To(BeFalse())
		Expect(h.Alert).To(Equal("protocol version not supported"))
		Expect(h.Attempts).To(Equal(1))
	})

	DescribeTable("gives the reason why a chain is not trusted",
		func(want evidence.Distrust, chain func() (root *identity, served []*identity)) {
			root, served := chain()
			h := newFixture(trustRoots(root.certificate)).greet(modern(serveChain(served...)))
			Expect(h.Completed()).To(BeTrue(), "%v", h.Failure)
			Expect(h.Distrust).To(Equal(want), h.Message)
			Expect(h.Chain).To(HaveLen(len(served)))
		},
		Entry("a trusted chain", evidence.Distrust(""), func() (*identity, []*identity) {
			root := sign("root", nil, authority)
			middle := sign("middle", root, authority)
			return root, []*identity{sign("leaf", middle, forLoopback), middle}
		}),
		Entry("without its intermediate", evidence.ChainIncomplete, func() (*identity, []*identity) {
			root := sign("root", nil, authority)
			return root, []*identity{sign("leaf", sign("middle", root, authority), forLoopback)}
		}),
		Entry("of another authority", evidence.ChainUntrusted, func() (*identity, []*identity) {
			middle := sign("middle", sign("stranger", nil, authority), authority)
			return sign("root", nil, authority), []*identity{sign("leaf", middle, forLoopback), middle}
		}),
		Entry("self-signed", evidence.CertificateSelfSigned, func() (*identity, []*identity) {
			return sign("root", nil, authority), []*identity{sign("leaf", nil, forLoopback)}
		}),
		Entry("expired", evidence.CertificateExpired, func() (*identity, []*identity) {
			root := sign("root", nil, authority)
			return root, []*identity{sign("leaf", root, func(c *x509.Certificate) {
				forLoopback(c)
				c.NotAfter = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
			})}
		}),
		Entry("not valid yet", evidence.CertificateNotYetValid, func() (*identity, []*identity) {
			root := sign("root", nil, authority)
			return root, []*identity{sign("leaf", root, func(c *x509.Certificate) {
				forLoopback(c)
				c.NotBefore = time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
			})}
		}),
		Entry("of another host", evidence.CertificateWrongName, func() (*identity, []*identity) {
			root := sign("root", nil, authority)
			return root, []*identity{sign("leaf", root, func(c *x509.Certificate) { c.DNSNames = []string{"www.must.example"} })}
		}),
		Entry("for clients only", evidence.CertificateUnsuitable, func() (*identity, []*identity) {
			root := sign("root", nil, authority)
			return root, []*identity{sign("leaf", root, func(c *x509.Certificate) {
				forLoopback(c)
				c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
			})}
		}),
	)

	It("records the version that a server selected before the handshake failed", func() {
		hello := "\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01" // the ServerHello of TLS 1.0, cut off
		h := newFixture().greet(legacy(serveBytes(hello, false)))
		Expect(h.Selected).To(Equal("TLS 1.0"))
		Expect(h.Completed()).To(BeFalse())
	})

	It("distinguishes faults of this machine from faults of the server", func() {
		h := newFixture().greet(recorder.HandshakeRequest{Label: "tls/token.tls10", URL: serveBytes("", true), Oldest: tls.VersionTLS13, Newest: tls.VersionTLS10})
		Expect(h.Failure.Kind).To(Equal(evidence.FailureLocal))
	})

	It("repeats a dropped handshake for new versions only", func() {
		url := serveBytes("", false)
		old := newFixture().greet(legacy(url))
		Expect(old.Failure.Kind).To(Equal(evidence.FailureReset))
		Expect(old.Attempts).To(Equal(1))
		Expect(newFixture().greet(modern(url)).Attempts).To(Equal(2))
	})

	It("is bounded by time and budget", func() {
		r := newFixture(func(o *recorder.Options) { o.Timeout, o.Budget = 50*time.Millisecond, 1 })
		Expect(r.greet(legacy(serveBytes("", true))).Failure.Kind).To(Equal(evidence.FailureTimeout))
		r.recorder.Handshake(context.Background(), recorder.HandshakeRequest{Label: "tls/token.tls10", URL: "https://127.0.0.1:1"})
		skipped, found := r.evidence().Skipped("tls/token.tls10")
		Expect(found).To(BeTrue())
		Expect(skipped.Kind).To(Equal(evidence.OverBudget))
	})

	It("fails with a server that does not speak TLS", func() {
		Expect(newFixture().greet(modern(serveBytes("HTTP/1.1 400 Bad Request\r\n\r\n", false))).Failure.Kind).To(Equal(evidence.FailureTLS))
		h := newFixture().greet(modern("https://" + closedPort()))
		Expect(h.Failure.Kind).To(Equal(evidence.FailureConnect))
		Expect(h.Attempts).To(Equal(2))
	})
})
