package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
)

// This file judges which token requests are refused, and with which code (TER-01, -02, -05 to -12).

// unlessLockedOut judges nothing when a good request was refused right after one that failed to authenticate the client.
func unlessLockedOut(check func(Evidence) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		for _, proof := range proofs() {
			x, sent := e.Get(proof)
			if !sent || tokenAnswered(x) {
				continue
			}
			after := attempt(exchange.Case(strings.TrimPrefix(string(proof.Case()), "ok-after-")))
			return Unclear(fmt.Sprintf("possible lockout: the good token request after %s got %s", after, describeError(x))).
				Hinting("wait until the authorization server, or what stands in front of it, lets the client in again, then repeat the run; raise the number of failed attempts it allows").
				Seen(x.Label)
		}
		return check(e)
	}
}

// gaveToken is the failure of an answer that holds a token although it must not.
func gaveToken(x exchange.Exchange, reason string) Judgement {
	return Failed(reason, "4xx without an access token", describeError(x)).about(x, "no access token", describeError(x))
}

func wrongSecretRefused(e Evidence) Judgement {
	return noToken(e.The(exchange.TokenEndpoint.With(exchange.WrongSecret)), "a wrong secret yields a token")
}

func idAloneRefused(e Evidence) Judgement {
	return noToken(e.The(exchange.TokenEndpoint.With(exchange.IDOnly)), "the client id alone yields a token")
}

// noToken passes every answer of the node without a token: its status and form are the business of TER-03 and TER-04.
func noToken(x exchange.Exchange, reason string) Judgement {
	if issued(x) {
		return gaveToken(x, reason)
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	return Passed(x.Label)
}

func wrongSecretNamed(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.WrongSecret))
	const expected = "error: \"invalid_client\""
	switch code := oauthError(x); code {
	case "invalid_client":
		return Passed(x.Label)
	case "":
		return Failed("the refusal of a wrong secret has no error code that a machine can read", expected, describe(x)).about(x, expected, describe(x))
	case "unauthorized_client":
		return Warned("a wrong secret is reported as unauthorized_client, as Keycloak does", expected, describeError(x)).about(x, expected, describeError(x))
	case "invalid_grant", "invalid_request":
		return Warned("a wrong secret is reported as "+code, expected, describeError(x)).about(x, expected, describeError(x))
	}
	return Failed("a wrong secret is reported with a code that means something else", expected, describeError(x)).about(x, expected, describeError(x))
}

func anonymousClientRefused(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.NoClient))
	if issued(x) {
		return gaveToken(x, "a request without any credentials yields a token")
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	const expected = "401 or 400 with error invalid_client"
	code := oauthError(x)
	switch {
	case slices.Contains([]string{"invalid_client", "invalid_request", "unauthorized_client"}, code),
		code == "" && x.Status() == 401: // an empty 401 of Spring Authorization Server; TER-04 judges the body
		return Passed(x.Label)
	}
	return Warned("a request without credentials is refused, but not as a failed authentication", expected, describeError(x)).about(x, expected, describeError(x))
}

// refusedAs judges a request that must be refused with 400 and one code. A strange status is left to TER-03 where that looks at it.
func refusedAs(x exchange.Exchange, want, granted, crashed, otherwise string) Judgement {
	expected := fmt.Sprintf("400 with error %s", want)
	if issued(x) {
		return gaveToken(x, granted)
	}
	if serverError(x) {
		return Failed(crashed, expected, describe(x)).about(x, expected, describe(x))
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	elsewhere := slices.Contains(tokenRefusals(), x.Label) && x.Status() != 401
	if oauthError(x) == want && (x.Status() == 400 || elsewhere) {
		return Passed(x.Label)
	}
	return Warned(otherwise, expected, describeError(x)).about(x, expected, describeError(x))
}

func missingGrantRefused(e Evidence) Judgement {
	return refusedAs(e.The(exchange.TokenEndpoint.With(exchange.NoGrantType)), "invalid_request",
		"a request without grant_type yields a token", "a request without grant_type crashes the token endpoint",
		"a request without grant_type is refused for another reason")
}

func unknownGrantRefused(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.UnknownGrantType))
	j := refusedAs(x, "unsupported_grant_type",
		"an unknown grant type yields a token", "an unknown grant type crashes the token endpoint",
		"an unknown grant type is refused for another reason")
	if j.Outcome == Warn && oauthError(x) == "" {
		return Failed("the refusal of an unknown grant type has no error code that a machine can read", j.Expected, j.Got).About(j.Subjects...)
	}
	return j
}

func repeatedParameterRefused(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.RepeatedGrantType))
	const expected = "400 with error invalid_request"
	if issued(x) {
		return Warned("a repeated parameter is accepted", expected, describeError(x)).about(x, expected, describeError(x))
	}
	return refusedAs(x, "invalid_request", "", "a repeated parameter crashes the token endpoint", "a repeated parameter is refused for another reason")
}

// unknownScope is what the probe asks for.
const unknownScope = "conformance.unknown"

func unknownScopeReported(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.UnknownScope))
	const expected = "400 with error invalid_scope, or a token answer with the scope that was granted"
	if !issued(x) {
		return refusedAs(x, "invalid_scope", "", "an unknown scope crashes the token endpoint", "an unknown scope is refused for another reason")
	}
	o, _ := jsonObject(x)
	scope, named := o["scope"].(string)
	switch {
	case !named:
		return Warned("a token was issued without saying that the scope was not granted", expected, describe(x)+" without scope").
			about(x, expected, describe(x)+" without scope")
	case slices.Contains(scopes(scope), unknownScope):
		return Failed("a scope that nobody defined is reported as granted", expected, "scope: "+quote(scope)).about(x, expected, "scope: "+quote(scope))
	}
	return Passed(x.Label)
}

func getYieldsNothing(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.Get))
	const expected = "405, or another 4xx"
	switch {
	case issued(x):
		return Failed("a GET without credentials yields a token", expected, describeError(x)).about(x, expected, describeError(x))
	case clientError(x) && !rateLimited(x): // also a page of something in front: no client can get a token by GET there
		return Passed(x.Label)
	case serverError(x):
		return Failed("a GET crashes the token endpoint", expected, describe(x)).about(x, expected, describe(x))
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	return Warned("a GET of the token URL is not refused", expected, describe(x)).about(x, expected, describe(x))
}
