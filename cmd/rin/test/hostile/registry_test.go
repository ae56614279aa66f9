package hostile_test

import (
	"fmt"
	"net/http"
	"strings"
)

// registryAttacks lists hostile registries, and registries with a hostile entry.
func registryAttacks() []attack {
	entry := func(token, info string) func(trap string) http.HandlerFunc {
		return func(trap string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				fill := strings.NewReplacer("{node}", "http://"+r.Host, "{trap}", trap)
				answerJSON(fmt.Sprintf(`{"member":[{"id":"XA","oauth2":%s,"info":%s,"name":%[3]s,%[3]s:%[3]s}]}`, quoted(fill.Replace(token)), quoted(fill.Replace(info)), quoted(lines)))(w, r)
			}
		}
	}
	others := func(n int, item string) string { return strings.Repeat(item+",", n) }
	registry := func(answer http.HandlerFunc) wrapper { return answerAt(registryPath, answer) }
	attacks := []attack{
		{name: "an endless registry", wrap: registry(flood(head(200, "\r\n{\"member\":["), megabyte()))},
		{name: "a deep registry", wrap: registry(answerJSON(`{"member":[{"id":"XA","x":` + objects() + `}]}`))},
		{name: "a registry of a million entries", wrap: largeAnswerAt(registryPath, func() string { return `{"member":[` + others(1_000_000, `{"id":"XY"}`) + `{"id":"XB"}]}` }), unlisted: true, large: true},
		{name: "a registry that lists the node a million times", wrap: largeAnswerAt(registryPath, func() string { return `{"member":[` + others(500_000, `{"id":"XA"}`) + `{"id":"XA"}]}` })},
		{name: "a registry of texts", typical: true, wrap: registry(answerJSON(`{"member":[` + others(3, `{"id":`+quoted("X"+lines)+`}`) + quoted(lines) + `]}`)), unlisted: true, says: []string{"is not in the registry"}},
		{name: "a registry that is a page", wrap: registry(answerText("text/html", lines))},
		{name: "a registry on another host", wrap: answerWithTrapAt(registryPath, func(trap string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, trap+"/r", http.StatusFound) }
		})},
		{name: "a registry with a gzip bomb", wrap: registry(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(zeros(1 << 10))
		})},
		{name: "an entry of files", wrap: answerWithTrapAt(registryPath, entry("file:///etc/passwd", "file:///etc/shadow"))},
		{name: "an entry of scripts", wrap: answerWithTrapAt(registryPath, entry("javascript:"+marker, "data:text/html,"+marker))},
		{name: "an entry of texts", wrap: answerWithTrapAt(registryPath, entry(lines, lines))},
		{name: "an entry with a user", wrap: answerWithTrapAt(registryPath, entry("{node}"+tokenPath, "http://"+marker+":x@127.0.0.1/"))},
		{name: "an entry with texts in its paths", wrap: answerWithTrapAt(registryPath, entry("{node}/"+inscription, "{node}/"+inscription))},
	}
	for i := range attacks {
		attacks[i].registered = true
	}
	return attacks
}
