package transport

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"
)

// DefaultLifetime is how long a server certificate is valid.
const DefaultLifetime = 90 * 24 * time.Hour

// Settings say how a node offers TLS. The zero value is a good node on this machine.
type Settings struct {
	// Hosts are the names and addresses of the server certificate; localhost and the loopback addresses when empty.
	Hosts []string
	// Clock tells the time that certificates are made by; the node's own when nil.
	Clock func() time.Time
	// Issued is how long before now the server certificate became valid, Lifetime how long it is valid from then on;
	// an hour and DefaultLifetime when 0.
	Issued, Lifetime time.Duration
	// WithoutIntermediate leaves the certificate of the intermediate out of what the server sends.
	WithoutIntermediate bool
	// SelfSigned makes the server certificate its own issuer, Stranger lets an authority issue it that nobody knows.
	SelfSigned, Stranger bool
	// Oldest and Newest bound the versions of TLS; 1.2 and the newest one when 0.
	Oldest, Newest uint16
	// Cleartext answers plain HTTP on the same port.
	Cleartext bool
}

// complete fills in the defaults and checks what can be checked alone.
func (s Settings) complete() (Settings, error) {
	if len(s.Hosts) == 0 {
		s.Hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	if s.Clock == nil {
		s.Clock = time.Now
	}
	if s.Issued == 0 {
		s.Issued = time.Hour
	}
	if s.Lifetime == 0 {
		s.Lifetime = DefaultLifetime
	}
	if s.Oldest == 0 {
		s.Oldest = tls.VersionTLS12
	}
	if s.Newest == 0 {
		s.Newest = tls.VersionTLS13
	}
	if s.Newest < s.Oldest {
		return s, fmt.Errorf("expected the newest TLS version not to be older than the oldest, got %s and %s", tls.VersionName(s.Newest), tls.VersionName(s.Oldest))
	}
	if s.Lifetime < 0 {
		return s, errors.New("expected a lifetime of certificates above 0")
	}
	return s, nil
}
