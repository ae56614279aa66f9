package hostile_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
)

// keySetAttacks returns nodes with metadata and keys that are too large, or on another host.
func keySetAttacks() []attack {
	full := []string{"--profile", "full", "--wait", "0s"}
	keysAt := func(jwks func(trap string) string) wrapper {
		return answerWithTrapAt(metadataPath, func(trap string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				issuer := "http://" + r.Host
				answerJSON(fmt.Sprintf(`{"issuer":%q,"token_endpoint":%q,"jwks_uri":%s}`, issuer, issuer+tokenPath, quoted(jwks(trap))))(w, r)
			}
		})
	}
	// keySet serves a key set, and metadata that lead to it.
	keySet := func(set http.HandlerFunc) wrapper {
		return func(trap string) func(http.Handler) http.Handler {
			return func(next http.Handler) http.Handler {
				metadata := func(w http.ResponseWriter, r *http.Request) {
					issuer := "http://" + r.Host
					answerJSON(fmt.Sprintf(`{"issuer":%q,"token_endpoint":%q,"jwks_uri":%q}`, issuer, issuer+tokenPath, issuer+"/keys"))(w, r)
				}
				return replaceAnswer(metadataPath, metadata)(replaceAnswer("/keys", set)(next))
			}
		}
	}
	rsa := func(bits int, exponent string) string {
		modulus := base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("\xff", bits/8)))
		return fmt.Sprintf(`{"kty":"RSA","use":"sig","alg":"RS256","n":%q,"e":%q}`, modulus, exponent)
	}
	largest := base64.RawURLEncoding.EncodeToString([]byte("\x7f\xff\xff\xff"))
	many := func(n int, key string) http.HandlerFunc {
		return answerJSON(`{"keys":[` + strings.TrimSuffix(strings.Repeat(key+",", n), ",") + `]}`)
	}
	attacks := []attack{
		{name: "keys on another host", wrap: keysAt(func(trap string) string { return trap + "/keys" })},
		{name: "keys in a file", wrap: keysAt(func(string) string { return "file:///etc/passwd" })},
		{name: "keys behind a user", wrap: keysAt(func(trap string) string { return strings.Replace(trap, "://", "://a@", 1) })},
		{name: "keys at a text", wrap: keysAt(func(string) string { return lines })},
		{name: "keys behind a redirect to another host", wrap: keySet(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.2:9/"+marker, http.StatusFound)
		})},
		{name: "ten thousand keys", wrap: keySet(many(10_000, rsa(2048, "AQAB")))},
		{name: "a key of 1,000,000 bits", typical: true, wrap: keySet(many(1, rsa(1_000_000, largest)))},
		{name: "thirty keys of 16,384 bits", wrap: keySet(many(30, rsa(16_384, largest)))},
		{name: "a deep key", wrap: keySet(answerJSON(`{"keys":[` + objects() + `]}`))},
		{name: "keys without an end", wrap: keySet(flood(head(200, "\r\n{\"keys\":["), `{"kty":"EC"},`+megabyte()))},
		{name: "keys with points that are not on their curve", wrap: keySet(many(100, `{"kty":"EC","crv":"P-256","x":"AA","y":"AA","kid":`+quoted(lines)+`}`))},
		{name: "metadata that are deep", wrap: answerAt(metadataPath, answerJSON(objects()))},
		{name: "metadata of texts", wrap: answerAt(metadataPath, answerJSON(fmt.Sprintf(`{"issuer":%[1]s,"token_endpoint":%[1]s,"jwks_uri":%[1]s,"grant_types_supported":[%[1]s],"token_endpoint_auth_methods_supported":[%[1]s],%[1]s:%[1]s}`, quoted(lines))))},
		{name: "metadata without an end", wrap: answerAt(metadataPath, flood(head(200, "\r\n{\"issuer\":\""), strings.Repeat("x", 1<<20)))},
	}
	for i := range attacks {
		attacks[i].flags = full
	}
	return attacks
}
