// Package devtls gives a sandbox TLS: a development certificate authority, a certificate for the hosts of the node, which an intermediate issues as with
// public authorities, and a listener for HTTP/2 and HTTP/1.1.
//
// The keys live as long as the process, unless an [Authority] is kept. A deviation changes [Settings].
package devtls

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"
)

// skew is the time for which an authority is valid before its server certificate begins, and after that
// certificate ends.
const skew = 24 * time.Hour

// Identity is the certificate of a node, and the authority that issued it.
type Identity struct {
	settings  Settings
	authority []byte
	config    *tls.Config
}

// New makes an authority, an intermediate and a server certificate. The private keys stay in memory, except that of an authority that is kept.
func New(settings Settings, random io.Reader) (*Identity, error) {
	s, err := settings.complete()
	if err != nil {
		return nil, err
	}
	now := s.Clock()
	from := now.Add(-s.Age).Truncate(time.Second)
	until := from.Add(s.Lifetime)
	// The authority outlasts the certificates that it signs, and is valid now even if the server certificate is expired on purpose.
	first, last := from.Add(-skew), until.Add(skew)
	if last.Before(now.Add(DefaultLifetime)) {
		last = now.Add(DefaultLifetime)
	}
	root, err := s.root(first, last, random)
	if err != nil {
		return nil, err
	}
	signer := root
	if s.UnknownAuthority {
		if signer, err = newAuthority("unknown authority", nil, first, last, nil, random); err != nil {
			return nil, err
		}
	}
	intermediate, err := newAuthority("rin sandbox intermediate", nil, first, last, signer, random)
	if err != nil {
		return nil, err
	}
	parent := intermediate
	if s.SelfSigned {
		parent = nil
	}
	leaf, err := newLeaf(s.Hosts, from, until, parent, random)
	if err != nil {
		return nil, err
	}
	chain := [][]byte{leaf.certificate.Raw}
	if !s.SelfSigned && !s.WithoutIntermediate {
		chain = append(chain, intermediate.certificate.Raw)
	}
	return &Identity{settings: s, authority: root.pem(), config: &tls.Config{
		Certificates: []tls.Certificate{{Certificate: chain, PrivateKey: leaf.key, Leaf: leaf.certificate}},
		MinVersion:   s.Oldest, MaxVersion: s.Newest,
		NextProtos: []string{"h2", "http/1.1"}, Time: s.Clock,
	}}, nil
}

// root returns the authority of the settings, or a new one.
func (s Settings) root(first, last time.Time, random io.Reader) (*issuedCertificate, error) {
	if s.Authority == nil {
		return newAuthority(authorityName, withLoopback(s.PermittedHosts), first, last, nil, random)
	}
	authority, err := s.Authority(s.PermittedHosts)
	if err != nil {
		return nil, err
	}
	return authority.issued, nil
}

// Authority returns the certificate of the authority as PEM, for clients to trust.
func (i *Identity) Authority() []byte { return i.authority }

// Listen wraps a listener, so that its connections speak TLS.
func (i *Identity) Listen(inner net.Listener) net.Listener {
	if i.settings.Cleartext {
		return newSchemeListener(inner, i.config)
	}
	return tls.NewListener(inner, i.config)
}

// firstByteTimeout is how long the server waits for the first byte of a client, which shows whether it speaks TLS.
const firstByteTimeout = 5 * time.Second

// handshakeRecord is the first byte of a TLS connection (RFC 8446 §5.1); no request line begins with it.
const handshakeRecord = 0x16

// schemeListener accepts TLS and cleartext on one port. Each connection waits for its first byte in the background, so that a silent client does
// not block others.
type schemeListener struct {
	net.Listener
	config   *tls.Config
	accepted chan net.Conn
	failed   chan error
	closed   chan struct{}
	once     sync.Once
}

func newSchemeListener(inner net.Listener, config *tls.Config) *schemeListener {
	l := &schemeListener{Listener: inner, config: config, accepted: make(chan net.Conn), failed: make(chan error, 1), closed: make(chan struct{})}
	go l.run()
	return l
}

func (l *schemeListener) run() {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			l.failed <- err
			return
		}
		go l.dispatch(conn)
	}
}

// dispatch hands a connection to Accept, as TLS or as cleartext, by its first byte.
func (l *schemeListener) dispatch(conn net.Conn) {
	peeked := &peekedConn{Conn: conn, in: bufio.NewReaderSize(conn, 1)}
	_ = conn.SetReadDeadline(time.Now().Add(firstByteTimeout)) // if this fails, the connection just waits until its peer closes it
	first, err := peeked.in.Peek(1)
	_ = conn.SetReadDeadline(time.Time{})
	if err != nil {
		_ = conn.Close()
		return
	}
	var ready net.Conn = peeked
	if first[0] == handshakeRecord {
		ready = tls.Server(peeked, l.config)
	}
	select {
	case l.accepted <- ready:
	case <-l.closed:
		_ = conn.Close()
	}
}

// Accept implements net.Listener.
func (l *schemeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.accepted:
		return conn, nil
	case err := <-l.failed:
		return nil, err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *schemeListener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() {
		close(l.closed)
		err = l.Listener.Close()
	})
	return err
}

// peekedConn is a connection whose first byte was already read into a buffer.
type peekedConn struct {
	net.Conn
	in *bufio.Reader
}

// Read implements io.Reader.
func (p *peekedConn) Read(b []byte) (int, error) { return p.in.Read(b) }
