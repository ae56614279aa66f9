package deviation

import (
	"net/http"
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
			Wrap: rewrite(when(refusedToken, func(_ *http.Request, a *Answer) {
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
			Wrap: rewrite(when(unreadableToken, func(_ *http.Request, a *Answer) {
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
func unreadableToken(r *http.Request, a *Answer) bool {
	_, readable := unverified(r)
	return refusedToken(r, a) && strings.Contains(bearer(r), ".") && !readable
}
