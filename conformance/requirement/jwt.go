package requirement

import (
	"slices"

	"github.com/rin-network/rin/conformance/exchange"
)

// tokenContent lists group JWT in catalogue order. A token need not be a JWT: for opaque ones the whole group does not apply.
func tokenContent() []Requirement {
	return slices.Concat(claimRules(), []Requirement{publishedKey()}, forgeries())
}

// issuedToken is the exchange whose token is looked at.
func issuedToken() exchange.Label { return exchange.TokenEndpoint.With(exchange.OK) }

// claimRules are JWT-01 to JWT-07: what stands in the token.
func claimRules() []Requirement {
	needs, after := []exchange.Label{issuedToken()}, []ID{"TOK-01"}
	return []Requirement{
		{
			ID: "JWT-01", Title: "The token is signed, alg is not none",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(9068, "2.1").And(RFC(8725, "3.2")),
			Quote:    "JWT access tokens MUST NOT use \"none\" as the signing algorithm.",
			Probe:    "The header and the last segment of the access token, if it is a JWT. An HMAC is verified with the client's secret and with keys that stand in examples.",
			Forgives: "Opaque tokens; any algorithm other than none, HMAC with a key of its own among them.",
			Fix:      "Let the authorization server sign access tokens with an asymmetric key, such as RS256 or ES256. Keycloak and Spring Authorization Server do by default; in home-made issuers name the algorithm explicitly.",
			Breaks:   "The authorization server issues tokens with alg none and no signature.",
			Needs:    needs, After: after, Check: tokenSigned,
		},
		{
			ID: "JWT-02", Title: "exp is present, numeric and in the future",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(7519, "4.1.4").And(RFC(9068, "2.2")),
			Quote:    "Its value MUST be a number containing a NumericDate value.",
			Probe:    "The claim exp, compared with the Date of the token answer.",
			Forgives: "Opaque tokens; fractions of seconds; a token without exp (a warning); the clock of the test machine does not matter.",
			Fix:      "Write exp as seconds since 1970, as a JSON number: Math.floor(Date.now() / 1000) + lifetime in JavaScript, Instant.getEpochSecond() in Java. Milliseconds make a token that never expires.",
			Breaks:   "exp is in milliseconds.",
			Needs:    needs, After: after, Check: expiryInFuture,
		},
		{
			ID: "JWT-03", Title: "exp - iat agrees with expires_in",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   RFC(6749, "5.1").And(RFC(7519, "4.1.6")),
			Quote:    "The lifetime in seconds of the access token.",
			Probe:    "expires_in of the token answer, compared with exp - iat and with exp - Date, within 10 seconds.",
			Forgives: "Opaque tokens; cached tokens, whose expires_in is the rest of their life; tokens without exp.",
			Fix:      "Compute expires_in from the token that is sent, not from another setting: a client that believes it goes on with an expired token, or fetches new ones too early.",
			Breaks:   "expires_in is 3600, and the token expires after 60 seconds.",
			Needs:    needs, After: after, Check: standingOn("JWT-02", lifetimesAgree),
		},
		{
			ID: "JWT-04", Title: "iss is present and consistent, the client is identifiable",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   RFC(9068, "4").And(RFC(9068, "2.2")).And(RFC(8725, "3.8")),
			Quote:    "The issuer identifier for the authorization server (which is typically obtained during discovery) MUST exactly match the value of the \"iss\" claim.",
			Probe:    "The claims iss, client_id and azp, compared with the token URL, the metadata and the client id.",
			Forgives: "Opaque tokens; azp in place of client_id, as Keycloak has it; an issuer on another host whose metadata names the token URL. Everything else is a warning, since gateways may rename hosts.",
			Fix:      "Let the server know its public URL, so that it stands in iss: KC_HOSTNAME in Keycloak, spring.security.oauth2.authorizationserver.issuer in Spring Authorization Server.",
			Breaks:   "iss is http://localhost:8080/….",
			Needs:    needs, Reads: metadataLabels(), After: after, Check: issuerConsistent,
		},
		{
			ID: "JWT-05", Title: "aud is present and restricts the token",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   RFC(9700, "2.3").And(RFC(9068, "2.2")),
			Quote:    "access tokens SHOULD be audience-restricted to a specific resource server",
			Probe:    "The claim aud.",
			Forgives: "Opaque tokens; one audience or a list. Stock Keycloak, which leaves aud out or names only its own account service, is a warning.",
			Fix:      "Name the API in aud and check it there. Keycloak: an Audience mapper in a client scope; Spring Authorization Server: an OAuth2TokenCustomizer that sets the audience.",
			Breaks:   "The claim aud is missing.",
			Needs:    needs, After: after, Check: audienceNamed,
		},
		{
			ID: "JWT-06", Title: "No secret in the token",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R19").AsDerived().And(RFC(7519, "12")),
			Quote:    "The client ID and client secret are highly sensitive and are passed on only through a secure channel.",
			Probe:    "Header and claims of the access token, searched for the client's secret in any form and for members that are named like one.",
			Forgives: "Opaque tokens; personal and technical claims such as Keycloak's clientHost and clientAddress, which are noted; members named like a secret that hold no text.",
			Fix:      "Remove the mapper or customizer that copies the client's settings into the token: the payload of a JWT is readable by everybody who sees it.",
			Breaks:   "A claim client_secret holds the secret.",
			Needs:    needs, Reads: []exchange.Label{exchange.SecondClient.With(exchange.OK)}, After: after, Check: noSecretInside,
		},
		{
			ID: "JWT-07", Title: "typ is at+jwt",
			Level: Recommended, Gate: Information, Profile: Auth,
			Source:   RFC(9068, "2.1").And(RFC(8725, "3.11")),
			Quote:    "Therefore, the \"typ\" value used SHOULD be \"at+jwt\".",
			Probe:    "The header member typ.",
			Forgives: "Opaque tokens; application/at+jwt; any case. Keycloak sends JWT, which is a warning and never counts.",
			Fix:      "Issue access tokens of the type at+jwt, so that an ID token is not taken for one. Keycloak, from 26.2: client, Advanced, Fine grain OpenID Connect configuration, Use \"at+jwt\" as access token header type.",
			Breaks:   "typ is JWT.",
			Needs:    needs, After: after, Check: typedAsAccessToken,
		},
	}
}

// publishedKey is JWT-08.
func publishedKey() Requirement {
	return Requirement{
		ID: "JWT-08", Title: "The signature verifies with the published keys",
		Level: Recommended, Gate: Advice, Profile: Full,
		Source:   RFC(8414, "2").And(RFC(7515, "5.2")),
		Quote:    "The referenced document contains the signing key(s) the client uses to validate signatures from the authorization server.",
		Probe:    "The key set that the metadata names as jwks_uri, fetched once more if it lacks the key of the token.",
		Forgives: "Opaque tokens; no metadata; tokens signed with a symmetric key; keys that were just rotated. Keys on another origin are fetched only with --allow-origin.",
		Fix:      "Publish every key that signs tokens, with its kid, before it is used, and keep old ones until their last token has expired. Behind a proxy that caches the key set, let it do so for minutes only.",
		Breaks:   "The key set lacks the kid of the token.",
		Needs:    []exchange.Label{issuedToken()},
		Reads:    append(metadataLabels(), exchange.KeySet.With(exchange.Published), exchange.KeySet.With(exchange.Refetched)),
		After:    []ID{"TOK-01"}, Check: standingOn("JWT-01", verifiesWithPublished),
	}
}

// forgeries are JWT-09 to JWT-11: tokens that nobody issued.
func forgeries() []Requirement {
	keys := append(metadataLabels(), exchange.KeySet.With(exchange.Published))
	return []Requirement{
		{
			ID: "JWT-09", Title: "A token rewritten to alg none is refused",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(9068, "4").And(RFC(8725, "3.2")),
			Quote:    "The resource server MUST reject any JWT in which the value of \"alg\" is \"none\".",
			Probe:    "A GET of the probe target with the good token, its alg rewritten to none, None and NONE and its signature taken away; the same without its signature and with one of zero bytes, its alg kept.",
			Forgives: "Opaque tokens; any 4xx of the node. A 5xx is inconclusive.",
			Fix:      "Give the verifier a list of allowed algorithms and nothing else: PyJWT jwt.decode(…, algorithms=[\"RS256\"]), jsonwebtoken verify(…, {algorithms: […]}), Spring NimbusJwtDecoder.withJwkSetUri(…).jwsAlgorithm(…).",
			Breaks:   "The resource server accepts alg none.",
			Reads:    append(onTarget(unsigned()...), issuedToken()),
			// A server that issues such tokens is reported there; its node can't but accept them.
			After: []ID{"BRR-09"}, Control: withToken(), Check: standingOn("JWT-01", forged(unsigned()...)),
		},
		{
			ID: "JWT-10", Title: "A token re-signed with the public key as HMAC secret is refused",
			Level: StandardMust, Gate: Gating, Profile: Full,
			Source:   RFC(8725, "3.1").And(RFC(8725, "2.1")),
			Quote:    "Libraries MUST enable the caller to specify a supported set of algorithms and MUST NOT use any other algorithms when performing cryptographic operations.",
			Probe:    "A GET of the probe target with the good payload under HS256, signed with the published key as PEM, with and without its last newline, and as JWK.",
			Forgives: "Opaque tokens; tokens that are signed with a symmetric key anyway; no published key; any 4xx of the node.",
			Fix:      "Fix the algorithm where the key is configured, and never take it from the token's header: PyJWT algorithms=[…], jsonwebtoken {algorithms: […]}, Spring NimbusJwtDecoder.withPublicKey(…).signatureAlgorithm(…).",
			Breaks:   "The resource server verifies with the algorithm that the header names.",
			Reads:    append(keys, onTarget(exchange.HMACPEM, exchange.HMACPEMTrim, exchange.HMACJWK)...),
			After:    []ID{"BRR-09"}, Control: withToken(), Check: forged(exchange.HMACPEM, exchange.HMACPEMTrim, exchange.HMACJWK),
		},
		{
			ID: "JWT-11", Title: "Keys named in the token's header are not trusted",
			Level: StandardMust, Gate: Gating, Profile: Full,
			Source:   RFC(8725, "3.8").And(RFC(8725, "3.10")).And(RFC(9068, "4")),
			Quote:    "When a JWT contains an \"iss\" (issuer) claim, the application MUST validate that the cryptographic keys used for the cryptographic operations in the JWT belong to the issuer.",
			Probe:    "A GET of the probe target with tokens signed by a key of the suite: the key in the header as jwk, a jku on a host that does not exist, and the kid of the node's own key.",
			Forgives: "Opaque tokens; any 4xx of the node.",
			Fix:      "Take keys from the configured issuer's key set alone, and choose among them by kid; ignore jwk, jku, x5c and x5u.",
			Breaks:   "The resource server trusts the jwk in the header.",
			Reads:    onTarget(exchange.EmbeddedKey, exchange.NamedKeySet, exchange.BorrowedKID),
			// Where any foreign key will do, the one in the header is none of its own.
			After: []ID{"BRR-09", "ISO-01"}, Control: withToken(), Check: forged(exchange.EmbeddedKey, exchange.NamedKeySet, exchange.BorrowedKID),
		},
	}
}

// unsigned are the cases of a token that nobody signed. A signature of zero bytes is valid for any content in Java 15 to 18 without the
// patches of April 2022 (CVE-2022-21449).
func unsigned() []exchange.Case {
	return []exchange.Case{exchange.AlgNone, exchange.AlgNoneTitle, exchange.AlgNoneUpper, exchange.SignatureCut, exchange.SignatureZero}
}
