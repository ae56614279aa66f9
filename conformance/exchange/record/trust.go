package record

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/rin-network/rin/conformance/exchange"
)

// Bounds on what is kept of a chain.
const (
	maxChain = 10
	maxNames = 20
)

// trust reads a chain and says whether it proves the name, and if not, why.
func (r *Recorder) trust(chain []*x509.Certificate, name string) (kept []exchange.Certificate, why exchange.Distrust, message string) {
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
	return kept, distrust(err, chain, now.Before(chain[0].NotBefore)), clip(err.Error())
}

// distrust groups what is wrong with a chain.
func distrust(err error, chain []*x509.Certificate, early bool) exchange.Distrust {
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && early:
		return exchange.CertificateNotYetValid
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return exchange.CertificateExpired
	case errors.As(err, &name):
		return exchange.CertificateOfOther
	case !errors.As(err, &unknown):
		return exchange.CertificateUnsuitable
	case selfSigned(chain[0]):
		return exchange.CertificateSelfSigned
	case !issuerSent(chain):
		return exchange.ChainIncomplete
	}
	return exchange.ChainUntrusted
}

// issuerSent reports that the chain holds the certificate that issued the first one.
func issuerSent(chain []*x509.Certificate) bool {
	for _, c := range chain[1:] {
		if chain[0].CheckSignatureFrom(c) == nil {
			return true
		}
	}
	return false
}

func selfSigned(c *x509.Certificate) bool {
	return bytes.Equal(c.RawIssuer, c.RawSubject) && c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}

func certificate(c *x509.Certificate) exchange.Certificate {
	out := exchange.Certificate{
		Subject: clip(c.Subject.String()), Issuer: clip(c.Issuer.String()), NotBefore: c.NotBefore.UTC(), NotAfter: c.NotAfter.UTC(),
		Key: key(c), SelfSigned: selfSigned(c), Authority: c.IsCA,
	}
	for _, name := range c.DNSNames {
		out.Names = append(out.Names, clip(name))
	}
	for _, ip := range c.IPAddresses {
		out.Names = append(out.Names, ip.String())
	}
	out.Names = out.Names[:min(len(out.Names), maxNames)]
	return out
}

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
