package transport

import (
	"bufio"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// firstByte is how long a client may take to show whether it speaks TLS.
const firstByte = 5 * time.Second

// handshakeRecord is the first byte of a TLS connection (RFC 8446 §5.1); no request line begins with it.
const handshakeRecord = 0x16

// mixed accepts TLS and cleartext on one port. Connections wait for their first byte beside the accepting, or one silent client
// would keep all others out.
type mixed struct {
	net.Listener
	config   *tls.Config
	accepted chan net.Conn
	failed   chan error
	closed   chan struct{}
	once     sync.Once
}

func newMixed(inner net.Listener, config *tls.Config) *mixed {
	m := &mixed{Listener: inner, config: config, accepted: make(chan net.Conn), failed: make(chan error, 1), closed: make(chan struct{})}
	go m.run()
	return m
}

func (m *mixed) run() {
	for {
		conn, err := m.Listener.Accept()
		if err != nil {
			m.failed <- err
			return
		}
		go m.sort(conn)
	}
}

// sort hands a connection on as what it shows itself to be.
func (m *mixed) sort(conn net.Conn) {
	peeked := &peeked{Conn: conn, in: bufio.NewReaderSize(conn, 1)}
	_ = conn.SetReadDeadline(time.Now().Add(firstByte)) // a connection without deadlines is closed by its peer at the latest
	first, err := peeked.in.Peek(1)
	_ = conn.SetReadDeadline(time.Time{})
	if err != nil {
		_ = conn.Close()
		return
	}
	var sorted net.Conn = peeked
	if first[0] == handshakeRecord {
		sorted = tls.Server(peeked, m.config)
	}
	select {
	case m.accepted <- sorted:
	case <-m.closed:
		_ = conn.Close()
	}
}

// Accept implements net.Listener.
func (m *mixed) Accept() (net.Conn, error) {
	select {
	case conn := <-m.accepted:
		return conn, nil
	case err := <-m.failed:
		return nil, err
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (m *mixed) Close() error {
	err := net.ErrClosed
	m.once.Do(func() {
		close(m.closed)
		err = m.Listener.Close()
	})
	return err
}

// peeked is a connection whose first byte was looked at.
type peeked struct {
	net.Conn
	in *bufio.Reader
}

// Read implements io.Reader.
func (p *peeked) Read(b []byte) (int, error) { return p.in.Read(b) }
