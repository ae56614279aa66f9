package fault

import (
	"net/http"
	"slices"
	"strings"
)

// challengeDeviations break how a missing or bad token is refused.
func challengeDeviations() []Deviation {
	return []Deviation{
		{
			Name: "anonymous-without-challenge", Breaks: []string{"BRR-02"},
			Why:  "The 401 of an anonymous call has a JSON body and no WWW-Authenticate, as error handlers of Flask and Express send it.",
			Wrap: rewrite(when(refusedAnonymous, field("WWW-Authenticate", "")), protected()...),
		},
		{
			Name: "anonymous-basic-challenge", Breaks: []string{"BRR-02"},
			Why:  "An anonymous call is asked for Basic credentials, the default of Spring Security with httpBasic.",
			Wrap: rewrite(when(refusedAnonymous, field("WWW-Authenticate", `Basic realm="ris"`)), protected()...),
		},
		{
			Name: "anonymous-status-403", Breaks: []string{"BRR-02"},
			Why:  "An anonymous call is answered 403, as Spring Security does without an entry point.",
			Wrap: rewrite(when(refusedAnonymous, status(http.StatusForbidden)), protected()...),
		},
		{
			Name: "anonymous-invalid-token", Breaks: []string{"BRR-03"},
			Why:  "The challenge says invalid_token although no token came, so that clients fetch tokens in a loop.",
			Wrap: rewrite(when(refusedAnonymous, field("WWW-Authenticate", `Bearer realm="ris", error="invalid_token"`)), protected()...),
		},
		{
			Name: "anonymous-error-explained", Breaks: []string{"BRR-03"},
			Why:  "The challenge explains an error although no token came.",
			Wrap: rewrite(when(refusedAnonymous, field("WWW-Authenticate", `Bearer realm="ris", error_description="no token"`)), protected()...),
		},
		{
			Name: "challenge-attribute-repeated", Breaks: []string{"BRR-04"},
			Why:  "Two layers add their error to the same challenge.",
			Wrap: rewrite(when(refusedToken, field("WWW-Authenticate", `Bearer error="invalid_token", error="invalid_request"`)), protected()...),
		},
		{
			Name: "challenge-in-german", Breaks: []string{"BRR-04"},
			Why:  "The error_description of the challenge is localised and has umlauts, which headers cannot carry.",
			Wrap: rewrite(when(refusedToken, field("WWW-Authenticate", `Bearer error="invalid_token", error_description="ungültiges Token"`)), protected()...),
		},
		{
			Name: "challenge-unquoted", Breaks: []string{"BRR-04"},
			Why:  "The realm stands in the challenge without quotes and has a blank.",
			Wrap: rewrite(when(refusedToken, field("WWW-Authenticate", `Bearer realm=research information, error="invalid_token"`)), protected()...),
		},
		{
			Name: "challenge-bare", Breaks: []string{"BRR-05"},
			Why:  "The challenge is the word Bearer alone, the default of Spring Security.",
			Wrap: rewrite(when(refusedAnonymous, field("WWW-Authenticate", "Bearer")), protected()...),
		},
		{
			Name: "bad-token-status-403", Breaks: []string{"BRR-07"},
			Why: "A bad token is answered 403 without a challenge, as gateways do that ask an authorization service.",
			Wrap: rewrite(when(refusedToken, func(_ *http.Request, a *editableAnswer) {
				a.restate(http.StatusForbidden)
				a.challenge("")
			}), protected()...),
		},
		{
			Name: "bad-token-status-400", Breaks: []string{"BRR-07"},
			Why:  "A bad token is answered 400 with the right challenge.",
			Wrap: rewrite(when(refusedToken, status(http.StatusBadRequest)), protected()...),
		},
		{
			Name: "unreadable-token-crashes", Breaks: []string{"BRR-07", "ROB-01"},
			Why: "The library raises an error for a token that cannot be decoded, nobody catches it, and the node answers 500.",
			Wrap: rewrite(when(unreadableToken, func(_ *http.Request, a *editableAnswer) {
				a.become(http.StatusInternalServerError, "application/json", `{"error":"internal"}`)
			}), protected()...),
		},
		{
			Name: "bad-token-without-error", Breaks: []string{"BRR-08"},
			Why:  "The challenge for a bad token has only the realm, as nginx configurations write it by hand.",
			Wrap: rewrite(when(refusedToken, field("WWW-Authenticate", `Bearer realm="ris"`)), protected()...),
		},
		{
			Name: "bad-token-invalid-request", Breaks: []string{"BRR-08"},
			Why:  "A bad token is called an invalid request, because it does not parse.",
			Wrap: rewrite(when(refusedToken, field("WWW-Authenticate", `Bearer realm="ris", error="invalid_request"`)), protected()...),
		},
		{
			Name: "bad-token-unknown-error", Breaks: []string{"BRR-08"},
			Why:  "The challenge for a bad token has an error code of the library's own.",
			Wrap: rewrite(when(refusedToken, field("WWW-Authenticate", `Bearer realm="ris", error="jwt_malformed"`)), protected()...),
		},
	}
}

// unreadableToken holds for refusals of a bearer token that cannot be taken apart.
func unreadableToken(r *http.Request, a *editableAnswer) bool {
	_, readable := unverified(r)
	return refusedToken(r, a) && strings.Contains(bearer(r), ".") && !readable
}

// bearerDeviations break the check of the credentials that come to the API.
func bearerDeviations() []Deviation {
	return []Deviation{
		{
			Name: "info-open", Breaks: []string{"BRR-01"},
			Why:  "The info resource answers callers without a token, so that it no longer tests the authorization.",
			Wrap: admit(anonymous, Info),
		},
		{
			Name: "anonymous-admitted", Breaks: []string{"BRR-01"},
			Why:  "Tokens are checked when they come, and calls without one pass: the identity provider is not configured, or the check is optional.",
			Wrap: admit(anonymous, protected()...),
		},
		{
			Name: "anonymous-refused-with-200", Breaks: []string{"BRR-01"},
			Why:  "Anonymous calls are refused in words only, with the status 200.",
			Wrap: rewrite(when(refusedAnonymous, status(http.StatusOK)), protected()...),
		},
		{
			Name: "any-token-accepted", Breaks: []string{"BRR-06"},
			Why:  "Any bearer value that is not empty passes: the presence of the header is the check.",
			Wrap: admit(func(r *http.Request) bool { return bearer(r) != "" }, protected()...),
		},
		{
			Name: "three-parts-accepted", Breaks: []string{"BRR-06"},
			Why:  "Whatever has two dots passes as a JWT, because its signature is to be verified by a gateway that is not there.",
			Wrap: admit(func(r *http.Request) bool { return strings.Count(bearer(r), ".") == 2 }, protected()...),
		},
		{
			Name: "unreadable-token-admitted", Breaks: []string{"BRR-06"},
			Why: "Verification fails open: when a token cannot be decoded the error is logged and the call goes on.",
			Wrap: admit(func(r *http.Request) bool {
				_, readable := unverified(r)
				return bearer(r) != "" && !readable
			}, protected()...),
		},
		{
			Name: "signature-not-verified", Breaks: []string{"BRR-09"},
			Why: "The payload of the token is decoded and believed, its signature is not verified: jwt.decode in place of jwt.verify.",
			Wrap: readmit(func(r *http.Request, env Env) *http.Request {
				if token, ok := unverified(r); ok {
					return env.believe(r, token)
				}
				return r
			}, protected()...),
		},
		{
			Name: "signature-verified-in-part", Breaks: []string{"BRR-09"},
			Why: "Known tokens are compared by their first characters, so that the end of the signature does not matter.",
			Wrap: recognising(func(seen, given string) bool {
				return len(given) >= 40 && strings.HasPrefix(seen, given[:40])
			}),
		},
		{
			Name: "verified-tokens-kept-by-payload", Breaks: []string{"BRR-09"},
			Why:  "The cache of verified tokens is keyed by the payload, so that after one good call any signature passes.",
			Wrap: recognising(func(string, string) bool { return true }),
		},
		{
			Name: "empty-token-admitted", Breaks: []string{"BRR-11"},
			Why: "The word Bearer without a token skips the validation: the code splits the header and checks what is there.",
			Wrap: admit(func(r *http.Request) bool {
				return strings.EqualFold(strings.TrimSpace(r.Header.Get("Authorization")), "Bearer")
			}, protected()...),
		},
		{
			Name: "empty-token-crashes", Breaks: []string{"BRR-11"},
			Why:  "The word Bearer without a token fails with 500: split(' ')[1] is out of range.",
			Wrap: rewrite(when(emptyToken, status(http.StatusInternalServerError)), protected()...),
		},
		{
			Name: "empty-token-forbidden", Breaks: []string{"BRR-11"},
			Why:  "The word Bearer without a token is answered 403.",
			Wrap: rewrite(when(emptyToken, status(http.StatusForbidden)), protected()...),
		},
		{
			Name: "scheme-ignored", Breaks: []string{"BRR-12"},
			Why: "What follows the first blank of Authorization is the token, whatever the scheme.",
			Wrap: readmit(func(r *http.Request, _ Env) *http.Request {
				if _, token := credential(r); token != "" {
					return authorized(r, "Bearer "+token)
				}
				return r
			}, protected()...),
		},
		{
			Name: "basic-admitted", Breaks: []string{"BRR-12"},
			Why: "Any Basic credentials pass, left over from the days of one password for all.",
			Wrap: admit(func(r *http.Request) bool {
				scheme, rest := credential(r)
				return strings.EqualFold(scheme, "Basic") && rest != ""
			}, protected()...),
		},
		{
			Name: "scheme-case-sensitive", Breaks: []string{"BRR-13"},
			Why:  "Only the exact word Bearer is taken for the scheme, as startsWith(\"Bearer \") does.",
			Wrap: readmit(withSchemes("Bearer"), protected()...),
		},
		{
			Name: "scheme-upper-case-refused", Breaks: []string{"BRR-13"},
			Why:  "Bearer and bearer are known, BEARER is not: the spellings are listed one by one.",
			Wrap: readmit(withSchemes("Bearer", "bearer"), protected()...),
		},
	}
}

// emptyToken holds for refusals of the word Bearer without a token.
func emptyToken(r *http.Request, a *editableAnswer) bool {
	scheme, token := credential(r)
	return !a.ok() && strings.EqualFold(scheme, "Bearer") && token == ""
}

// withSchemes drops credentials whose scheme is not spelled in one of the ways.
func withSchemes(spellings ...string) func(*http.Request, Env) *http.Request {
	return func(r *http.Request, _ Env) *http.Request {
		if scheme, _ := credential(r); anonymous(r) || slices.Contains(spellings, scheme) {
			return r
		}
		other := r.Clone(r.Context())
		other.Header.Del("Authorization")
		return other
	}
}

// recognising makes a Wrap that remembers the signatures of tokens that were accepted, by header and payload, and admits
// later ones that are like enough.
func recognising(alike func(seen, given string) bool) wrap {
	return func(next http.Handler, env Env) http.Handler {
		var accepted memory[string]
		return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			token, ok := unverified(r)
			if seen, known := accepted.get(token.payload); ok && known && alike(seen, token.signature) {
				next.ServeHTTP(w, env.believe(r, token))
				return
			}
			a := capture(next, r)
			if ok && a.ok() {
				accepted.put(token.payload, token.signature)
			}
			a.send(w, r)
		}, protected()...)(next, env)
	}
}
