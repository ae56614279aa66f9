package requirement

import (
	"bytes"
	"fmt"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file says what a refusal is, by the rules T1 (order of refusals), T2 (redirects) and T3 (gateways) of the catalogue.

// refusal judges an answer that ought to be a refusal. Any 4xx of the node will do, unless it carries what the good call got.
// what names the call in words: "the call without a token".
func refusal(what string, x, good evidence.Exchange) Judgement {
	if j, unclear := noVerdict(x); unclear {
		j.Reason = what + ": " + j.Reason
		return j
	}
	switch {
	case redirected(x):
		return Unclear(what+" was sent on to another place, as browser logins do").Hinting(loginHint).about(x, "401", describe(x))
	case success(x) && html(x) && !html(good):
		return Unclear(what+" got a web page, most likely a login").Hinting(loginHint).about(x, "401", describe(x))
	case success(x):
		return Failed(what+" was answered "+fmt.Sprint(x.Status())+sameness(x, good), "401, or another 4xx without data", describe(x)).about(x, "4xx", describe(x))
	case turnedAway(x) && sameBody(x, good):
		return Failed(what+" was refused by its status, but the body holds the data", "a 4xx without data", describe(x)+" with the body of the good call").about(x, "no data", describe(x))
	case turnedAway(x):
		return Passed(x.Label)
	}
	return Unclear(fmt.Sprintf("%s was answered %d, which is neither data nor a refusal", what, x.Status())).about(x, "401", describe(x))
}

const loginHint = "answer API calls with 401 in place of a login page; in Spring Security give the API's paths a filter chain with oauth2ResourceServer() and without formLogin() or oauth2Login()"

// deniedByServer recognises the plain 403 page of the web server in front of the node, as nginx auth_request and Apache Require send it.
// Where the same call with a good token gets through, it is a refusal like any other, unlike the page of a firewall.
func deniedByServer(x evidence.Exchange) bool {
	if x.Status() != 403 || !html(x) {
		return false
	}
	for _, own := range []string{"<center>nginx", "<center>openresty", "You don't have permission to access"} {
		if bytes.Contains(x.Response.Body, []byte(own)) {
			return true
		}
	}
	return false
}

// turnedAway is a refusal by the node or by the web server that guards it.
func turnedAway(x evidence.Exchange) bool { return refused(x) || deniedByServer(x) }

// noVerdict is [unclearIfNoVerdict] for refusals.
func noVerdict(x evidence.Exchange) (Judgement, bool) {
	if deniedByServer(x) {
		return Judgement{}, false
	}
	return unclearIfNoVerdict(x)
}

func sameness(x, good evidence.Exchange) string {
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

// about names the call and its answer as a subject.
func (j Judgement) about(x evidence.Exchange, expected, got string) Judgement {
	return j.About(Subject{Name: callInWords(x), Label: x.Label, Expected: expected, Got: got})
}

// named gives the subjects another name, where several calls of one URL have to be told apart.
func (j Judgement) named(name string) Judgement {
	for i := range j.Subjects {
		j.Subjects[i].Name = clip(name)
	}
	return j
}

// tiny is the length in bytes up to which equal bodies prove nothing: "{}", "[]", "true".
const tiny = 8

// sameBody reports whether both answers hold the same bytes.
func sameBody(x, good evidence.Exchange) bool {
	if x.Response == nil || good.Response == nil || !success(good) {
		return false
	}
	body := bytes.TrimSpace(x.Response.Body)
	return len(body) > tiny && bytes.Equal(body, bytes.TrimSpace(good.Response.Body))
}

// carriesData reports whether an answer delivers what the good call delivers: the same bytes, or JSON of its shape with content.
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
	return err == nil && alike(a, b)
}

// alike compares two JSON values that are no lists by their shape: values change from call to call, names of members don't.
func alike(a, b []byte) bool {
	kind := textType(b)
	if kind != textType(a) || kind == "null" {
		return false
	}
	if kind == "array" { // an empty one
		return !hollow(a)
	}
	own, wanted, shared := openapi.Object(a), openapi.Object(b), 0
	for name, value := range wanted {
		if mine, has := own[name]; has && (!hollow(mine) || hollow(value)) {
			shared++
		}
	}
	return kind != "object" || shared > 0 && 2*shared >= len(wanted)
}

// hollow is null, {} or [].
func hollow(value []byte) bool {
	switch textType(value) {
	case "null":
		return true
	case "object", "array":
		inner := bytes.TrimLeft(value, " \t\r\n")[1:]
		return len(bytes.Trim(inner, " \t\r\n")) == 1
	}
	return false
}
