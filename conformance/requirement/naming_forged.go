package requirement

import "github.com/rin-network/rin/conformance/exchange"

// forgedManner says in words what was particular about a token that its node did not issue for the call; empty for other cases.
func forgedManner(c exchange.Case) string {
	switch c {
	case exchange.AlgNone:
		return "with a token rewritten to alg none"
	case exchange.AlgNoneTitle:
		return "with a token rewritten to alg None"
	case exchange.AlgNoneUpper:
		return "with a token rewritten to alg NONE"
	case exchange.SignatureCut:
		return "with the token without its signature"
	case exchange.SignatureZero:
		return "with the token under a signature of zero bytes"
	case exchange.HMACPEM:
		return "with a token under HS256 and the public key in PEM"
	case exchange.HMACPEMTrim:
		return "with a token under HS256 and the public key in PEM without its last newline"
	case exchange.HMACJWK:
		return "with a token under HS256 and the public key as JWK"
	case exchange.EmbeddedKey:
		return "with a forged token and its key in the header (jwk)"
	case exchange.NamedKeySet:
		return "with a forged token and a key set named in the header (jku)"
	case exchange.BorrowedKID:
		return "with a forged token under the kid of the node's key"
	case exchange.ForeignKey:
		return "with a forged token that copies all claims"
	case exchange.ForeignIssuer:
		return "with a forged token of the issuer https://conformance.invalid"
	case exchange.StagingToken:
		return "with a staging token"
	case exchange.OtherAudience:
		return "with a token meant for another audience"
	case exchange.Expired:
		return "with an expired token"
	case exchange.ExpiredAgain:
		return "with an expired token, a minute later"
	case exchange.TokenInQuery:
		return "with the token in the query"
	}
	return ""
}

// askedElsewhere names requests to other endpoints than those of the node's API; empty for other resources.
func askedElsewhere(l exchange.Label) string {
	switch l {
	case exchange.TokenEndpoint.With(exchange.Throwaway):
		return "the request for a throw-away token"
	case exchange.TokenEndpoint.With(exchange.ToExpire):
		return "the request for a token that is to expire"
	}
	switch l.Resource() {
	case exchange.OtherClient:
		return "the token request of the client of another audience"
	case exchange.StagingEndpoint:
		return "the token request to the staging environment"
	case exchange.KeySet:
		return "the request for the published keys"
	}
	for _, m := range metadataLabels() {
		if l == m {
			return "the request for the metadata"
		}
	}
	return ""
}
