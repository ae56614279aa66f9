package deviation

import (
	"net/http"
	"slices"
	"strings"
)

// isolationDeviations accept tokens of other issuers, environments and audiences (ISO).
func isolationDeviations() []Deviation {
	return []Deviation{
		{
			Name: "unknown-kid-not-verified", Breaks: []string{"ISO-01"},
			Why:  "The signature is not verified when the key set lacks the kid: the lookup yields nothing, and nothing is an error.",
			Wrap: believing(func(p parts, env Env) bool { return !env.ownKey(p) }),
		},
		{
			Name: "issuer-alone-checked", Breaks: []string{"ISO-01"},
			Why: "A kid that is not known yet is taken for a new key of the issuer, so that a copied iss is enough.",
			Wrap: believing(func(p parts, env Env) bool {
				return !env.ownKey(p) && env.forThisNode(p) && p.claims["iss"] != "https://conformance.invalid"
			}),
		},
		{
			Name: "unknown-issuer-passed-on", Breaks: []string{"ISO-01"},
			Why: "Tokens of issuers that are not known are left to a service behind the node, which does not look at them.",
			Wrap: believing(func(p parts, _ Env) bool {
				return p.claims["iss"] == "https://conformance.invalid"
			}),
		},
		{
			Name: "staging-token-accepted", Breaks: []string{"ISO-02"},
			Why: "Staging and production sign with the same key, and nobody compares iss.",
			Wrap: admitting(func(p parts, env Env) bool {
				iss, _ := p.claims["iss"].(string)
				return strings.HasSuffix(iss, env.Places.Staging().Root)
			}),
		},
		{
			Name: "aud-ignored", Breaks: []string{"ISO-03"},
			Why:  "Signature and issuer are verified, and aud is not looked at: a token for any service of the operator opens this one.",
			Wrap: believing(func(p parts, env Env) bool { return env.ownKey(p) && !env.forThisNode(p) }),
		},
		{
			Name: "aud-ignored-for-details", Breaks: []string{"ISO-03"},
			Why:  "The route of a single funding has a filter of its own that does not look at aud.",
			Wrap: believing(func(p parts, env Env) bool { return env.ownKey(p) && !env.forThisNode(p) }, FundingDetail),
		},
	}
}

// ownKey tells whether a token names the key that the node signs with.
func (e Env) ownKey(p parts) bool {
	sample, err := e.Sign(nil, map[string]any{})
	own, ok := apart(sample)
	return err == nil && ok && p.header["kid"] == own.header["kid"]
}

// forThisNode tells whether the node's API is among the audiences of a token.
func (e Env) forThisNode(p parts) bool {
	audiences, _ := p.claims["aud"].([]any)
	if one, isText := p.claims["aud"].(string); isText {
		audiences = []any{one}
	}
	return slices.ContainsFunc(audiences, func(a any) bool {
		text, _ := a.(string)
		return strings.HasSuffix(text, e.Places.API()) && !strings.HasSuffix(text, e.Places.Staging().API())
	})
}

// admitting makes a Wrap that admits the first client when the parts of a token fit.
func admitting(fits func(p parts, env Env) bool) wrap {
	return readmit(func(r *http.Request, env Env) *http.Request {
		if p, ok := apart(bearer(r)); ok && fits(p, env) {
			return env.admit(r)
		}
		return r
	}, protected()...)
}
