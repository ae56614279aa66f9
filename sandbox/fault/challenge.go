package fault

import (
	"net/http"
	"slices"
	"strings"
)

// challengeDeviations break the refusals of missing and bad tokens.
func challengeDeviations() []Deviation {
	return []Deviation{
		{Name: "anonymous-without-challenge", Breaks: []string{"BRR-02"},
			Why:  "The 401 of an anonymous call has a JSON body and no WWW-Authenticate, as error handlers of Flask and Express send it.",
			Wrap: rewrite(when(isAnonymousRefusal, challenge("")), protectedKinds()...)},
		{Name: "anonymous-basic-challenge", Breaks: []string{"BRR-02"},
			Why:  "An anonymous call is asked for Basic credentials, the default of Spring Security with httpBasic.",
			Wrap: rewrite(when(isAnonymousRefusal, challenge(`Basic realm="ris"`)), protectedKinds()...)},
		{Name: "anonymous-status-403", Breaks: []string{"BRR-02"},
			Why:  "An anonymous call is answered 403, as by Spring Security without an entry point.",
			Wrap: rewrite(when(isAnonymousRefusal, setStatus(http.StatusForbidden)), protectedKinds()...)},
		{Name: "anonymous-invalid-token", Breaks: []string{"BRR-03"},
			Why:  "The challenge says invalid_token although no token was sent, so clients fetch tokens in a loop.",
			Wrap: rewrite(when(isAnonymousRefusal, challenge(`Bearer realm="ris", error="invalid_token"`)), protectedKinds()...)},
		{Name: "anonymous-error-explained", Breaks: []string{"BRR-03"},
			Why:  "The challenge explains an error although no token was sent.",
			Wrap: rewrite(when(isAnonymousRefusal, challenge(`Bearer realm="ris", error_description="no token"`)), protectedKinds()...)},
		{Name: "challenge-attribute-repeated", Breaks: []string{"BRR-04"},
			Why:  "Two layers add their error to the same challenge.",
			Wrap: rewrite(when(isTokenRefusal, challenge(`Bearer error="invalid_token", error="invalid_request"`)), protectedKinds()...)},
		{Name: "challenge-in-german", Breaks: []string{"BRR-04"},
			Why:  "The error_description of the challenge is localised and contains umlauts, which RFC 6750 does not allow.",
			Wrap: rewrite(when(isTokenRefusal, challenge(`Bearer error="invalid_token", error_description="ungültiges Token"`)), protectedKinds()...)},
		{Name: "challenge-unquoted", Breaks: []string{"BRR-04"},
			Why:  "The realm of the challenge contains a blank and is not quoted.",
			Wrap: rewrite(when(isTokenRefusal, challenge(`Bearer realm=research information, error="invalid_token"`)), protectedKinds()...)},
		{Name: "challenge-bare", Breaks: []string{"BRR-05"},
			Why:  "The challenge is only the word Bearer, the default of Spring Security.",
			Wrap: rewrite(when(isAnonymousRefusal, challenge("Bearer")), protectedKinds()...)},
		{Name: "bad-token-status-403", Breaks: []string{"BRR-07"},
			Why:  "A bad token is answered 403 without a challenge, as by gateways that ask an authorization service.",
			Wrap: rewrite(when(isTokenRefusal, inOrder(setStatus(http.StatusForbidden), challenge(""))), protectedKinds()...)},
		{Name: "bad-token-status-400", Breaks: []string{"BRR-07"},
			Why:  "A bad token is answered 400 with the right challenge.",
			Wrap: rewrite(when(isTokenRefusal, setStatus(http.StatusBadRequest)), protectedKinds()...)},
		{Name: "unreadable-token-crashes", Breaks: []string{"BRR-07", "ROB-01"},
			Why: "The library raises an error for a token that cannot be decoded, nothing catches it, and the node answers 500.",
			Wrap: rewrite(when(isUnreadableTokenRefusal, become(http.StatusInternalServerError, "application/json", `{"error":"internal"}`)),
				protectedKinds()...)},
		{Name: "bad-token-without-error", Breaks: []string{"BRR-08"},
			Why:  "The challenge for a bad token has only the realm, as in hand-written nginx configurations.",
			Wrap: rewrite(when(isTokenRefusal, challenge(`Bearer realm="ris"`)), protectedKinds()...)},
		{Name: "bad-token-invalid-request", Breaks: []string{"BRR-08"},
			Why:  "A bad token is called an invalid request, because it cannot be parsed.",
			Wrap: rewrite(when(isTokenRefusal, challenge(`Bearer realm="ris", error="invalid_request"`)), protectedKinds()...)},
		{Name: "bad-token-unknown-error", Breaks: []string{"BRR-08"},
			Why:  "The challenge for a bad token has an error code that only the library knows.",
			Wrap: rewrite(when(isTokenRefusal, challenge(`Bearer realm="ris", error="jwt_malformed"`)), protectedKinds()...)},
		{Name: "anonymous-invalid-token-on-detail", Breaks: []string{"BRR-03"},
			Why:  "Only the detail says invalid_token to callers without a token: its route has an entry point of its own.",
			Wrap: rewrite(when(isAnonymousRefusal, challenge(`Bearer realm="ris", error="invalid_token"`)), Detail)},
		{Name: "challenge-bare-on-list", Breaks: []string{"BRR-05"},
			Why:  "Only the challenge of the list is a bare Bearer: the service behind the list is configured by default.",
			Wrap: rewrite(when(isAnonymousRefusal, challenge("Bearer")), List)},
		{Name: "detail-forbidden-for-401", Breaks: []string{"BRR-02", "BRR-07"},
			Why:  "The detail answers 403 without a challenge to calls without a good token: its authentication class has no authenticate_header, as in Django REST framework.",
			Wrap: rewrite(when(func(a *answer) bool { return a.Status == http.StatusUnauthorized }, inOrder(setStatus(http.StatusForbidden), challenge(""))), Detail)},
		{Name: "bad-token-without-error-on-list", Breaks: []string{"BRR-08"},
			Why:  "Only the list has nothing but a realm in its challenge for a bad token: its gateway writes challenges itself.",
			Wrap: rewrite(when(isTokenRefusal, challenge(`Bearer realm="ris"`)), List)},
		{Name: "internal-call-without-challenge", Breaks: []string{"BRR-02"},
			Why:     "A call without a token that claims to come from an internal service is refused by another filter, which answers 401 without a challenge.",
			Example: func(good *http.Request) { good.Header.Del("Authorization"); good.Header.Set("X-Internal", "true") },
			Wrap: rewrite(when(func(a *answer) bool { return isAnonymousRefusal(a) && a.request.Header.Get("X-Internal") != "" },
				challenge("")), Info)},
		{Name: "long-token-without-challenge", Breaks: []string{"BRR-07"},
			Why:     "A token of more than 4 kB is refused before it is read, by a filter that answers 401 without a challenge.",
			Example: func(good *http.Request) { good.Header.Set("Authorization", "Bearer "+strings.Repeat("a", 5<<10)) },
			Wrap: rewrite(when(func(a *answer) bool { return isTokenRefusal(a) && len(bearer(a.request)) > 4<<10 },
				challenge("")), Info)},
	}
}

// isUnreadableTokenRefusal holds for refusals of a bearer token that has dots and cannot be parsed.
func isUnreadableTokenRefusal(a *answer) bool {
	token := bearer(a.request)
	_, readable := parseJWT(token)
	return isTokenRefusal(a) && strings.Contains(token, ".") && !readable
}

// bearerDeviations break the check of credentials at the API.
func bearerDeviations() []Deviation {
	return []Deviation{
		{Name: "info-open", Breaks: []string{"BRR-01"},
			Why:  "The info resource answers callers without a token, so it no longer tests the authorization.",
			Wrap: admitIf(isAnonymous, Info)},
		{Name: "anonymous-admitted", Breaks: []string{"BRR-01"},
			Why:  "Tokens are checked, but calls without a token pass: the identity provider is not configured, or the check is optional.",
			Wrap: admitIf(isAnonymous, protectedKinds()...)},
		{Name: "anonymous-refused-with-200", Breaks: []string{"BRR-01"},
			Why:  "The body refuses anonymous calls, and the status is 200.",
			Wrap: rewrite(when(isAnonymousRefusal, setStatus(http.StatusOK)), protectedKinds()...)},
		{Name: "any-token-accepted", Breaks: []string{"BRR-06"},
			Why:  "Any bearer value that is not empty passes: only the presence of the header is checked.",
			Wrap: admitIf(hasToken, protectedKinds()...)},
		{Name: "three-parts-accepted", Breaks: []string{"BRR-06"},
			Why:  "Any value with two dots passes as a JWT: the node relies on a gateway to verify the signature, and there is no gateway.",
			Wrap: admitIf(func(r *http.Request) bool { return strings.Count(bearer(r), ".") == 2 }, protectedKinds()...)},
		{Name: "unreadable-token-admitted", Breaks: []string{"BRR-06"},
			Why: "Verification fails open: when a token cannot be decoded, the error is logged and the call continues.",
			Wrap: admitIf(func(r *http.Request) bool {
				_, readable := parseJWT(bearer(r))
				return hasToken(r) && !readable
			}, protectedKinds()...)},
		{Name: "signature-not-verified", Breaks: []string{"BRR-09"}, May: []string{"API-08"},
			Why:  "The payload of the token is decoded and trusted without verifying the signature: jwt.decode instead of jwt.verify.",
			Wrap: replaceRequest(trustUnexpired, protectedKinds()...)},
		{Name: "signature-verified-in-part", Breaks: []string{"BRR-09"}, May: []string{"API-08"},
			Why: "Signatures of tokens that were verified before are compared by their first characters, so the end of a signature does not matter.",
			Wrap: acceptSimilarTokens(func(seen, given string) bool {
				return len(given) >= 40 && strings.HasPrefix(seen, given[:40])
			})},
		{Name: "verified-tokens-kept-by-payload", Breaks: []string{"BRR-09"}, May: []string{"API-08"},
			Why:  "The cache of verified tokens is keyed by the payload, so any signature passes after one good call.",
			Wrap: acceptSimilarTokens(func(string, string) bool { return true })},
		{Name: "empty-token-admitted", Breaks: []string{"BRR-11"},
			Why: "The word Bearer without a token skips the validation: the code splits the header and checks only existing parts.",
			Wrap: admitIf(func(r *http.Request) bool {
				return strings.EqualFold(strings.TrimSpace(r.Header.Get("Authorization")), "Bearer")
			}, protectedKinds()...)},
		{Name: "empty-token-crashes", Breaks: []string{"BRR-11"},
			Why:  "The word Bearer without a token fails with 500: split(' ')[1] is out of range.",
			Wrap: rewrite(when(isEmptyTokenRefusal, setStatus(http.StatusInternalServerError)), protectedKinds()...)},
		{Name: "empty-token-forbidden", Breaks: []string{"BRR-11"},
			Why:  "The word Bearer without a token is answered 403.",
			Wrap: rewrite(when(isEmptyTokenRefusal, setStatus(http.StatusForbidden)), protectedKinds()...)},
		{Name: "scheme-ignored", Breaks: []string{"BRR-12", "API-08"},
			Why: "Everything after the first blank of Authorization is the token, whatever the scheme.",
			Wrap: replaceRequest(func(r *http.Request, _ Env) *http.Request {
				if _, token := credential(r); token != "" {
					return withAuthorization(r, "Bearer "+token)
				}
				return r
			}, protectedKinds()...)},
		{Name: "basic-admitted", Breaks: []string{"BRR-12"},
			Why: "Any Basic credentials pass, left over from the time of one password for all.",
			Wrap: admitIf(func(r *http.Request) bool {
				scheme, rest := credential(r)
				return strings.EqualFold(scheme, "Basic") && rest != ""
			}, protectedKinds()...)},
		{Name: "scheme-case-sensitive", Breaks: []string{"BRR-13"},
			Why:  "Only the exact word Bearer is accepted as the scheme, as with startsWith(\"Bearer \").",
			Wrap: acceptSchemes("Bearer")},
		{Name: "scheme-upper-case-refused", Breaks: []string{"BRR-13"},
			Why:  "Bearer and bearer are accepted, BEARER is not: the spellings are listed one by one.",
			Wrap: acceptSchemes("Bearer", "bearer")},
		{Name: "long-token-admitted", Breaks: []string{"BRR-06"},
			Why:  "A token of more than 4 kB passes: introspection refuses such a request, and the filter takes the error for a good answer.",
			Wrap: admitIf(func(r *http.Request) bool { return len(bearer(r)) > 4<<10 }, Info)},
		{Name: "anonymous-sent-to-login", Breaks: []string{"BRR-01"},
			Why: "A call without a token is redirected to the login page of the web application, as by oauth2Login() in Spring Security.",
			Wrap: rewrite(when(isAnonymousRefusal, func(a *answer) {
				a.become(http.StatusFound, "", "")
				a.set("Location", "https://sso.node.invalid/login")
			}), protectedKinds()...)},
		{Name: "anonymous-crashes", Breaks: []string{"BRR-01"},
			Why:  "A call without a token fails with 500: the code reads the header and does not check whether it is there.",
			Wrap: rewrite(when(isAnonymousRefusal, crash), protectedKinds()...)},
		{Name: "anonymous-detail-sent-to-login", Breaks: []string{"API-08"},
			Why: "A call of the detail without a token is redirected to a login page: its page for people has the same address.",
			Wrap: rewrite(when(isAnonymousRefusal, func(a *answer) {
				a.become(http.StatusFound, "", "")
				a.set("Location", "https://sso.node.invalid/login")
			}), Detail)},
		{Name: "anonymous-detail-crashes", Breaks: []string{"API-08"},
			Why:  "A call of the detail without a token fails with 500: the log entry needs the caller's name.",
			Wrap: rewrite(when(isAnonymousRefusal, crash), Detail)},
		{Name: "challenge-missing-on-detail", Breaks: []string{"BRR-02", "BRR-07"},
			Why:  "A 401 of the detail has no WWW-Authenticate: its route has an error handler of its own.",
			Wrap: rewrite(when(func(a *answer) bool { return a.Status == http.StatusUnauthorized }, challenge("")), Detail)},
	}
}

// isEmptyTokenRefusal holds for refusals of the word Bearer without a token.
func isEmptyTokenRefusal(a *answer) bool {
	scheme, token := credential(a.request)
	return !a.ok() && strings.EqualFold(scheme, "Bearer") && token == ""
}

// acceptSchemes makes a wrap that drops the credentials of a request unless their scheme has one of the spellings.
func acceptSchemes(spellings ...string) wrap {
	return replaceRequest(func(r *http.Request, _ Env) *http.Request {
		if scheme, _ := credential(r); isAnonymous(r) || slices.Contains(spellings, scheme) {
			return r
		}
		changed := r.Clone(r.Context())
		changed.Header.Del("Authorization")
		return changed
	}, protectedKinds()...)
}

// trustUnexpired admits the client that the payload of a token names, without verifying the signature, unless the token has expired.
func trustUnexpired(r *http.Request, env Env) *http.Request {
	t, ok := parseJWT(bearer(r))
	if !ok || float64(env.Now().Unix()) >= t.seconds("exp") {
		return r
	}
	return env.admitAs(r, t.client())
}

// acceptSimilarTokens makes a wrap that remembers the signatures of accepted tokens by header and payload. It also admits tokens with the same
// header and payload and a similar signature.
func acceptSimilarTokens(similar func(seen, given string) bool) wrap {
	return stateful(func() wrap {
		var accepted memory[string]
		return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			t, ok := parseJWT(bearer(r))
			if seen, known := accepted.get(t.input); ok && known && similar(seen, t.signature) {
				next.ServeHTTP(w, trustUnexpired(r, env))
				return
			}
			a := capture(next, r)
			if ok && a.ok() {
				accepted.put(t.input, t.signature)
			}
			a.send(w, r)
		}, protectedKinds()...)
	})
}
