package fault

import (
	"crypto/hmac"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// forgeryKindDeviations accept one kind of forged token each, and refuse similar ones.
func forgeryKindDeviations() []Deviation {
	return []Deviation{
		{Name: "claims-cached-by-signature", Breaks: []string{"BRR-09"}, May: []string{"JWT-09", "API-08"},
			Why:  "Verified tokens are remembered by their signature, so that changed claims pass with the signature of a good token.",
			Wrap: stateful(rememberSignatures)},
		{Name: "alg-none-forbidden-in-three-spellings", Breaks: []string{"JWT-09"}, Rare: true,
			Why: "alg none is forbidden as none, None and NONE, and the library behind this check compares without case: nOnE passes, as with Auth0 in 2020.",
			Wrap: trustTokens(func(t jwt, _ Env) bool {
				alg := text(t.header["alg"])
				return strings.EqualFold(alg, "none") && !slices.Contains([]string{"none", "None", "NONE"}, alg)
			})},
		{Name: "alg-absent-not-verified", Breaks: []string{"JWT-09"}, Rare: true,
			Why: "A token without alg is not verified: the switch over the algorithms has no default.",
			Wrap: trustTokens(func(t jwt, _ Env) bool {
				_, named := t.header["alg"]
				return text(t.header["alg"]) == "" && (named || len(t.header) <= 2) // a longer header has alg under another name, such as Alg
			})},
		{Name: "hmac-with-empty-key", Breaks: []string{"JWT-10"}, Rare: true,
			Why:  "HMAC is accepted with the secret of an environment variable that is not set: the key is empty.",
			Wrap: verifyHMAC(func(t jwt, env Env) (string, bool) { return "", env.hasOwnKey(t) })},
		{Name: "kid-read-as-path", Breaks: []string{"JWT-11"}, Rare: true,
			Why: "The key is read from the file that kid names; a path that leaves the folder of keys leads to an empty file.",
			Wrap: verifyHMAC(func(t jwt, _ Env) (string, bool) {
				return "", strings.HasSuffix(text(t.header["kid"]), "dev/null")
			})},
		{Name: "header-certificate-trusted", Breaks: []string{"JWT-11"}, Rare: true,
			Why:  "The token is verified with the certificate in its own header (x5c), and the issuer of the certificate is not checked.",
			Wrap: replaceRequest(trustEmbeddedCertificate, protectedKinds()...)},
		{Name: "token-without-issuer-passed-on", Breaks: []string{"ISO-01"}, May: []string{"BRR-09", "API-08"}, Rare: true,
			Why:  "The issuer selects the verifier; a token without an issuer is left to a service behind the node, which does not check it.",
			Wrap: trustTokens(func(t jwt, _ Env) bool { return text(t.claims["iss"]) == "" })},
		{Name: "encrypted-token-passed-on", Breaks: []string{"ISO-01"}, Rare: true,
			Why:  "A token of five segments is encrypted, so it is left to the gateway, which does not decrypt it.",
			Wrap: admitIf(isEncrypted, protectedKinds()...)},
	}
}

// isEncrypted holds for requests with a token in the compact form of JWE (RFC 7516 §3.1).
func isEncrypted(r *http.Request) bool {
	segments := strings.Split(bearer(r), ".")
	return len(segments) == 5 && decodeSegment(segments[0])["enc"] != nil
}

// rememberSignatures caches accepted tokens by header and signature, and admits their client even if the claims were changed.
func rememberSignatures() wrap {
	var verified memory[string]
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		t, ok := parseJWT(bearer(r))
		header, _, _ := strings.Cut(t.input, ".")
		key := header + "." + t.signature
		if client, known := verified.get(key); ok && known && secondsSinceExpiry(t, env) < 0 {
			r = env.admitAs(r, client)
		}
		a := capture(next, r)
		if ok && a.ok() {
			verified.put(key, t.client())
		}
		a.send(w, r)
	}, protectedKinds()...)
}

// verifyHMAC makes a wrap that admits tokens with an HMAC under the key that secret returns for them.
func verifyHMAC(secret func(t jwt, env Env) (key string, ok bool)) wrap {
	return replaceRequest(func(r *http.Request, env Env) *http.Request {
		t, ok := parseJWT(bearer(r))
		if !ok || !strings.HasPrefix(text(t.header["alg"]), "HS") {
			return r
		}
		key, ok := secret(t, env)
		given, err := base64.RawURLEncoding.DecodeString(t.signature)
		if !ok || err != nil || !hmac.Equal(given, hmacOf(text(t.header["alg"]), t.input, []byte(key))) {
			return r
		}
		return env.admitAs(r, t.client())
	}, protectedKinds()...)
}

// trustEmbeddedCertificate admits the client of a token if the certificate in its own header verifies it.
func trustEmbeddedCertificate(r *http.Request, env Env) *http.Request {
	t, ok := parseJWT(bearer(r))
	chain := asList(t.header["x5c"])
	if !ok || len(chain) == 0 {
		return r
	}
	der, err := base64.StdEncoding.DecodeString(text(chain[0]))
	if err != nil {
		return r
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return r
	}
	signed, err := jose.ParseSignedCompact(bearer(r), []jose.SignatureAlgorithm{jose.ES256, jose.RS256, jose.EdDSA})
	if err != nil {
		return r
	}
	if _, err := signed.Verify(certificate.PublicKey); err != nil {
		return r
	}
	return env.admitAs(r, t.client())
}
