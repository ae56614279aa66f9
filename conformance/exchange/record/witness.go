package record

import (
	"crypto/tls"
	"encoding/binary"
	"net"
	"sync"
)

// witness notes the first bytes that a server sends, so that its own words tell a refusal from a fault of rin's TLS library.
type witness struct {
	net.Conn
	mu    sync.Mutex
	heard []byte
	spoke bool
}

// firstRecord is enough of a server's first record: the record header, the message header and the version of a ServerHello.
const firstRecord = 11

// Read implements io.Reader.
func (w *witness) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if room := firstRecord - len(w.heard); room > 0 {
		w.heard = append(w.heard, p[:min(n, room)]...)
	}
	return n, err
}

// Write implements io.Writer.
func (w *witness) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.spoke = true
	w.mu.Unlock()
	return w.Conn.Write(p)
}

func (w *witness) wrote() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.spoke
}

// The records and messages of TLS (RFC 8446 §5.1, §4).
const (
	recordAlert     = 21
	recordHandshake = 22
	serverHello     = 2
)

// said reads the version of a ServerHello, or the alert that came in its place. The version of TLS 1.3 reads as 1.2 here, which is
// the one that its ServerHello shows (RFC 8446 §4.1.3).
func (w *witness) said() (version, alert string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch b := w.heard; {
	case len(b) >= 7 && b[0] == recordAlert:
		return "", tls.AlertError(b[6]).Error()[len("tls: "):]
	case len(b) >= firstRecord && b[0] == recordHandshake && b[5] == serverHello:
		return tls.VersionName(binary.BigEndian.Uint16(b[9:11])), ""
	}
	return "", ""
}
