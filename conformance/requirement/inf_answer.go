package requirement

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/exchange"
)

// This file judges the info answer itself (INF-01 to INF-04, INF-07).

func infoAnswers(e Evidence) Judgement {
	x := e.The(exchange.Info.With(exchange.OK))
	if success(x) {
		return Passed(x.Label)
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	const expected = "2xx"
	bare := e.The(exchange.Info.With(exchange.WithoutContentType))
	j := Failed(fmt.Sprintf("the info request with a fresh token was answered %d", x.Status()), expected, describe(x)).about(x, expected, describe(x))
	switch {
	case success(bare):
		return j.Seen(bare.Label).Hinting("the same request without Content-Type works: don't parse a body on GET (Flask's request.json and a required @RequestBody of Spring fail on an empty one); the network's clients send Content-Type: application/json on every call")
	case redirected(x):
		return j.Hinting("serve the info resource at the recorded URL: tokens are not sent on to another place (INF-04)")
	case x.Status() == 401:
		return j.Hinting("the API does not accept tokens of this authorization server: compare issuer, audience and keys, the clock, and whether a proxy passes Authorization on")
	case x.Status() == 403:
		return j.Hinting("the token is understood, but the client has no permission: grant it access to the info resource")
	case x.Status() == 404:
		return j.Hinting("compare the info URL with the registry, its trailing slash included")
	}
	return j
}

func infoIsJSON(e Evidence) Judgement {
	x := e.The(exchange.Info.With(exchange.OK))
	const expected = "application/json in UTF-8"
	body := x.Response.Body
	fail := func(reason, got string) Judgement {
		return Failed(reason, expected, got).about(x, expected, got)
	}
	switch media := mediaType(x); {
	case x.Status() == 204:
		return Warned("the info answer has no content, so clients can't find the endpoints", expected, describe(x)).about(x, expected, describe(x))
	case html(x):
		return fail("the info answer is a web page, most likely a login", describe(x))
	case x.Response.BodyError != "":
		return fail("the body of the info answer can't be read: "+clip(x.Response.BodyError), describe(x))
	case x.Response.Truncated:
		return Unclear(fmt.Sprintf("the info answer is longer than the %d bytes that were read", x.Response.Size)).Blaming(Node).Seen(x.Label)
	case bytes.HasPrefix(body, byteOrderMark()):
		return fail("the info answer begins with a byte order mark", describe(x)+" with a byte order mark")
	case !utf8.Valid(body):
		return fail("the info answer is not encoded in UTF-8", describe(x)+" in another encoding")
	case !jsonMedia(media):
		return fail("the info answer is not declared as JSON", headerText(x, "Content-Type"))
	}
	if _, err := jsonText(x); err != nil {
		return fail("the info answer is not JSON: "+clip(err.Error()), describe(x))
	}
	return Passed(x.Label)
}

// infoShape judges the list of endpoints. Names are never compared with the published vocabulary: real nodes go beyond it.
func infoShape(e Evidence) Judgement {
	x := e.The(exchange.Info.With(exchange.OK))
	const expected = "endpoints: an object of arrays of {name, majorVersion, minorVersion, url}"
	answer, err := jsonValue(x)
	if err != nil {
		return Missing("the info answer is not JSON, which INF-02 judges").Seen(x.Label)
	}
	o, _ := answer.(map[string]any)
	endpoints, has := o["endpoints"]
	groups, isObject := endpoints.(map[string]any)
	switch {
	case !has && greeting(answer):
		return Warned("the info answer is a bare greeting, so clients can't find the endpoints", expected, "no endpoints").about(x, expected, "no endpoints")
	case !has:
		return Failed("the info answer lists no endpoints", expected, "no endpoints in an answer that is an "+jsonType(answer)).about(x, expected, "no endpoints")
	case !isObject:
		got := "endpoints: " + jsonType(endpoints)
		return Failed("endpoints is not an object of groups", expected, got).about(x, expected, got)
	}
	parts := []Judgement{Passed(x.Label)}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		items, isArray := groups[name].([]any)
		if !isArray {
			parts = append(parts, itemFault(x, Fail, "$.endpoints."+clip(name), "an array", jsonType(groups[name])))
			continue
		}
		for i, item := range items {
			parts = append(parts, itemShape(x, fmt.Sprintf("$.endpoints.%s[%d]", clip(name), i), item)...)
		}
	}
	return gather(parts...)
}

// greeting is an answer that says nothing but a word or two: a scalar, or an object of scalars.
func greeting(answer any) bool {
	o, isObject := answer.(map[string]any)
	if !isObject {
		_, isArray := answer.([]any)
		return !isArray
	}
	for _, v := range o {
		if t := jsonType(v); t == "object" || t == "array" {
			return false
		}
	}
	return true
}

func itemShape(x exchange.Exchange, path string, item any) []Judgement {
	o, isObject := item.(map[string]any)
	if !isObject {
		return []Judgement{itemFault(x, Fail, path, "an object", jsonType(item))}
	}
	var faults []Judgement
	for _, member := range []string{"name", "url"} {
		if s, _ := o[member].(string); s == "" {
			faults = append(faults, itemFault(x, Fail, path+"."+member, "a non-empty string", presence(o, member)))
		}
	}
	for _, member := range []string{"majorVersion", "minorVersion"} {
		n, isNumber := number(o[member])
		switch {
		case o[member] == nil:
			faults = append(faults, itemFault(x, Warn, path+"."+member, "an integer", presence(o, member)))
		case !isNumber || n != math.Trunc(n):
			faults = append(faults, itemFault(x, Fail, path+"."+member, "an integer", presence(o, member)))
		}
	}
	return faults
}

func presence(o map[string]any, member string) string {
	if v, has := o[member]; has {
		return emptyOr(jsonType(v), "", v == "")
	}
	return "absent"
}

func itemFault(x exchange.Exchange, outcome Outcome, path, expected, got string) Judgement {
	reason := fmt.Sprintf("%s is %s in place of %s", path, got, expected)
	j := Failed(reason, expected, got)
	j.Outcome = outcome
	return j.About(Subject{Name: path, Label: x.Label, Expected: expected, Got: got})
}

func infoStays(e Evidence) Judgement {
	x := e.The(exchange.Info.With(exchange.OK))
	const expected = "an answer without a redirect"
	from := x.Request.URL
	for _, hop := range x.Redirects {
		to := resolve(hop.URL, hop.Location)
		if origin(to) == "" || origin(to) != origin(from) {
			got := clip(fmt.Sprintf("%d to %s", hop.Status, hop.Location))
			return Failed("the info URL redirects to another origin, where clients don't send the token", expected, got).about(x, expected, got)
		}
	}
	if redirected(x) {
		at, location := from, strings.Join(header(x, "Location"), ", ")
		if n := len(x.Redirects); n > 0 {
			at = resolve(x.Redirects[n-1].URL, x.Redirects[n-1].Location)
		}
		to := resolve(at, location)
		switch {
		case location == "":
			return Failed("the info URL redirects without saying where to", expected, describe(x)).about(x, expected, describe(x))
		case origin(to) != origin(from):
			return Failed("the info URL redirects to another origin, where clients don't send the token", expected, describe(x)).about(x, expected, describe(x))
		}
		return Failed("the info URL redirects again and again", expected, describe(x)).about(x, expected, describe(x))
	}
	if len(x.Redirects) > 0 {
		got := clip(fmt.Sprintf("%d to %s", x.Redirects[0].Status, x.Redirects[0].Location))
		return Warned("the info URL redirects to another path of the same origin", expected, got).about(x, expected, got)
	}
	return Passed(x.Label)
}

// resolve is the target of a Location header (RFC 9110 §10.2.2); empty when it can't be read.
func resolve(base, location string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ""
	}
	to, err := b.Parse(location)
	if err != nil {
		return ""
	}
	return to.String()
}

func postRefused(e Evidence) Judgement {
	x := e.The(exchange.Info.With(exchange.Post))
	const expected = "405 with Allow"
	switch status := x.Status(); {
	case status == 405 && len(header(x, "Allow")) > 0,
		slices.Contains([]int{401, 403, 404, 501}, status): // 403 may be a page: CSRF protection answers so
		return Passed(x.Label)
	case status == 405:
		return Warned("POST is refused with 405, but the methods that are allowed are not named", expected, "405 without Allow").about(x, expected, "405 without Allow")
	case success(x):
		return Failed("POST on the info URL is accepted", expected, describe(x)).about(x, expected, describe(x))
	case serverError(x):
		return Failed("POST crashes the info resource", expected, describe(x)).about(x, expected, describe(x))
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	if refused(x) {
		return Warned("POST on the info URL is refused for another reason", expected, describe(x)).about(x, expected, describe(x))
	}
	return Unclear("POST on the info URL was neither accepted nor refused").about(x, expected, describe(x))
}
