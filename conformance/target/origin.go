package target

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// Origin is scheme, host and port of a URL in lower case, the scheme's own port left out (RFC 6454 §4).
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

// LoopbackHost reports a host name or address that never leaves this machine.
func LoopbackHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761 §6.3
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}

func loopbackURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && LoopbackHost(u.Hostname())
}
