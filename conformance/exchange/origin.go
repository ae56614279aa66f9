package exchange

import (
	"net"
	"net/url"
	"strings"
)

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
