package hostile_test

import (
	"net/http"
	"strconv"
	"strings"
)

// redirectAttacks returns nodes that send the caller elsewhere, or in circles.
func redirectAttacks() []attack {
	redirectTo := func(status int, location func(trap string) string) func(string) http.HandlerFunc {
		return func(trap string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Location"] = []string{location(trap)}
				w.WriteHeader(status)
			}
		}
	}
	redirect := func(status int, location string) func(string) http.HandlerFunc {
		return redirectTo(status, func(string) string { return location })
	}
	stolen := func(trap string) string { return trap + "/stolen" }
	endless := func(string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			n, _ := strconv.Atoi(r.URL.Query().Get("n"))
			w.Header().Set("Location", r.URL.Path+"?n="+strconv.Itoa(n+1))
			w.WriteHeader(http.StatusFound)
		}
	}
	return []attack{
		{name: "redirects in a circle", wrap: answerWithTrapAt(infoPath, redirect(307, infoPath))},
		{name: "redirects that never repeat", wrap: answerWithTrapAt(infoPath, endless)},
		{name: "documents that redirect in a circle", profile: "funding", wrap: answerWithTrapAt(specPath, redirect(301, specPath))},
		{name: "tokens that redirect in a circle", wrap: answerWithTrapAt(tokenPath, redirect(308, tokenPath))},
		{name: "a token request sent to another host", wrap: answerWithTrapAt(tokenPath, redirectTo(307, stolen))},
		{name: "a token request sent to another host, as GET", wrap: answerWithTrapAt(tokenPath, redirectTo(303, stolen))},
		{name: "an info call sent to another host", wrap: answerWithTrapAt(infoPath, redirectTo(302, stolen))},
		{name: "a document on another host", typical: true, profile: "funding", wrap: answerWithTrapAt(specPath, redirectTo(302, stolen))},
		{name: "a list on another host", profile: "funding", wrap: answerWithTrapAt(listPath, redirectTo(308, stolen))},
		{name: "a redirect without a scheme", wrap: answerWithTrapAt(infoPath, redirectTo(302, func(trap string) string { return strings.TrimPrefix(trap, "http:") }))},
		{name: "a redirect to a user at the node", wrap: answerWithTrapAt(infoPath, redirectTo(302, func(trap string) string { return strings.Replace(trap, "://", "://127.0.0.1@", 1) }))},
		{name: "a redirect to a script", wrap: answerWithTrapAt(infoPath, redirect(302, "javascript:"+marker+"()//"))},
		{name: "a redirect to a file", wrap: answerWithTrapAt(infoPath, redirect(302, "file:///etc/passwd"))},
		{name: "a document that is a file", profile: "funding", wrap: answerWithTrapAt(specPath, redirect(302, "file:///etc/passwd"))},
		{name: "a redirect to data", profile: "funding", wrap: answerWithTrapAt(specPath, redirect(302, "data:application/json,{}"))},
		{name: "a redirect of 50 KB", wrap: answerWithTrapAt(infoPath, redirect(302, "/"+strings.Repeat("%41", 16_000)))},
		{name: "a redirect nowhere", wrap: answerWithTrapAt(infoPath, redirect(302, "http://[::1%25"+marker+"]:99999/\x01"))},
		{name: "a redirect from TLS to cleartext", tls: plainTLS(), wrap: answerWithTrapAt(infoPath, redirectTo(301, stolen))},
		{name: "a token request sent from TLS to cleartext", tls: plainTLS(), wrap: answerWithTrapAt(tokenPath, redirectTo(307, stolen))},
		{name: "a document that refreshes to another host", profile: "funding", wrap: answerWithTrapAt(specPath, func(trap string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Refresh", "0; url="+trap)
				w.Header().Set("Link", "<"+trap+">; rel=\"preload service-desc describedby\"")
				answerText("text/html", `<meta http-equiv="refresh" content="0; url=`+trap+`"><script src="`+trap+`"></script>`)(w, r)
			}
		})},
	}
}
