package requirement

import (
	"bytes"
	"fmt"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// refusal judges an answer that should be a refusal. Any 4xx of the node passes, unless it carries what the good call got. what names the
// call: "the call without a token".
func refusal(what string, x, good evidence.Exchange) Judgement {
	if j, ok := inconclusiveRefusal(x); ok {
		j.Reason = what + ": " + j.Reason
		return j
	}
	want := expect(x, "401, or another 4xx without data")
	switch {
	case redirected(x):
		return want.unclear(what+" was redirected elsewhere, as browser logins do", describe(x)).Hinting(loginHint)
	case success(x) && isHTML(x) && !isHTML(good):
		return want.unclear(what+" got a web page, most likely a login", describe(x)).Hinting(loginHint)
	case success(x):
		return want.failed(what+" was answered "+fmt.Sprint(x.Status())+comparison(x, good), describe(x))
	case turnedAway(x) && sameBody(x, good):
		return want.failed(what+" was refused by its status, but the body holds the data", describe(x)+" with the body of the good call")
	case turnedAway(x):
		return Passed(x.Label)
	}
	return want.unclear(fmt.Sprintf("%s was answered %s, which is neither data nor a refusal", what, clip(x.StatusText())), describe(x))
}

const loginHint = "answer API calls with 401 instead of a login page; in Spring Security give the API's paths a filter chain with oauth2ResourceServer() and without formLogin() or oauth2Login()"

// deniedByServer recognises the plain 403 page of the web server in front of the node, as nginx auth_request and Apache Require send it. If
// the same call with a good token gets through, it is a refusal like any other, unlike the page of a firewall.
func deniedByServer(x evidence.Exchange) bool {
	return x.Status() == 403 && isHTML(x) && bodyHas(x, "<center>nginx", "<center>openresty", "You don't have permission to access")
}

// turnedAway reports a refusal by the node or by the web server that guards it.
func turnedAway(x evidence.Exchange) bool { return refusedByNode(x) || deniedByServer(x) }

// inconclusiveRefusal is [inconclusive] for refusals.
func inconclusiveRefusal(x evidence.Exchange) (Judgement, bool) {
	if deniedByServer(x) {
		return Judgement{}, false
	}
	return inconclusive(x)
}

// comparison compares the body with that of the good call, for a reason.
func comparison(x, good evidence.Exchange) string {
	switch {
	case !success(good):
		return ""
	case sameBody(x, good):
		return ", with the same body as the call with a good token"
	case carriesData(x, good):
		return ", with data like that of the call with a good token"
	}
	return ", with another body than the call with a good token"
}

// maxTinyBody is the length in bytes up to which equal bodies prove nothing: "{}", "[]", "true".
const maxTinyBody = 8

// sameBody reports whether both answers hold the same bytes.
func sameBody(x, good evidence.Exchange) bool {
	if x.Response == nil || good.Response == nil || !success(good) {
		return false
	}
	body := bytes.TrimSpace(x.Response.Body)
	return len(body) > maxTinyBody && bytes.Equal(body, bytes.TrimSpace(good.Response.Body))
}

// carriesData reports whether an answer has the data of the good call: the same bytes, or JSON of the same shape with content.
func carriesData(x, good evidence.Exchange) bool {
	if x.Response == nil || good.Response == nil {
		return false
	}
	body, want := bytes.TrimSpace(x.Response.Body), bytes.TrimSpace(good.Response.Body)
	if len(body) > 0 && bytes.Equal(body, want) {
		return true
	}
	if items, err := itemsOf(good); err == nil && len(items) > 0 {
		own, _ := itemsOf(x)
		return len(own) > 0
	}
	a, err := jsonText(x)
	if err != nil {
		return false
	}
	b, err := jsonText(good)
	return err == nil && sameShape(a, b)
}

// sameShape compares the shape of two JSON values other than lists: values change from call to call, names of members do not.
func sameShape(a, b []byte) bool {
	kind := textType(b)
	if kind != textType(a) || kind == "null" {
		return false
	}
	if kind == "array" { // the good call got an empty one
		return !isHollow(a)
	}
	own, wanted, shared := openapi.Object(a), openapi.Object(b), 0
	for name, value := range wanted {
		if mine, has := own[name]; has && (!isHollow(mine) || isHollow(value)) {
			shared++
		}
	}
	return kind != "object" || shared > 0 && 2*shared >= len(wanted)
}

// isHollow reports null, {} and [].
func isHollow(value []byte) bool {
	switch textType(value) {
	case "null":
		return true
	case "object", "array":
		inner := bytes.TrimLeft(value, " \t\r\n")[1:]
		return len(bytes.Trim(inner, " \t\r\n")) == 1
	}
	return false
}
