package fault

import (
	"net/http"
	"path"
	"strings"
)

// guardDeviations let callers past the guard who use another method, header, path or cache.
func guardDeviations() []Deviation {
	return []Deviation{
		{Name: "head-open", Breaks: []string{"BRR-15"},
			Why:  "HEAD needs no token: the guard applies to GET only, as with HttpMethod.GET in Spring's requestMatchers.",
			Wrap: admitIf(isHead, protected()...)},
		{Name: "method-override-open", Breaks: []string{"BRR-15"},
			Why:  "X-HTTP-Method-Override: OPTIONS passes the guard as a preflight, and is served as the GET that it is.",
			Wrap: admitIf(overridesMethod, protected()...)},
		{Name: "method-override-answers-options", Breaks: []string{"BRR-15"},
			Why: "X-HTTP-Method-Override is applied to a GET before the token is checked, so the GET is answered like OPTIONS.",
			Wrap: replaceRequest(func(r *http.Request, _ Env) *http.Request {
				if !overridesMethod(r) {
					return r
				}
				return withMethod(r, http.MethodOptions)
			}, protected()...)},
		{Name: "browser-open", Breaks: []string{"BRR-15"},
			Why:  "Callers that accept text/html are left to the login of the web pages, which does not know the API and serves it.",
			Wrap: admitIf(fromBrowser, protected()...)},
		{Name: "slash-variant-open", Breaks: []string{"BRR-16"},
			Why: "The path with the slash added or removed at its end is served and not guarded: the rule names the exact path, as antMatchers did.",
			Wrap: replaceRequest(func(r *http.Request, env Env) *http.Request {
				// The path of the info resource ends with a slash, the others do not.
				if strings.HasSuffix(r.URL.Path, "/") != (env.Classify(r) == Info) {
					return env.admit(r)
				}
				return r
			}, protected()...)},
		{Name: "double-slash-open", Breaks: []string{"BRR-16"},
			Why:  "A doubled slash passes the guard and is merged behind it: merge_slashes is off in one of the two servers.",
			Wrap: admitVariant(func(p string) string { return strings.ReplaceAll(p, "//", "/") })},
		{Name: "dot-segment-open", Breaks: []string{"BRR-16"},
			Why: "A dot segment passes the guard of a proxy, and the server behind it removes the segment.",
			Wrap: admitVariant(func(p string) string {
				if !strings.Contains(p, "/.") {
					return p
				}
				return path.Clean(p) + p[len(strings.TrimRight(p, "/")):]
			})},
		{Name: "capital-letter-open", Breaks: []string{"BRR-16"},
			Why:  "The guard compares paths with case and the server without, as on Windows.",
			Wrap: admitVariant(strings.ToLower)},
		{Name: "path-suffix-open", Breaks: []string{"BRR-16"},
			Why: "A path parameter hides the path from the guard, and the servlet container removes it: Tomcat behind an older filter.",
			Wrap: admitVariant(func(p string) string {
				before, after, _ := strings.Cut(p, ";")
				if _, rest, more := strings.Cut(after, "/"); more {
					before += "/" + rest
				}
				return before
			})},
		{Name: "cache-keyed-by-url", Breaks: []string{"BRR-17"},
			Why:  "A cache in front stores answers to URLs with a query and gives them to any caller: a CDN whose only key is the URL.",
			Wrap: stateful(cacheQueries)},
		{Name: "protected-data-public", Breaks: []string{"BRR-17"},
			Why:  "Protected data is sent with Cache-Control: public, which allows shared caches to give it to others.",
			Wrap: rewriteSuccess(setHeader("Cache-Control", "public, max-age=600"), protected()...)},
		{Name: "encoded-letter-open", Breaks: []string{"BRR-16"},
			Why: "The guard compares the path as it was sent, and the router decodes it: %69nfo is served and not guarded.",
			Wrap: replaceRequest(func(r *http.Request, env Env) *http.Request {
				if anonymous(r) && r.URL.EscapedPath() != r.URL.Path {
					return env.admit(r)
				}
				return r
			}, protected()...)},
		{Name: "json-suffix-open", Breaks: []string{"BRR-16"},
			Why: "The path with .json is served and not guarded: suffix patterns of Spring with a rule for the exact path.",
			Wrap: admitVariant(func(p string) string {
				bare := strings.TrimRight(p, "/")
				return strings.TrimSuffix(bare, ".json") + p[len(bare):]
			})},
		{Name: "other-method-override-open", Breaks: []string{"BRR-15"},
			Why: "X-Method-Override: OPTIONS passes the guard as a preflight; the edge drops only the better known header.",
			Wrap: admitIf(func(r *http.Request) bool {
				return anonymous(r) && r.Header.Get("X-Method-Override") == http.MethodOptions
			}, protected()...)},
	}
}

// overridesMethod holds for a GET that asks to be treated as OPTIONS.
func overridesMethod(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("X-HTTP-Method-Override") == http.MethodOptions
}

// fromBrowser holds for requests for a web page.
func fromBrowser(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// admitVariant makes a wrap that serves without a token each path that normalize turns into that of a protected resource.
func admitVariant(normalize func(path string) string) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to := withPath(r, normalize(r.URL.Path))
			if !isProtected(env.Classify(r)) && isProtected(env.Classify(to)) {
				r = env.admit(to)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// cacheQueries stores good answers to URLs with a query, and gives them to every caller.
func cacheQueries() wrap {
	var cache memory[*answer]
	hasQuery := func(r *http.Request) bool { return r.Method == http.MethodGet && r.URL.RawQuery != "" }
	return interceptIf(hasQuery, func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		key := r.Host + r.URL.String()
		if a, known := cache.get(key); known {
			a.send(w, r)
			return
		}
		a := capture(next, r)
		if a.ok() {
			cache.put(key, a.clone())
		}
		a.send(w, r)
	}, protected()...)
}

// roleDeviations break the refusal of clients without the role.
func roleDeviations() []Deviation {
	return []Deviation{
		{Name: "role-not-checked", Breaks: []string{"BRR-18"},
			Why:  "Any token reads the fundings: the service checks the token and not the role of the account.",
			Wrap: ignoreRole(List, Detail)},
		{Name: "role-not-checked-on-detail", Breaks: []string{"BRR-18"},
			Why:  "The role is checked for the list and not for the detail, whose method lacks the annotation.",
			Wrap: ignoreRole(Detail)},
		{Name: "role-missing-empty-list", Breaks: []string{"BRR-18", "BRR-19"},
			Why:  "A client without the role gets an empty list, because the role is a filter of the query.",
			Wrap: rewrite(when(refusedRole, become(http.StatusOK, "application/json", "[]")), List)},
		{Name: "role-missing-invalid-token", Breaks: []string{"BRR-19"},
			Why: "A missing role is reported as an invalid token, so clients fetch new tokens in a loop.",
			Wrap: rewrite(when(refusedRole, inOrder(
				setStatus(http.StatusUnauthorized), challenge(`Bearer realm="ris", error="invalid_token"`))), List, Detail)},
		{Name: "role-missing-not-found", Breaks: []string{"BRR-19"},
			Why:  "A client without the role is told that the resource does not exist.",
			Wrap: rewrite(when(refusedRole, problem(http.StatusNotFound, "no such resource")), List, Detail)},
		{Name: "role-missing-without-challenge", Breaks: []string{"BRR-19"},
			Why:  "A missing role is answered 403 without a challenge, as by most frameworks.",
			Wrap: rewrite(when(refusedRole, challenge("")), List, Detail)},
		{Name: "role-cached-by-url", Breaks: []string{"BRR-18"},
			Why:  "The role is checked behind a cache: an answer that one client may read is given to every client with a token.",
			Wrap: stateful(cacheForAllRoles)},
	}
}

// ignoreRole makes a wrap that serves callers who lack the role.
func ignoreRole(kinds ...Kind) wrap {
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if refusedRole(a) {
			a = capture(next, env.admit(r))
		}
		a.send(w, r)
	}, kinds...)
}

// cacheForAllRoles answers clients without the role with earlier answers to others.
func cacheForAllRoles() wrap {
	var cache memory[*answer]
	return intercept(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if cached, known := cache.get(r.URL.String()); known && refusedRole(a) {
			a = cached.clone()
		} else if a.ok() && r.Method == http.MethodGet {
			cache.put(r.URL.String(), a.clone())
		}
		a.send(w, r)
	}, List, Detail)
}
