package devtls

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"
)

// AuthorityLifetime is how long an authority that is kept across restarts is valid.
const AuthorityLifetime = 2 * 365 * 24 * time.Hour

// Authority is a development certificate authority with its private key. Clients trust it for its hosts only.
type Authority struct{ issued *issuedCertificate }

// NewAuthority makes an authority for hosts and for loopback. PEM writes it for a later
// [ReadAuthority].
func NewAuthority(hosts []string, now time.Time, random io.Reader) (*Authority, error) {
	issued, err := newAuthority(authorityName, withLoopback(hosts), now.Add(-skew).Truncate(time.Second), now.Add(AuthorityLifetime), nil, random)
	if err != nil {
		return nil, err
	}
	return &Authority{issued}, nil
}

// PEM returns the certificate and the private key of the authority. Only its owner may read it.
func (a *Authority) PEM() ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(a.issued.key)
	if err != nil {
		return nil, fmt.Errorf("write the key of the authority: %w", err)
	}
	return append(a.issued.pem(), pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: key})...), nil
}

const (
	authorityName = "rin sandbox authority"
	keyBlock      = "PRIVATE KEY"
)

// ReadAuthority reads the result of PEM. The error says why the authority cannot issue certificates for the hosts
// now.
func ReadAuthority(text []byte, hosts []string, now time.Time) (*Authority, error) {
	first, rest := pem.Decode(text)
	second, rest := pem.Decode(rest)
	if first == nil || second == nil || second.Type != keyBlock || len(bytes.TrimSpace(rest)) > 0 || !IsDevelopmentAuthority(pem.EncodeToMemory(first)) {
		return nil, errors.New("expected the certificate of a sandbox's authority and its private key, as PEM")
	}
	certificate, err := x509.ParseCertificate(first.Bytes)
	if err != nil {
		return nil, err
	}
	if err := certificate.CheckSignatureFrom(certificate); err != nil {
		return nil, fmt.Errorf("the certificate is damaged: %w", err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(second.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the private key is damaged: %w", err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || !key.PublicKey.Equal(certificate.PublicKey) {
		return nil, errors.New("the private key does not belong to the certificate")
	}
	if now.Before(certificate.NotBefore) || now.After(certificate.NotAfter) {
		return nil, fmt.Errorf("the certificate is valid from %s to %s only", certificate.NotBefore.Format(time.DateOnly), certificate.NotAfter.Format(time.DateOnly))
	}
	if !certificate.PermittedDNSDomainsCritical {
		return nil, errors.New("the certificate is not limited to hosts")
	}
	for _, host := range hosts {
		if !permits(certificate, host) {
			return nil, fmt.Errorf("the certificate is not for %s", host)
		}
	}
	return &Authority{&issuedCertificate{certificate, key}}, nil
}

// withLoopback adds the hosts of this machine to hosts.
func withLoopback(hosts []string) []string {
	return slices.Concat([]string{"localhost", "127.0.0.0/8", "::1"}, hosts)
}

// constrain limits the hosts for which clients trust an authority. A host is a name, an address, or a range of addresses.
func constrain(template *x509.Certificate, hosts []string) {
	template.PermittedDNSDomainsCritical = true
	for _, host := range hosts {
		if _, network, err := net.ParseCIDR(host); err == nil {
			template.PermittedIPRanges = append(template.PermittedIPRanges, network)
		} else if ip := net.ParseIP(host); ip != nil {
			if short := ip.To4(); short != nil {
				ip = short
			}
			template.PermittedIPRanges = append(template.PermittedIPRanges, &net.IPNet{IP: ip, Mask: net.CIDRMask(8*len(ip), 8*len(ip))})
		} else {
			template.PermittedDNSDomains = append(template.PermittedDNSDomains, strings.ToLower(host))
		}
	}
}

// permits reports whether clients trust authority for host.
func permits(authority *x509.Certificate, host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return slices.ContainsFunc(authority.PermittedIPRanges, func(n *net.IPNet) bool { return n.Contains(ip) })
	}
	host = strings.ToLower(host)
	return slices.ContainsFunc(authority.PermittedDNSDomains, func(d string) bool { return host == d || strings.HasSuffix(host, "."+d) })
}
