package sandbox

import (
	"fmt"
	"net"

	"github.com/rin-network/rin/sandbox/deviation"
	"github.com/rin-network/rin/sandbox/transport"
	"github.com/rin-network/rin/sandbox/wire"
)

// identify makes the certificates of a node with TLS, as its deviations want them; nil without TLS.
func identify(c Config) (*transport.Identity, error) {
	var settings transport.Settings
	if c.TLS != nil {
		settings = *c.TLS
	}
	if settings.Clock == nil {
		settings.Clock = c.Clock
	}
	for _, name := range c.Deviations {
		d, err := deviation.Find(name)
		if err != nil {
			return nil, err
		}
		if d.Transport == nil {
			continue
		}
		if c.TLS == nil {
			return nil, &NeedsTLSError{Deviation: name}
		}
		d.Transport(&settings)
	}
	if c.TLS == nil {
		return nil, nil
	}
	identity, err := transport.New(settings, c.Random)
	if err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return identity, nil
}

// NeedsTLSError says that a deviation works on TLS and that the node has none.
type NeedsTLSError struct{ Deviation string }

// Error implements error.
func (e *NeedsTLSError) Error() string {
	return fmt.Sprintf("deviation %q works on connections and needs TLS, which the node does not offer", e.Deviation)
}

// NeedsStartError says that a deviation works on connections, which a node offers as it did when it started.
type NeedsStartError struct{ Deviation string }

// Error implements error.
func (e *NeedsStartError) Error() string {
	return fmt.Sprintf("deviation %q works on connections and can't be put in force while the node serves: name it at the start", e.Deviation)
}

// Authority is the certificate of the authority that issued the node's, as PEM; nil without TLS.
func (s *Server) Authority() []byte {
	if s.identity == nil {
		return nil
	}
	return s.identity.Authority()
}

// listen adds TLS to a listener if the node has it, and refusals that teach otherwise.
func (s *Server) listen(inner net.Listener) net.Listener {
	if s.identity == nil {
		return wire.Listen(inner, maxHeaderBytes)
	}
	return s.identity.Listen(inner)
}
