package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file judges redirects from the path of a resource, with or without a slash at its end. Frameworks build them from the host and the scheme that they
// see behind a proxy: then a client that follows sends its token in cleartext, or to a host that does not exist.

// judgeRedirects judges the redirects of the resources for which isJudged holds.
func judgeRedirects(e Evidence, isJudged func(evidence.Resource) bool) []Judgement {
	var parts []Judgement
	for _, x := range e.Exchanges {
		if !x.Answered() || !isJudged(x.Label.Resource()) || !callsOwnPath(e, x) || namesOtherHost(x) {
			continue
		}
		for _, step := range redirectSteps(x) {
			if j := judgeRedirect(e, x, step); j.Outcome != Pass {
				parts = append(parts, j)
			}
		}
	}
	return withoutRepeats(parts)
}

// redirectStep is one redirect: the URL that was requested, and the one that it leads to.
type redirectStep struct{ from, to string }

// redirectSteps returns the redirects of an exchange, those that were followed and the one that was not.
func redirectSteps(x evidence.Exchange) []redirectStep {
	var out []redirectStep
	at := x.Request.URL
	for _, hop := range x.Redirects {
		at = resolve(hop.URL, hop.Location)
		out = append(out, redirectStep{hop.URL, at})
	}
	if location := header(x, "Location"); redirected(x) && len(location) == 1 {
		out = append(out, redirectStep{at, resolve(at, location[0])})
	}
	return out
}

// judgeRedirect judges one redirect. It ignores those to another public host, such as a login.
func judgeRedirect(e Evidence, x evidence.Exchange, step redirectStep) Judgement {
	want := expect(x, "a redirect to "+evidence.OriginOf(x.Request.URL))
	to := clip(fmt.Sprintf("a redirect to %s", step.to))
	wasSecure, isPlain := strings.HasPrefix(step.from, "https:"), strings.HasPrefix(step.to, "http:")
	place := unreachablePlace(e, step.to)
	switch {
	case evidence.OriginOf(step.to) == evidence.OriginOf(step.from):
		return Passed(x.Label)
	case place != "":
		return want.failed(resourceName(e, x.Label.Resource())+" redirects to "+place+", which no client can reach", to).Hinting(redirectHint)
	case wasSecure && isPlain && (evidence.HostOf(step.to) == evidence.HostOf(step.from) || sameResource(step.from, step.to)):
		return want.failed(resourceName(e, x.Label.Resource())+" redirects to plain http, where a client that follows sends its token in cleartext", to).Hinting(redirectHint)
	}
	return Passed(x.Label)
}

// redirectHint is the fix for a redirect that leads to another host or to plain http.
const redirectHint = "build redirects as relative references, or from the forwarded scheme and host: uvicorn --proxy-headers, Spring server.forward-headers-strategy, Django SECURE_PROXY_SSL_HEADER, nginx absolute_redirect off; or serve both spellings of the path"

// callsOwnPath reports whether a GET or HEAD calls the path of its resource, with or without a slash at its end. A server in front of the node may redirect
// other paths.
func callsOwnPath(e Evidence, x evidence.Exchange) bool {
	good := e.exchange(x.Label.Resource().With(evidence.OK))
	return (x.Request.Method == "GET" || x.Request.Method == "HEAD") && sameResource(x.Request.URL, good.Request.URL)
}

// sameResource reports whether two URLs have the same path, but for slashes at its end.
func sameResource(a, b string) bool {
	path := strings.TrimRight(pathOf(a), "/")
	return path != "" && path == strings.TrimRight(pathOf(b), "/")
}

// namesOtherHost reports whether a request has another host, scheme or protocol than ordinary calls: its redirect says nothing about them.
func namesOtherHost(x evidence.Exchange) bool {
	if x.Family == evidence.HeaderDetours || x.Family == evidence.TraitDetours || strings.HasSuffix(string(x.Label.Case()), "http-1-0") {
		return true
	}
	return slices.ContainsFunc(x.Request.Header, func(f evidence.Field) bool {
		name := strings.ToLower(f.Name)
		return slices.ContainsFunc([]string{"forwarded", "host", "scheme", "proto", "ssl", "original", "rewrite"}, func(part string) bool { return strings.Contains(name, part) })
	})
}

// otherSlash is the case of the call with the good token whose path has another slash at its end.
const otherSlash evidence.Case = "other-slash"
