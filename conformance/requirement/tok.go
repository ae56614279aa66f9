package requirement

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// tokenAnswer returns TOK-01 to TOK-07, about the answer to the good token request.
func tokenAnswer() []Requirement {
	return []Requirement{
		{
			ID: "TOK-01", Title: "Client credentials in the form body yield an access token",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R9").And(NET("R11")),
			Quote:    "The client sends its client ID and client secret to the token endpoint (endpoint 1) and receives an access token in the field access_token.",
			Probe:    goodToken,
			Forgives: "Any path of the token endpoint, further members of the answer, an opaque token, any 2xx status (TOK-02 judges it) and any media type (TOK-03).",
			Fix:      "Let this client authenticate by client_id and client_secret in the body and use the client credentials grant. Keycloak: Client authentication on, Service accounts roles on; Spring Authorization Server: ClientAuthenticationMethod.CLIENT_SECRET_POST and AuthorizationGrantType.CLIENT_CREDENTIALS on the registered client; node-oidc-provider: token_endpoint_auth_method client_secret_post, grant_types with client_credentials, and the feature clientCredentials enabled.",
			Breaks:   "An authorization server that takes credentials by HTTP Basic only: in the body they give 401.",
			Needs:    atToken(evidence.OK), Reads: atToken("basic"), Check: judgeTokenAnswer,
		},
		{
			ID: "TOK-02", Title: "Success status is exactly 200",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.1"),
			Quote:    "The authorization server issues an access token and optional refresh token, and constructs the response by adding the following parameters to the entity-body of the HTTP response with a 200 (OK) status code:",
			Probe:    "The status of the answer to the good token request.",
			Forgives: "Nothing: clients compare with 200.",
			Fix:      "Answer token requests with 200; frameworks that answer a POST with 201 by default need the status set by hand.",
			Breaks:   "A token answer with 201 Created.",
			Needs:    atToken(evidence.OK), Reads: everyTokenRequest(), After: []ID{tokenRequirement}, Check: onTokenAnswer(judgeTokenStatus),
		},
		{
			ID: "TOK-03", Title: "Answer is JSON by media type, each parameter once",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.1").And(RFC(6749, "3.2")),
			Quote:    "The parameters are included in the entity-body of the HTTP response using the \"application/json\" media type as defined by [RFC4627].",
			Probe:    "The Content-Type of the answer to the good token request; its body is searched for a byte order mark, for another encoding than UTF-8 and for members that it holds twice.",
			Forgives: "Parameters such as charset=UTF-8, any case; application/…+json is a warning.",
			Fix:      "Send Content-Type: application/json with the token answer (PHP: header('Content-Type: application/json'); Express: res.json).",
			Breaks:   "A token answer with Content-Type: text/plain; one that holds expires_in twice.",
			Needs:    atToken(evidence.OK), Reads: everyTokenRequest(), After: []ID{tokenRequirement}, Check: onTokenAnswer(judgeTokenMediaType),
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
			Needs:    atToken(evidence.OK), Reads: everyTokenRequest(), After: []ID{tokenRequirement}, Check: onTokenAnswer(judgeTokenTypePresence),
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
			Needs:    atToken(evidence.OK), Reads: everyTokenRequest(), After: []ID{tokenRequirement}, Check: onTokenAnswer(judgeTokenType),
		},
		{
			ID: "TOK-06", Title: "Token answer carries Cache-Control: no-store",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.1"),
			Quote:    neverStore,
			Probe:    "The Cache-Control lines of the answer to the good token request, and to every other request that must yield a token. The other rules for token answers judge all of these answers, too.",
			Forgives: "Further directives, several lines, any case. What a proxy adds or takes away counts: it is what the client sees.",
			Fix:      "Send Cache-Control: no-store on token answers. If the authorization server does, look for a proxy that rewrites the header (nginx proxy_hide_header or expires, CDN cache rules).",
			Breaks:   "A token answer with Cache-Control: max-age=60 instead of no-store.",
			Needs:    atToken(evidence.OK), Reads: everyTokenRequest(), After: []ID{tokenRequirement}, Check: onTokenAnswer(judgeTokenCaching),
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
			Needs:    atToken(evidence.OK), Reads: everyTokenRequest(), After: []ID{tokenRequirement}, Check: onTokenAnswer(judgeTokenPragma),
		},
	}
}

// Texts that several rows use.
const (
	neverStore       = "The authorization server MUST include the HTTP \"Cache-Control\" response header field [RFC2616] with a value of \"no-store\" in any response containing tokens, credentials, or other sensitive information, as well as the \"Pragma\" response header field [RFC2616] with a value of \"no-cache\"."
	goodToken        = "The good token request: POST, form-encoded, with grant_type=client_credentials, client_id and client_secret in the body."
	tokenRequirement = ID("TOK-01") // judges the good token request
)

// everyTokenRequest returns the label for requirements that look at each answer to the first client at the token endpoint.
func everyTokenRequest() []evidence.Label { return []evidence.Label{evidence.TokenEndpoint.With("*")} }

// onTokenAnswer makes a check of the answer to the good token request, and of every other answer with a token that the node had to issue.
func onTokenAnswer(check func(x evidence.Exchange) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		first := e.exchange(issuedToken())
		return onEvery(check(first), first.Label, e.sweep().tokens, check)
	}
}

// ownTokenRequests lists the requests of this node's clients whose answer may hold a token. A token for any other request fails the requirement that forbids it.
func ownTokenRequests() map[evidence.Label]bool {
	out := map[evidence.Label]bool{}
	for _, label := range allowedTokens() {
		out[label] = label.Resource() != evidence.StagingEndpoint
	}
	return out
}

// tokenIn returns the access token of a JSON answer, as the marker that replaced it.
func tokenIn(x evidence.Exchange) (string, bool) {
	o, _ := jsonObject(x)
	token, _ := o["access_token"].(string)
	return token, token != ""
}

// hasToken reports whether an answer has an access token in any shape. A refusal must not have one, whatever its status and form.
func hasToken(x evidence.Exchange) bool {
	if x.Response == nil {
		return false
	}
	if _, ok := tokenIn(x); ok || len(x.Tokens) > 0 {
		return true
	}
	o, _ := jsonObject(x)
	for _, wrapped := range o { // {"data": {"access_token": …}}
		inner, _ := wrapped.(map[string]any)
		if token, _ := inner["access_token"].(string); token != "" {
			return true
		}
	}
	body := bytes.TrimSpace(x.Response.Body)
	value, isForm := bytes.CutPrefix(body, []byte("access_token="))
	return isForm && len(value) > 0 || bytes.Contains(body, []byte("&access_token=[["))
}

// oauthError returns the error code of an error answer (RFC 6749 §5.2), or "" if a machine cannot read one.
func oauthError(x evidence.Exchange) string {
	o, _ := jsonObject(x)
	code, _ := o["error"].(string)
	return code
}

// describeError describes an answer of the token endpoint for Got: "400 application/json, error invalid_client".
func describeError(x evidence.Exchange) string {
	switch code := oauthError(x); {
	case hasToken(x):
		return describe(x) + " with an access token"
	case code != "":
		return describe(x) + ", error " + quote(code)
	}
	return describe(x)
}

// judgeTokenAnswer is the check of TOK-01.
func judgeTokenAnswer(e Evidence) Judgement {
	x := e.exchange(evidence.TokenEndpoint.With(evidence.OK))
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	want := expect(x, "200 with a JSON object whose member access_token is a string")
	o, isObject := jsonObject(x)
	switch {
	case redirected(x):
		return want.failed("the token request was redirected, and clients do not send credentials to another place", describe(x)).
			Hinting("record the final URL of the token endpoint in the registry")
	case isClientUnknown(e, x):
		return want.unclear("the authorization server refuses the client of this run, in the body and by HTTP Basic: most likely it does not know the client, or the secret is another one", describeError(x)).
			Blaming(Environment).Hinting(refusedCredentialsHint(e, x))
	case !success(x):
		return want.failed(fmt.Sprintf("the good token request was answered %s", clip(x.StatusText())), describeError(x)).
			Hinting(refusedCredentialsHint(e, x))
	case !isObject:
		_, err := jsonValue(x)
		if err == nil {
			err = errors.New("the body is JSON, but not an object")
		}
		return want.failed("the token answer cannot be read: "+clip(err.Error()), describe(x))
	case o["access_token"] == nil:
		return want.failed("the token answer has no member access_token", describe(x)+" without access_token")
	}
	if _, ok := tokenIn(x); !ok {
		return want.failed("access_token is empty or not a string", "access_token: "+valueType(o["access_token"]))
	}
	return Passed(x.Label)
}

// isClientUnknown reports whether the server answers invalid_client to both ways to authenticate: most likely the client is not registered, or the
// operator's secret is wrong.
func isClientUnknown(e Evidence, x evidence.Exchange) bool {
	basic, sent := e.Get(evidence.TokenEndpoint.With("basic"))
	return sent && oauthError(x) == "invalid_client" && oauthError(basic) == "invalid_client"
}

// valueType is [openapi.JSONType], except that the empty string has its own name.
func valueType(v any) string {
	if v == "" {
		return "empty string"
	}
	return openapi.JSONType(v)
}

// refusedCredentialsHint names the likely cause of a refusal of good credentials.
func refusedCredentialsHint(e Evidence, x evidence.Exchange) string {
	if hasToken(e.exchange(evidence.TokenEndpoint.With("basic"))) {
		return "the same credentials work by HTTP Basic: allow client_secret_post for this client (Spring Authorization Server: add ClientAuthenticationMethod.CLIENT_SECRET_POST; ORDS and others: put a token endpoint in front that reads the body)"
	}
	switch code := oauthError(x); {
	case code == "unauthorized_client":
		return "Keycloak says this when Service accounts roles is off for the client, or the secret is wrong: turn it on, and compare the secret"
	case code == "invalid_client":
		return "compare client id and secret with what the node's operator gave out; if both are right, read them from the form, not from JSON, and allow client_secret_post for this client (Spring Authorization Server registers client_secret_basic only by default)"
	case code == "unsupported_grant_type":
		return "allow the grant type client_credentials, and make sure the endpoint reads application/x-www-form-urlencoded"
	case code == "invalid_scope":
		return "give the client a default scope: clients of this network send none"
	case x.Status() == 404:
		return "nothing answers at this path: compare the token URL with the registry (Keycloak up to 16 has /auth before /realms), and the realm's name"
	case x.Status() == 405:
		return "the path does not take POST: compare the token URL with the registry"
	case x.Status() == 415:
		return "let the token endpoint take Content-Type: application/x-www-form-urlencoded"
	}
	return ""
}

// judgeTokenStatus is the check of TOK-02.
func judgeTokenStatus(x evidence.Exchange) Judgement {
	if x.Status() == 200 {
		return Passed(x.Label)
	}
	got := fmt.Sprint(x.Status())
	return expect(x, "200").failed("the token came with status "+got, got)
}

// judgeTokenMediaType is the check of TOK-03.
func judgeTokenMediaType(x evidence.Exchange) Judgement {
	const expected, once = "Content-Type: application/json", "each parameter once (RFC 6749 §3.2)"
	got, media := headerText(x, "Content-Type"), mediaType(x)
	member, repeated := repeatedMember(x)
	fault, small := encodingFault(x)
	switch {
	case x.Response != nil && bytes.HasPrefix(x.Response.Body, byteOrderMark()):
		return expect(x, "JSON without a byte order mark").failed("the token answer begins with a byte order mark, which JSON does not allow", got+", with a byte order mark")
	case !jsonMedia(media):
		return expect(x, expected).failed("the token answer is not declared as JSON", got)
	case fault != "" && !small:
		return expect(x, "JSON in UTF-8 (RFC 8259 §8.1)").failed("the token answer is not encoded in UTF-8", fault)
	case repeated:
		return expect(x, once).failed("the token answer has a parameter twice; parsers disagree on which one counts", member+" twice").
			Hinting("write each parameter once; look for a filter or gateway that adds what the authorization server has written already")
	case small:
		return expect(x, expected).warned("the charset of the token answer is not that of its JSON", fault).Hinting(charsetHint)
	case media != "application/json":
		return expect(x, expected).warned("the token answer uses a media type that is only built on JSON", got)
	}
	return Passed(x.Label)
}

// repeatedMember returns the first member that the object of an answer has more than once. Members of inner objects are not parameters.
func repeatedMember(x evidence.Exchange) (name string, repeated bool) {
	if x.Response == nil {
		return "", false
	}
	for _, pointer := range openapi.RepeatedMembers(x.Response.Body) {
		if name := strings.TrimPrefix(pointer, "/"); !strings.Contains(name, "/") {
			return clip(name), true
		}
	}
	return "", false
}

// judgeTokenTypePresence is the check of TOK-04.
func judgeTokenTypePresence(x evidence.Exchange) Judgement {
	o, _ := jsonObject(x)
	value, has := o["token_type"]
	if kind, _ := value.(string); kind != "" {
		return Passed(x.Label)
	}
	want := expect(x, "token_type: a non-empty string")
	if !has {
		return want.failed("the token answer has no token_type", "no token_type")
	}
	return want.failed("token_type is empty or not a string", "token_type: "+valueType(value))
}

// judgeTokenType is the check of TOK-05.
func judgeTokenType(x evidence.Exchange) Judgement {
	o, _ := jsonObject(x)
	switch kind, _ := o["token_type"].(string); {
	case kind == "":
		return Inapplicable("there is no token_type, which TOK-04 judges").Seen(x.Label)
	case strings.EqualFold(kind, "Bearer"):
		return Passed(x.Label)
	default:
		return expect(x, "token_type: \"Bearer\"").failed("the token is not issued as a bearer token", "token_type: "+quote(kind))
	}
}

// judgeTokenCaching is the check of TOK-06.
func judgeTokenCaching(x evidence.Exchange) Judgement {
	if _, has := cacheDirectives(x)["no-store"]; has {
		return Passed(x.Label)
	}
	return expect(x, "Cache-Control: no-store").failed("caches may keep the token answer", headerText(x, "Cache-Control"))
}

// judgeTokenPragma is the check of TOK-07.
func judgeTokenPragma(x evidence.Exchange) Judgement {
	for _, directive := range splitList(strings.Join(header(x, "Pragma"), ",")) {
		if strings.EqualFold(directive, "no-cache") {
			return Passed(x.Label)
		}
	}
	want, got := expect(x, "Pragma: no-cache"), headerText(x, "Pragma")
	if len(header(x, "Pragma")) == 0 {
		return want.warned("the token answer has no Pragma: no-cache, which node-oidc-provider and other newer servers leave out on purpose", got)
	}
	return want.failed("the token answer has a Pragma header without no-cache", got)
}

// number reads a JSON number.
func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		f, ok := v.(float64) // the facts about a token have numbers of this type
		return f, ok
	}
	f, err := n.Float64()
	return f, err == nil
}
