package discover

import (
	"net/url"
	"strings"
)

// MetadataURLs lists where an issuer publishes its metadata: below its URL (OpenID Connect Discovery 1.0 §4), then where RFC 8414 §3.1
// inserts it. An issuer that is no URL without query and fragment has none.
func MetadataURLs(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil
	}
	origin, path := u.Scheme+"://"+u.Host, strings.TrimRight(u.EscapedPath(), "/")
	return []string{origin + path + "/.well-known/openid-configuration", origin + "/.well-known/oauth-authorization-server" + path}
}
