package deviation

import (
	"net/http"
	"slices"
)

// wrap is what Deviation.Wrap holds.
type wrap = func(next http.Handler, env Env) http.Handler

// change alters the node's answer to r.
type change func(r *http.Request, a *Answer)

// handle answers a request in the node's place, or lets next do so.
type handle func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request)

// around makes a Wrap that hands requests of the kinds to do, and all others to the node.
func around(do handle, kinds ...Kind) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !slices.Contains(kinds, env.Classify(r)) {
				next.ServeHTTP(w, r)
				return
			}
			do(next, env, w, r)
		})
	}
}

// rewrite makes a Wrap that changes the answers to requests of the kinds.
func rewrite(alter change, kinds ...Kind) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		alter(r, a)
		a.send(w, r)
	}, kinds...)
}

// readmit makes a Wrap that lets replace put another request in the place of those of the kinds.
func readmit(replace func(r *http.Request, env Env) *http.Request, kinds ...Kind) wrap {
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, replace(r, env))
	}, kinds...)
}

// admit makes a Wrap that serves the requests of the kinds that fit, although the node refuses their credentials.
func admit(fits func(r *http.Request) bool, kinds ...Kind) wrap {
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		if !fits(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if a.Status == http.StatusUnauthorized || a.Status == http.StatusBadRequest {
			a = capture(next, env.admit(r))
		}
		a.send(w, r)
	}, kinds...)
}

// protected lists the kinds that ask for an access token.
func protected() []Kind { return []Kind{Info, FundingList, FundingDetail} }

// when changes the answers that fit.
func when(fits func(r *http.Request, a *Answer) bool, alter change) change {
	return func(r *http.Request, a *Answer) {
		if fits(r, a) {
			alter(r, a)
		}
	}
}

// succeeded holds for successes.
func succeeded(_ *http.Request, a *Answer) bool { return a.ok() }

// refusedAnonymous holds for refusals of requests without credentials.
func refusedAnonymous(r *http.Request, a *Answer) bool {
	return a.Status == http.StatusUnauthorized && anonymous(r)
}

// refusedToken holds for refusals of a bearer token that is no good.
func refusedToken(r *http.Request, a *Answer) bool {
	return a.Status == http.StatusUnauthorized && bearer(r) != ""
}

// refusedRole holds for refusals of a caller who lacks the role.
func refusedRole(_ *http.Request, a *Answer) bool { return a.Status == http.StatusForbidden }

// anonymous holds for requests without credentials.
func anonymous(r *http.Request) bool { return r.Header.Get("Authorization") == "" }
