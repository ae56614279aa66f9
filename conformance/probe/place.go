package probe

import (
	"strings"

	"github.com/rin-network/rin/conformance/document"
)

// placeOf tells parameters of one operation apart (OAS 3.0.3 Parameter Object).
func placeOf(p document.Parameter) string { return p.In + " " + p.Name }

// clientsField reports a header parameter that OpenAPI leaves to other parts of the document (OAS 3.0.3 Parameter Object).
func clientsField(p document.Parameter) bool {
	switch strings.ToLower(p.Name) {
	case "accept", "content-type", "authorization":
		return p.In == "header"
	}
	return false
}

// sendsAs reports whether a value can be sent where the parameter stands without meaning something else: the document is the node's
// word, and a header field such as Host or Transfer-Encoding would change the request itself.
func sendsAs(p document.Parameter, value string) bool {
	switch p.In {
	case "query":
		return true
	case "path":
		return value != "" && value != "." && value != ".."
	case "header":
		return fieldName(p.Name) && !framing(p.Name) && !clientsField(p) && printable(value)
	}
	return false // cookies are not sent
}

// framing are fields that steer the request or the connection (RFC 9110 §7, §10, RFC 9112).
func framing(name string) bool {
	switch strings.ToLower(name) {
	case "host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "keep-alive", "cookie",
		"proxy-authorization", "proxy-connection", "x-http-method-override", "range", "if-range":
		return true
	}
	return false
}

// fieldName is a token (RFC 9110 §5.6.2).
func fieldName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' || strings.IndexByte("\"(),/:;<=>?@[\\]{}", c) >= 0 {
			return false
		}
	}
	return true
}

func printable(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return strings.TrimSpace(s) == s
}
