package fault

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// hygieneDeviations open other ways in, and let secrets out.
func hygieneDeviations() []Deviation {
	return []Deviation{
		{
			Name: "session-cookie-admitted", Breaks: []string{"SEC-01"},
			Why:  "A good call starts a session, and its cookie opens the API without a token: Spring Security whose sessions are not STATELESS.",
			Wrap: sessions,
		},
		{
			Name: "token-kept-in-cookie", Breaks: []string{"SEC-01", "SEC-04"},
			Why: "The token is put into a cookie for the pages of the same application, and taken from there when no header comes.",
			Wrap: around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				if kept, err := r.Cookie("access_token"); err == nil && anonymous(r) {
					r = authorized(r, "Bearer "+kept.Value)
				}
				a := capture(next, r)
				if token := bearer(r); a.ok() && token != "" {
					a.Header.Add("Set-Cookie", "access_token="+token+"; Path=/; Secure; HttpOnly")
				}
				a.send(w, r)
			}, protected()...),
		},
		{
			Name: "forwarded-user-trusted", Breaks: []string{"SEC-02"},
			Why:  "X-Forwarded-User is believed, whoever sends it: the proxy that sets it was to be the only way in.",
			Wrap: admit(bears("X-Forwarded-User", ""), protected()...),
		},
		{
			Name: "local-address-trusted", Breaks: []string{"SEC-02"},
			Why:  "Calls of this machine need no token, and X-Forwarded-For says whose call it is.",
			Wrap: admit(bears("X-Forwarded-For", "127.0.0.1"), protected()...),
		},
		{
			Name: "original-url-guarded", Breaks: []string{"SEC-02"},
			Why:  "The guard looks at X-Original-URL, and the routes at the path: the start page is open, and so is everything that calls itself so.",
			Wrap: admit(bears("X-Original-URL", "/"), protected()...),
		},
		{
			Name: "cors-origin-repeated", Breaks: []string{"SEC-03"},
			Why:  "Whatever Origin comes is allowed, with credentials: the way around the browser's error for * with credentials.",
			Wrap: rewrite(shared(true), protected()...),
		},
		{
			Name: "cors-any-origin-with-credentials", Breaks: []string{"SEC-03"},
			Why:  "All origins are allowed with credentials, which browsers refuse.",
			Wrap: rewrite(shared(false), protected()...),
		},
		{
			Name: "cors-preflight-repeats-origin", Breaks: []string{"SEC-03"},
			Why: "The preflight of the token endpoint allows any origin with credentials; the API allows none.",
			Wrap: rewrite(func(r *http.Request, a *editableAnswer) {
				if r.Method == http.MethodOptions {
					a.become(http.StatusNoContent, "", "")
					shared(true)(r, a)
				}
			}, Token),
		},
		{
			Name: "info-repeats-authorization", Breaks: []string{"SEC-04"},
			Why: "The info answer repeats the Authorization header in one of its own, left over from a search for a fault.",
			Wrap: rewrite(when(succeeded, func(r *http.Request, a *editableAnswer) {
				a.set("X-Request-Authorization", r.Header.Get("Authorization"))
			}), Info),
		},
		{
			Name: "correlation-id-from-token", Breaks: []string{"SEC-04"},
			Why: "The correlation id of list answers is the token in hexadecimal digits: unique, they thought, and unreadable.",
			Wrap: rewrite(when(succeeded, func(r *http.Request, a *editableAnswer) {
				a.set("X-Correlation-Id", hex.EncodeToString([]byte(bearer(r))))
			}), FundingList),
		},
		{
			Name: "token-error-quotes-form", Breaks: []string{"SEC-04"},
			Why: "The error for an unknown grant_type quotes the form, the secret in it.",
			Wrap: exchange(func(q tokenRequest, a *editableAnswer) {
				if !a.ok() && strings.HasPrefix(q.form.Get("grant_type"), "urn:") {
					a.editObject(put("error_description", "cannot read "+q.raw))
				}
			}),
		},
		{
			Name: "any-page-admitted", Breaks: []string{"SEC-02"},
			Why:  "Calls with an Origin pass without a token: the filter for browsers answers before the one for tokens.",
			Wrap: admit(func(r *http.Request) bool { return anonymous(r) && r.Header.Get("Origin") != "" }, protected()...),
		},
		{
			Name: "authenticating-proxy-trusted", Breaks: []string{"SEC-02"},
			Why:  "X-Auth-Request-User of an authenticating proxy is believed, whoever sends it: the node can be reached beside the proxy.",
			Wrap: admit(func(r *http.Request) bool { return anonymous(r) && r.Header.Get("X-Auth-Request-User") != "" }, protected()...),
		},
		{
			Name: "cors-origin-compared-by-prefix", Breaks: []string{"SEC-03"},
			Why:  "An Origin that begins like the node's own is allowed with credentials: startsWith, or a pattern without its end.",
			Wrap: rewrite(allowSimilarOrigin, protected()...),
		},
		{
			Name: "spec-shows-secret", Breaks: []string{"SEC-04"},
			Why: "The description of the document has an example call with the secret of a real client.",
			Wrap: specs(func(document map[string]any, env Env) {
				if client, ok := env.exposed(); ok {
					member(document, "info")["description"] = "Try it: curl -d client_secret=" + client.Secret
				}
			}),
		},
	}
}

// bears holds for requests that have a header, with the value given unless that is empty.
func bears(name, value string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		got := r.Header.Get(name)
		return got != "" && (value == "" || got == value)
	}
}

// sessions makes a Wrap that answers good calls with the cookie of a session, and admits who sends it.
func sessions(next http.Handler, env Env) http.Handler {
	var started memory[bool]
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		if session, err := r.Cookie("JSESSIONID"); err == nil && anonymous(r) {
			if _, known := started.get(session.Value); known {
				r = env.admit(r)
			}
		}
		a := capture(next, r)
		if a.ok() && bearer(r) != "" {
			id := sha256.Sum256([]byte(bearer(r)))
			session := strings.ToUpper(hex.EncodeToString(id[:16]))
			started.put(session, true)
			a.Header.Add("Set-Cookie", "JSESSIONID="+session+"; Path=/; HttpOnly")
		}
		a.send(w, r)
	}, protected()...)(next, env)
}

// shared allows pages of the origin that asks, or of all, to call with credentials.
func shared(repeat bool) change {
	return func(r *http.Request, a *editableAnswer) {
		origin := r.Header.Get("Origin")
		if origin == "" {
			return
		}
		if !repeat {
			origin = "*"
		}
		a.set("Access-Control-Allow-Origin", origin)
		a.set("Access-Control-Allow-Credentials", "true")
	}
}

// allowSimilarOrigin allows credentials for origins that begin like the node's.
func allowSimilarOrigin(r *http.Request, a *editableAnswer) {
	origin := r.Header.Get("Origin")
	if _, host, _ := strings.Cut(origin, "://"); strings.HasPrefix(host, hostname(r.Host)) {
		a.set("Access-Control-Allow-Origin", origin)
		a.set("Access-Control-Allow-Credentials", "true")
	}
}
