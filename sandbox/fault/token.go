package fault

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
)

// tokenDeviations break the answer to a good token request.
func tokenDeviations() []Deviation {
	return []Deviation{
		{Name: "token-basic-only", Breaks: []string{"TOK-01"},
			Why: "Client credentials in the body are refused; only HTTP Basic is read. This is the default of Spring Authorization Server and ORDS.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool { return !q.basic && a.ok() },
				tokenError(http.StatusUnauthorized, "invalid_client"))},
		{Name: "token-member-renamed", Breaks: []string{"TOK-01"},
			Why: "The token is in the member token, as in hand-written logins.",
			Wrap: editTokenAnswer(func(body map[string]any) {
				body["token"] = body["access_token"]
				delete(body, "access_token")
			})},
		{Name: "token-in-envelope", Breaks: []string{"TOK-01"},
			Why:  "The token answer is wrapped in data, as frameworks wrap every resource.",
			Wrap: rewriteSuccess(wrapIn("data"), Token)},
		{Name: "token-status-201", Breaks: []string{"TOK-02"},
			Why:  "The token endpoint answers 201 Created, as frameworks do for a POST that creates something.",
			Wrap: rewriteSuccess(setStatus(http.StatusCreated), Token)},
		{Name: "token-text-plain", Breaks: []string{"TOK-03"},
			Why:  "The token answer is declared as text/plain, because the script that writes it sets no media type.",
			Wrap: rewriteSuccess(setHeader("Content-Type", "text/plain; charset=utf-8"), Token)},
		{Name: "token-vendor-json", Breaks: []string{"TOK-03"},
			Why:  "The token answer has a vendor's media type that is based on JSON.",
			Wrap: rewriteSuccess(setHeader("Content-Type", "application/vnd.token+json"), Token)},
		{Name: "token-type-missing", Breaks: []string{"TOK-04"},
			Why:  "The token answer lacks token_type.",
			Wrap: editTokenAnswer(drop("token_type"))},
		{Name: "token-type-mac", Breaks: []string{"TOK-05"},
			Why:  "The token is issued as type mac, which bearer clients cannot use.",
			Wrap: editTokenAnswer(put("token_type", "mac"))},
		{Name: "token-type-dpop", Breaks: []string{"TOK-05"},
			Why:  "The token is issued as type DPoP, as by Keycloak for a client with proof of possession.",
			Wrap: editTokenAnswer(put("token_type", "DPoP"))},
		{Name: "token-cacheable", Breaks: []string{"TOK-06"},
			Why:  "The token answer may be cached for a minute: a proxy replaced no-store with its own Cache-Control.",
			Wrap: rewriteSuccess(setHeader("Cache-Control", "max-age=60"), Token)},
		{Name: "token-private-only", Breaks: []string{"TOK-06"},
			Why:  "The token answer says private, which still lets browsers and clients store it.",
			Wrap: rewriteSuccess(setHeader("Cache-Control", "private"), Token)},
		{Name: "token-without-pragma", Breaks: []string{"TOK-07"},
			Why:  "The token answer lacks Pragma: no-cache, which newer authorization servers omit.",
			Wrap: rewriteSuccess(setHeader("Pragma", ""), Token)},
		{Name: "token-member-twice", Breaks: []string{"TOK-03"},
			Why: "The token answer has expires_in twice, with two values: a gateway adds its own before that of the authorization server.",
			Wrap: rewriteSuccess(func(a *answer) {
				a.Body = bytes.Replace(a.Body, []byte(`"expires_in":`), []byte(`"expires_in":3600,"expires_in":`), 1)
			}, Token)},
		{Name: "token-of-the-time", Breaks: []string{"TOK-12"},
			Why: "Opaque tokens consist of the name of the service and the time of issue in base64, so that everybody who has one can guess the others.",
			Wrap: stateful(func() wrap {
				var issued atomic.Int64
				return replaceTokens(func(_ string, _ map[string]any, env Env) string {
					at := env.Now().UnixMilli() + 7919*issued.Add(1) // the clock of a test may stop
					return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "institutional-repository:api-token:%d", at))
				})
			})},
		{Name: "token-short", Breaks: []string{"TOK-12"},
			Why: "Opaque tokens have ten letters and digits, as Math.random().toString(36) gives them.",
			Wrap: replaceTokens(func(token string, _ map[string]any, _ Env) string {
				sum := sha256.Sum256([]byte(token))
				return strings.ToLower(base32.HexEncoding.EncodeToString(sum[:])[:10])
			})},
		{Name: "token-byte-order-mark", Breaks: []string{"TOK-03"},
			Why:  "The token answer begins with a byte order mark: the script was saved on Windows.",
			Wrap: rewriteSuccess(prepend("\uFEFF"), Token)},
		{Name: "repeated-token-may-be-stored", Breaks: []string{"TOK-06"},
			Why:  "A token that is handed out again lacks no-store: the cache of tokens answers without the filter that sets it.",
			Wrap: stateful(storeRepeatedTokens)},
		{Name: "token-member-in-capitals", Breaks: []string{"TOK-01"},
			Why: "The token is in the member ACCESS_TOKEN alone, which a client that compares names exactly does not find.",
			Wrap: editTokenAnswer(func(body map[string]any) {
				body["ACCESS_TOKEN"] = body["access_token"]
				delete(body, "access_token")
			})},
		{Name: "token-in-latin-1", Breaks: []string{"TOK-03"},
			Why: "The token answer names the institution in Latin-1, and its charset says so; JSON is always UTF-8.",
			Wrap: rewriteSuccess(inOrder(setHeader("Content-Type", "application/json;charset=ISO-8859-1"),
				replaceText(`"expires_in":`, "\"organisation\":\"Universit\xe4t\",\"expires_in\":")), Token)},
	}
}

// lifetimeDeviations break lifetime and syntax of the token.
func lifetimeDeviations() []Deviation {
	return []Deviation{
		{Name: "lifetime-missing", Breaks: []string{"TOK-08"},
			Why:  "The token answer does not say how long the token is valid.",
			Wrap: editTokenAnswer(drop("expires_in"))},
		{Name: "lifetime-as-text", Breaks: []string{"TOK-09"},
			Why:  "The lifetime is the text \"3600\", as loosely typed languages write it.",
			Wrap: editTokenAnswer(put("expires_in", "3600"))},
		{Name: "lifetime-as-date", Breaks: []string{"TOK-09"},
			Why:  "expires_in is the point in time at which the token expires.",
			Wrap: editTokenAnswer(put("expires_in", 1_900_000_000))},
		{Name: "lifetime-negative", Breaks: []string{"TOK-09"},
			Why:  "The lifetime is -1 for tokens that never expire.",
			Wrap: editTokenAnswer(put("expires_in", -1))},
		{Name: "lifetime-of-a-year", Breaks: []string{"TOK-10"},
			Why:  "The token is valid for a year, so that clients need not fetch a new one.",
			Wrap: setLifetime(31_536_000)},
		{Name: "lifetime-of-a-working-day", Breaks: []string{"TOK-10"},
			Why:  "The token is valid for ten hours, like a browser session.",
			Wrap: setLifetime(36_000)},
		{Name: "lifetime-under-a-minute", Breaks: []string{"TOK-10"},
			Why:  "The token is valid for 50 seconds, too short to read a long list.",
			Wrap: setLifetime(50)},
		{Name: "refresh-token-issued", Breaks: []string{"TOK-11"},
			Why:  "The client credentials grant returns a refresh token, as older Keycloak versions did by default.",
			Wrap: editTokenAnswer(put("refresh_token", "bm90LWZvci10aGlzLWdyYW50"))},
		{Name: "token-holds-its-scheme", Breaks: []string{"TOK-12"},
			Why:  "access_token begins with the word Bearer and a blank, ready to be copied into a header.",
			Wrap: prefixTokens("Bearer ")},
		{Name: "token-too-long", Breaks: []string{"TOK-12"},
			Why:  "The token is longer than the header lines that nginx and Tomcat accept, as Keycloak's tokens for accounts with many roles are.",
			Wrap: prefixTokens(strings.Repeat("~", 8200))},
	}
}

// prefixTokens makes a wrap that puts prefix before each issued token, and removes it at the API.
func prefixTokens(prefix string) wrap {
	issue := editTokenAnswer(update("access_token", func(token string) string { return prefix + token }))
	accept := replaceRequest(func(r *http.Request, _ Env) *http.Request {
		scheme, token := credential(r)
		if rest, ours := strings.CutPrefix(token, prefix); ours {
			return withAuthorization(r, scheme+" "+rest)
		}
		return r
	}, protectedKinds()...)
	return both(issue, accept)
}

// tokenRequestDeviations refuse token requests that must yield a token, or revoke tokens that must stay valid.
func tokenRequestDeviations() []Deviation {
	return []Deviation{
		{Name: "basic-refused", Breaks: []string{"TOK-13"},
			Why: "HTTP Basic is refused because the client is registered for the form only: node-oidc-provider and Okta allow one method for each client.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool { return q.basic && a.ok() },
				tokenError(http.StatusUnauthorized, "invalid_client"))},
		{Name: "basic-not-read", Breaks: []string{"TOK-13"},
			Why: "The token endpoint does not read the Authorization header, so it finds no credentials.",
			Wrap: rewriteToken(func(q tokenRequest, _ *answer) bool { return q.basic },
				tokenError(http.StatusBadRequest, "invalid_request"))},
		{Name: "basic-not-decoded", Breaks: []string{"TOK-13"},
			Why: "Id and secret of HTTP Basic are compared as they come, without form decoding: only clients with a special character in their secret notice.",
			// The wrap encodes them once more, so that the node compares them as they were sent.
			Wrap: replaceRequest(func(r *http.Request, _ Env) *http.Request {
				id, secret, basic := r.BasicAuth()
				if !basic {
					return r
				}
				changed := r.Clone(r.Context())
				changed.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret))
				return changed
			}, Token)},
		{Name: "unknown-parameter-refused", Breaks: []string{"TOK-14"},
			Why: "The form is validated strictly, and an unknown parameter is an error.",
			Wrap: rewriteToken(func(q tokenRequest, _ *answer) bool {
				for name := range q.Values {
					if !slices.Contains([]string{"grant_type", "client_id", "client_secret", "scope"}, name) {
						return true
					}
				}
				return false
			}, tokenError(http.StatusBadRequest, "invalid_request"))},
		{Name: "empty-scope-refused", Breaks: []string{"TOK-15"},
			Why: "A scope parameter without a value is looked up as a scope and not found.",
			Wrap: rewriteToken(func(q tokenRequest, _ *answer) bool { return q.Has("scope") && q.Get("scope") == "" },
				tokenError(http.StatusBadRequest, "invalid_scope"))},
		{Name: "empty-secret-beside-basic-refused", Breaks: []string{"TOK-15"},
			Why: "A client_secret without a value beside HTTP Basic is taken for a second way to authenticate.",
			Wrap: rewriteToken(func(q tokenRequest, _ *answer) bool {
				return q.basic && q.Has("client_secret") && q.Get("client_secret") == ""
			},
				tokenError(http.StatusBadRequest, "invalid_request"))},
		{Name: "form-not-decoded", Breaks: []string{"TOK-16"},
			Why: "The body is split at & and = by hand, and percent-encoded values are not decoded.",
			// The wrap escapes the values once more, so that the node compares them as they were sent.
			Wrap: replaceRequest(func(r *http.Request, _ Env) *http.Request {
				q, ok := readTokenRequest(r)
				if !ok || strings.Contains(q.raw, "+") {
					return r
				}
				return withForm(r, strings.ReplaceAll(q.raw, "%", "%25"))
			}, Token)},
		{Name: "form-charset-refused", Breaks: []string{"TOK-16"},
			Why: "Content-Type must match exactly, so the charset parameter that fetch clients send is refused.",
			Wrap: rewrite(whenRequest(func(r *http.Request) bool { return strings.Contains(r.Header.Get("Content-Type"), ";") },
				tokenError(http.StatusUnsupportedMediaType, "invalid_request")), Token)},
		{Name: "token-redirected-to-slash", Breaks: []string{"TOK-17"},
			Why: "The token URL is redirected to the URL with a trailing slash, as by Django and some proxies.",
			Wrap: interceptIf(func(r *http.Request) bool { return !strings.HasSuffix(r.URL.Path, "/") },
				func(_ http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
					http.Redirect(w, r, r.URL.Path+"/", http.StatusPermanentRedirect)
				}, Token)},
		{Name: "issuing-revokes-earlier", Breaks: []string{"TOK-18"}, May: []string{"API-01"},
			Why:  "Each client has one token at a time: a new one revokes the one before.",
			Wrap: stateful(func() wrap { return keepNewest(1) })},
		{Name: "issuing-ends-oldest", Breaks: []string{"TOK-18"},
			Why:  "The newest eight tokens of each client are kept: one more ends the oldest, long before its stated end.",
			Wrap: stateful(func() wrap { return keepNewest(8) })},
	}
}

// keepNewest makes a wrap that keeps the newest tokens of each client, up to a number, and refuses earlier ones.
func keepNewest(most int) wrap {
	var kept memory[[]string]
	var revoked memory[bool]
	issue := rewriteToken(func(_ tokenRequest, a *answer) bool { return a.ok() }, func(a *answer) {
		a.editObject(func(body map[string]any) {
			client := a.form.Get("client_id")
			tokens, _ := kept.get(client)
			tokens = append(slices.Clone(tokens), text(body["access_token"]))
			if len(tokens) > most {
				revoked.put(tokens[0], true)
				tokens = tokens[1:]
			}
			kept.put(client, tokens)
		})
	})
	refuse := replaceRequest(func(r *http.Request, _ Env) *http.Request {
		if revoked.has(bearer(r)) {
			return withAuthorization(r, "Bearer revoked")
		}
		return r
	}, protectedKinds()...)
	return both(issue, refuse)
}

// storeRepeatedTokens makes a wrap that allows caches to store the token answers to a client, except its first.
func storeRepeatedTokens() wrap {
	var served memory[bool]
	return rewriteToken(func(q tokenRequest, a *answer) bool { return a.ok() }, func(a *answer) {
		if _, repeated := served.put(a.form.Get("client_id"), true); repeated {
			a.set("Cache-Control", "private, max-age=60")
		}
	})
}

// revocation is a request to revoke a token.
type revocation struct {
	token, client, hint string
}

// revokeOwn makes a wrap with a revocation endpoint where each client revokes its own tokens, if the request fits.
func revokeOwn(fits func(revocation) bool) wrap {
	return stateful(func() wrap {
		var revoked memory[bool]
		var owners memory[string]
		remember := rewriteToken(func(_ tokenRequest, a *answer) bool { return a.ok() }, func(a *answer) {
			edit(func(body map[string]any) { owners.put(text(body["access_token"]), a.client()) })(a)
		})
		return both(remember, serveRevocation(func(q revocation) {
			if owner, _ := owners.get(q.token); owner == q.client && fits(q) {
				revoked.put(q.token, true)
			}
		}, revoked.has))
	})
}

// serveRevocation makes a wrap that adds a revocation endpoint beside each token endpoint (RFC 7009), names it in the metadata, and says in the document
// that revoked tokens are refused. It calls revoke with each revocation. The node refuses a token as invalid if isRevoked reports true.
func serveRevocation(revoke func(revocation), isRevoked func(token string) bool) wrap {
	endpoint := func(token string) string { return strings.TrimSuffix(token, "/token") + "/revoke" }
	serve := func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, e := range env.Places.Endpoints() {
				if r.Method == http.MethodPost && r.URL.Path == endpoint(e.Token) {
					r.Body = http.MaxBytesReader(w, r.Body, maxForm)
					client, _, basic := r.BasicAuth()
					if !basic {
						client = r.PostFormValue("client_id")
					}
					revoke(revocation{r.PostFormValue("token"), client, r.PostFormValue("token_type_hint")})
					w.Header().Set("Cache-Control", "no-store")
					w.WriteHeader(http.StatusOK)
					return
				}
			}
			if token := bearer(r); token != "" && isRevoked(token) {
				r = withAuthorization(r, "Bearer revoked")
			}
			next.ServeHTTP(w, r)
		})
	}
	return both(serve, both(
		editMetadata(func(metadata map[string]any) {
			metadata["revocation_endpoint"] = endpoint(text(metadata["token_endpoint"]))
		}),
		editDocument(func(d apiDocument) {
			info := d.at("info")
			info["description"] = text(info["description"]) + " A client can revoke its tokens (RFC 7009). A revoked token is refused with 401."
		})))
}
