package target

import (
	"net/netip"
	"net/url"
	"strings"
)

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
