package hostile_test

import (
	"net/http"
	"strings"
)

// waitDemands returns nodes that tell the caller when to come back.
func waitDemands() []attack {
	busy := func(status int, retryAfter string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Retry-After"] = []string{retryAfter}
			w.WriteHeader(status)
		}
	}
	brief := []string{"--deadline", "2s"}
	return []attack{
		{name: "a wait of thirty years", typical: true, wrap: answerAt(infoPath, busy(429, "1000000000")), flags: brief, says: []string{"deadline"}},
		{name: "a wait beyond all numbers", wrap: answerAt(infoPath, busy(429, strings.Repeat("9", 40))), flags: brief},
		{name: "a wait until the year 9999", wrap: answerAt(infoPath, busy(429, "Fri, 31 Dec 9999 23:59:59 GMT")), flags: brief, says: []string{"deadline"}},
		{name: "a wait of less than nothing", wrap: answerAt(infoPath, busy(429, "-1000000000")), flags: brief},
		{name: "a wait until long ago", wrap: answerAt(infoPath, busy(429, "Thu, 01 Jan 1970 00:00:00 GMT")), flags: brief},
		{name: "a wait of a text", wrap: answerAt(infoPath, busy(429, inscription)), flags: brief},
		{name: "a pause for repairs without an end", wrap: answerAt(infoPath, busy(503, "1000000000")), flags: brief},
		{name: "a limit that everything exceeds", wrap: func(string) func(http.Handler) http.Handler {
			return func(http.Handler) http.Handler { return busy(429, "0") }
		}, says: []string{"429"}},
		{name: "tokens that live no time", wrap: answerAt(tokenPath, answerJSON(`{"access_token":"abc","token_type":"Bearer","expires_in":0}`))},
		{name: "tokens that lived before they were issued", wrap: answerAt(tokenPath, answerJSON(`{"access_token":"abc","token_type":"Bearer","expires_in":-1e300}`))},
	}
}
