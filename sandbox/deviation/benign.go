package deviation

import (
	"net/http"
	"slices"
	"strings"
)

// Benign lists the deviations that break nothing: unusual behaviour that a correct node may have, as well-known software does. They
// stand in the order of the layers that they belong to, from the wire to the records; a node that has several has them in this order.
func Benign() []Deviation {
	return slices.Concat(
		connectionHabits(), wireHabits(), gatewayHabits(), headerHabits(), notationHabits(),
		tokenHabits(), claimHabits(), tokenErrorHabits(), metadataHabits(),
		challengeHabits(), refusalHabits(), methodHabits(),
		infoHabits(), documentHabits(), listHabits(), recordHabits(),
	)
}

// everywhere lists the kinds of everything that a run looks at; the try-out space is not among them.
func everywhere() []Kind { return []Kind{Token, Info, Spec, FundingList, FundingDetail, Registry} }

// outside makes a Wrap that hands requests to do that have no kind of their own: paths that lead nowhere, metadata and keys.
// The try-out space is left alone.
func outside(do handle) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			if below(r.URL.Path, env.Places.TryOut().API()) {
				next.ServeHTTP(w, r)
				return
			}
			do(next, env, w, r)
		}, Other)(next, env)
	}
}

// both makes a Wrap of two, the first before the second.
func both(outer, inner wrap) wrap {
	return func(next http.Handler, env Env) http.Handler { return outer(inner(next, env), env) }
}

// list adds a member to a header field that is a list.
func (a *Answer) list(name string, member string) {
	if have := strings.Join(a.Header.Values(name), ", "); have != "" {
		member = have + ", " + member
	}
	a.set(name, member)
}
