package requirement

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
)

// forged makes the check that tokens of these cases are refused by the probe target. A case that was not possible, such as borrowing
// a kid where there is none, is left out; without any the requirement does not apply.
func forged(cases ...exchange.Case) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		if e.Roles.ProbeTarget == "" {
			return Missing("this run has no " + roleName(withToken()))
		}
		var parts []Judgement
		for _, c := range cases {
			label := e.Roles.ProbeTarget.With(c)
			if j, lacks := e.lacking(label); lacks {
				parts = append(parts, j)
				continue
			}
			x, good := target(e, c)
			parts = append(parts, refusal("the call "+manner(c), x, good))
		}
		return applicable(parts...)
	}
}

// applicable is [gather] for parts of which those that do not apply have one cause: it is told once.
func applicable(parts ...Judgement) Judgement {
	if j := gather(parts...); j.Outcome != NotApplicable || len(parts) == 0 {
		return j
	}
	return parts[0]
}

// verifiesWithPublished reads what was found out where keys and token were both known.
func verifiesWithPublished(e Evidence) Judgement {
	_, t, j, ok := jwtOf(e)
	if !ok {
		return j
	}
	if alg, _ := t.Header["alg"].(string); strings.HasPrefix(strings.ToUpper(alg), "HS") {
		return Missing("the token is signed with a symmetric key, which can't be published").Seen(issuedToken())
	}
	first := exchange.KeySet.With(exchange.Published)
	if j, lacks := e.lacking(first); lacks {
		return j
	}
	x := e.The(first)
	if again, sent := e.Get(exchange.KeySet.With(exchange.Refetched)); sent && again.Answered() {
		x = again
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	const expected = "a published key that verifies the token's signature"
	v := x.Verification
	switch {
	case !success(x):
		return Failed("the key set that the metadata names can't be read", expected, describe(x)).about(x, expected, describe(x))
	case v == nil:
		return Unclear("the recording does not say what the keys make of the token").Blaming(Suite).Seen(x.Label)
	case !v.Verified:
		return Failed("the published keys do not verify the token: "+clip(v.Why), expected, fmt.Sprintf("%d keys, none of which does", v.Keys)).
			about(x, expected, clip(v.Why))
	}
	return Passed(x.Label)
}
