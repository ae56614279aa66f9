package transport

import (
	"crypto/tls"
	"io"
	"net"
	"time"
)

// skew is how much earlier and later than its server certificate an authority is valid.
const skew = 24 * time.Hour

// Identity is what a node proves itself with, and the authority behind it.
type Identity struct {
	settings  Settings
	authority []byte
	config    *tls.Config
}

// New makes an authority, an intermediate and a server certificate. The private keys are never written anywhere.
func New(settings Settings, random io.Reader) (*Identity, error) {
	s, err := settings.complete()
	if err != nil {
		return nil, err
	}
	now := s.Clock()
	from := now.Add(-s.Issued).Truncate(time.Second)
	until := from.Add(s.Lifetime)
	// The authority outlives every certificate that it signs, an expired one too.
	first, last := from.Add(-skew), until.Add(skew)
	if last.Before(now.Add(DefaultLifetime)) {
		last = now.Add(DefaultLifetime)
	}
	root, err := newIssuer("rin sandbox authority", first, last, nil, random)
	if err != nil {
		return nil, err
	}
	above := root
	if s.Stranger {
		if above, err = newIssuer("unknown authority", first, last, nil, random); err != nil {
			return nil, err
		}
	}
	intermediate, err := newIssuer("rin sandbox intermediate", first, last, above, random)
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

// Authority is the certificate of the authority as PEM: who trusts it trusts the node.
func (i *Identity) Authority() []byte { return i.authority }

// Listen wraps a listener, so that its connections speak TLS. Close it as any other.
func (i *Identity) Listen(inner net.Listener) net.Listener {
	if i.settings.Cleartext {
		return newMixed(inner, i.config)
	}
	return tls.NewListener(inner, i.config)
}
