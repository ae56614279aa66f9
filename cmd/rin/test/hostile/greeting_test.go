package hostile_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"time"
)

// tlsAttacks returns nodes that are hostile before a request can be sent.
func tlsAttacks() []attack {
	brief := []string{"--timeout", "300ms"}
	names := make([]string, 10_000)
	for i := range names {
		names[i] = fmt.Sprintf("n%d.%s.example", i, marker)
	}
	chain := certificate("node", nil)
	for len(chain.Certificate) < 90 {
		chain.Certificate = append([][]byte{chain.Certificate[0]}, chain.Certificate...)
	}
	return []attack{
		{name: "a handshake that never answers", typical: true, wire: silent, flags: brief},
		{name: "a handshake that drips", wire: func(conn net.Conn) {
			pace := time.NewTicker(tick)
			defer pace.Stop()
			for _, err := conn.Write([]byte("\x16\x03\x03\x40\x00\x02\x00\xff\xff")); err == nil; _, err = conn.Write([]byte{0}) {
				<-pace.C
			}
		}, flags: brief},
		{name: "garbage instead of TLS", wire: func(conn net.Conn) { writeForever(conn, "", "\x00\xff\x1b[2J"+marker) }, flags: brief},
		{name: "cleartext instead of TLS", typical: true, wire: func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nX-A: "+inscription+"\r\n\r\n"+lines)
		}, flags: brief},
		{name: "a handshake message beyond all bounds", wire: func(conn net.Conn) {
			writeForever(conn, "\x16\x03\x03\x40\x00\x02\xff\xff\xff", "\x16\x03\x03\x40\x00"+string(make([]byte, 0x4000)))
		}, flags: brief},
		{name: "alerts without an end", wire: func(conn net.Conn) { writeForever(conn, "", "\x15\x03\x03\x00\x02\x01\x5a") }, flags: brief},
		{name: "a reset of every handshake", wire: func(conn net.Conn) {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
		}, flags: brief},
		{name: "a certificate with ten thousand names", tls: &tls.Config{Certificates: []tls.Certificate{certificate("node", names)}}},
		{name: "a certificate with texts for names", typical: true, tls: &tls.Config{Certificates: []tls.Certificate{certificate(strings.ToValidUTF8(inscription, ""), []string{"x.example"})}}},
		{name: "a chain of ninety certificates", tls: &tls.Config{Certificates: []tls.Certificate{chain}}, harmless: true},
	}
}

// plainTLS returns a TLS configuration without an attack.
func plainTLS() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{certificate("node", nil)}}
}

// certificate returns a self-signed certificate. Without names it is for the address of the nodes in these tests.
func certificate(subject string, names []string) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // there is randomness
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: subject, Organization: []string{subject}}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, IsCA: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if len(names) == 0 {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err) // the template is sound
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
