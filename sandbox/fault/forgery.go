package fault

import (
	"bytes"
	"crypto/hmac"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// forgeryDeviations accept forged and expired tokens (JWT-09 to JWT-11, BRR-09, BRR-10, BRR-14), and secrets that are wrong or in the wrong
// place (SEC-05, TER-01).
func forgeryDeviations() []Deviation {
	return []Deviation{
		{Name: "alg-none-accepted", Breaks: []string{"JWT-09"},
			Why:  "A token with alg none passes, because the library verifies with the algorithm that the token names.",
			Wrap: trustTokens(hasAlgNone)},
		{Name: "alg-none-forbidden-in-lower-case", Breaks: []string{"JWT-09"},
			Why: "alg none is forbidden in lower case only, because the comparison is case-sensitive: None and NONE pass.",
			Wrap: trustTokens(func(t jwt, _ Env) bool {
				alg := text(t.header["alg"])
				return strings.EqualFold(alg, "none") && alg != "none"
			})},
		{Name: "algorithm-from-header", Breaks: []string{"JWT-10"},
			Why:  "The header decides how the public key is used. The key is read from a PEM file, and with HS256 the text of the file is the secret.",
			Wrap: verifyWithPublicKey(func(pem, _ []byte) []byte { return pem })},
		{Name: "algorithm-from-header-trimmed-key", Breaks: []string{"JWT-10"},
			Why:  "The header decides how the public key is used. The key comes from an environment variable, without a newline at its end.",
			Wrap: verifyWithPublicKey(func(pem, _ []byte) []byte { return bytes.TrimSpace(pem) })},
		{Name: "algorithm-from-header-jwk", Breaks: []string{"JWT-10"},
			Why:  "The header decides how the public key is used. The key is the JSON of the key set.",
			Wrap: verifyWithPublicKey(func(_, jwk []byte) []byte { return jwk })},
		{Name: "header-key-trusted", Breaks: []string{"JWT-11"},
			Why:  "The token is verified with the key in its own header (jwk).",
			Wrap: replaceRequest(trustEmbeddedKey, protectedKinds()...)},
		{Name: "header-key-set-trusted", Breaks: []string{"JWT-11"},
			Why: "The key set that the header names (jku) is fetched, and the token passes when the fetch fails.",
			Wrap: trustTokens(func(t jwt, _ Env) bool {
				_, named := t.header["jku"]
				return named
			})},
		{Name: "token-compared-without-case", Breaks: []string{"BRR-09"},
			Why:  "Verified tokens are remembered in a table that compares without case.",
			Wrap: acceptSimilarTokens(strings.EqualFold)},
		{Name: "exp-not-checked", Breaks: []string{"BRR-10"},
			Why:  "The signature is verified, and exp is not checked.",
			Wrap: trustTokens(func(t jwt, env Env) bool { return env.hasOwnKey(t) && secondsSinceExpiry(t, env) >= 0 })},
		{Name: "exp-with-a-day-of-leeway", Breaks: []string{"BRR-10"},
			Why: "exp is checked with a day of leeway, once set for a server with a wrong clock.",
			Wrap: trustTokens(func(t jwt, env Env) bool {
				const day = 24 * 60 * 60
				return env.hasOwnKey(t) && secondsSinceExpiry(t, env) >= 0 && secondsSinceExpiry(t, env) < day
			})},
		{Name: "query-token-accepted", Breaks: []string{"BRR-14"},
			Why: "A token in the query opens the API, for links that people click.",
			Wrap: replaceRequest(func(r *http.Request, _ Env) *http.Request {
				if token := r.URL.Query().Get("access_token"); token != "" && isAnonymous(r) {
					return withAuthorization(r, "Bearer "+token)
				}
				return r
			}, protectedKinds()...)},
		{Name: "secret-in-url-accepted", Breaks: []string{"SEC-05", "TER-11"},
			Why:  "Query and body are merged before the parameters are read, as by getParameter in a servlet.",
			Wrap: replaceRequest(mergeQuery, Token)},
		{Name: "secret-compared-by-suffix", Breaks: []string{"TER-01"},
			Why: "Only the last eight characters of the secret count, because a prefix of the issuing system is removed before the comparison.",
			Wrap: acceptSecret(func(right, given string) bool {
				return len(given) >= 8 && strings.HasSuffix(right, given[len(given)-8:])
			})},
		{Name: "signature-cut-accepted", Breaks: []string{"JWT-09"},
			Why:  "A token without its signature passes, because there is nothing to verify; alg none itself is refused.",
			Wrap: trustTokens(hasSignature(""))},
		{Name: "signature-of-zeros-accepted", Breaks: []string{"JWT-09"},
			Why:  "An ECDSA signature of zero bytes is valid for any content, as in Java 15 to 18 without patches (CVE-2022-21449).",
			Wrap: trustTokens(hasSignature(base64.RawURLEncoding.EncodeToString(make([]byte, 64))))},
		{Name: "secret-remembered-by-client", Breaks: []string{"TER-01"},
			Why:  "Once a client has authenticated, a cache accepts its id with any secret.",
			Wrap: stateful(rememberClients)},
		{Name: "secret-cut-at-nul", Breaks: []string{"TER-01"},
			Why: "The secret is compared by a library in C, for which a text ends at the first NUL.",
			Wrap: acceptSecret(func(right, given string) bool {
				before, _, cut := strings.Cut(given, "\x00")
				return cut && before == right
			})},
		{Name: "secret-padded-with-nuls", Breaks: []string{"TER-01"},
			Why:  "Secrets are stored as PBKDF2 hashes: HMAC fills a short key up with NULs, so that the secret with NULs after it has the same hash.",
			Wrap: acceptSecret(func(right, given string) bool { return given != right && strings.TrimRight(given, "\x00") == right })},
		{Name: "secret-trimmed", Breaks: []string{"TER-01"},
			Why:  "Id and secret are trimmed before they are compared, because people paste them with a line break.",
			Wrap: acceptSecret(func(right, given string) bool { return strings.TrimSpace(given) == right })},
		{Name: "secret-hashed-with-bcrypt", Breaks: []string{"TER-01"},
			Why: "Secrets are hashed with bcrypt, which reads 72 bytes: the rest of the secret does not matter.",
			Wrap: acceptSecret(func(right, given string) bool {
				const limit = 72
				return len(right) > limit && len(given) >= limit && given[:limit] == right[:limit]
			})},
		{Name: "secret-operator-accepted", Breaks: []string{"TER-01"},
			Why: "The form is parsed into nested objects and handed to a database as it is: client_secret[$ne] means any other secret.",
			Wrap: editForm(func(q tokenRequest, env Env) {
				if client, known := env.Client(q.Get("client_id")); known && q.Has("client_secret[$ne]") {
					q.Set("client_secret", client.Secret)
				}
			})},
		{Name: "assertion-not-verified", Breaks: []string{"TER-01"}, Rare: true,
			Why: "Any client assertion authenticates its sender: it is decoded and not verified, and its client is not looked up.",
			Wrap: editForm(func(q tokenRequest, env Env) {
				if client, known := env.clientWithSecret(); known && q.Get("client_assertion") != "" && q.Get("client_secret") == "" {
					q.Del("client_assertion")
					q.Set("client_id", client.ID)
					q.Set("client_secret", client.Secret)
				}
			})},
		{Name: "grant-type-searched", Breaks: []string{"TER-08"},
			Why: "grant_type is searched for client_credentials by an expression without anchors, so longer names and lists of grants pass.",
			Wrap: editForm(func(q tokenRequest, _ Env) {
				if grant := q.Get("grant_type"); len(q.Values["grant_type"]) == 1 && strings.Contains(grant, "client_credentials") {
					q.Set("grant_type", "client_credentials")
				}
			})},
		{Name: "introspection-cached-for-ever", Breaks: []string{"BRR-10"},
			Why:  "The answer of the introspection is cached for ever: a token that was used once still opens the API after it has expired.",
			Wrap: stateful(func() wrap { return rememberTokens(protectedKinds()...) })},
		{Name: "verified-tokens-cached-on-detail", Breaks: []string{"BRR-10"},
			Why:  "The detail has a guard of its own, whose check is cached by the token (lru_cache): a token that was used there once opens it for ever.",
			Wrap: stateful(func() wrap { return rememberTokens(Detail) })},
	}
}

// rememberTokens admits the clients of tokens that the node accepted before, even if the tokens have expired.
func rememberTokens(kinds ...Kind) wrap {
	var accepted memory[string]
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		token := bearer(r)
		if client, known := accepted.get(token); known && a.Status == http.StatusUnauthorized {
			a = capture(next, env.admitAs(r, client))
		} else if t, ok := parseJWT(token); ok && a.ok() {
			accepted.put(token, t.client())
		}
		a.send(w, r)
	}, kinds...)
}

// trustTokens makes a wrap that admits the client that a token names if the token fits. It checks neither signature nor expiry. It applies to the
// protected kinds unless kinds are given.
func trustTokens(fits func(t jwt, env Env) bool, kinds ...Kind) wrap {
	if len(kinds) == 0 {
		kinds = protectedKinds()
	}
	return replaceRequest(func(r *http.Request, env Env) *http.Request {
		if t, ok := parseJWT(bearer(r)); ok && t.header != nil && fits(t, env) {
			return env.admitAs(r, t.client())
		}
		return r
	}, kinds...)
}

func hasAlgNone(t jwt, _ Env) bool { return t.header["alg"] == "none" }

// hasSignature returns a condition that holds for tokens with the signature and an algorithm other than none.
func hasSignature(signature string) func(t jwt, env Env) bool {
	return func(t jwt, _ Env) bool {
		return !strings.EqualFold(text(t.header["alg"]), "none") && t.signature == signature
	}
}

// secondsSinceExpiry returns how long ago a token expired; it is negative before the expiry.
func secondsSinceExpiry(t jwt, env Env) float64 { return float64(env.Now().Unix()) - t.seconds("exp") }

// verifyWithPublicKey makes a wrap that verifies HS256 with the published key as the secret, in PEM or as a JWK (RFC 8725 §2.1).
func verifyWithPublicKey(secret func(pem, jwk []byte) []byte) wrap {
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		t, ok := parseJWT(bearer(r))
		if pem, jwk, known := publicKey(next, env, r); ok && known && t.header["alg"] == "HS256" {
			given, err := base64.RawURLEncoding.DecodeString(t.signature)
			if err == nil && hmac.Equal(given, hs256(t.input, secret(pem, jwk))) {
				r = env.admitAs(r, t.client())
			}
		}
		next.ServeHTTP(w, r)
	}, protectedKinds()...)
}

// publicKey fetches the node's published key.
func publicKey(next http.Handler, env Env, r *http.Request) (encoded, jwk []byte, ok bool) {
	request := withPath(r, env.Places.Certs())
	request.Method, request.URL.RawQuery = http.MethodGet, ""
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	var key jose.JSONWebKey
	if json.Unmarshal(capture(next, request).Body, &set) != nil || len(set.Keys) == 0 || key.UnmarshalJSON(set.Keys[0]) != nil {
		return nil, nil, false
	}
	der, err := x509.MarshalPKIXPublicKey(key.Key)
	if err != nil {
		return nil, nil, false
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), set.Keys[0], true
}

// trustEmbeddedKey admits the client of a token if the key in its own header verifies it.
func trustEmbeddedKey(r *http.Request, env Env) *http.Request {
	t, ok := parseJWT(bearer(r))
	signed, err := jose.ParseSignedCompact(bearer(r), []jose.SignatureAlgorithm{jose.ES256, jose.RS256, jose.EdDSA})
	if !ok || err != nil || signed.Signatures[0].Header.JSONWebKey == nil {
		return r
	}
	if _, err := signed.Verify(signed.Signatures[0].Header.JSONWebKey); err != nil {
		return r
	}
	return env.admitAs(r, t.client())
}

// mergeQuery moves the parameters of the query into the form.
func mergeQuery(r *http.Request, _ Env) *http.Request {
	q, ok := readTokenRequest(r)
	if !ok {
		return r
	}
	for name, values := range r.URL.Query() {
		q.Values[name] = append(q.Values[name], values...)
	}
	merged := withForm(r, q.Encode())
	merged.URL.RawQuery = ""
	return merged
}

// rememberClients accepts any secret of a client that has authenticated before.
func rememberClients() wrap {
	var authenticated memory[bool]
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		q, ok := readTokenRequest(r)
		client, registered := env.Client(q.Get("client_id"))
		if ok && client.Secret != "" && authenticated.has(client.ID) && q.Get("client_secret") != "" {
			q.Set("client_secret", client.Secret)
			r = withForm(r, q.Encode())
		}
		a := capture(next, r)
		if a.ok() && registered {
			authenticated.put(client.ID, true)
		}
		a.send(w, r)
	}, Token)
}

// isolationDeviations accept tokens of other issuers, environments and audiences (ISO).
func isolationDeviations() []Deviation {
	return []Deviation{
		{Name: "unknown-kid-not-verified", Breaks: []string{"ISO-01"}, May: []string{"BRR-09", "API-08"},
			Why:  "The signature is not verified when the key set lacks the kid: the lookup returns nothing, and that is not treated as an error.",
			Wrap: trustTokens(func(t jwt, env Env) bool { return !env.hasOwnKey(t) })},
		{Name: "issuer-alone-checked", Breaks: []string{"ISO-01"}, May: []string{"BRR-09", "API-08"},
			Why: "An unknown kid is taken for a new key of the issuer, so a copied iss is enough.",
			Wrap: trustTokens(func(t jwt, env Env) bool {
				return !env.hasOwnKey(t) && env.isAudience(t) && !env.isForeignIssuer(t)
			})},
		{Name: "unknown-issuer-passed-on", Breaks: []string{"ISO-01"}, May: []string{"BRR-09", "API-08"},
			Why:  "Tokens of unknown issuers are left to a service behind the node, which does not check them.",
			Wrap: trustTokens(func(t jwt, env Env) bool { return env.isForeignIssuer(t) })},
		{Name: "staging-token-accepted", Breaks: []string{"ISO-02"},
			Why:  "The test and production environments sign with the same key, and iss is not compared.",
			Wrap: replaceRequest(admitElsewhere, protectedKinds()...)},
		{Name: "staging-client-registered-in-production", Breaks: []string{"ISO-02"},
			Why: "The test and production environments read their clients from one table, so that a client of the test environment gets a token of production.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool {
				return !a.ok() && q.Get("client_secret") != "" && a.ask(withForm(withPath(a.request, a.env.Places.Elsewhere().Token()), q.Encode())).ok()
			}, func(a *answer) {
				if client, ok := a.env.clientWithSecret(); ok {
					a.replaceBy(a.ask(withForm(a.request, url.Values{"grant_type": {"client_credentials"}, "client_id": {client.ID}, "client_secret": {client.Secret}}.Encode())))
				}
			})},
		{Name: "staging-token-accepted-for-details", Breaks: []string{"ISO-02"},
			Why:  "The route of a single funding has its own filter, which trusts every issuer that the operator runs.",
			Wrap: replaceRequest(admitElsewhere, Detail)},
		{Name: "aud-ignored", Breaks: []string{"ISO-03"},
			Why:  "Signature and issuer are verified and aud is not: a token for any service of the operator opens this one.",
			Wrap: trustTokens(func(t jwt, env Env) bool { return env.hasOwnKey(t) && !env.isAudience(t) })},
		{Name: "aud-of-the-request", Breaks: []string{"ISO-03"},
			Why:  "The token is made for the audience that the client asks for, and the server does not compare it with the audiences of the client.",
			Wrap: stateful(admitRequestedAudience)},
		{Name: "aud-ignored-for-details", Breaks: []string{"ISO-03"},
			Why:  "The route of a single funding has its own filter, which does not check aud.",
			Wrap: trustTokens(func(t jwt, env Env) bool { return env.hasOwnKey(t) && !env.isAudience(t) }, Detail)},
		{Name: "staging-token-accepted-for-queries", Breaks: []string{"ISO-02"},
			Why: "A search is answered by a gateway, which trusts every issuer that the operator runs; calls without a query go to the node.",
			Wrap: replaceRequest(func(r *http.Request, env Env) *http.Request {
				if r.URL.RawQuery == "" {
					return r
				}
				return admitElsewhere(r, env)
			}, List)},
		{Name: "aud-ignored-for-export", Breaks: []string{"ISO-03"},
			Why: "An export of all fundings was added later, with a filter of its own, which does not check aud.",
			Wrap: both(describeExport(nil), both(
				trustTokens(func(t jwt, env Env) bool { return env.hasOwnKey(t) && !env.isAudience(t) }, API),
				serveExport(func(*answer) bool { return false })))},
		{Name: "staging-token-accepted-for-export", Breaks: []string{"ISO-02"},
			Why:  "An export of all fundings was added later, with a filter of its own, which trusts every issuer that the operator runs.",
			Wrap: both(describeExport(nil), both(replaceRequest(admitElsewhere, API), serveExport(func(*answer) bool { return false })))},
	}
}

// admitRequestedAudience admits all tokens that were requested with an audience.
func admitRequestedAudience() wrap {
	var tokens memory[bool]
	remember := rewriteToken(func(q tokenRequest, a *answer) bool { return a.ok() && q.Get("audience") != "" }, edit(func(body map[string]any) { tokens.put(text(body["access_token"]), true) }))
	return both(remember, replaceRequest(func(r *http.Request, env Env) *http.Request {
		if tokens.has(bearer(r)) {
			return env.admit(r)
		}
		return r
	}, protectedKinds()...))
}

// admitElsewhere admits tokens of the other environment as the first client, because their own client is unknown here.
func admitElsewhere(r *http.Request, env Env) *http.Request {
	if t, ok := parseJWT(bearer(r)); ok && strings.HasSuffix(text(t.claims["iss"]), env.Places.Elsewhere().Root) {
		return env.admit(r)
	}
	return r
}

// hasOwnKey reports whether a token names the key with which the node signs.
func (e Env) hasOwnKey(t jwt) bool {
	sample, err := e.Sign(nil, map[string]any{})
	own, ok := parseJWT(sample)
	return err == nil && ok && t.header["kid"] == own.header["kid"]
}

// isForeignIssuer reports whether a token for the node's API has as its issuer the URL of another host, without a path.
func (e Env) isForeignIssuer(t jwt) bool {
	issuer, err := url.Parse(text(t.claims["iss"]))
	if err != nil || issuer.Host == "" || strings.Trim(issuer.Path, "/") != "" || !e.isAudience(t) {
		return false
	}
	return !slices.ContainsFunc(asList(t.claims["aud"]), func(audience any) bool { // issuer and API of the node are on one host
		own, err := url.Parse(text(audience))
		return err == nil && own.Host == issuer.Host
	})
}

// isAudience reports whether the node's API is among the audiences of a token.
func (e Env) isAudience(t jwt) bool {
	return slices.ContainsFunc(asList(t.claims["aud"]), func(audience any) bool {
		return strings.HasSuffix(text(audience), e.Places.API()) && !strings.HasSuffix(text(audience), e.Places.Elsewhere().API())
	})
}

// asList returns a value that is a list, or a list of the value; nil has no elements.
func asList(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	if value == nil {
		return nil
	}
	return []any{value}
}
