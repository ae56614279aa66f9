package requirement

import (
	"net/url"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
)

// metadata is what an authorization server says of itself (RFC 8414 §2, OpenID Connect Discovery 1.0 §3).
type metadata struct {
	issuer, tokenEndpoint string
	// grants is nil when grant_types_supported is absent.
	grants []string
}

// metadataPlaces is how many places a run asks for metadata at most.
const metadataPlaces = 3

// metadataLabels are the requests for metadata.
func metadataLabels() []exchange.Label {
	var out []exchange.Label
	for n := range metadataPlaces {
		out = append(out, exchange.MetadataResource(n+1).With(exchange.Published))
	}
	return out
}

// metadataOf finds the metadata in the answers: the first JSON object that names an issuer or a token endpoint.
func metadataOf(e Evidence) (m metadata, x exchange.Exchange, found bool) {
	for _, label := range metadataLabels() {
		x, sent := e.Get(label)
		o, isObject := jsonObject(x)
		if !sent || !success(x) || !isObject || o["issuer"] == nil && o["token_endpoint"] == nil {
			continue
		}
		m.issuer, _ = o["issuer"].(string)
		m.tokenEndpoint, _ = o["token_endpoint"].(string)
		if list, isList := o["grant_types_supported"].([]any); isList {
			m.grants = []string{}
			for _, g := range list {
				if s, isText := g.(string); isText {
					m.grants = append(m.grants, s)
				}
			}
		}
		return m, x, true
	}
	return m, x, false
}

// sameURL compares two URLs; host names have no case and default ports may be spelled out, paths are compared as they are.
func sameURL(a, b string) bool {
	u, errA := url.Parse(a)
	v, errB := url.Parse(b)
	return errA == nil && errB == nil && origin(a) != "" && origin(a) == origin(b) &&
		u.EscapedPath() == v.EscapedPath() && strings.EqualFold(u.RawQuery, v.RawQuery)
}
