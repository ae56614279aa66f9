package devtls

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"
)

// organization marks every certificate of this package.
const organization = "rin sandbox"

// issuedCertificate is a certificate of an authority or of a server, with its private key.
type issuedCertificate struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// newAuthority makes an authority named name, signed by parent or, without one, by itself. It is limited to hosts if there are any.
func newAuthority(name string, hosts []string, from, until time.Time, parent *issuedCertificate, random io.Reader) (*issuedCertificate, error) {
	template, err := newTemplate(name, from, until, random)
	if err != nil {
		return nil, err
	}
	if len(hosts) > 0 {
		constrain(template, hosts)
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	return sign(template, parent, random)
}

// newLeaf makes a server certificate for the hosts, signed by parent or, without one, by itself.
func newLeaf(hosts []string, from, until time.Time, parent *issuedCertificate, random io.Reader) (*issuedCertificate, error) {
	template, err := newTemplate(hosts[0], from, until, random)
	if err != nil {
		return nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return sign(template, parent, random)
}

// newTemplate returns the fields that authorities and server certificates have in common.
func newTemplate(name string, from, until time.Time, random io.Reader) (*x509.Certificate, error) {
	// 127 bits, so that the number is positive and at most 20 octets long (RFC 5280 §4.1.2.2).
	serial, err := rand.Int(random, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name, Organization: []string{organization}},
		NotBefore:    from.UTC(), NotAfter: until.UTC(),
	}, nil
}

// sign makes a key, and a certificate for it from the template, signed by parent or, without one, by itself.
func sign(template *x509.Certificate, parent *issuedCertificate, random io.Reader) (*issuedCertificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	issuer := issuedCertificate{template, key}
	if parent != nil {
		issuer = *parent
	}
	der, err := x509.CreateCertificate(random, template, issuer.certificate, key.Public(), issuer.key)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate of %s: %w", template.Subject.CommonName, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of %s: %w", template.Subject.CommonName, err)
	}
	return &issuedCertificate{certificate, key}, nil
}

func (c *issuedCertificate) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.certificate.Raw})
}

// IsDevelopmentAuthority reports whether the text of a PEM file is the authority of a sandbox and nothing else. Another sandbox may overwrite such a file.
func IsDevelopmentAuthority(text []byte) bool {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" || len(rest) > 0 {
		return false
	}
	c, err := x509.ParseCertificate(block.Bytes)
	return err == nil && c.IsCA && len(c.Subject.Organization) == 1 && c.Subject.Organization[0] == organization
}

// DefaultLifetime is how long a server certificate is valid.
const DefaultLifetime = 90 * 24 * time.Hour

// Settings configure how a node offers TLS. The zero value is a correct node on localhost.
type Settings struct {
	// Hosts are the names and addresses of the server certificate; localhost and the loopback addresses when empty.
	Hosts []string
	// PermittedHosts are the hosts besides loopback for which clients trust the authority (RFC 5280 §4.2.1.10); Hosts when empty.
	PermittedHosts []string
	// Authority returns the authority that issues the certificates, for the permitted hosts; New makes a new one when nil.
	Authority func(hosts []string) (*Authority, error)
	// Clock returns the time that the certificates' validity refers to; time.Now when nil.
	Clock func() time.Time
	// Age is how long ago the server certificate became valid, Lifetime how long it is valid from then on; an hour and DefaultLifetime when 0.
	Age, Lifetime time.Duration
	// WithoutIntermediate omits the intermediate certificate from what the server sends.
	WithoutIntermediate bool
	// SelfSigned makes the server certificate its own issuer. UnknownAuthority makes another authority issue it, which clients do not trust.
	SelfSigned, UnknownAuthority bool
	// Oldest and Newest limit the versions of TLS; 1.2 and the newest one when 0.
	Oldest, Newest uint16
	// Cleartext makes the node answer plain HTTP, too, on the same port.
	Cleartext bool
}

// complete fills in the defaults and checks the settings.
func (s Settings) complete() (Settings, error) {
	if len(s.Hosts) == 0 {
		s.Hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	if len(s.PermittedHosts) == 0 {
		s.PermittedHosts = s.Hosts
	}
	if s.Clock == nil {
		s.Clock = time.Now
	}
	s.Age, s.Lifetime = cmp.Or(s.Age, time.Hour), cmp.Or(s.Lifetime, DefaultLifetime)
	s.Oldest, s.Newest = cmp.Or(s.Oldest, tls.VersionTLS12), cmp.Or(s.Newest, tls.VersionTLS13)
	if s.Newest < s.Oldest {
		return s, fmt.Errorf("expected the newest TLS version not to be older than the oldest, got %s and %s", tls.VersionName(s.Newest), tls.VersionName(s.Oldest))
	}
	if s.Lifetime < 0 {
		return s, errors.New("expected a lifetime of certificates above 0")
	}
	return s, nil
}
