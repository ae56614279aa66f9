package deviation

import "net/http"

// methodHabits are unusual answers to methods other than GET.
func methodHabits() []Deviation {
	return []Deviation{
		{
			Name: "head-not-allowed",
			Why:  "HEAD is answered 405, by frameworks that route GET and nothing with it, before the token is looked at.",
			Wrap: refusing(http.MethodHead, http.StatusMethodNotAllowed),
		},
		{
			Name: "head-not-implemented",
			Why:  "HEAD is answered 501 by a front server that knows GET and POST.",
			Wrap: refusing(http.MethodHead, http.StatusNotImplemented),
		},
		{
			Name: "head-without-length",
			Why:  "HEAD has no Content-Length and no validator, by frameworks that answer it without making the body.",
			Wrap: rewrite(when(func(r *http.Request, _ *Answer) bool { return r.Method == http.MethodHead }, func(_ *http.Request, a *Answer) {
				a.set("Content-Length", "")
				a.set("ETag", "")
			}), Info, Spec, FundingList, FundingDetail),
		},
		{
			Name: "options-not-allowed",
			Why:  "OPTIONS is answered 405, by nodes that no browser calls.",
			Wrap: refusing(http.MethodOptions, http.StatusMethodNotAllowed),
		},
		{
			Name: "options-unauthorized",
			Why:  "OPTIONS needs a token like every other method, as a filter does that knows no preflight.",
			Wrap: around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodOptions || !anonymous(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := &Answer{}
				a.become(http.StatusUnauthorized, "", "")
				a.challenge(`Bearer realm="ris"`)
				a.send(w, r)
			}, protected()...),
		},
		{
			Name: "browsers-sent-to-login",
			Why:  "Who accepts text/html and has no token is sent to the login of the web pages, as Spring Security does beside its API.",
			Wrap: pageForBrowsers(func(a *Answer) { a.become(http.StatusFound, "", ""); a.set("Location", "/login") }),
		},
		{
			Name: "browsers-get-login",
			Why:  "Who accepts text/html and has no token gets a login page with 200 at once.",
			Wrap: pageForBrowsers(func(a *Answer) {
				a.become(http.StatusOK, "text/html;charset=utf-8", "<!doctype html><title>Login</title><form method=post><input name=user></form>")
			}),
		},
		{
			Name: "post-forbidden",
			Why:  "A POST of info is answered 403 by the protection against forged requests of Spring Security, whatever token comes with it.",
			Wrap: rewrite(when(notAllowed, func(_ *http.Request, a *Answer) {
				a.become(http.StatusForbidden, "", "")
			}), Info),
		},
	}
}

// pageForBrowsers makes a Wrap that answers browsers without a token otherwise than API clients.
func pageForBrowsers(page func(a *Answer)) wrap {
	return rewrite(when(func(r *http.Request, _ *Answer) bool { return anonymous(r) && fromBrowser(r) },
		func(_ *http.Request, a *Answer) { page(a) }), protected()...)
}

// refusing makes a Wrap that refuses a method of the API, and says what is allowed.
func refusing(method string, status int) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		if r.Method != method {
			next.ServeHTTP(w, r)
			return
		}
		a := &Answer{}
		a.become(status, "", "")
		a.set("Allow", "GET")
		a.send(w, r)
	}, Info, Spec, FundingList, FundingDetail)
}
