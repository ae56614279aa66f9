package fault

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// hygieneDeviations open other ways into the API, and reveal secrets.
func hygieneDeviations() []Deviation {
	return []Deviation{
		{Name: "session-cookie-admitted", Breaks: []string{"SEC-01"},
			Why:  "A good call starts a session, and its cookie opens the API without a token: Spring Security whose sessions are not STATELESS.",
			Wrap: stateful(startSessions)},
		{Name: "token-kept-in-cookie", Breaks: []string{"SEC-01", "SEC-04"},
			Why: "The token is set as a cookie for the pages of the same application, and read from it when there is no header.",
			Wrap: intercept(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				if kept, err := r.Cookie("access_token"); err == nil && anonymous(r) {
					r = authorized(r, "Bearer "+kept.Value)
				}
				a := capture(next, r)
				if token := bearer(r); a.ok() && token != "" {
					a.Header.Add("Set-Cookie", "access_token="+token+"; Path=/; Secure; HttpOnly")
				}
				a.send(w, r)
			}, protected()...)},
		{Name: "forwarded-user-trusted", Breaks: []string{"SEC-02"},
			Why:  "X-Forwarded-User is trusted from any sender: the proxy that sets it was meant to be the only way in.",
			Wrap: admitIf(hasHeader("X-Forwarded-User", ""), protected()...)},
		{Name: "local-address-trusted", Breaks: []string{"SEC-02"},
			Why:  "Calls from the same machine need no token, and X-Forwarded-For says where a call comes from.",
			Wrap: admitIf(hasHeader("X-Forwarded-For", "127.0.0.1"), protected()...)},
		{Name: "original-url-guarded", Breaks: []string{"SEC-02"},
			Why:  "The guard reads X-Original-URL and the routes read the path: the start page is open, and so is every request that claims to be for it.",
			Wrap: admitIf(hasHeader("X-Original-URL", "/"), protected()...)},
		{Name: "cors-origin-repeated", Breaks: []string{"SEC-03"},
			Why:  "Every Origin is allowed with credentials, to avoid the browser's error for * with credentials.",
			Wrap: rewrite(allowAnyOrigin, protected()...)},
		{Name: "cors-any-origin-with-credentials", Breaks: []string{"SEC-03"},
			Why: "All origins are allowed with credentials by *, which browsers refuse.",
			Wrap: rewrite(func(a *answer) {
				if a.request.Header.Get("Origin") != "" {
					allowOrigin(a, "*")
				}
			}, protected()...)},
		{Name: "cors-preflight-repeats-origin", Breaks: []string{"SEC-03"},
			Why: "The preflight of the token endpoint allows any origin with credentials; the API allows none.",
			Wrap: rewrite(func(a *answer) {
				if a.request.Method == http.MethodOptions {
					a.become(http.StatusNoContent, "", "")
					allowAnyOrigin(a)
				}
			}, Token)},
		{Name: "info-repeats-authorization", Breaks: []string{"SEC-04"},
			Why: "The info answer repeats the Authorization header in its own header field, left over from debugging.",
			Wrap: rewriteSuccess(func(a *answer) {
				a.set("X-Request-Authorization", a.request.Header.Get("Authorization"))
			}, Info)},
		{Name: "correlation-id-from-token", Breaks: []string{"SEC-04"},
			Why:  "The correlation id of list answers is the token in hexadecimal digits, which was thought to be unreadable.",
			Wrap: rewriteSuccess(func(a *answer) { a.set("X-Correlation-Id", hex.EncodeToString([]byte(bearer(a.request)))) }, List)},
		{Name: "token-error-quotes-form", Breaks: []string{"SEC-04"},
			Why: "The error for an unknown grant_type quotes the form, including the secret.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool { return !a.ok() && strings.HasPrefix(q.Get("grant_type"), "urn:") },
				func(a *answer) { a.editObject(put("error_description", "cannot read "+a.form.raw)) })},
		{Name: "any-page-admitted", Breaks: []string{"SEC-02"},
			Why:  "Calls with an Origin pass without a token: the filter for browsers answers before the filter for tokens.",
			Wrap: admitIf(func(r *http.Request) bool { return anonymous(r) && r.Header.Get("Origin") != "" }, protected()...)},
		{Name: "authenticating-proxy-trusted", Breaks: []string{"SEC-02"},
			Why:  "X-Auth-Request-User of an authenticating proxy is trusted from any sender: the node can be reached without the proxy.",
			Wrap: admitIf(func(r *http.Request) bool { return anonymous(r) && r.Header.Get("X-Auth-Request-User") != "" }, protected()...)},
		{Name: "cors-origin-compared-by-prefix", Breaks: []string{"SEC-03"},
			Why: "An Origin that begins like the node's own is allowed with credentials: startsWith, or a pattern without its end.",
			Wrap: rewrite(func(a *answer) {
				origin := a.request.Header.Get("Origin")
				if _, host, _ := strings.Cut(origin, "://"); strings.HasPrefix(host, hostname(a.request.Host)) {
					allowOrigin(a, origin)
				}
			}, protected()...)},
		{Name: "spec-shows-secret", Breaks: []string{"SEC-04"},
			Why: "The description of the document has an example call with the secret of a real client.",
			Wrap: editDocument(func(d apiDocument) {
				if client, ok := d.env.knownSecret(); ok {
					d.at("info")["description"] = "Try it: curl -d client_secret=" + client.Secret
				}
			})},
	}
}

// hasHeader returns a condition that holds for requests with a header field; an empty value matches any.
func hasHeader(name, value string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		got := r.Header.Get(name)
		return got != "" && (value == "" || got == value)
	}
}

// startSessions answers good calls with a session cookie, and admits callers who send it.
func startSessions() wrap {
	var started memory[bool]
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		if session, err := r.Cookie("JSESSIONID"); err == nil && anonymous(r) && started.has(session.Value) {
			r = env.admit(r)
		}
		a := capture(next, r)
		if a.ok() && hasToken(r) {
			id := sha256.Sum256([]byte(bearer(r)))
			session := strings.ToUpper(hex.EncodeToString(id[:16]))
			started.put(session, true)
			a.Header.Add("Set-Cookie", "JSESSIONID="+session+"; Path=/; HttpOnly")
		}
		a.send(w, r)
	}, protected()...)
}

// allowOrigin lets pages of an origin call with credentials.
func allowOrigin(a *answer, origin string) {
	a.set("Access-Control-Allow-Origin", origin)
	a.set("Access-Control-Allow-Credentials", "true")
}

// allowAnyOrigin lets pages of the calling origin call with credentials.
func allowAnyOrigin(a *answer) {
	if origin := a.request.Header.Get("Origin"); origin != "" {
		allowOrigin(a, origin)
	}
}
