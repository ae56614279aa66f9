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
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Exchange is one labelled request of a run and its outcome.
type Exchange struct {
	Label Label `json:"label"`
	// Words describe what is special about the request, such as "with a garbage token"; see the table of cases in package probe.
	Words string `json:"words,omitempty"`
	// Family is the family of requests from which this one was drawn; empty if it was not.
	Family Family `json:"family,omitempty"`
	// Given holds the inputs that the probe chose for this request, such as the filter value or the sample id.
	Given   map[string]string `json:"given,omitempty"`
	Request Request           `json:"request"`
	// Redirects are the redirects of the same origin that were followed before Response, oldest first.
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
	// Presented are the facts about a bad token that the request carried: forged, expired, or meant for somebody else.
	Presented *TokenFacts `json:"presented,omitempty"`
	// Verification says whether the keys published in this answer verify the run's token; beside Presented, whether the published keys verify
	// the presented one. It is nil unless keys and token are known.
	Verification *Verification `json:"verification,omitempty"`
}

// Answered reports whether a complete HTTP answer was received.
func (x Exchange) Answered() bool { return x.Response != nil }

// Status returns the status code of the final answer, or 0.
func (x Exchange) Status() int {
	if x.Response == nil {
		return 0
	}
	return x.Response.Status
}

// maxLocation bounds the target of a redirect in words.
const maxLocation = 100

// StatusText returns the status as text, with the redirects that were followed before it: "302 to /login, then 404". It is "" without an answer.
func (x Exchange) StatusText() string {
	if x.Response == nil {
		return ""
	}
	text := ""
	for _, hop := range x.Redirects {
		text += fmt.Sprintf("%d to %s, then ", hop.Status, Clip(hop.Location, maxLocation))
	}
	return text + strconv.Itoa(x.Response.Status)
}

// Request is what was sent, redacted.
type Request struct {
	Method string  `json:"method"`
	URL    string  `json:"url"`
	Header []Field `json:"header,omitempty"`
	Body   Body    `json:"body,omitzero"`
	// Raw reports that rin wrote the bytes to the connection itself, because net/http would have corrected them.
	Raw bool `json:"raw,omitempty"`
}

// Response is what came back, redacted. Body is decoded (content coding removed) and bounded by the read limit.
type Response struct {
	Proto  string  `json:"proto"`
	Status int     `json:"status"`
	Header []Field `json:"header,omitempty"`
	Body   Body    `json:"body,omitzero"`
	// Wire is the length of the body as it came, with its content coding and without the framing of the transfer; 0 in evidence of version 1.
	Wire int64 `json:"wire"`
	// Coding lists the content codings that were removed, in the order of the header field: "gzip", "deflate".
	Coding []string `json:"coding,omitempty"`
	// Size is the number of decoded body bytes that were read.
	Size int64 `json:"size"`
	// Truncated reports that the body was longer than the read limit.
	Truncated bool `json:"truncated,omitempty"`
	// Surplus counts the bytes after the end of the message, for requests that read the connection to its end.
	Surplus int64 `json:"surplus,omitempty"`
	// BodyError is the reason why the body could not be read to its end or decoded.
	BodyError string `json:"bodyError,omitempty"`
	// Withheld reports that the body was read and not kept, for the reason in BodyError.
	Withheld bool `json:"withheld,omitempty"`
}

// Hop is one redirect that was followed.
type Hop struct {
	URL      string  `json:"url"`
	Status   int     `json:"status"`
	Header   []Field `json:"header,omitempty"`
	Location string  `json:"location"`
}

// Field is one header line as it was sent.
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
	FailureResolve  FailureKind = "resolve"  // the host name has no address
	FailureConnect  FailureKind = "connect"  // refused or unreachable
	FailureTLS      FailureKind = "tls"      // handshake or certificate
	FailureTimeout  FailureKind = "timeout"  // no complete answer in time
	FailureReset    FailureKind = "reset"    // closed before an answer
	FailureProtocol FailureKind = "protocol" // not HTTP, or headers over the limit
	FailureRefused  FailureKind = "refused"  // rin's own rules forbade the request (origin, budget)
	FailureCanceled FailureKind = "canceled" // the run ended first
)

// Values returns the values of all header lines with that name, in order, whatever their case (RFC 9110 §5.1).
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

// Body is message content. In JSON it is a string if it is UTF-8 text, else {"base64": "..."}, so that nothing is lost and control
// characters do not grow to six bytes each.
type Body []byte

type base64Body struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (b Body) MarshalJSON() ([]byte, error) {
	if b.binary() {
		return json.Marshal(base64Body{b})
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // the outer encoder decides
	if err := enc.Encode(string(b)); err != nil {
		return nil, fmt.Errorf("write body: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// binary reports whether the body is not text, or is text that takes less room in base64 than with its escapes.
func (b Body) binary() bool {
	escapes := 0
	for i := 0; i < len(b); i++ { // in UTF-8 a byte below a space is a whole character
		if i+8 <= len(b) && !hasControl(binary.LittleEndian.Uint64(b[i:])) { // most bytes are text
			i += 7
			continue
		}
		c := b[i]
		switch {
		case c >= ' ' || c == '\t' || c == '\n' || c == '\r':
		case c == '\x1b':
			escapes++
		default:
			return true // text has no such control character
		}
	}
	return 15*escapes > len(b) || !utf8.Valid(b)
}

// hasControl reports whether one of eight bytes may be below a space: subtracting a space from it sets its high bit, which it did not have.
func hasControl(eight uint64) bool {
	const spaces, highs = 0x2020202020202020, 0x8080808080808080
	return (eight-spaces)&^eight&highs != 0
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *Body) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		if text, ok := unquote(data); ok {
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
	var v base64Body
	if err := json.Unmarshal(data, &v); err != nil {
		return fmt.Errorf("read binary body: %w", err)
	}
	*b = v.Base64
	return nil
}

// unquote decodes a JSON string. ok is false for strings with \u escapes and for other values, which it leaves to encoding/json.
func unquote(data []byte) (text []byte, ok bool) {
	if len(data) < 2 || data[0] != '"' || data[len(data)-1] != '"' || !utf8.Valid(data) {
		return nil, false
	}
	data = data[1 : len(data)-1]
	size := 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\\':
			i++
		case c == '"' || c < ' ':
			return nil, false
		}
		size++
	}
	text = make([]byte, 0, size)
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

// IsZero reports whether the body is empty; encoding/json leaves out an empty body.
func (b Body) IsZero() bool { return len(b) == 0 }

// Origin returns scheme, host and port of a URL in lower case, without the default port (RFC 6454 §4). Tokens and secrets go to allowed
// origins only.
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

// OriginOf returns the [Origin] of a URL given as text; it returns "" unless the text is an absolute URL.
func OriginOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return ""
	}
	return Origin(u)
}

// HostOf returns the host of a URL in lower case, without its port and without a dot at its end. It returns "" if the text is not a URL with a host.
func HostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// LoopbackHost reports whether a host name or address is always this machine.
func LoopbackHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761 §6.3
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}

// SameOrigin reports whether two absolute URLs have the same origin.
func SameOrigin(a, b string) bool { return OriginOf(a) != "" && OriginOf(a) == OriginOf(b) }

// Handshake is one TLS handshake with an origin of the node, without a request after it.
type Handshake struct {
	Label Label `json:"label"`
	// Address is host and port. ServerName is the name sent as SNI, which the certificate must cover.
	Address    string `json:"address"`
	ServerName string `json:"serverName"`
	// Offered lists the TLS versions that rin offered, such as "TLS 1.2".
	Offered []string `json:"offered"`
	// Version, Cipher and Protocol (ALPN) are the result of the negotiation; empty if the handshake failed.
	Version  string `json:"version,omitempty"`
	Cipher   string `json:"cipher,omitempty"`
	Protocol string `json:"protocol,omitempty"`
	// Selected is the version in the server's first message, if the handshake failed after it.
	Selected string `json:"selected,omitempty"`
	// Alert is the server's TLS alert, such as "protocol version" (RFC 8446 §6.2).
	Alert string `json:"alert,omitempty"`
	// Chain lists the certificates as the server sent them, its own first.
	Chain []Certificate `json:"chain,omitempty"`
	// Distrust is the reason why the chain does not prove the server's name; empty if it does, and without a chain.
	Distrust Distrust `json:"distrust,omitempty"`
	// Message describes the fault of the chain, redacted and bounded.
	Message string `json:"message,omitempty"`
	// Failure is the reason why the handshake failed.
	Failure  *Failure      `json:"failure,omitempty"`
	Attempts int           `json:"attempts"`
	Started  time.Time     `json:"started"`
	Duration time.Duration `json:"durationNs"`
}

// Completed reports whether both sides agreed on a version and finished.
func (h Handshake) Completed() bool { return h.Version != "" && h.Failure == nil }

// Certificate is the content of a certificate.
type Certificate struct {
	Subject string `json:"subject"`
	Issuer  string `json:"issuer"`
	// Names are the hosts that it covers (subjectAltName).
	Names      []string  `json:"names,omitempty"`
	NotBefore  time.Time `json:"notBefore"`
	NotAfter   time.Time `json:"notAfter"`
	Key        string    `json:"key"` // "ECDSA P-256"
	SelfSigned bool      `json:"selfSigned,omitempty"`
	// Authority reports that it may issue other certificates.
	Authority bool `json:"authority,omitempty"`
}

// Distrust groups the reasons why a chain does not prove the server's name.
type Distrust string

// The reasons for distrust.
const (
	CertificateExpired     Distrust = "expired"
	CertificateNotYetValid Distrust = "not-yet-valid"
	CertificateWrongName   Distrust = "wrong-name"
	CertificateSelfSigned  Distrust = "self-signed"
	ChainIncomplete        Distrust = "incomplete" // the issuer of the server's certificate was not sent and is unknown
	ChainUntrusted         Distrust = "untrusted"  // the chain ends at an unknown authority
	CertificateUnsuitable  Distrust = "unsuitable" // any other fault, such as a certificate that is not for servers
)

// FailureLocal is a handshake that rin's TLS library cannot begin; it does not concern the server.
const FailureLocal FailureKind = "local"
