package recorder

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// HandshakeTimeout bounds connecting and the handshake together, unless the recorder's own timeout is shorter.
const HandshakeTimeout = 10 * time.Second

// HandshakeRequest is one TLS handshake to make.
type HandshakeRequest struct {
	Label evidence.Label
	// URL names the https origin.
	URL string
	// Oldest and Newest bound the offered versions.
	Oldest, Newest uint16
}

// Handshake makes one handshake under the same rate, concurrency and budget as requests, closes the connection, and
// records the negotiated parameters and the certificates. A bad certificate does not end the handshake, because it is evidence.
func (r *Recorder) Handshake(ctx context.Context, g HandshakeRequest) evidence.Handshake {
	h := evidence.Handshake{Label: g.Label, Offered: offeredVersions(g), Started: r.options.Clock()}
	u, err := url.Parse(g.URL)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" {
		h.Failure = &evidence.Failure{Kind: evidence.FailureRefused, Message: "expected an https URL"}
		r.options.Journal.Handshake(h)
		return h
	}
	h.ServerName, h.Address = u.Hostname(), net.JoinHostPort(u.Hostname(), port(u))
	for {
		if err := r.handshakeOnce(ctx, g, &h); err != nil {
			if h.Attempts == 0 {
				r.options.Journal.Skip(r.notSent(g.Label, "", err))
				h.Failure = unsentFailure(err)
				return h
			}
			break
		}
		if h.Attempts > 1 || !isRepeatable(g, h) {
			break
		}
		wait := RetryPause
		if r.options.Loopback {
			wait = 0
		}
		if r.options.Sleep(ctx, wait) != nil {
			break
		}
	}
	h = h.Redacted(r.options.Redactor)
	r.options.Journal.Handshake(h)
	return h
}

// handshakeOnce makes one attempt and stores it in h. If it cannot make an attempt, it returns the reason and leaves h unchanged.
func (r *Recorder) handshakeOnce(ctx context.Context, g HandshakeRequest, h *evidence.Handshake) error {
	origin := evidence.OriginOf("https://" + h.Address)
	leave, err := r.admit(ctx, []route{{origin: origin}}, false, nil)
	if err != nil {
		return err
	}
	defer leave()
	attempt := evidence.Handshake{
		Label: h.Label, Address: h.Address, ServerName: h.ServerName, Offered: h.Offered, Attempts: h.Attempts + 1, Started: r.options.Clock(),
	}
	r.handshake(ctx, g, &attempt)
	attempt.Duration = r.options.Clock().Sub(attempt.Started)
	*h = attempt
	if h.Failure != nil && h.Failure.Kind == evidence.FailureTimeout && isRepeatable(g, *h) { // a server may answer an old version with silence
		r.observeTimeout(ctx, route{origin: origin}, "", nil)
	}
	return nil
}

func (r *Recorder) handshake(ctx context.Context, g HandshakeRequest, h *evidence.Handshake) {
	timeout := r.timeout(HandshakeTimeout)
	timed, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	wire, err := (&net.Dialer{}).DialContext(timed, "tcp", h.Address)
	if err != nil {
		h.Failure = r.classify(ctx, timed, timeout, err, false)
		return
	}
	reader := &alertReader{Conn: wire}
	defer reader.Close()
	conn := tls.Client(reader, handshakeConfig(g, h.ServerName, r.options.Clock))
	err = conn.HandshakeContext(timed)
	state := conn.ConnectionState()
	h.Chain, h.Distrust, h.Message = r.trust(state.PeerCertificates, h.ServerName)
	if err != nil {
		h.Selected, h.Alert = reader.serverAnswer()
	}
	switch {
	case err == nil:
		h.Version, h.Cipher, h.Protocol = tls.VersionName(state.Version), tls.CipherSuiteName(state.CipherSuite), state.NegotiatedProtocol
		_ = conn.SetDeadline(time.Now().Add(time.Second)) // the close_notify alert may not take long
		_ = conn.Close()
	case !reader.hasWritten():
		h.Failure = &evidence.Failure{Kind: evidence.FailureLocal, Message: boundedMessage(err)}
	default:
		h.Failure = r.classify(ctx, timed, timeout, err, true)
	}
}

// handshakeConfig offers the versions with every cipher suite of the TLS library, weak ones too: a server that knows only old ciphers must not
// look as if it refused the version.
func handshakeConfig(g HandshakeRequest, name string, clock func() time.Time) *tls.Config {
	config := &tls.Config{
		ServerName: name, MinVersion: g.Oldest, MaxVersion: g.Newest, Time: clock,
		InsecureSkipVerify: true, // no request follows, and trust verifies the chain
		NextProtos:         []string{"http/1.1"},
	}
	if g.Newest >= tls.VersionTLS12 {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	for _, suites := range [][]*tls.CipherSuite{tls.CipherSuites(), tls.InsecureCipherSuites()} {
		for _, s := range suites {
			config.CipherSuites = append(config.CipherSuites, s.ID)
		}
	}
	return config
}

func offeredVersions(g HandshakeRequest) []string {
	var out []string
	for _, v := range []uint16{tls.VersionTLS10, tls.VersionTLS11, tls.VersionTLS12, tls.VersionTLS13} {
		if v >= g.Oldest && v <= g.Newest {
			out = append(out, tls.VersionName(v))
		}
	}
	return out
}

// isRepeatable reports whether the handshake failed by a network error that may be transient. A server that hangs up on an old version has answered.
func isRepeatable(g HandshakeRequest, h evidence.Handshake) bool {
	if h.Failure == nil {
		return false
	}
	switch h.Failure.Kind {
	case evidence.FailureResolve, evidence.FailureConnect:
		return true
	case evidence.FailureTimeout, evidence.FailureReset:
		return g.Newest >= tls.VersionTLS12
	}
	return false
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return "443"
}

// alertReader keeps the first bytes from a server. They distinguish a refusal by the server from an error of rin's TLS library.
type alertReader struct {
	net.Conn
	mu       sync.Mutex
	received []byte
	written  bool
}

// helloStart is the number of bytes up to the version of a ServerHello: the header of the record, the header of the message, and the version.
const helloStart = 11

// Read implements io.Reader.
func (w *alertReader) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if room := helloStart - len(w.received); room > 0 {
		w.received = append(w.received, p[:min(n, room)]...)
	}
	return n, err
}

// Write implements io.Writer.
func (w *alertReader) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.written = true
	w.mu.Unlock()
	return w.Conn.Write(p)
}

func (w *alertReader) hasWritten() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written
}

// Records and messages of TLS (RFC 8446 §5.1, §4).
const (
	recordAlert     = 21
	recordHandshake = 22
	serverHello     = 2
)

// serverAnswer returns the version of a ServerHello, or the alert in its place. It returns 1.2 for TLS 1.3,
// because the ServerHello of TLS 1.3 has that version (RFC 8446 §4.1.3).
func (w *alertReader) serverAnswer() (version, alert string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch b := w.received; {
	case len(b) >= 7 && b[0] == recordAlert:
		return "", tls.AlertError(b[6]).Error()[len("tls: "):]
	case len(b) >= helloStart && b[0] == recordHandshake && b[5] == serverHello:
		return tls.VersionName(binary.BigEndian.Uint16(b[9:11])), ""
	}
	return "", ""
}

// Bounds of a recorded chain.
const (
	maxChain = 10
	maxNames = 20
)

// trust returns the certificates of a chain, and the reason if they do not prove the name.
func (r *Recorder) trust(chain []*x509.Certificate, name string) (kept []evidence.Certificate, why evidence.Distrust, message string) {
	if len(chain) == 0 {
		return nil, "", ""
	}
	for _, c := range chain[:min(len(chain), maxChain)] {
		kept = append(kept, certificate(c))
	}
	intermediates := x509.NewCertPool()
	for _, c := range chain[1:] {
		intermediates.AddCert(c)
	}
	now := r.options.Clock()
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: r.options.RootCAs, Intermediates: intermediates, DNSName: name, CurrentTime: now})
	if err == nil {
		return kept, "", ""
	}
	return kept, distrust(err, chain, now.Before(chain[0].NotBefore)), evidence.Clip(err.Error(), maxMessage)
}

// distrust classifies the fault of a chain. early says that the first certificate is not valid yet.
func distrust(err error, chain []*x509.Certificate, early bool) evidence.Distrust {
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && early:
		return evidence.CertificateNotYetValid
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return evidence.CertificateExpired
	case errors.As(err, &name):
		return evidence.CertificateWrongName
	case !errors.As(err, &unknown):
		return evidence.CertificateUnsuitable
	case isSelfSigned(chain[0]):
		return evidence.CertificateSelfSigned
	case !hasIssuer(chain):
		return evidence.ChainIncomplete
	}
	return evidence.ChainUntrusted
}

// hasIssuer reports whether the chain contains the certificate that issued the first one.
func hasIssuer(chain []*x509.Certificate) bool {
	for _, c := range chain[1:] {
		if chain[0].CheckSignatureFrom(c) == nil {
			return true
		}
	}
	return false
}

func isSelfSigned(c *x509.Certificate) bool {
	return bytes.Equal(c.RawIssuer, c.RawSubject) && c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}

func certificate(c *x509.Certificate) evidence.Certificate {
	out := evidence.Certificate{
		Subject: evidence.Clip(c.Subject.String(), maxMessage), Issuer: evidence.Clip(c.Issuer.String(), maxMessage), NotBefore: c.NotBefore.UTC(), NotAfter: c.NotAfter.UTC(),
		Key: key(c), SelfSigned: isSelfSigned(c), Authority: c.IsCA,
	}
	for _, name := range c.DNSNames {
		out.Names = append(out.Names, evidence.Clip(name, maxMessage))
	}
	for _, ip := range c.IPAddresses {
		out.Names = append(out.Names, ip.String())
	}
	out.Names = out.Names[:min(len(out.Names), maxNames)]
	return out
}

// key describes a public key by its algorithm and size or curve.
func key(c *x509.Certificate) string {
	switch k := c.PublicKey.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA %d", k.N.BitLen())
	case *ecdsa.PublicKey:
		return "ECDSA " + k.Curve.Params().Name
	case ed25519.PublicKey:
		return "Ed25519"
	}
	return c.PublicKeyAlgorithm.String()
}
