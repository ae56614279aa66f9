// Package evidence holds the exchanges between rin and a node as plain data.
//
// An [Exchange] is one HTTP request with its answer or its failure. A [Log] is the evidence of a whole run: the exchanges under
// their labels, the planned labels that were not sent with the reason, the node's reduced document, the schema findings and the
// roles of the node's resources. The package does not use the network; conformance/recorder fills a log.
//
// Evidence holds no secrets: the recorder replaces every known secret and token by a marker (see evidence/redact) before an
// exchange enters a log, and takes [TokenFacts] first.
package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// Exchange is one labelled request of a run with everything that came of it.
type Exchange struct {
	Label Label `json:"label"`
	// Words say for people what is particular about the request, such as "with a garbage token"; see the table of cases in package probe.
	Words string `json:"words,omitempty"`
	// Given holds the inputs that the probe chose for this request, such as the filter value or the sample id.
	Given   map[string]string `json:"given,omitempty"`
	Request Request           `json:"request"`
	// Redirects are the answers that were followed by hand before Response, oldest first (same origin only).
	Redirects []Hop `json:"redirects,omitempty"`
	// Response is nil when Failure is set.
	Response *Response `json:"response,omitempty"`
	Failure  *Failure  `json:"failure,omitempty"`
	// Attempts counts how often the request was sent; only the last attempt is kept.
	Attempts int           `json:"attempts"`
	Started  time.Time     `json:"started"`
	Duration time.Duration `json:"durationNs"`
	// Tokens are the facts about access tokens that this answer issued, taken before redaction.
	Tokens []TokenFacts `json:"tokens,omitempty"`
	// Presented are the facts about a token that the request carried and that is no good one: forged, expired, or meant for others.
	Presented *TokenFacts `json:"presented,omitempty"`
	// Verification says what the published keys of this answer make of the run's token; it is made where both are known.
	Verification *Verification `json:"verification,omitempty"`
}

// Answered reports whether a complete HTTP answer was received.
func (x Exchange) Answered() bool { return x.Response != nil }

// Status is the status code of the final answer, 0 without one.
func (x Exchange) Status() int {
	if x.Response == nil {
		return 0
	}
	return x.Response.Status
}

// Request is what was sent, redacted.
type Request struct {
	Method string  `json:"method"`
	URL    string  `json:"url"`
	Header []Field `json:"header,omitempty"`
	Body   Body    `json:"body,omitzero"`
	// Raw says that the bytes were written to the connection by rin itself, because net/http would have mended them.
	Raw bool `json:"raw,omitempty"`
}

// Response is what came back, redacted. Body is decoded (content coding removed) and bounded by the read limit.
type Response struct {
	Proto  string  `json:"proto"`
	Status int     `json:"status"`
	Header []Field `json:"header,omitempty"`
	Body   Body    `json:"body,omitzero"`
	// Size is the number of decoded body bytes that were read.
	Size int64 `json:"size"`
	// Truncated says that the body was longer than the read limit.
	Truncated bool `json:"truncated,omitempty"`
	// Surplus is the number of bytes that came after the end of the message, for requests that read the connection to its end.
	Surplus int64 `json:"surplus,omitempty"`
	// BodyError says why the body could not be read to its end or decoded; empty for a good body.
	BodyError string `json:"bodyError,omitempty"`
	// Withheld says that the body was read and is not kept, because of what BodyError says.
	Withheld bool `json:"withheld,omitempty"`
}

// Hop is one redirect that was followed.
type Hop struct {
	URL      string  `json:"url"`
	Status   int     `json:"status"`
	Header   []Field `json:"header,omitempty"`
	Location string  `json:"location"`
}

// Field is one header line as it stood on the wire.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Failure says why no answer was received.
type Failure struct {
	Kind FailureKind `json:"kind"`
	// Message is the cause in words, redacted and bounded.
	Message string `json:"message"`
}

// FailureKind groups the causes of a missing answer.
type FailureKind string

// The kinds of failure.
const (
	FailureResolve  FailureKind = "resolve"  // the name has no address
	FailureConnect  FailureKind = "connect"  // refused or unreachable
	FailureTLS      FailureKind = "tls"      // handshake or certificate
	FailureTimeout  FailureKind = "timeout"  // no complete answer in time
	FailureReset    FailureKind = "reset"    // closed before an answer
	FailureProtocol FailureKind = "protocol" // not HTTP, or headers over the limit
	FailureRefused  FailureKind = "refused"  // rin's own rules forbade the request (origin, budget)
	FailureCanceled FailureKind = "canceled" // the run ended first
)

// Values lists the values of all header lines with that name, in order; names compare without case (RFC 9110 §5.1).
func Values(header []Field, name string) []string {
	var out []string
	key := http.CanonicalHeaderKey(name)
	for _, f := range header {
		if http.CanonicalHeaderKey(f.Name) == key {
			out = append(out, f.Value)
		}
	}
	return out
}

// Body is message content. In JSON it is a string when it is text in UTF-8, else {"base64": "..."}: nothing is lost, and
// control characters do not grow to six bytes each.
type Body []byte

type binary struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (b Body) MarshalJSON() ([]byte, error) {
	if b.binary() {
		return json.Marshal(binary{b})
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // the encoder around this one decides
	if err := enc.Encode(string(b)); err != nil {
		return nil, fmt.Errorf("write body: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// written is the body as encoding/json writes it without a Marshaler; nil for an empty one.
func (b Body) written() any {
	switch {
	case len(b) == 0:
		return nil
	case b.binary():
		return binary{b}
	}
	return string(b)
}

// binary reports a body that is no text, or whose escapes would take more room than base64 does.
func (b Body) binary() bool {
	escapes := 0
	for _, c := range b { // in UTF-8 a byte of this range is a character
		switch {
		case c >= ' ' || c == '\t' || c == '\n' || c == '\r':
		case c == '\x1b':
			escapes++
		default:
			return true // a control character that text does not hold
		}
	}
	return 15*escapes > len(b) || !utf8.Valid(b)
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *Body) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		if text, ok := unquoted(data); ok {
			*b = text
			return nil
		}
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return fmt.Errorf("read body: %w", err)
		}
		*b = Body(s)
		return nil
	}
	var v binary
	if err := json.Unmarshal(data, &v); err != nil {
		return fmt.Errorf("read binary body: %w", err)
	}
	*b = v.Base64
	return nil
}

// unquoted is the text of a JSON string that is known to be one. Strings that take more than undoing escapes are left to encoding/json,
// which checks everything once more.
func unquoted(data []byte) (text []byte, ok bool) {
	if len(data) < 2 || !utf8.Valid(data) {
		return nil, false
	}
	data = data[1 : len(data)-1]
	text = make([]byte, 0, len(data))
	for {
		i := bytes.IndexByte(data, '\\')
		if i < 0 {
			return append(text, data...), true
		}
		if i+1 == len(data) {
			return nil, false
		}
		k := strings.IndexByte(`"\/bfnrt`, data[i+1])
		if k < 0 {
			return nil, false
		}
		text = append(append(text, data[:i]...), "\"\\/\b\f\n\r\t"[k])
		data = data[i+2:]
	}
}

// IsZero reports an empty body, so that it is left out.
func (b Body) IsZero() bool { return len(b) == 0 }

// Origin is scheme, host and port of a URL in one spelling: lower case, the scheme's own port left out (RFC 6454 §4). What may
// receive a token or secret is decided by it.
func Origin(u *url.URL) string {
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	if scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		port = ""
	}
	switch {
	case port != "":
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return scheme + "://" + host
}

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
