// Package address builds every path of the sandbox and classifies paths, so that the route table, the info resource, the registry, the OpenAPI
// document, the metadata and the hints of errors agree.
package address

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Map holds the parts of one node's addresses.
type Map struct {
	// Prefix is the service prefix, one or more path segments without outer slashes (NET-R13), such as "ris-synergy".
	Prefix string
	// Realm is the realm segment of the identity provider's paths (NET-R10).
	Realm string
	// PublicURL is the base URL that clients see, without a trailing slash. When empty, it is taken from each request's Host.
	PublicURL string
	// Grants selects the token endpoints of the node; the zero value selects both.
	Grants Grants
	// Provider is the path of the identity provider below Root, with a leading slash: "/auth" in Keycloak before version 17. It may be empty.
	Provider string
	// Root is the prefix of all paths of the node, with a leading slash; empty for a node that has the host for itself. Each of several nodes on
	// one host has a root, and so does the other environment beside a node.
	Root string
}

// Origin returns the base URL that r was sent to: PublicURL, or scheme and Host of the request. The caller chooses the Host, so an
// invalid one is replaced by the address of the listener.
func (m Map) Origin(r *http.Request) string {
	if m.PublicURL != "" {
		return m.PublicURL
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	if isValidHost(r.Host) {
		return scheme + r.Host
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return scheme + local.String()
	}
	return scheme + "localhost"
}

// Hostname returns the host of an authority such as "127.0.0.1:8080", without port and brackets.
func Hostname(authority string) string { return (&url.URL{Host: authority}).Hostname() }

// IsLoopback reports whether a host is this machine: a loopback address, localhost, or a name below it (RFC 6761 §6.3). The public DNS has no such names, and
// browsers do not ask for them, so DNS rebinding cannot use them.
func IsLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// isValidHost reports whether host is a name or an address of at most 255 bytes, with an optional port (RFC 9110 §7.2).
func isValidHost(host string) bool {
	if host == "" || len(host) > 255 {
		return false
	}
	for _, c := range host {
		alphanumeric := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alphanumeric && !strings.ContainsRune(".-_:[]", c) {
			return false
		}
	}
	parsed, err := url.Parse("http://" + host)
	return err == nil && parsed.Host == host && parsed.Hostname() != ""
}

// The fixed parts of the paths, each below a root, a realm or a service prefix.
const (
	tokenPath      = "/oauth/token"
	realmsPath     = "/realms"
	realmTokenPath = "/protocol/openid-connect/token"
	certsPath      = "/protocol/openid-connect/certs"
	openIDPath     = "/.well-known/openid-configuration"
	metadataPath   = "/.well-known/oauth-authorization-server"
	elsewherePath  = "/elsewhere"
	tryOutPath     = "/try-out"
	infoPath       = "/info/v1/oauth/info/"
	specPath       = "/funding/v3/api-docs"
	fundingsPath   = "/funding/v3/fundings"
	registryPath   = "/registry/registry.json"
	docsPath       = "/docs"
	healthPath     = "/healthz"
)

// TryOut returns the map of the try-out space (NET-R4): the same resources below another prefix.
func (m Map) TryOut() Map {
	m.Prefix += tryOutPath
	return m
}

// Elsewhere returns the map of another environment beside the node: an authorization server and an info resource below another path.
func (m Map) Elsewhere() Map {
	m.Root += elsewherePath
	m.Grants = AtPlain
	return m
}

// Token returns the path of the staging token endpoint (NET-R10).
func (m Map) Token() string { return m.Root + tokenPath }

// Realms returns the path of all realms of the identity provider, without a slash at its end.
func (m Map) Realms() string { return m.Root + m.Provider + realmsPath }

// RealmIssuer returns the path of the identity provider's realm, which is its issuer's path too.
func (m Map) RealmIssuer() string { return m.Realms() + "/" + m.Realm }

// RealmToken returns the path of the token endpoint under the identity provider's realm (NET-R10).
func (m Map) RealmToken() string { return m.RealmIssuer() + realmTokenPath }

// Certs returns the path of the JWK Set (RFC 7517 §5).
func (m Map) Certs() string { return m.RealmIssuer() + certsPath }

// API returns the base path of the node's APIs.
func (m Map) API() string { return m.Root + "/" + m.Prefix }

// Info returns the path of the info resource as in the interface document, with the slash at its end (NET-R13).
func (m Map) Info() string { return m.API() + infoPath }

// Spec returns the path of the OpenAPI document (NET-R14).
func (m Map) Spec() string { return m.API() + specPath }

// Fundings returns the path of the funding list.
func (m Map) Fundings() string { return m.API() + fundingsPath }

// Funding returns the path template of one funding; "{id}" is the placeholder of its id.
func (m Map) Funding() string { return m.Fundings() + "/{id}" }

// Registry returns the path of the registry document (NET-R6), which belongs to the network and is below no root.
func (m Map) Registry() string { return registryPath }

// Metadata returns the path of the metadata of the issuer at a path (RFC 8414 §3.1).
func (m Map) Metadata(issuerPath string) string { return metadataPath + issuerPath }

// OpenIDMetadata returns the path of the metadata of the issuer at a path (OpenID Connect Discovery 1.0 §4).
func (m Map) OpenIDMetadata(issuerPath string) string { return issuerPath + openIDPath }

// Home returns the path of the start page, with the slash at its end.
func (m Map) Home() string { return m.Root + "/" }

// Docs returns the path of the reference page (NET-R3) and the base of its assets.
func (m Map) Docs() string { return m.Root + docsPath }

// Health returns the path that answers 200 while the sandbox serves.
func (m Map) Health() string { return healthPath }

// Endpoint is a token endpoint with its issuer, by their paths.
type Endpoint struct{ Issuer, Token string }

// Grants selects at which of its two token endpoints (NET-R10) a node grants tokens.
type Grants int

// The token endpoints that grant tokens.
const (
	// AtBoth is the staging path of the interface document, and the identity provider's realm.
	AtBoth Grants = iota
	// AtPlain is the staging path only.
	AtPlain
	// AtRealm is the identity provider's realm only.
	AtRealm
)

// Endpoints lists the token endpoints of the node. Callers that can name only one use the first.
func (m Map) Endpoints() []Endpoint {
	plain, realm := Endpoint{m.Root, m.Token()}, Endpoint{m.RealmIssuer(), m.RealmToken()}
	switch m.Grants {
	case AtPlain:
		return []Endpoint{plain}
	case AtRealm:
		return []Endpoint{realm}
	}
	return []Endpoint{plain, realm}
}

// ListedEndpoint returns the token endpoint that the registry lists: the first of [Map.Endpoints].
func (m Map) ListedEndpoint() Endpoint { return m.Endpoints()[0] }
