package page

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// forPersonHere tells whether nobody but a person at this machine reads the answer to r, so that it may hold the secrets of demo
// clients. The listener is on loopback; what remains is a proxy that brings the answer elsewhere, a foreign name that resolves to
// loopback (DNS rebinding), and a page of another origin that reads it or frames it.
func forPersonHere(r *http.Request, publicURL string) bool {
	if !loopback(hostOf(r.RemoteAddr)) || !loopback(hostOf(r.Host)) {
		return false
	}
	if u, err := url.Parse(publicURL); publicURL != "" && (err != nil || !loopback(u.Hostname())) {
		return false
	}
	for _, name := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	// A browser that goes to the page as such sends no Origin, and names the document as what the answer is for.
	destination := r.Header.Get("Sec-Fetch-Dest")
	return r.Header.Get("Origin") == "" && (destination == "" || destination == "document")
}

// hostOf is the host of an authority, which may have a port.
func hostOf(authority string) string {
	u := url.URL{Host: authority}
	return u.Hostname()
}

// loopback tells whether a name or an address never leaves this machine (RFC 6761 §6.3).
func loopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
