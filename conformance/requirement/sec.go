package requirement

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
)

// otherCredentials returns SEC-01 to SEC-04, about what must not replace a token, and what must not appear in answers.
func otherCredentials() []Requirement {
	return []Requirement{
		{
			ID: "SEC-01", Title: "A session cookie does not replace the token",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "7").And(NET("R12")).AsDerived(),
			Quote:    validateToken,
			Probe:    "A GET of the probe target without Authorization, with the cookies that the good call set.",
			Forgives: "Cookies of load balancers and of languages, which open nothing; a node that sets no cookie is not concerned.",
			Fix:      "Keep no session for API calls: Spring Security sessionManagement().sessionCreationPolicy(STATELESS) on the API's filter chain; Express: put express-session behind the API routes; Flask: do not read session in the token check.",
			Breaks:   "The good call starts a session whose cookie opens the API without a token.",
			Needs:    onTarget("session-cookie"), After: []ID{"BRR-01"}, Control: withToken(), Check: judgeSessionCookie,
		},
		{
			ID: "SEC-02", Title: "Proxy and identity headers do not authenticate",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(9700, "4.13").And(RFC(6749, "7")).AsDerived(),
			Quote:    "A reverse proxy MUST therefore sanitize any inbound requests to ensure the authenticity and integrity of all header values relevant for the security of the application servers.",
			Probe:    "A GET of the probe target without a token and with X-Forwarded-User: admin, X-Remote-User: admin, X-Auth-Request-User: admin, X-Forwarded-For: 127.0.0.1, X-Real-IP: 127.0.0.1 and X-Original-URL: /, all in one request; if that gets data, with each of them alone. A second request with the Origin of a page elsewhere. Other headers that proxies, gateways and service meshes set, with drawn values: addresses, users, roles, certificates, hosts, original URLs, health checkers, API keys, cookies; some kinds of them in every run.",
			Forgives: "Any refusal by the node. A 2xx without the protected data, as from a start page that X-Original-URL leads to, is a warning.",
			Fix:      "Let the proxy drop these headers from outside and set its own (nginx: proxy_set_header X-Forwarded-User \"\"; X-Original-URL \"\"), and let the node accept them from the proxy's address alone; grant nothing by X-Forwarded-For.",
			Breaks:   "X-Forwarded-User is trusted from every caller.",
			Needs:    onTarget("identity-headers"),
			Reads:    onTarget("forwarded-user", "remote-user", "forwarded-for", "original-url", "auth-request-user", "real-ip", "origin-alone"),
			After:    []ID{"BRR-01"}, Control: withToken(), Breach: findUnclaimed("SEC-02"), Check: judgeCallerHeaders,
		},
		{
			ID: "SEC-03", Title: "CORS does not combine any origin with credentials",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   Fetch("CORS protocol and credentials", "cors-protocol-and-credentials"),
			Quote:    "Generally speaking, both sharing responses and allowing requests with credentials is rather unsafe, and extreme care has to be taken to avoid the confused deputy problem.",
			Probe:    "The good call of the probe target, and OPTIONS of the token endpoint, both with the Origin of a host that does not exist; the good call with an Origin that begins like the node's own and ends with that host.",
			Forgives: "No CORS at all, a fixed origin, * without credentials. A preflight of the token endpoint that repeats the Origin with credentials is a warning: Keycloak's does, and looks at the client's web origins at the call itself.",
			Fix:      "List the origins of your own pages, or answer * without Access-Control-Allow-Credentials. Spring: allowedOrigins(…) instead of allowedOriginPatterns(\"*\") with allowCredentials(true); Express: cors({origin: [...]}); Flask-CORS: not supports_credentials=True with origins=\"*\". Keycloak's preflight cannot be configured otherwise and stays a warning.",
			Breaks:   "Whatever Origin comes is allowed, with credentials.",
			Reads:    append(onTarget("foreign-origin", "lookalike-origin"), evidence.TokenEndpoint.With("preflight")),
			After:    []ID{"TOK-01"}, Check: judgeOrigins,
		},
		{
			ID: "SEC-04", Title: "Client secret and token never appear in an answer",
			Level: Network, Gate: Gating, Profile: Auth,
			Source:   NET("R19").And(RFC(6749, "10.3")).AsDerived(),
			Quote:    "The client ID and client secret are highly sensitive and are passed on only through a secure channel. Whoever holds both can act for the service account.",
			Probe:    "Header fields, Location and bodies of all answers of the run, searched for the client secret, the access tokens and the wrong secrets that were sent: plain, percent-encoded, in JSON and HTML escapes, base64 and hex. The published keys, searched for private and symmetric ones.",
			Forgives: "The token in the token answer itself; forged and garbage tokens (ERR-04 looks for those); a Location that repeats a URL which held the credential.",
			Fix:      "Do not repeat requests in answers: switch debug endpoints and request dumps off, keep form fields and the Authorization header out of error texts, logs that are shown, and caches.",
			Breaks:   "The info answer repeats the Authorization header.",
			Reads:    []evidence.Label{evidence.WholeRun}, Check: judgeSecretLeaks,
		},
	}
}

// judgeSessionCookie is the check of SEC-01.
func judgeSessionCookie(e Evidence) Judgement {
	x, good := target(e, "session-cookie")
	j := judgeRefusal("the call with the cookies of a good one and without a token", x, good)
	if j.Outcome == Fail {
		j.Notes = append(j.Notes, "cookies sent: "+clip(x.Given["cookies"]))
	}
	return j
}

// judgeCallerHeaders judges that no header of the caller replaces the token.
func judgeCallerHeaders(e Evidence) Judgement {
	parts := []Judgement{judgeIdentityHeaders(e)}
	if x, good := target(e, "origin-alone"); x.Label != "" {
		parts = append(parts, judgeRefusal("the call without a token and with the Origin of a page elsewhere", x, good))
	}
	return gather(parts...)
}

// judgeIdentityHeaders judges the call with the headers that proxies set for authenticated users.
func judgeIdentityHeaders(e Evidence) Judgement {
	x, good := target(e, "identity-headers")
	const what = "the call without a token and with the headers of a proxy"
	if !success(x) {
		return judgeRefusal(what, x, good)
	}
	var trusted []string
	for _, single := range identityHeaders() {
		if s, _ := target(e, single.c); success(s) {
			trusted = append(trusted, single.header)
		}
	}
	because := ""
	if len(trusted) > 0 {
		because = ", by " + strings.Join(trusted, " and ")
	}
	if !carriesData(x, good) {
		return expect(x, "401").warned("headers of a proxy, sent from outside, change the answer"+because+"; no protected data came", describe(x))
	}
	return expect(x, "401, or another 4xx without data").failed(what+" gets the data"+because, describe(x))
}

// identityHeader is a header with the case that sends it alone.
type identityHeader struct {
	c      evidence.Case
	header string
}

// identityHeaders lists the headers that the call "identity-headers" sends together.
func identityHeaders() []identityHeader {
	return []identityHeader{
		{"forwarded-user", "X-Forwarded-User"}, {"remote-user", "X-Remote-User"},
		{"forwarded-for", "X-Forwarded-For"}, {"original-url", "X-Original-URL"},
		{"auth-request-user", "X-Auth-Request-User"}, {"real-ip", "X-Real-IP"},
	}
}

// judgeOrigins is the check of SEC-03.
func judgeOrigins(e Evidence) Judgement {
	var sent []evidence.Label
	for _, label := range append(onTarget("foreign-origin", "lookalike-origin"), evidence.TokenEndpoint.With("preflight")) {
		sent = append(sent, e.Resolve(label)...)
	}
	if len(sent) == 0 {
		return Inapplicable("no request had an Origin")
	}
	return gather(judgeEach(e, sent, judgeOrigin)...)
}

// judgeOrigin judges what an answer allows to pages of an unknown origin.
func judgeOrigin(x evidence.Exchange) Judgement {
	sent := strings.Join(evidence.Values(x.Request.Header, "Origin"), ", ")
	allowed := strings.Join(header(x, "Access-Control-Allow-Origin"), ", ")
	// The value is case-sensitive (Fetch, CORS check).
	credentials := strings.Join(header(x, "Access-Control-Allow-Credentials"), ", ") == "true"
	got := clip(fmt.Sprintf("Access-Control-Allow-Origin: %s, Access-Control-Allow-Credentials: true", allowed))
	want := expect(x, "no Access-Control-Allow-Origin, a fixed one, or * without credentials")
	switch {
	case !credentials:
	case sent != "" && allowed == sent && x.Label.Case() == "preflight":
		return want.warned("the preflight of the token endpoint allows any origin with credentials, as Keycloak's does", got).Habit(keycloak)
	case sent != "" && allowed == sent:
		return want.failed("pages of any origin may call with credentials: the Origin is repeated together with Access-Control-Allow-Credentials", got)
	case allowed == "*":
		return want.warned("any origin is allowed together with credentials, which browsers refuse", got)
	case allowed == "null":
		return want.warned("the origin null is allowed with credentials, which any sandboxed page has", got)
	}
	return Passed(x.Label)
}

// leak is a secret found in an answer.
type leak struct {
	name, fingerprint, form string
	place                   string // "body", "header X-Debug", "Location"
}

// marker matches "[[name:fingerprint:form]]".
func marker() *regexp.Regexp {
	return regexp.MustCompile(`\[\[([A-Za-z0-9_.-]+):([0-9a-f]{8}):([a-z0-9]+)\]\]`)
}

// judgeSecretLeaks is the check of SEC-04.
func judgeSecretLeaks(e Evidence) Judgement {
	known := knownSecrets(e)
	markers := marker()
	var parts []Judgement
	searched := 0
	for _, x := range e.Exchanges {
		if x.Response == nil {
			continue
		}
		searched++
		for _, l := range leaksOf(markers, x) {
			short, secret := known[l.fingerprint]
			if !secret || isExpectedPlace(x, l) {
				continue
			}
			parts = append(parts, judgeLeak(x, l, short))
		}
	}
	if searched == 0 {
		return Unclear("the run has no answer to search")
	}
	return gather(append(append(parts, findPrivateKeys(e)...), Passed())...)
}

// findPrivateKeys judges the published keys: a key set for others has no private or symmetric key (RFC 7517 §9.2, RFC 7518 §6).
func findPrivateKeys(e Evidence) []Judgement {
	var s survey // a key set is fetched more than once
	for _, x := range e.Exchanges {
		if x.Label.Resource() != evidence.KeySet || !success(x) {
			continue
		}
		set, _ := jsonObject(x)
		keys, _ := set["keys"].([]any)
		for i, entry := range keys {
			key, _ := entry.(map[string]any)
			for _, member := range []string{"d", "p", "q", "k"} {
				if value, _ := key[member].(string); value != "" {
					name := fmt.Sprintf("$.keys[%d].%s", i, member)
					s.add(name, Subject{Name: name, Label: x.Label, Expected: "public keys alone"}.
						failed("the key set publishes a key that must stay secret, and every reader can sign tokens", "the member "+member).
						Hinting("publish the public part of each key alone, and replace the key that was published: jose exportJWK of the public key; Nimbus JWK.toPublicJWK()"))
					break
				}
			}
		}
	}
	return s.faults
}

// judgeLeak judges a credential in an answer. short says that the credential is so short that the match may be a coincidence.
func judgeLeak(x evidence.Exchange, l leak, short bool) Judgement {
	what := "an access token"
	if strings.HasPrefix(l.name, "client_secret") {
		what = "the client secret"
	} else if slices.Contains(wrongSecrets(), l.name) {
		what = "a wrong secret that was sent"
	} else if !strings.HasPrefix(l.name, "access_token") {
		what = "a secret (" + strings.ReplaceAll(l.name, "_", " ") + ")"
	}
	got := what + " in the " + l.place
	if l.form != "plain" {
		got += ", as " + l.form
	}
	want := expect(x, "an answer without credentials")
	if short {
		return want.warned(fmt.Sprintf("an answer has a word that equals %s, which is so short that this may be a coincidence", what), got).
			Hinting("issue secrets and tokens of at least 128 bits, then repeat the run")
	}
	return want.failed("an answer contains "+got, got)
}

// knownSecrets returns the fingerprints of the credentials that the run sent or received, and whether they are so short that finding one may be a
// coincidence. The node made up any other marker. Forged tokens and cookies do not count.
func knownSecrets(e Evidence) map[string]bool {
	out := map[string]bool{}
	markers := marker()
	for _, x := range e.Exchanges {
		for _, text := range append(headerTexts(x.Request.Header), x.Request.URL, string(x.Request.Body)) {
			for _, m := range markers.FindAllStringSubmatch(text, -1) {
				if isCredentialMarker(m[1]) {
					out[m[2]] = out[m[2]] || e.Run.ShortSecret && (strings.HasPrefix(m[1], "client_secret") || m[1] == "wrong_secret")
				}
			}
		}
		for _, t := range x.Tokens {
			out[t.Fingerprint] = t.Length > 0 && t.Length < redact.ShortSecret
		}
	}
	return out
}

// wrongSecrets returns the names of made-up secrets. A server that repeats one of them also repeats a real secret with a typing error.
func wrongSecrets() []string { return []string{"wrong_secret", "unknown_secret"} }

// isCredentialMarker reports whether the name of a marker is that of a credential. A tampered token does not count, although it is made from a real one.
func isCredentialMarker(name string) bool {
	names := append(wrongSecrets(), "client_secret", "access_token", "refresh_token", "id_token")
	return slices.ContainsFunc(names, func(real string) bool { return strings.HasPrefix(name, real) })
}

// maxLeaks bounds the markers that are read from one text.
const maxLeaks = 1000

// leaksOf returns the markers of an answer, including followed redirects, each once for a place.
func leaksOf(markers *regexp.Regexp, x evidence.Exchange) []leak {
	var out []leak
	search := func(place string, text []byte) {
		if !bytes.Contains(text, []byte(markerStart)) {
			return
		}
		for _, m := range markers.FindAllSubmatch(text, maxLeaks) {
			l := leak{string(m[1]), string(m[2]), string(m[3]), place}
			if isCredentialMarker(l.name) && !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	fields := func(h []evidence.Field) {
		for _, f := range h {
			search("header "+clip(f.Name), []byte(f.Name+" "+f.Value))
		}
	}
	for _, hop := range x.Redirects {
		fields(hop.Header)
		if len(evidence.Values(hop.Header, "Location")) == 0 {
			search("header Location", []byte(hop.Location))
		}
	}
	fields(x.Response.Header)
	search("body", x.Response.Body)
	return out
}

// isExpectedPlace reports whether a credential is at its proper place: a token in the answer that issues it, or a Location that repeats the URL of the
// request.
func isExpectedPlace(x evidence.Exchange, l leak) bool {
	if len(x.Tokens) > 0 && !strings.HasPrefix(l.name, "client_secret") && !slices.Contains(wrongSecrets(), l.name) {
		return slices.ContainsFunc(x.Tokens, func(t evidence.TokenFacts) bool { return t.Fingerprint == l.fingerprint }) ||
			!strings.HasPrefix(l.name, "access_token")
	}
	return l.place == "header Location" && strings.Contains(x.Request.URL, ":"+l.fingerprint+":")
}

// headerTexts returns the values of header fields.
func headerTexts(h []evidence.Field) []string {
	var out []string
	for _, f := range h {
		out = append(out, f.Value)
	}
	return out
}
