package evidence

import (
	"fmt"
	"time"
)

// Handshake is one TLS handshake with an origin of the node, without any request after it.
type Handshake struct {
	Label Label `json:"label"`
	// Address is host and port, ServerName the name that was asked for (SNI) and that the certificate has to be for.
	Address    string `json:"address"`
	ServerName string `json:"serverName"`
	// Offered are the versions of TLS that rin offered, "TLS 1.2".
	Offered []string `json:"offered"`
	// Version, Cipher and Protocol (ALPN) are what was negotiated; empty when the handshake did not complete.
	Version  string `json:"version,omitempty"`
	Cipher   string `json:"cipher,omitempty"`
	Protocol string `json:"protocol,omitempty"`
	// Selected is the version in the server's first message when the handshake broke off after it.
	Selected string `json:"selected,omitempty"`
	// Alert is the server's refusal in the words of TLS, "protocol version" (RFC 8446 §6.2).
	Alert string `json:"alert,omitempty"`
	// Chain are the certificates as the server sent them, its own first.
	Chain []Certificate `json:"chain,omitempty"`
	// Distrust says why the chain does not prove the server's name; empty when it does, or when there is none.
	Distrust Distrust `json:"distrust,omitempty"`
	// Message is the fault of the chain in words, redacted and bounded.
	Message string `json:"message,omitempty"`
	// Failure says why the handshake did not complete.
	Failure  *Failure      `json:"failure,omitempty"`
	Attempts int           `json:"attempts"`
	Started  time.Time     `json:"started"`
	Duration time.Duration `json:"durationNs"`
}

// Completed reports that both sides agreed on a version and finished.
func (h Handshake) Completed() bool { return h.Version != "" && h.Failure == nil }

// Certificate is what a certificate says, as data.
type Certificate struct {
	Subject string `json:"subject"`
	Issuer  string `json:"issuer"`
	// Names are the hosts that it is for (subjectAltName).
	Names      []string  `json:"names,omitempty"`
	NotBefore  time.Time `json:"notBefore"`
	NotAfter   time.Time `json:"notAfter"`
	Key        string    `json:"key"` // "ECDSA P-256"
	SelfSigned bool      `json:"selfSigned,omitempty"`
	// Authority says that it may issue others.
	Authority bool `json:"authority,omitempty"`
}

// Distrust groups the reasons why a chain proves nothing.
type Distrust string

// The reasons.
const (
	CertificateExpired     Distrust = "expired"
	CertificateNotYetValid Distrust = "not-yet-valid"
	CertificateOfOther     Distrust = "wrong-name"
	CertificateSelfSigned  Distrust = "self-signed"
	ChainIncomplete        Distrust = "incomplete" // the issuer of the server's certificate was neither sent nor is it known here
	ChainUntrusted         Distrust = "untrusted"  // the chain ends at an authority that is not known here
	CertificateUnsuitable  Distrust = "unsuitable" // any other fault, such as a certificate that is not for servers
)

// FailureLocal is a handshake that the TLS library of rin cannot even begin; it says nothing about the server.
const FailureLocal FailureKind = "local"

// Handshake returns the handshake with that label.
func (l *Log) Handshake(label Label) (Handshake, bool) {
	for _, h := range l.Handshakes {
		if h.Label == label {
			return h, true
		}
	}
	return Handshake{}, false
}

// Curl is a command for a POSIX shell that repeats a handshake. OpenSSL refuses old versions unless its security level is lowered.
func (h Handshake) Curl() string {
	flags := ""
	if len(h.Offered) == 1 {
		var number string
		if _, err := fmt.Sscanf(h.Offered[0], "TLS %s", &number); err == nil {
			flags = fmt.Sprintf(" --tlsv%s --tls-max %s --ciphers DEFAULT@SECLEVEL=0", number, number)
		}
	}
	return fmt.Sprintf("curl -sv -o /dev/null%s %s", flags, shellWord("https://"+h.Address+"/"))
}
