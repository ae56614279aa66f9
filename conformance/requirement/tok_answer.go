package requirement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// This file judges the answer to the good token request (TOK-01 to TOK-07) and says how token answers are read.

// tokenIn is the access token of a JSON answer, or rather the marker in its place.
func tokenIn(x exchange.Exchange) (string, bool) {
	o, _ := jsonObject(x)
	token, _ := o["access_token"].(string)
	return token, token != ""
}

// issued reports whether an answer holds an access token in any shape: a refusal must not hold one whatever its status and form.
func issued(x exchange.Exchange) bool {
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
	value, form := bytes.CutPrefix(body, []byte("access_token="))
	return form && len(value) > 0 || bytes.Contains(body, []byte("&access_token=[["))
}

// oauthError is the error code of an error answer (RFC 6749 §5.2); empty when there is none that a machine can read.
func oauthError(x exchange.Exchange) string {
	o, _ := jsonObject(x)
	code, _ := o["error"].(string)
	return code
}

// describeError is what Got says of an answer of the token endpoint: "400 application/json, error invalid_client".
func describeError(x exchange.Exchange) string {
	switch code := oauthError(x); {
	case issued(x):
		return describe(x) + " with an access token"
	case code != "":
		return describe(x) + ", error " + quote(code)
	}
	return describe(x)
}

func tokenIssued(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.OK))
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	const expected = "200 with a JSON object whose member access_token is a string"
	fail := func(reason, got string) Judgement {
		return Failed(reason, expected, got).about(x, expected, got)
	}
	switch o, isObject := jsonObject(x); {
	case redirected(x):
		return fail("the token request was redirected, and credentials are not sent on", describe(x)).
			Hinting("record the final URL of the token endpoint in the registry")
	case !success(x):
		return fail(fmt.Sprintf("the good token request was answered %d", x.Status()), describeError(x)).
			Hinting(refusedCredentialsHint(e, x))
	case !isObject:
		_, err := jsonValue(x)
		if err == nil {
			err = fmt.Errorf("the body is JSON, but not an object")
		}
		return fail("the token answer cannot be read: "+clip(err.Error()), describe(x))
	case o["access_token"] == nil:
		return fail("the token answer has no member access_token", describe(x)+" without access_token")
	default:
		if token, isString := o["access_token"].(string); !isString || token == "" {
			return fail("access_token is empty or not a string", "access_token: "+emptyOr(jsonType(o["access_token"]), token, isString))
		}
	}
	return Passed(x.Label)
}

func emptyOr(kind, value string, isString bool) string {
	if isString && value == "" {
		return "empty string"
	}
	return kind
}

// refusedCredentialsHint finds the likely cause of a refusal of credentials that the operator confirms.
func refusedCredentialsHint(e Evidence, x exchange.Exchange) string {
	if issued(e.The(exchange.TokenEndpoint.With(exchange.Basic))) {
		return "the same credentials work by HTTP Basic: allow client_secret_post for this client (Spring Authorization Server: add ClientAuthenticationMethod.CLIENT_SECRET_POST; ORDS and others: put a token endpoint in front that reads the body)"
	}
	switch code := oauthError(x); {
	case code == "unauthorized_client":
		return "Keycloak says this when Service accounts roles is off for the client, or the secret is wrong: turn it on, and compare the secret"
	case code == "invalid_client":
		return "compare client id and secret; if both are right, allow client_secret_post for this client (Spring Authorization Server registers client_secret_basic only by default)"
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

func tokenStatus(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.OK))
	if x.Status() == 200 {
		return Passed(x.Label)
	}
	got := fmt.Sprint(x.Status())
	return Failed("the token came with status "+got, "200", got).about(x, "200", got)
}

func tokenMediaType(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.OK))
	const expected, once = "Content-Type: application/json", "each parameter once (RFC 6749 §3.2)"
	got, media := headerText(x, "Content-Type"), mediaType(x)
	member, repeated := repeatedMember(x)
	switch {
	case x.Response != nil && bytes.HasPrefix(x.Response.Body, byteOrderMark()):
		return Failed("the token answer begins with a byte order mark, which JSON does not allow", expected+" without one", got+", with a byte order mark").about(x, "no byte order mark", "a byte order mark")
	case !jsonMedia(media):
		return Failed("the token answer is not declared as JSON", expected, got).about(x, expected, got)
	case repeated:
		return Failed("the token answer holds a parameter twice; parsers disagree on which one counts", once, member+" twice").about(x, once, member+" twice").
			Hinting("write each parameter once; look for a filter or gateway that adds what the authorization server has written already")
	case media != "application/json":
		return Warned("the token answer uses a media type that is only built on JSON", expected, got).about(x, expected, got)
	}
	return Passed(x.Label)
}

// repeatedMember is the first member of the object in an answer that it holds more than once. What objects inside hold is not a parameter.
func repeatedMember(x exchange.Exchange) (name string, repeated bool) {
	if x.Response == nil {
		return "", false
	}
	for _, pointer := range document.Repeated(x.Response.Body) {
		if name := strings.TrimPrefix(pointer, "/"); !strings.Contains(name, "/") {
			return clip(name), true
		}
	}
	return "", false
}

func tokenTypePresent(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.OK))
	o, _ := jsonObject(x)
	value, has := o["token_type"]
	if kind, _ := value.(string); kind != "" {
		return Passed(x.Label)
	}
	const expected = "token_type: a non-empty string"
	if !has {
		return Failed("the token answer has no token_type", expected, "no token_type").about(x, expected, "no token_type")
	}
	got := "token_type: " + emptyOr(jsonType(value), "", jsonType(value) == "string")
	return Failed("token_type is empty or not a string", expected, got).about(x, expected, got)
}

func tokenTypeBearer(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.OK))
	o, _ := jsonObject(x)
	switch kind, _ := o["token_type"].(string); {
	case kind == "":
		return Missing("there is no token_type, which TOK-04 judges").Seen(x.Label)
	case strings.EqualFold(kind, "Bearer"):
		return Passed(x.Label)
	default:
		got := "token_type: " + quote(kind)
		return Failed("the token is not issued as a bearer token", "token_type: \"Bearer\"", got).about(x, "token_type: \"Bearer\"", got)
	}
}

func tokenNotStored(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.OK))
	if _, has := cacheDirectives(x)["no-store"]; has {
		return Passed(x.Label)
	}
	got := headerText(x, "Cache-Control")
	return Failed("caches may keep the token answer", "Cache-Control: no-store", got).about(x, "Cache-Control: no-store", got)
}

func tokenPragma(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.OK))
	for _, directive := range splitList(strings.Join(header(x, "Pragma"), ",")) {
		if strings.EqualFold(directive, "no-cache") {
			return Passed(x.Label)
		}
	}
	got := headerText(x, "Pragma")
	if len(header(x, "Pragma")) == 0 {
		return Warned("the token answer has no Pragma: no-cache, which node-oidc-provider and other newer servers leave out on purpose", "Pragma: no-cache", got).
			about(x, "Pragma: no-cache", got)
	}
	return Failed("the token answer has a Pragma, but not no-cache", "Pragma: no-cache", got).about(x, "Pragma: no-cache", got)
}

// number reads a JSON number.
func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		f, ok := v.(float64) // token facts
		return f, ok
	}
	f, err := n.Float64()
	return f, err == nil
}
