package fault

import (
	"net/http"
	"path"
	"strings"
)

// detourDeviations break the guard for callers who come another way.
func detourDeviations() []Deviation {
	return []Deviation{
		{
			Name: "head-open", Breaks: []string{"BRR-15"},
			Why:  "HEAD needs no token: the guard is tied to the method GET, as with HttpMethod.GET in Spring's requestMatchers.",
			Wrap: admit(func(r *http.Request) bool { return r.Method == http.MethodHead }, protected()...),
		},
		{
			Name: "method-override-open", Breaks: []string{"BRR-15"},
			Why:  "X-HTTP-Method-Override: OPTIONS passes the guard as a preflight, and is served as the GET that it is.",
			Wrap: admit(overridden, protected()...),
		},
		{
			Name: "method-override-answers-options", Breaks: []string{"BRR-15"},
			Why: "X-HTTP-Method-Override is applied to a GET before the token is checked, so that it is answered like OPTIONS.",
			Wrap: readmit(func(r *http.Request, _ Env) *http.Request {
				if !overridden(r) {
					return r
				}
				other := r.Clone(r.Context())
				other.Method = http.MethodOptions
				return other
			}, protected()...),
		},
		{
			Name: "browser-open", Breaks: []string{"BRR-15"},
			Why:  "Callers that accept text/html are left to the login of the web pages, which knows nothing of the API and serves it.",
			Wrap: admit(fromBrowser, protected()...),
		},
		{
			Name: "slash-variant-open", Breaks: []string{"BRR-16"},
			Why: "The path with the other slash at its end is served and not guarded: the rule names the exact path, as antMatchers did.",
			Wrap: readmit(func(r *http.Request, env Env) *http.Request {
				// The path of the info resource ends with a slash, the others do not.
				if strings.HasSuffix(r.URL.Path, "/") != (env.Classify(r) == Info) {
					return env.admit(r)
				}
				return r
			}, protected()...),
		},
		{
			Name: "double-slash-open", Breaks: []string{"BRR-16"},
			Why:  "A doubled slash passes the guard and is merged behind it: merge_slashes is off in one of the two.",
			Wrap: straighten(func(p string) string { return strings.ReplaceAll(p, "//", "/") }),
		},
		{
			Name: "dot-segment-open", Breaks: []string{"BRR-16"},
			Why: "A dot segment passes the guard of a proxy and is removed by the server behind it.",
			Wrap: straighten(func(p string) string {
				if !strings.Contains(p, "/.") {
					return p
				}
				return path.Clean(p) + p[len(strings.TrimRight(p, "/")):]
			}),
		},
		{
			Name: "capital-letter-open", Breaks: []string{"BRR-16"},
			Why:  "The guard compares paths with case and the server without, as on Windows.",
			Wrap: straighten(strings.ToLower),
		},
		{
			Name: "path-suffix-open", Breaks: []string{"BRR-16"},
			Why: "A path parameter hides the path from the guard, and the servlet container removes it: Tomcat behind an older filter.",
			Wrap: straighten(func(p string) string {
				before, after, _ := strings.Cut(p, ";")
				if _, rest, more := strings.Cut(after, "/"); more {
					before += "/" + rest
				}
				return before
			}),
		},
		{
			Name: "cache-keyed-by-url", Breaks: []string{"BRR-17"},
			Why:  "A cache in front keeps answers to URLs with a query and hands them to anybody: a CDN with the URL as its only key.",
			Wrap: cached,
		},
		{
			Name: "protected-data-public", Breaks: []string{"BRR-17"},
			Why:  "Protected data is sent with Cache-Control: public, which lets any shared cache hand it on.",
			Wrap: rewrite(when(succeeded, field("Cache-Control", "public, max-age=600")), protected()...),
		},
		{
			Name: "encoded-letter-open", Breaks: []string{"BRR-16"},
			Why: "The guard compares the path as it was sent and the router decodes it: %69nfo is not guarded, and served.",
			Wrap: readmit(func(r *http.Request, env Env) *http.Request {
				if anonymous(r) && r.URL.EscapedPath() != r.URL.Path {
					return env.admit(r)
				}
				return r
			}, protected()...),
		},
		{
			Name: "json-suffix-open", Breaks: []string{"BRR-16"},
			Why: "The path with .json is served and not guarded: Spring's suffix patterns behind an exact rule.",
			Wrap: straighten(func(p string) string {
				bare := strings.TrimRight(p, "/")
				return strings.TrimSuffix(bare, ".json") + p[len(bare):]
			}),
		},
		{
			Name: "other-method-override-open", Breaks: []string{"BRR-15"},
			Why: "X-Method-Override: OPTIONS passes the guard as a preflight; only the better known header is dropped at the edge.",
			Wrap: admit(func(r *http.Request) bool {
				return anonymous(r) && r.Header.Get("X-Method-Override") == http.MethodOptions
			}, protected()...),
		},
	}
}

// overridden holds for a GET that asks to be taken for OPTIONS.
func overridden(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("X-HTTP-Method-Override") == http.MethodOptions
}

// straighten makes a Wrap that serves, without a token, whatever leads to a protected resource once its path is made straight.
func straighten(straight func(path string) string) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to := r.Clone(r.Context())
			to.URL.Path, to.URL.RawPath = straight(r.URL.Path), ""
			if !isProtected(env.Classify(r)) && isProtected(env.Classify(to)) {
				r = env.admit(to)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// cached makes copies of good answers to URLs with a query, and never looks at who asks.
func cached(next http.Handler, env Env) http.Handler {
	var copies memory[*editableAnswer]
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.RawQuery == "" {
			next.ServeHTTP(w, r)
			return
		}
		key := r.Host + r.URL.String()
		if a, known := copies.get(key); known {
			a.send(w, r)
			return
		}
		a := capture(next, r)
		if a.ok() {
			copies.put(key, a.clone())
		}
		a.send(w, r)
	}, protected()...)(next, env)
}

// fromBrowser reports a request for a page.
func fromBrowser(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// roleDeviations break what a client without the role meets.
func roleDeviations() []Deviation {
	return []Deviation{
		{
			Name: "role-not-checked", Breaks: []string{"BRR-18"},
			Why: "Any token reads the fundings: the service checks the token and not the role of the account.",
			Wrap: around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, r)
				if refusedRole(r, a) {
					a = capture(next, env.admit(r))
				}
				a.send(w, r)
			}, FundingList, FundingDetail),
		},
		{
			Name: "role-not-checked-on-detail", Breaks: []string{"BRR-18"},
			Why: "The role is checked on the list and not on the detail, whose method lacks the annotation.",
			Wrap: around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, r)
				if refusedRole(r, a) {
					a = capture(next, env.admit(r))
				}
				a.send(w, r)
			}, FundingDetail),
		},
		{
			Name: "role-missing-empty-list", Breaks: []string{"BRR-18", "BRR-19"},
			Why: "A client without the role gets an empty list, because the role is a filter of the query.",
			Wrap: rewrite(when(refusedRole, func(_ *http.Request, a *editableAnswer) {
				a.become(http.StatusOK, "application/json", "[]")
			}), FundingList),
		},
		{
			Name: "role-missing-invalid-token", Breaks: []string{"BRR-19"},
			Why: "A missing role is reported as an invalid token, so that clients fetch new tokens in a loop.",
			Wrap: rewrite(when(refusedRole, func(_ *http.Request, a *editableAnswer) {
				a.restate(http.StatusUnauthorized)
				a.challenge(`Bearer realm="ris", error="invalid_token"`)
			}), FundingList, FundingDetail),
		},
		{
			Name: "role-missing-not-found", Breaks: []string{"BRR-19"},
			Why: "A client without the role is told that there is no such resource.",
			Wrap: rewrite(when(refusedRole, func(_ *http.Request, a *editableAnswer) {
				a.become(http.StatusNotFound, "application/problem+json", `{"type":"about:blank","title":"Not Found","status":404,"detail":"no such resource"}`)
			}), FundingList, FundingDetail),
		},
		{
			Name: "role-missing-without-challenge", Breaks: []string{"BRR-19"},
			Why:  "A missing role is answered 403 without a challenge, as most frameworks do.",
			Wrap: rewrite(when(refusedRole, field("WWW-Authenticate", "")), FundingList, FundingDetail),
		},
		{
			Name: "role-cached-by-url", Breaks: []string{"BRR-18"},
			Why:  "The role is checked behind a cache of answers: what one client may read is handed to each client with a token.",
			Wrap: keptForAll,
		},
	}
}

// keptForAll answers clients without the role with what others got before.
func keptForAll(next http.Handler, env Env) http.Handler {
	var copies memory[*editableAnswer]
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if kept, known := copies.get(r.URL.String()); known && refusedRole(r, a) {
			a = kept.clone()
		} else if a.ok() && r.Method == http.MethodGet {
			copies.put(r.URL.String(), a.clone())
		}
		a.send(w, r)
	}, FundingList, FundingDetail)(next, env)
}
