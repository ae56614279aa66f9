package requirement

import (
	"slices"

	"github.com/rin-network/rin/conformance/exchange"
)

// tokenSuccess lists group TOK in catalogue order: what the answer to a good token request is, and which requests are good.
func tokenSuccess() []Requirement {
	return slices.Concat([]Requirement{bodyCredentials()}, tokenAnswer(), tokenLife(), tokenRequests())
}

// atToken makes labels of cases at the token endpoint.
func atToken(cases ...exchange.Case) []exchange.Label {
	labels := make([]exchange.Label, 0, len(cases))
	for _, c := range cases {
		labels = append(labels, exchange.TokenEndpoint.With(c))
	}
	return labels
}

// Sentences of RFC 6749 that several rows rest on.
const (
	neverStore = "The authorization server MUST include the HTTP \"Cache-Control\" response header field [RFC2616] with a value of \"no-store\" in any response containing tokens, credentials, or other sensitive information, as well as the \"Pragma\" response header field [RFC2616] with a value of \"no-cache\"."
	goodToken  = "The good token request: POST, form-encoded, with grant_type=client_credentials, client_id and client_secret in the body."
	needsToken = ID("TOK-01")
)

// bodyCredentials is TOK-01, which everything that needs a token rests on.
func bodyCredentials() Requirement {
	return Requirement{
		ID: "TOK-01", Title: "Client credentials in the form body yield an access token",
		Level: Network, Gate: Gating, Profile: Auth,
		Source:   NET("R9").And(NET("R11")),
		Quote:    "The client sends its client ID and client secret to the token endpoint (endpoint 1) and receives an access token in the field access_token.",
		Probe:    goodToken,
		Forgives: "Any path of the token endpoint, further members of the answer, an opaque token, any 2xx status (TOK-02 judges it) and any media type (TOK-03).",
		Fix:      "Let this client authenticate by client_id and client_secret in the body and use the client credentials grant. Keycloak: Client authentication on, Service accounts roles on; Spring Authorization Server: ClientAuthenticationMethod.CLIENT_SECRET_POST and AuthorizationGrantType.CLIENT_CREDENTIALS on the registered client; node-oidc-provider: token_endpoint_auth_method client_secret_post, grant_types with client_credentials, and the feature clientCredentials enabled.",
		Breaks:   "An authorization server that takes credentials by HTTP Basic only: in the body they give 401.",
		Needs:    atToken(exchange.OK), Reads: atToken(exchange.Basic), Check: tokenIssued,
	}
}

// tokenAnswer are TOK-02 to TOK-07: the form of the answer.
func tokenAnswer() []Requirement {
	return []Requirement{
		{
			ID: "TOK-02", Title: "Success status is exactly 200",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.1"),
			Quote:    "The authorization server issues an access token and optional refresh token, and constructs the response by adding the following parameters to the entity-body of the HTTP response with a 200 (OK) status code:",
			Probe:    "The status of the answer to the good token request.",
			Forgives: "Nothing: clients compare with 200.",
			Fix:      "Answer token requests with 200; frameworks that answer a POST with 201 by default need the status set by hand.",
			Breaks:   "A token answer with 201 Created.",
			Needs:    atToken(exchange.OK), After: []ID{needsToken}, Check: tokenStatus,
		},
		{
			ID: "TOK-03", Title: "Answer is JSON by media type, each parameter once",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.1").And(RFC(6749, "3.2")),
			Quote:    "The parameters are included in the entity-body of the HTTP response using the \"application/json\" media type as defined by [RFC4627].",
			Probe:    "The Content-Type of the answer to the good token request; its body is searched for a byte order mark and for members that it holds twice.",
			Forgives: "Parameters such as charset=UTF-8, any case; application/…+json is a warning.",
			Fix:      "Send Content-Type: application/json with the token answer (PHP: header('Content-Type: application/json'); Express: res.json).",
			Breaks:   "A token answer with Content-Type: text/plain; one that holds expires_in twice.",
			Needs:    atToken(exchange.OK), After: []ID{needsToken}, Check: tokenMediaType,
		},
		{
			ID: "TOK-04", Title: "token_type is present",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.1"),
			Quote:    "REQUIRED. The type of the token issued as described in Section 7.1. Value is case insensitive.",
			Probe:    "The member token_type of the answer to the good token request.",
			Forgives: "Any non-empty string; TOK-05 judges the value.",
			Fix:      "Add \"token_type\": \"Bearer\" to the token answer.",
			Breaks:   "A token answer without token_type.",
			Needs:    atToken(exchange.OK), After: []ID{needsToken}, Check: tokenTypePresent,
		},
		{
			ID: "TOK-05", Title: "token_type is Bearer",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R12").And(RFC(6749, "7.1")).And(RFC(6750, "6.1.1")),
			Quote:    "The client sends this token as a bearer token on every request to the API.",
			Probe:    "The value of token_type in the answer to the good token request.",
			Forgives: "Any case: bearer, BEARER.",
			Fix:      "Issue bearer tokens to this client and say \"token_type\": \"Bearer\"; switch off DPoP or other proof of possession for it.",
			Breaks:   "A token answer with token_type mac.",
			Needs:    atToken(exchange.OK), After: []ID{needsToken}, Check: tokenTypeBearer,
		},
		{
			ID: "TOK-06", Title: "Token answer carries Cache-Control: no-store",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.1"),
			Quote:    neverStore,
			Probe:    "The Cache-Control lines of the answer to the good token request.",
			Forgives: "Further directives, several lines, any case. What a proxy adds or takes away counts: it is what the client sees.",
			Fix:      "Send Cache-Control: no-store on token answers. If the authorization server does, look for a proxy that rewrites the header (nginx proxy_hide_header or expires, CDN cache rules).",
			Breaks:   "A token answer with Cache-Control: max-age=60 in place of no-store.",
			Needs:    atToken(exchange.OK), After: []ID{needsToken}, Check: tokenNotStored,
		},
		{
			ID: "TOK-07", Title: "Token answer carries Pragma: no-cache",
			Level: StandardMust, Gate: Information, Profile: Auth,
			Source:   RFC(6749, "5.1").And(RFC(9111, "5.4")),
			Quote:    neverStore,
			Probe:    "The Pragma header of the answer to the good token request.",
			Forgives: "Its absence is a warning, and never gates: RFC 9111 deprecates Pragma, and newer authorization servers (node-oidc-provider) leave it out on purpose.",
			Fix:      "Add Pragma: no-cache to token answers, or leave it: Cache-Control: no-store does the work.",
			Breaks:   "A token answer without Pragma, with no-store kept.",
			Needs:    atToken(exchange.OK), After: []ID{needsToken}, Check: tokenPragma,
		},
	}
}

// tokenLife are TOK-08 to TOK-12: how long the token lives, and what it is made of.
func tokenLife() []Requirement {
	return []Requirement{
		{
			ID: "TOK-08", Title: "expires_in is present",
			Level: StandardShould, Gate: Advice, Profile: Auth,
			Source:   RFC(6749, "5.1"),
			Quote:    "RECOMMENDED. The lifetime in seconds of the access token.",
			Probe:    "The member expires_in of the answer to the good token request.",
			Forgives: "Its absence when the token is a JWT with exp: a warning, because the lifetime can be read there.",
			Fix:      "Add expires_in, the lifetime in seconds, to the token answer: clients need it to fetch a new token in time.",
			Breaks:   "A token answer without expires_in.",
			Needs:    atToken(exchange.OK), After: []ID{needsToken}, Check: lifetimePresent,
		},
		{
			ID: "TOK-09", Title: "expires_in, if present, is a positive JSON number",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.1"),
			Quote:    "Numerical values are included as JSON numbers.",
			Probe:    "The JSON type and value of expires_in in the answer to the good token request.",
			Forgives: "Its absence (TOK-08 judges that).",
			Fix:      "Send the remaining seconds as a JSON number: \"expires_in\": 300, neither a string nor a point in time.",
			Breaks:   "A token answer with \"expires_in\": \"3600\".",
			Needs:    atToken(exchange.OK), After: []ID{needsToken}, Check: lifetimeIsNumber,
		},
		{
			ID: "TOK-10", Title: "Lifetime is short (up to 1 h) and usable (60 s or more)",
			Level: StandardShould, Gate: Advice, Profile: Auth,
			Source:   RFC(6750, "5.3"),
			Quote:    "Token servers SHOULD issue short-lived (one hour or less) bearer tokens, particularly when issuing tokens to clients that run within a web browser or other environments where information leakage may occur.",
			Probe:    "expires_in of the answer to the good token request, or exp and iat of the token.",
			Forgives: "Up to a day is a warning; an unknown lifetime does not count.",
			Fix:      "Set the access token lifetime of the client to between 60 and 3600 seconds. Keycloak: Advanced, Access Token Lifespan; Spring Authorization Server: TokenSettings.accessTokenTimeToLive; node-oidc-provider: ttl.ClientCredentials.",
			Breaks:   "A token answer with \"expires_in\": 31536000.",
			Needs:    atToken(exchange.OK), After: []ID{needsToken}, Check: lifetimeShort,
		},
		{
			ID: "TOK-11", Title: "No refresh token is issued for client credentials",
			Level: StandardShould, Gate: Advice, Profile: Auth,
			Source:   RFC(6749, "4.4.3"),
			Quote:    "A refresh token SHOULD NOT be included.",
			Probe:    "The members of the answer to the good token request.",
			Forgives: "refresh_expires_in: 0 without a token, as Keycloak sends it; an empty or null refresh_token.",
			Fix:      "Switch refresh tokens off for the client credentials grant. Keycloak: client, Advanced, Use refresh tokens for client credentials grant off.",
			Breaks:   "A token answer with a refresh_token.",
			Needs:    atToken(exchange.OK), After: []ID{needsToken}, Check: noRefreshToken,
		},
		{
			ID: "TOK-12", Title: "Access token fits the bearer syntax",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6750, "2.1").And(RFC(9110, "11.2")),
			Quote:    "b64token = 1*( ALPHA / DIGIT / \"-\" / \".\" / \"_\" / \"~\" / \"+\" / \"/\" ) *\"=\"",
			Probe:    "The characters and the length of the access token.",
			Forgives: "Any kind of token, opaque or JWT; one longer than 8192 bytes is a warning.",
			Fix:      "Issue tokens of letters, digits and - . _ ~ + / (= at the end only); encode anything else as base64url.",
			Breaks:   "An access token with a blank in it.",
			Needs:    atToken(exchange.OK), After: []ID{needsToken}, Check: tokenSyntax,
		},
	}
}

// tokenRequests are TOK-13 to TOK-18: which requests must yield a token, too.
func tokenRequests() []Requirement {
	return []Requirement{
		{
			ID: "TOK-13", Title: "HTTP Basic client authentication is supported",
			Level: StandardMust, Gate: Advice, Profile: Auth,
			Source:   RFC(6749, "2.3.1"),
			Quote:    "The authorization server MUST support the HTTP Basic authentication scheme for authenticating clients that were issued a client password.",
			Probe:    "A token request with Authorization: Basic, id and secret form-encoded as the RFC wants it, and only grant_type in the body; once.",
			Forgives: "It never gates, because the network promises credentials in the body only. Spring Authorization Server, node-oidc-provider and Okta take only the method a client is registered for: a warning.",
			Fix:      "Allow client_secret_basic beside client_secret_post. Spring Authorization Server: add ClientAuthenticationMethod.CLIENT_SECRET_BASIC to the registered client; node-oidc-provider and Okta know one method for each client, so this stays a note there.",
			Breaks:   "Basic is refused with 401, the form in the body works.",
			Needs:    atToken(exchange.Basic), Reads: atToken(exchange.BasicUnencoded), After: []ID{needsToken}, Check: basicSupported,
		},
		{
			ID: "TOK-14", Title: "Unrecognized request parameters are ignored",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "3.2"),
			Quote:    "The authorization server MUST ignore unrecognized request parameters.",
			Probe:    "The good token request with x_conformance_probe=1 added.",
			Forgives: "Block pages and rate limits: the requirement is inconclusive then.",
			Fix:      "Ignore parameters that the token endpoint does not know; loosen strict form binding (Jackson FAIL_ON_UNKNOWN_PROPERTIES, additionalProperties: false).",
			Breaks:   "400 invalid_request on unknown parameters.",
			Needs:    atToken(exchange.UnknownParameter), After: []ID{needsToken}, Check: unknownParameterIgnored,
		},
		{
			ID: "TOK-15", Title: "A parameter sent without a value is treated as omitted",
			Level: StandardMust, Gate: Advice, Profile: Auth,
			Source:   RFC(6749, "3.2"),
			Quote:    "Parameters sent without a value MUST be treated as if they were omitted from the request.",
			Probe:    "The good token request with an empty scope= added.",
			Forgives: "invalid_scope, as Keycloak says it: a warning. It never gates: clients of this network send no scope.",
			Fix:      "Treat an empty scope like a missing one. Keycloak refuses it (seen with 26.4) and can't be configured otherwise, which stays a warning.",
			Breaks:   "scope= is answered with invalid_scope.",
			Needs:    atToken(exchange.EmptyScope), After: []ID{needsToken}, Check: emptyParameterOmitted,
		},
		{
			ID: "TOK-16", Title: "Form encoding is decoded",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "4.4.2").And(RFC(6749, "B")),
			Quote:    "The client makes a request to the token endpoint by adding the following parameters using the \"application/x-www-form-urlencoded\" format per Appendix B with a character encoding of UTF-8 in the HTTP request entity-body:",
			Probe:    "The good token request with a few harmless bytes percent-encoded (%63lient_credentials, first and last byte of client_id) and Content-Type …; charset=UTF-8.",
			Forgives: "Block pages: the requirement is inconclusive then.",
			Fix:      "Read the body with a form parser (PHP $_POST, Spring @RequestParam, Go r.PostForm) in place of splitting it by hand, and accept a charset parameter in Content-Type: secrets with + & = % can't be sent otherwise.",
			Breaks:   "A server that compares raw, undecoded values.",
			Needs:    atToken(exchange.PercentEncoded), After: []ID{needsToken}, Check: formDecoded,
		},
		{
			ID: "TOK-17", Title: "Token URL answers directly, without redirect",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   RFC(9110, "15.4.2"),
			Quote:    "Note: For historical reasons, a user agent MAY change the request method from POST to GET for the subsequent request.",
			Probe:    "The good token request: whether the recorded URL itself answers it, or leads to another one.",
			Forgives: "Nothing: the URL that is recorded is the one that is judged, with or without a slash at its end.",
			Fix:      "Record the final URL of the token endpoint in the registry, with its exact scheme, host and trailing slash.",
			Breaks:   "308 to the same path with a slash.",
			Needs:    atToken(exchange.OK), Check: tokenDirect,
		},
		{
			ID: "TOK-18", Title: "Repeated token requests work and do not revoke earlier tokens",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   RFC(6749, "5.1").AsDerived(),
			Quote:    "For example, the value \"3600\" denotes that the access token will expire in one hour from the time the response was generated.",
			Probe:    "Three token requests in sequence, then a call of the protected resource with the first token of the run.",
			Forgives: "The same token several times while it is valid. Rate limits leave it inconclusive.",
			Fix:      "Issue tokens independently of each other and let each live until its own expiry: the network's known client fetches a token for every page it reads.",
			Breaks:   "Issuing a token revokes the one before.",
			Needs:    atToken(exchange.OK, exchange.Repeat1, exchange.Repeat2, exchange.Repeat3),
			Reads:    onTarget(exchange.FirstToken, exchange.OK), After: []ID{needsToken}, Check: repeatedTokens,
		},
	}
}
