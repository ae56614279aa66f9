package requirement

import (
	"net/url"
	"regexp"
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// The products whose habits are known.
const (
	keycloak     = "Keycloak"
	springServer = "Spring Authorization Server"
)

// realmPath is the path of Keycloak's token endpoint.
var realmPath = regexp.MustCompile(`/realms/[^/]+/protocol/openid-connect/token$`)

// Maker returns the product of which a warning is the own habit: the check names it, and the authorization server of the run is that product.
// Somebody else's server has no excuse.
func Maker(e Evidence, j Judgement) string {
	if j.Outcome != Warn || len(j.Makers) == 0 {
		return ""
	}
	if slices.Contains(j.Makers, keycloak) && isKeycloak(e) {
		return keycloak
	}
	return ""
}

// isKeycloak recognises Keycloak by its token URL, or by a member of its token answers that no other product sends.
func isKeycloak(e Evidence) bool {
	if u, err := url.Parse(e.Run.TokenURL); err == nil && realmPath.MatchString(u.Path) {
		return true
	}
	x := e.exchange(evidence.TokenEndpoint.With(evidence.OK))
	if !success(x) {
		return false
	}
	_, sent := openapi.Object(x.Response.Body)["not-before-policy"]
	return sent
}
