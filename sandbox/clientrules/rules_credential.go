package clientrules

import (
	"fmt"
	"strings"
	"time"
)

// bearerRules returns the rules about the token in calls of the API.
func bearerRules() []Rule {
	return []Rule{
		{
			ID: "CLT-14", Level: Fault, Title: "The token is sent as Authorization: Bearer <token>",
			Sources: []Source{network(12), rfc(6750, "2.1")},
			Why:     "Without the word Bearer, with quotes, or with the word twice, a valid token is refused.",
			Fix:     "send one header: the word Bearer, one blank, and the value of access_token as it was received",
			check: each(func(e *request) bool {
				return e.Refusal != nil && e.Refusal.Unreadable && !strings.EqualFold(e.Authorization.Scheme, "Basic")
			}, func(e *request) string { return requestLine(e) + ": " + detail(e) }),
		},
		{
			ID: "CLT-15", Level: Fault, Title: "A protected resource is called with a token",
			Sources: []Source{network(12), network(13)},
			Why:     "The call is refused. Only the try-out space answers without a token.",
			Fix:     "fetch a token first; for calls without one use the try-out base URL",
			check:   anonymousCalls,
		},
		{
			ID: "CLT-16", Level: Fault, Title: "A call without permission is not repeated",
			Sources: []Source{rfc(9110, "15.5.4"), rfc(6750, "3.1"), network(17)},
			Why:     "Waiting or a new token does not add a role: the account must be granted one in the funding service.",
			Fix:     "stop at 403 with insufficient_scope, and ask the operator for the role and affiliation that the account needs",
			check:   forbiddenCalls,
		},
	}
}

// anonymousCalls finds calls without a token. It allows those that the client repeated with a token, because some clients authenticate only after a
// challenge, and those at the target of a redirect or on another host, to which the client rightly did not take its token. It ignores browsers.
func anonymousCalls(all history) []Sighting {
	isAnonymous := func(e *request) bool {
		return isAPI(e) && e.Status == 401 && e.Authorization.Fields == 0 && len(e.Exposed) == 0 && !strings.Contains(e.Accept, "text/html")
	}
	type listOrigin struct {
		list   int
		origin string
	}
	lastAuthorized := map[int]int{}           // by resource: the index of the last call with credentials
	listsWithToken := map[int]bool{}          // lists that were read with a token
	originsWithToken := map[listOrigin]bool{} // origins that got a token in a call of this list
	for i, e := range all.requests {
		if e.Authorization.Fields > 0 {
			lastAuthorized[e.resource] = i
			if isAPI(e) {
				listsWithToken[e.list], originsWithToken[listOrigin{e.list, e.Origin}] = true, true
			}
		}
	}
	var seen []Sighting
	targets := map[string]bool{} // of redirects, without a query
	isRepeatedWithToken := func(i int, e *request) bool { return lastAuthorized[e.resource] > i }
	isOnOtherHost := func(e *request) bool {
		return listsWithToken[e.list] && !originsWithToken[listOrigin{e.list, e.Origin}]
	}
	for i, e := range all.requests {
		if to, _, _ := strings.Cut(e.Location, "?"); e.Status >= 300 && e.Status < 400 {
			targets[to] = true
		}
		// The cheap conditions come first, because most requests have a token.
		if isAnonymous(e) && !isRepeatedWithToken(i, e) && !targets[e.Origin+e.Path] && !isOnOtherHost(e) {
			seen = append(seen, Sighting{requestLine(e) + " had no token", []*request{e}})
		}
	}
	return seen
}

// isForbidden reports whether a request was refused because the client lacks a permission.
func isForbidden(e *request) bool { return e.Status == 403 && code(e) == "insufficient_scope" }

// forbiddenCalls finds calls that the client repeated although the node refused them for lack of permission.
func forbiddenCalls(all history) []Sighting {
	type call struct {
		resource int
		method   string
	}
	if !all.has(isForbidden) {
		return nil
	}
	var seen []Sighting
	for _, calls := range groupBy(all.filter(isAPI), func(e *request) call { return call{e.resource, e.Method} }) {
		for run := range calls.runs(
			isForbidden,
			func(before, e *request) bool { return e.Time.Sub(before.Ended) < time.Minute },
		) {
			// Calls that were sent before the first refusal arrived are not repetitions.
			if run = append(run[:1:1], run[1:].reactions(run[0])...); len(run) >= habitLength {
				seen = append(seen, Sighting{fmt.Sprintf("%s was refused %d times in a row: %s", requestLine(run[0]), len(run), detail(run[0])), run})
			}
		}
	}
	return seen
}

// secrecyRules returns the rules about secrets and tokens that a client sends where they do not belong.
func secrecyRules() []Rule {
	return []Rule{
		{
			ID: "CLT-06", Level: Fault, Title: "The client secret is never in a URL",
			Sources: []Source{rfc(6749, "2.3.1"), network(19)},
			Why:     "URLs end up in the logs of every server and proxy on the way, and in histories: the secret must be rotated.",
			Fix:     "send client_id and client_secret as a form in the body of the POST, never in the query string; have the secret rotated",
			check: each(func(e *request) bool { return exposes(e, isSecretName) }, func(e *request) string {
				return "the URL of " + e.Method + " " + e.Path + " held the parameter " + exposedName(e, isSecretName)
			}),
		},
		{
			ID: "CLT-07", Level: Fault, Title: "An access token is never in a URL",
			Sources: []Source{rfc(9700, "4.3.2"), rfc(6750, "2.3"), network(12)},
			Why:     "URLs end up in logs and in Referer headers; everybody who reads one can call the API as the client until the token expires.",
			Fix:     "send the token in the header Authorization: Bearer <token> only",
			check: each(func(e *request) bool { return exposes(e, isTokenName) }, func(e *request) string {
				return "the URL of " + e.Method + " " + e.Path + " held the parameter " + exposedName(e, isTokenName)
			}),
		},
		{
			ID: "CLT-08", Level: Fault, Title: "The client secret goes to the token endpoint and nowhere else",
			Sources: []Source{network(19), network(9), rfc(6749, "2.3")},
			Why:     "The API is another service than the authorization server, often run by others. It needs only the token; with the secret it could act as the client forever.",
			Fix:     "exchange id and secret for a token at the token endpoint, and send only the token to the API",
			check:   misplacedSecrets,
		},
		{
			ID: "CLT-09", Level: Fault, Title: "The token is not sent to the target of a redirect",
			Sources: []Source{rfc(9110, "15.4"), network(5)},
			Why:     "A client that follows redirects with its headers gives its token to any host that a node, or an attacker in between, names.",
			Fix:     "do not follow redirects of API calls, or drop Authorization when scheme, host or port change",
			check:   followedRedirects,
		},
	}
}

// isSecretName reports whether a query parameter of this name is likely to be a client secret.
func isSecretName(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "secret") || strings.Contains(name, "passw") || strings.Contains(name, "assertion")
}

// isTokenName reports whether a query parameter of this name is likely to be an access token.
func isTokenName(name string) bool {
	name = strings.ToLower(name)
	return !isSecretName(name) && (strings.Contains(name, "token") || strings.Contains(name, "bearer") || strings.Contains(name, "authorization") || strings.Contains(name, "jwt"))
}

func exposes(e *request, isNamed func(string) bool) bool { return exposedName(e, isNamed) != "" }

// exposedName returns the name of the first credential in the URL whose name fits; "" for a URL without one.
func exposedName(e *request, isNamed func(string) bool) string {
	for _, x := range e.Exposed {
		if isNamed(x.Parameter) {
			return x.Parameter
		}
	}
	return ""
}

// misplacedSecrets finds requests that sent the client secret elsewhere than to a token endpoint.
func misplacedSecrets(all history) []Sighting {
	secrets := map[string]bool{}
	for _, e := range all.requests {
		if e.Secret != "" {
			secrets[e.Secret] = true
		}
	}
	field := func(e *request) string {
		for _, x := range e.Fields {
			if secrets[x.Print] {
				return x.Parameter
			}
		}
		return ""
	}
	return each(func(e *request) bool {
		return !isTokenRequest(e) && (strings.EqualFold(e.Authorization.Scheme, "Basic") || secrets[e.Authorization.Print] || field(e) != "")
	}, func(e *request) string {
		switch name := field(e); {
		case strings.EqualFold(e.Authorization.Scheme, "Basic"):
			return requestLine(e) + " got the client credentials as HTTP Basic"
		case name != "":
			return requestLine(e) + " got the client secret in the header field " + name
		}
		return requestLine(e) + " got the client secret instead of a token"
	})(all)
}

// followedRedirects finds tokens that the client sent to the target of a redirect on another origin.
func followedRedirects(all history) []Sighting {
	type redirect struct{ to, print string } // print is the fingerprint of the token
	pending := map[redirect]*request{}
	var seen []Sighting
	for _, e := range all.requests {
		if e.Authorization.Print == "" {
			continue
		}
		if len(pending) > 0 { // most histories have no redirect, and need no key for each request
			if from, ok := pending[redirect{e.Origin + e.Path, e.Authorization.Print}]; ok && follows(from, e) {
				seen = append(seen, Sighting{"the token followed a redirect from " + from.Origin + from.Path + " to " + e.Origin, []*request{from, e}})
			}
		}
		to, _, _ := strings.Cut(e.Location, "?")
		leavesOrigin := strings.Contains(to, "://") && !strings.HasPrefix(to, e.Origin+"/")
		if e.Status >= 300 && e.Status < 400 && leavesOrigin {
			pending[redirect{to, e.Authorization.Print}] = e
		}
	}
	return seen
}
