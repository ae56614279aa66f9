package transport

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"
)

// organization marks every certificate that is made here.
const organization = "rin sandbox"

// issuer is a certificate that may sign others, with its key.
type issuer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// newIssuer makes an authority named name, signed by parent or, without one, by itself.
func newIssuer(name string, from, until time.Time, parent *issuer, random io.Reader) (*issuer, error) {
	template, err := newTemplate(name, from, until, random)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	return sign(template, parent, random)
}

// newLeaf makes a server certificate for the hosts, signed by parent or, without one, by itself.
func newLeaf(hosts []string, from, until time.Time, parent *issuer, random io.Reader) (*issuer, error) {
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

func sign(template *x509.Certificate, parent *issuer, random io.Reader) (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	by := issuer{template, key}
	if parent != nil {
		by = *parent
	}
	der, err := x509.CreateCertificate(random, template, by.certificate, key.Public(), by.key)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate of %s: %w", template.Subject.CommonName, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of %s: %w", template.Subject.CommonName, err)
	}
	return &issuer{certificate, key}, nil
}

func (i *issuer) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.certificate.Raw})
}

// Made reports that a PEM file holds the authority of a sandbox and nothing else: one may be replaced by the next.
func Made(text []byte) bool {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" || len(rest) > 0 {
		return false
	}
	c, err := x509.ParseCertificate(block.Bytes)
	return err == nil && c.IsCA && len(c.Subject.Organization) == 1 && c.Subject.Organization[0] == organization
}
