package cors

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// anyOrigin lets the pages of every origin call.
const anyOrigin = "*"

// Policy says whose pages may call. The zero value is nobody's.
type Policy struct {
	any     bool
	origins []string
}

// Parse reads origins as browsers send them, such as "http://localhost:5173", or "*" alone for all of them. Browsers compare byte for byte,
// so whatever they would never send is refused here.
func Parse(origins []string) (Policy, error) {
	if slices.Contains(origins, anyOrigin) {
		if len(origins) > 1 {
			return Policy{}, errors.New(`"*" is every origin: leave the others out, or leave it out`)
		}
		return Policy{any: true}, nil
	}
	for _, origin := range origins {
		if err := check(origin); err != nil {
			return Policy{}, err
		}
	}
	return Policy{origins: slices.Clone(origins)}, nil
}

// allows tells whether pages of the origin may call.
func (p Policy) allows(origin string) bool { return p.any || slices.Contains(p.origins, origin) }

// check compares an origin with its serialisation by a browser (RFC 6454 §6.2).
func check(origin string) error {
	if origin == "null" {
		return errors.New(`"null" is the origin of files and of every sandboxed frame: serve the page from a local address, or allow "*"`)
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" || u.Hostname() == "" || u.User != nil {
		return fmt.Errorf("%q is no origin: want scheme, host and port alone, such as http://localhost:5173", origin)
	}
	if want := serialise(u); want != origin {
		return fmt.Errorf("%q is no origin as browsers send it: did you mean %s?", origin, want)
	}
	if strings.IndexFunc(u.Hostname(), func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.ContainsRune("-._:", c))
	}) >= 0 {
		return fmt.Errorf("%q: a host is written out, in ASCII: browsers send nothing else, and only \"*\" stands for several origins", origin)
	}
	return nil
}

func serialise(u *url.URL) string {
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	if scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		port = ""
	}
	if address, err := netip.ParseAddr(host); err == nil && address.Is6() {
		host = "[" + address.String() + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return scheme + "://" + host
}
