package requirement

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// issuerHygiene returns SEC-05 to SEC-07, rules for the authorization server.
func issuerHygiene() []Requirement {
	return []Requirement{
		{
			ID: "SEC-05", Title: "Credentials in the request URI are not accepted",
			Level: StandardMust, Gate: Gating, Profile: Full,
			Source:   RFC(6749, "2.3.1"),
			Quote:    "The parameters can only be transmitted in the request-body and MUST NOT be included in the request URI.",
			Probe:    "A token request with grant_type and client_id in the query, and the secret in the body: an endpoint that issues a token for it reads its parameters from the URL. A second request, with client_id and client_secret in the query, leaves the secret in access logs. It is sent only with --allow-secret-in-url; use a client for it that you delete afterwards.",
			Forgives: "Any refusal. Without --allow-secret-in-url, the requirement does not apply to an endpoint that refuses the first request; TER-11 warns of an endpoint that reads its query in another way.",
			Fix:      "Read the credentials from the body alone: servlet containers merge query and body in getParameter, and so do r.FormValue in Go, request.values in Flask and $_REQUEST in PHP. Spring Authorization Server refuses them since 1.1.3 and 1.0.4.",
			Breaks:   "Credentials in the query are accepted.",
			Reads:    atToken("secret-in-url", "query-parameters"),
			After:    []ID{"TOK-01"}, Check: judgeSecretInURL,
		},
		{
			ID: "SEC-06", Title: "Metadata, if published, matches the registered endpoints",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   RFC(8414, "3.3").And(RFC(8414, "2")),
			Quote:    "The \"issuer\" value returned MUST be identical to the authorization server's issuer identifier value into which the well-known URI string was inserted to create the URL used to retrieve the metadata.",
			Probe:    "Up to three anonymous GETs: /.well-known/openid-configuration and /.well-known/oauth-authorization-server of the issuer that the token names, and of the realm in a Keycloak token URL. Only origins of the node are called. Issuer, token endpoint, grants and ways of client authentication are compared with what the run saw. No object of the metadata repeats a member name.",
			Forgives: "No metadata at all; members that are absent; further grants and ways of client authentication.",
			Fix:      "Let the server know its public URL: KC_HOSTNAME with KC_PROXY_HEADERS=xforwarded for Keycloak behind a proxy. Until the server knows that URL, iss in its tokens is wrong as well.",
			Breaks:   "token_endpoint has an internal host name.",
			Needs:    []evidence.Label{issuedToken()}, Reads: metadataLabels(), After: []ID{"TOK-01"}, Check: judgeMetadata,
		},
		{
			ID: "SEC-07", Title: "Brute-force protection exists (attested, not probed)",
			Level: StandardMust, Gate: Information, Profile: Auth,
			Source:   RFC(6749, "2.3.1"),
			Quote:    "Since this client authentication method involves a password, the authorization server MUST protect any endpoint utilizing it against brute force attacks.",
			Probe:    "Nothing is sent, because a probe would lock accounts. The operator answers with --attest-brute-force.",
			Forgives: "No answer. Protection by a gateway, a rate limit or a firewall counts as well.",
			Fix:      "Limit failed token requests by client and address: fail2ban, limit_req in nginx, a rule of the web application firewall. Stock Keycloak has no lockout for client secrets.",
			Breaks:   "The operator attests that there is no protection. No deviation of the sandbox shows this.",
			Check:    judgeAttestation,
		},
	}
}

// judgeSecretInURL is the check of SEC-05.
func judgeSecretInURL(e Evidence) Judgement {
	if x := e.exchange(evidence.TokenEndpoint.With("query-parameters")); hasToken(x) {
		return expect(x, "400 or 401 without a token").failed("a token was issued for grant_type and client_id in the URL: the endpoint would read a secret from there, too, and access logs keep URLs", describeError(x))
	}
	if !e.Run.SecretInURL {
		return Inapplicable("the operator did not allow a secret in a URL (--allow-secret-in-url)")
	}
	label := evidence.TokenEndpoint.With("secret-in-url")
	if j, missing := e.missingAnswer(label); missing {
		return j
	}
	x := e.exchange(label)
	want := expect(x, "400 or 401 without a token")
	if len(x.Tokens) > 0 || hasToken(x) {
		return want.failed("a token was issued for credentials in the URL, where logs and proxies keep them", describe(x)+" with an access token")
	}
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	return Passed(x.Label)
}

// judgeMetadata is the check of SEC-06: it compares the metadata with the token, the token URL and the grant type of the network.
func judgeMetadata(e Evidence) Judgement {
	m, x, found := metadataOf(e)
	if !found {
		return judgeUnpublished(e)
	}
	var parts []Judgement
	if fault := e.repeatedIn(x); fault != "" {
		parts = append(parts, expect(x, "each member once (RFC 8259 §4)").failed("parsers disagree on the metadata: "+fault, fault))
	}
	iss, from := x.Given["issuer"], "the issuer that the URL was made from"
	if _, t, _, isJWT := jwtOf(e); isJWT {
		if named, isText := t.Claims["iss"].(string); isText && named != "" {
			iss, from = named, "iss of the token"
		}
	}
	if m.issuer != iss && x.Given["from"] != evidence.GuessedIssuer {
		expected, got := "issuer "+quote(iss)+", "+from, "issuer "+quote(m.issuer)
		parts = append(parts, expect(x, expected).failed("the metadata names another issuer than the token", got))
	}
	if m.tokenEndpoint != "" && !sameURL(m.tokenEndpoint, e.Run.TokenURL) {
		expected, got := "token_endpoint "+quote(e.Run.TokenURL)+", as registered", "token_endpoint "+quote(m.tokenEndpoint)
		parts = append(parts, expect(x, expected).failed("the metadata names another token endpoint than the registry or the operator", got))
	}
	if m.grants != nil && !slices.Contains(m.grants, "client_credentials") {
		expected, got := "client_credentials among grant_types_supported", clip("grant_types_supported: "+strings.Join(m.grants, ", "))
		parts = append(parts, expect(x, expected).failed("the metadata does not list the grant that this network uses", got))
	}
	if j, found := judgeMethods(e, x, m); found {
		parts = append(parts, j)
	}
	return gather(append(parts, Passed(x.Label))...)
}

// judgeMethods finds metadata that lists ways of client authentication, and none by which this client got a token: a client that follows the metadata finds no
// way that works. A way that the run did not try may work.
func judgeMethods(e Evidence, x evidence.Exchange, m metadata) (j Judgement, found bool) {
	basic := e.exchange(evidence.TokenEndpoint.With("basic"))
	works := map[string]bool{
		"client_secret_post":  hasToken(e.exchange(evidence.TokenEndpoint.With(evidence.OK))),
		"client_secret_basic": !isRefusal(basic) || hasToken(basic) || hasToken(e.exchange(evidence.TokenEndpoint.With("basic-unencoded"))),
	}
	if m.methods == nil || slices.ContainsFunc(m.methods, func(name string) bool { return works[name] }) {
		return j, false
	}
	got := clip("token_endpoint_auth_methods_supported: " + strings.Join(m.methods, ", "))
	return expect(x, "client_secret_post among token_endpoint_auth_methods_supported").failed("the metadata lists no way to authenticate by which this client gets a token", got), true
}

// judgeUnpublished returns the judgement of a run without metadata.
func judgeUnpublished(e Evidence) Judgement {
	var parts []Judgement
	for _, label := range metadataLabels() {
		j, missing := e.missingAnswer(label)
		x := e.exchange(label)
		switch {
		case missing: // j says why
		case serverError(x) || x.Failure != nil || rateLimited(x):
			j, _ = inconclusiveAnswer(x)
		default:
			j = Inapplicable(fmt.Sprintf("the authorization server publishes no metadata (%s)", describe(x))).Seen(label)
		}
		parts = append(parts, j)
	}
	return gatherApplicable(parts...)
}

// judgeAttestation is the check of SEC-07.
func judgeAttestation(e Evidence) Judgement {
	const expected = "the operator attests that the token endpoint is protected"
	a := e.Run.BruteForce
	switch {
	case a == nil:
		return Inapplicable("the operator gave no answer (--attest-brute-force)")
	case !a.Holds:
		got := "no"
		if a.How != "" {
			got = clip("no: " + a.How)
		}
		return Failed("the operator attests that the token endpoint is not protected against brute force", expected, got).
			About(Subject{Name: "--attest-brute-force", Expected: "yes", Got: got})
	case a.How == "":
		return Passed().Noting("attested by the operator, without saying how")
	}
	return Passed().Noting("attested by the operator: " + clip(a.How))
}

// metadata is the metadata of an authorization server (RFC 8414 §2, OpenID Connect Discovery 1.0 §3).
type metadata struct {
	issuer, tokenEndpoint string
	// grants is nil when grant_types_supported is absent.
	grants []string
	// methods is nil when token_endpoint_auth_methods_supported is absent.
	methods []string
}

// metadataPlaces bounds the metadata requests.
const metadataPlaces = 3

// metadataLabels returns the labels of the requests for metadata.
func metadataLabels() []evidence.Label {
	var out []evidence.Label
	for n := range metadataPlaces {
		out = append(out, evidence.MetadataResource(n+1).With("published"))
	}
	return out
}

// metadataOf returns the metadata: the first JSON object that names an issuer or a token endpoint.
func metadataOf(e Evidence) (m metadata, x evidence.Exchange, found bool) {
	for _, label := range metadataLabels() {
		x, sent := e.Get(label)
		o, isObject := jsonObject(x)
		if !sent || !success(x) || !isObject || o["issuer"] == nil && o["token_endpoint"] == nil {
			continue
		}
		if endpoint, _ := o["token_endpoint"].(string); x.Given["from"] == evidence.GuessedIssuer && endpoint != e.Run.TokenURL {
			continue // the metadata of something else
		}
		m.issuer, _ = o["issuer"].(string)
		m.tokenEndpoint, _ = o["token_endpoint"].(string)
		m.grants, m.methods = textsIn(o["grant_types_supported"]), textsIn(o["token_endpoint_auth_methods_supported"])
		return m, x, true
	}
	return m, x, false
}

// textsIn returns the texts of a list, and nil for any other value.
func textsIn(value any) []string {
	list, isList := value.([]any)
	if !isList {
		return nil
	}
	out := []string{}
	for _, one := range list {
		if s, isText := one.(string); isText {
			out = append(out, s)
		}
	}
	return out
}

// sameURL compares two URLs. It ignores the case of host names and of the query, and default ports.
func sameURL(a, b string) bool {
	u, errA := url.Parse(a)
	v, errB := url.Parse(b)
	return errA == nil && errB == nil && evidence.OriginOf(a) != "" && evidence.OriginOf(a) == evidence.OriginOf(b) &&
		u.EscapedPath() == v.EscapedPath() && strings.EqualFold(u.RawQuery, v.RawQuery)
}
