package requirement

import (
	"fmt"

	"github.com/rin-network/rin/conformance/exchange"
)

// This file judges further requests that must yield a token (TOK-13 to TOK-18).

// yields judges a variant of the good token request that must be answered with a token. A 5xx is a fault of the node here,
// because the good request works in the same run.
func yields(x exchange.Exchange, reason string) Judgement {
	if tokenAnswered(x) {
		return Passed(x.Label)
	}
	if !serverError(x) {
		if j, unclear := unclearIfNoVerdict(x); unclear {
			return j
		}
	}
	const expected = "200 with an access token, as without the change"
	return Failed(reason, expected, describeError(x)).about(x, expected, describeError(x))
}

// tokenAnswered is a 2xx with a token.
func tokenAnswered(x exchange.Exchange) bool {
	_, ok := tokenIn(x)
	return ok && success(x)
}

func basicSupported(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.Basic))
	raw := e.The(exchange.TokenEndpoint.With(exchange.BasicUnencoded))
	const expected = "200 with an access token"
	if tokenAnswered(x) {
		return Passed(x.Label)
	}
	if tokenAnswered(raw) {
		return Unclear("HTTP Basic works only with id and secret as they are, not form-encoded as RFC 6749 §2.3.1 wants it").Blaming(Node).
			Hinting("decode id and secret as form values after decoding Basic").about(x, expected, describeError(x)).Seen(raw.Label)
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	if code := oauthError(x); refused(x) && (code == "invalid_client" || code == "unauthorized_client") {
		return Warned("this client can't authenticate by HTTP Basic", expected, describeError(x)).about(x, expected, describeError(x))
	}
	return Failed("the token endpoint does not read HTTP Basic", expected, describeError(x)).about(x, expected, describeError(x))
}

func unknownParameterIgnored(e Evidence) Judgement {
	return yields(e.The(exchange.TokenEndpoint.With(exchange.UnknownParameter)), "an unknown parameter makes the token request fail")
}

func emptyParameterOmitted(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.EmptyScope))
	if refused(x) && oauthError(x) == "invalid_scope" {
		const expected = "200 with an access token, as without a scope"
		return Warned("an empty scope is looked up like a scope and refused, as Keycloak does", expected, describeError(x)).about(x, expected, describeError(x))
	}
	return yields(x, "an empty scope makes the token request fail")
}

func formDecoded(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.PercentEncoded))
	j := yields(x, "percent-encoded values of the form are not understood")
	if j.Outcome == Fail && x.Status() == 415 {
		return j.Hinting("accept Content-Type: application/x-www-form-urlencoded; charset=UTF-8, as fetch clients send it")
	}
	return j
}

func tokenDirect(e Evidence) Judgement {
	x := e.The(exchange.TokenEndpoint.With(exchange.OK))
	const expected = "an answer without a redirect"
	switch {
	case len(x.Redirects) > 0:
		hop := x.Redirects[0]
		got := clip(fmt.Sprintf("%d to %s", hop.Status, hop.Location))
		return Failed("the token URL is redirected; many clients don't send credentials on, or change POST to GET", expected, got).about(x, expected, got)
	case redirected(x):
		return Failed("the token URL is redirected, and nothing was sent on", expected, describe(x)).about(x, expected, describe(x))
	}
	return Passed(x.Label)
}

func repeatedTokens(e Evidence) Judgement {
	for _, l := range atToken(exchange.Repeat1, exchange.Repeat2, exchange.Repeat3) {
		x := e.The(l)
		if tokenAnswered(x) {
			continue
		}
		if j, unclear := unclearIfNoVerdict(x); unclear {
			return j
		}
		const expected = "200 with an access token, each time"
		return Failed("a repeated token request was refused", expected, describeError(x)).about(x, expected, describeError(x))
	}
	return firstTokenLives(e)
}

// firstTokenLives asks whether the first token of the run was still good after the repeated requests.
func firstTokenLives(e Evidence) Judgement {
	labels := e.Resolve(exchange.ProbeTarget.With(exchange.FirstToken))
	if len(labels) == 0 {
		return Judgement{Outcome: Blocked, BlockedBy: "BRR-01", Reason: "the repeated requests were answered, but there is no protected resource to try the first token on"}
	}
	if j, lacking := e.lacking(labels[0]); lacking {
		return j
	}
	x, good := e.The(labels[0]), e.The(exchange.ProbeTarget.With(exchange.OK))
	if success(x) {
		return Passed(atToken(exchange.Repeat1, exchange.Repeat2, exchange.Repeat3)...).Seen(x.Label)
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	first := e.The(exchange.TokenEndpoint.With(exchange.OK))
	switch {
	case !success(good):
		return Unclear("the first token is refused, but so was the call with a fresh one").Seen(x.Label, good.Label)
	case expiredBy(first, x):
		return Unclear("the first token had expired before it was tried again").Seen(x.Label)
	}
	const expected = "2xx: the token lives until its own expiry"
	return Failed("the first token stopped working once others were issued", expected, describe(x)).about(x, expected, describe(x))
}
