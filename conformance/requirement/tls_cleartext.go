package requirement

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// cleartextCalls returns TLS-01 and TLS-02.
func cleartextCalls() []Requirement {
	return []Requirement{
		{
			ID: "TLS-01", Title: "Token endpoint is served over TLS only",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "3.2").And(RFC(6749, "2.3.1")),
			Quote:    "the authorization server MUST require the use of TLS as described in Section 1.6 when sending requests to the token endpoint.",
			Probe:    "A token request with made-up credentials over plain HTTP, to the port of the token URL and to port 80. The real secret is never sent in cleartext.",
			Forgives: "No answer, a closed port, a redirect to https, an error page of the server in front, and an OAuth error that only says that https is required. On loopback port 80 is not called.",
			Fix:      "Close port 80 for the token endpoint, or answer there with a redirect to https and nothing else (nginx: a server block with return 301; Keycloak: leave --http-enabled off; where a proxy ends TLS in front of it and needs HTTP, keep that port from the outside, as with --http-host=127.0.0.1).",
			Breaks:   "Port 80 serves the token endpoint without a redirect.",
			Reads:    cleartextLabels(evidence.CleartextToken), Check: judgeCleartextToken,
		},
		{
			ID: "TLS-02", Title: "Info endpoint and API are served over TLS only",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6750, "5.3").And(RFC(6750, "5.2")),
			Quote:    "Clients MUST always use TLS [RFC5246] (https) or equivalent transport security when making requests with bearer tokens.",
			Probe:    "The info path, and in the larger profiles the list operation, over plain HTTP without a token, on the port of the URL and on port 80.",
			Forgives: "No answer, a closed port, a redirect to https, and an error page of a default site. On loopback port 80 is not called.",
			Fix:      "Serve the API over https alone: close port 80, or answer there with a redirect to https for every path (nginx: return 301 https://$host$request_uri; Kong: protocols: [https] on the route; Spring Security: redirectToHttps(withDefaults()), before 6.5 requiresChannel(c -> c.anyRequest().requiresSecure())).",
			Breaks:   "Port 80 answers the info path with 401 and a Bearer challenge.",
			Reads: append(append(cleartextLabels(evidence.CleartextInfo), cleartextLabels(evidence.CleartextList)...),
				evidence.Info.With(evidence.OK), evidence.Info.With(evidence.NoToken), evidence.ListOperation.With(evidence.OK), evidence.ListOperation.With(evidence.NoToken)),
			Check: judgeCleartextResources,
		},
	}
}

// cleartextLabels returns the calls of a path over plain HTTP.
func cleartextLabels(r evidence.Resource) []evidence.Label { return labels(r, "same-port", "port-80") }

// judgeCleartext judges the calls of one path over plain HTTP. Only https URLs have such calls.
func judgeCleartext(e Evidence, r evidence.Resource, judge func(x evidence.Exchange) Judgement) (parts []Judgement) {
	for _, label := range cleartextLabels(r) {
		_, skipped := e.Skipped(label)
		x, sent := e.Get(label)
		notMade := sent && x.Failure != nil && (x.Failure.Kind == evidence.FailureRefused || x.Failure.Kind == evidence.FailureCanceled)
		switch {
		case notMade: // rin did not call: its own rules forbid it, or the run ended
			parts = append(parts, Unclear("the call over plain HTTP was not made: "+clip(x.Failure.Message)).Seen(x.Label))
		case sent && x.Failure != nil: // the port is closed, or speaks TLS only
			parts = append(parts, Passed(x.Label))
		case sent:
			parts = append(parts, judge(x))
		case skipped, slices.Contains(e.Planned, label):
			j, _ := e.missingAnswer(label)
			parts = append(parts, j)
		}
	}
	return parts
}

// cleartextCallName names a call with its port, because two calls of a path differ only in the port.
func cleartextCallName(x evidence.Exchange) string {
	name := callName(x)
	if u, err := url.Parse(x.Request.URL); err == nil {
		name += " on port " + u.Port()
	}
	return clip(name + " over plain HTTP")
}

// expectNoCleartext is [expect] for a call over plain HTTP.
func expectNoCleartext(x evidence.Exchange) Subject {
	return Subject{Name: cleartextCallName(x), Label: x.Label, Expected: "no answer, or a redirect to https"}
}

// judgeCleartextToken is the check of TLS-01.
func judgeCleartextToken(e Evidence) Judgement {
	parts := judgeCleartext(e, evidence.CleartextToken, judgeCleartextTokenAnswer)
	if len(parts) == 0 {
		return judgeWithoutTLS(e, e.Run.TokenURL)
	}
	return gather(parts...)
}

// judgeCleartextTokenAnswer judges the answer of the token endpoint to made-up credentials over plain HTTP. An OAuth error shows that the credentials were
// read.
func judgeCleartextTokenAnswer(x evidence.Exchange) Judgement {
	want := expectNoCleartext(x)
	o, isObject := jsonObject(x)
	code, _ := o["error"].(string)
	switch {
	case redirected(x):
		return Passed(x.Label).Noting(fmt.Sprintf("%s is redirected, but the client has sent its secret in cleartext by then", cleartextCallName(x)))
	case isObject && o["access_token"] != nil:
		return want.failed("the token endpoint issues a token over plain HTTP, to a client that does not exist", describe(x))
	case isObject && requiresTLS(o):
		return Passed(x.Label)
	case isObject && slices.Contains(oauthErrors(), code):
		return want.failed("the token endpoint reads credentials that came in cleartext", fmt.Sprintf("%d with error %s", x.Status(), quote(code)))
	}
	return Passed(x.Label)
}

// oauthErrors returns the codes of RFC 6749 §5.2.
func oauthErrors() []string {
	return []string{"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope"}
}

// requiresTLS reports whether an OAuth error only says that https is required. Keycloak sends such an error before it looks at credentials.
func requiresTLS(o map[string]any) bool {
	text, _ := o["error_description"].(string)
	text = strings.ToLower(text)
	return o["error"] == "invalid_request" && (strings.Contains(text, "https") || strings.Contains(text, "tls") || strings.Contains(text, "ssl"))
}

// judgeCleartextResources is the check of TLS-02.
func judgeCleartextResources(e Evidence) Judgement {
	info := judgeCleartext(e, evidence.CleartextInfo, func(x evidence.Exchange) Judgement { return judgeCleartextResource(e, x, evidence.Info) })
	if len(info) == 0 {
		info = []Judgement{judgeWithoutTLS(e, e.Run.InfoURL, e.Run.BaseURL)}
	}
	list := judgeCleartext(e, evidence.CleartextList, func(x evidence.Exchange) Judgement { return judgeCleartextResource(e, x, evidence.ListOperation) })
	return gather(append(info, list...)...)
}

// judgeCleartextResource judges the answer of a protected path over plain HTTP without a token; secure is the same resource over TLS.
func judgeCleartextResource(e Evidence, x evidence.Exchange, secure evidence.Resource) Judgement {
	const fix = "redirect plain HTTP to https, or close its port"
	want := expectNoCleartext(x)
	good, anonymous := e.exchange(secure.With(evidence.OK)), e.exchange(secure.With(evidence.NoToken))
	hasChallenge := func(x evidence.Exchange) bool { return len(header(x, "WWW-Authenticate")) > 0 }
	switch {
	case success(x) && carriesData(x, good):
		return want.failed("the data is served over plain HTTP, without a token", describe(x))
	case success(x) && jsonMedia(mediaType(x)):
		return want.unclear("plain HTTP is answered with JSON other than that of the good call", describe(x)).Hinting(fix)
	case x.Status() != 401:
		return Passed(x.Label)
	case len(bearerChallenges(x)) > 0:
		return want.failed("tokens are requested over plain HTTP, where anybody on the way reads them", clip("401 with "+headerText(x, "WWW-Authenticate")))
	case anonymous.Status() == 401 && !hasChallenge(x) && !hasChallenge(anonymous):
		return want.failed("plain HTTP is answered like the https call without a token", describe(x))
	}
	return want.unclear("plain HTTP is answered 401, but not with a Bearer challenge: that may be something in front of the node", headerText(x, "WWW-Authenticate")).
		Hinting(fix)
}
