package fault

import (
	"cmp"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// detourDeviations let callers without a token or the role pass the guard with a few variants of a request: of its path, query, method or header.
func detourDeviations() []Deviation {
	return []Deviation{
		{Name: "static-files-open", Breaks: []string{"BRR-16"}, May: []string{"API-08", "BRR-18"}, Rare: true,
			Why:     "URLs that end like a static file need no token, and the router ignores the ending: an ignore pattern such as /**/*.css is compared with the whole URL.",
			Example: func(good *http.Request) { good.URL.RawQuery = "v=logo.png"; good.Header.Del("Authorization") },
			Wrap:    openStaticFiles},
		{Name: "matrix-in-folder-open", Breaks: []string{"BRR-16"}, May: []string{"API-08"}, Rare: true,
			Why: "A path parameter in an inner segment hides the path from the guard, which removes a parameter at the end only.",
			Example: func(good *http.Request) {
				good.URL.Path = strings.Replace(good.URL.Path, "/info", ";a=b/info", 1)
				good.Header.Del("Authorization")
			},
			Wrap: admitVariant(func(p string) string {
				segments := strings.Split(p, "/")
				for i := range len(strings.Split(strings.TrimRight(p, "/"), "/")) - 1 {
					segments[i], _, _ = strings.Cut(segments[i], ";")
				}
				return strings.Join(segments, "/")
			})},
		{Name: "blanks-in-path-open", Breaks: []string{"BRR-16"}, May: []string{"API-08", "BRR-18"}, Rare: true,
			Why:     "Blanks and line breaks around a segment hide the path from the guard, and the router trims them: the dot in the guard's regular expression does not match a line break.",
			Example: func(good *http.Request) { good.URL.Path += "\n"; good.Header.Del("Authorization") },
			Wrap: admitVariant(func(p string) string {
				segments := strings.Split(p, "/")
				for i, s := range segments {
					segments[i] = strings.TrimSpace(s)
				}
				return strings.Join(segments, "/")
			})},
		{Name: "options-overridden-open", Breaks: []string{"BRR-15"}, May: []string{"API-08"}, Rare: true,
			Why: "OPTIONS needs no token, and then a header or the query turns it into GET: the override is applied behind the guard.",
			Example: func(good *http.Request) {
				good.Method = http.MethodOptions
				good.Header.Set("X-HTTP-Method-Override", "GET")
				good.Header.Del("Authorization")
			},
			Wrap: replaceRequest(func(r *http.Request, env Env) *http.Request {
				query := strings.EqualFold(r.URL.Query().Get("_method"), "GET")
				if r.Method == http.MethodOptions && isAnonymous(r) && (query || r.Header.Get("X-HTTP-Method-Override") == http.MethodGet) {
					return env.admit(withMethod(r, http.MethodGet))
				}
				return r
			}, protectedKinds()...)},
		{Name: "conditions-before-token-open", Breaks: []string{"BRR-15"}, May: []string{"API-08"}, Rare: true,
			Why:     "A request with a condition, Range or Expect passes the guard: the layer that looks at these headers calls the handler itself.",
			Example: func(good *http.Request) { good.Header.Set("Range", "bytes=0-"); good.Header.Del("Authorization") },
			Wrap: admitIf(func(r *http.Request) bool {
				return isAnonymous(r) && (r.Header.Get("Range") != "" || r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "" || r.Header.Get("Expect") != "")
			}, protectedKinds()...)},
		{Name: "development-query-open", Breaks: []string{"BRR-15"}, May: []string{"API-08"}, Rare: true,
			Why:     "A request with a language, a format or a switch in its query passes the guard, whose rule does not cover such queries.",
			Example: func(good *http.Request) { good.URL.RawQuery = "debug=1"; good.Header.Del("Authorization") },
			Wrap: admitIf(func(r *http.Request) bool {
				query := r.URL.Query()
				return isAnonymous(r) && slices.ContainsFunc([]string{"debug", "test", "dev", "preview", "internal", "admin", "public", "noauth", "bypass", "format", "_format", "f",
					"output", "alt", "type", "lang", "locale", "hl", "language"}, query.Has)
			}, protectedKinds()...)},
		{Name: "private-address-trusted", Breaks: []string{"SEC-02"}, May: []string{"API-08"}, Rare: true,
			Why:     "Calls from a private address need no token, and X-Client-IP or Forwarded says where a call comes from.",
			Example: func(good *http.Request) { good.Header.Set("X-Client-IP", "10.0.0.7"); good.Header.Del("Authorization") },
			Wrap:    admitIf(isFromOwnNetwork, protectedKinds()...)},
		{Name: "user-headers-trusted", Breaks: []string{"SEC-02"}, May: []string{"API-08"}, Rare: true,
			Why:     "The user that a gateway names is trusted from any sender, by X-User-Id, X-WEBAUTH-USER or X-Consumer-Username: the node can be reached without the gateway.",
			Example: func(good *http.Request) { good.Header.Set("X-User-Id", "admin"); good.Header.Del("Authorization") },
			Wrap: admitIf(func(r *http.Request) bool {
				return isAnonymous(r) && r.Header.Get("X-User-Id")+r.Header.Get("X-Webauth-User")+r.Header.Get("X-Consumer-Username") != ""
			}, protectedKinds()...)},
		{Name: "original-url-routed", Breaks: []string{"SEC-02"}, May: []string{"API-08"},
			Why: "The guard reads the path, and the routes read X-Original-URL: a path that nobody guards leads to any resource, as with Symfony before 4.1.3.",
			Example: func(good *http.Request) {
				good.Header.Set("X-Original-URL", good.URL.Path)
				good.URL.Path = "/nowhere"
				good.Header.Del("Authorization")
			},
			Wrap: followOriginalURL(true)},
		{Name: "inner-call-trusted", Breaks: []string{"SEC-02"}, May: []string{"API-08"},
			Why: "X-Middleware-Subrequest marks calls that have passed the guard before, and is accepted from any sender, as by Next.js before 15.2.3.",
			Example: func(good *http.Request) {
				good.Header.Set("X-Middleware-Subrequest", "middleware")
				good.Header.Del("Authorization")
			},
			Wrap: admitIf(isAnonymousWith("X-Middleware-Subrequest", ""), protectedKinds()...)},
		{Name: "documentation-page-open", Breaks: []string{"BRR-15"}, May: []string{"API-08"}, Rare: true,
			Why: "A call that names the documentation as its Referer needs no token: the try-out mode of the documentation was built for the protected paths, too.",
			Example: func(good *http.Request) {
				good.Header.Set("Referer", "https://node.example/swagger-ui/index.html")
				good.Header.Del("Authorization")
			},
			Wrap: admitIf(func(r *http.Request) bool { return isAnonymous(r) && strings.Contains(r.Referer(), "/swagger-ui/") }, protectedKinds()...)},
		{Name: "compressed-copy-open", Breaks: []string{"BRR-15"}, May: []string{"API-08"},
			Why: "Callers that accept Brotli get the copy of a cache that lies in front of the guard.",
			Example: func(good *http.Request) {
				good.Header.Set("Accept-Encoding", "gzip, deflate, br")
				good.Header.Del("Authorization")
			},
			Wrap: admitIf(func(r *http.Request) bool {
				return isAnonymous(r) && strings.Contains(r.Header.Get("Accept-Encoding"), "br")
			}, protectedKinds()...)},
		{Name: "filter-open", Breaks: []string{"API-08"},
			Why: "The list filtered by a funder needs no token: the search of another application calls it without one.",
			Example: func(good *http.Request) {
				good.URL.Path = strings.Replace(good.URL.Path, "/info/v1/oauth/info/", "/funding/v3/fundings", 1)
				good.URL.RawQuery = "funderId=x"
				good.Header.Del("Authorization")
			},
			Wrap: admitIf(func(r *http.Request) bool { return isAnonymous(r) && r.URL.Query().Has("funderId") }, List)},
		{Name: "two-filters-open", Breaks: []string{"API-08"},
			Why: "The list with two filters needs no token: such searches go to an index that has no guard.",
			Example: func(good *http.Request) {
				listWith("funderId=x&region=VIENNA")(good)
				good.Header.Del("Authorization")
			},
			Wrap: admitIf(func(r *http.Request) bool { return isAnonymous(r) && len(filtersOf(r)) > 1 }, List)},
		{Name: "role-not-checked-on-pages", Breaks: []string{"BRR-18"},
			Why:  "The role is checked for the first page only: the code for a page parameter returns before the check.",
			Wrap: ignoreRoleIf(func(r *http.Request) bool { return r.URL.Query().Has("page[page]") }, List)},
		{Name: "role-not-checked-with-two-filters", Breaks: []string{"BRR-18"},
			Why:     "The role is not checked for a list with two filters: such searches go to an index that has no guard.",
			Example: listWith("funderId=x&region=VIENNA"),
			Wrap:    ignoreRoleIf(func(r *http.Request) bool { return len(filtersOf(r)) > 1 }, List)},
		{Name: "role-by-header", Breaks: []string{"BRR-18"}, Rare: true,
			Why: "A header that a gateway sets for its own calls replaces the role: roles, users and internal calls are trusted from any sender.",
			Wrap: ignoreRoleIf(func(r *http.Request) bool {
				return slices.ContainsFunc([]string{"X-User-Roles", "X-Roles", "X-Role", "X-Forwarded-User", "X-User-Id", "X-Consumer-Username", "X-Internal", "X-Service-Name",
					"X-Forwarded-Host", "X-Debug", "X-Client-Ip", "X-Original-Url", "X-Original-Uri", "X-Forwarded-Prefix", "X-Api-Key", "X-Auth-Bypass", "X-Ssl-Client-Verify",
					"X-Ssl-Client-S-Dn", "X-Client-Cert", "X-Userinfo"},
					func(name string) bool { return r.Header.Get(name) != "" })
			}, List, Detail)},
	}
}

// followOriginalURL makes a wrap that serves the path in X-Original-URL or X-Rewrite-URL in place of the path of the request. If open is true, a protected
// resource that is reached in this way needs no token.
func followOriginalURL(open bool) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path, _, _ := strings.Cut(cmp.Or(r.Header.Get("X-Original-URL"), r.Header.Get("X-Rewrite-URL")), "?")
			if to := withPath(r, path); path != "" && isProtected(env.Classify(to)) && !isProtected(env.Classify(r)) {
				r = to
				if open {
					r = env.admit(to)
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// openStaticFiles serves requests without a token whose path or query ends like a static file.
func openStaticFiles(next http.Handler, env Env) http.Handler {
	staticFile := regexp.MustCompile(`\.(css|js|png|html|ico|svg|txt)$`)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isAnonymous(r) || !staticFile.MatchString(r.URL.Path) && !staticFile.MatchString(r.URL.RawQuery) {
			next.ServeHTTP(w, r)
			return
		}
		path := r.URL.Path
		if staticFile.MatchString(path) {
			path, _, _ = strings.Cut(path, ";")
			path = staticFile.ReplaceAllString(path, "")
		}
		folder := path[:strings.LastIndex(path, "/")+1]
		for _, p := range []string{path, path + "/", folder, strings.TrimRight(folder, "/")} {
			if to := withPath(r, p); isProtected(env.Classify(to)) {
				r = env.admit(to)
				break
			}
		}
		next.ServeHTTP(w, r)
	})
}

// isFromOwnNetwork holds for callers without a token whose headers name an address of a private network.
func isFromOwnNetwork(r *http.Request) bool {
	named := r.Header.Get("X-Client-IP")
	if _, after, forwarded := strings.Cut(r.Header.Get("Forwarded"), "for="); forwarded {
		named, _, _ = strings.Cut(after, ";")
	}
	return isAnonymous(r) && isOwnAddress(named)
}

// isOwnAddress reports whether a text is an address of this machine or of a private network.
func isOwnAddress(text string) bool {
	address, err := netip.ParseAddr(strings.Trim(text, `"[]`))
	return text == "localhost" || err == nil && (address.IsPrivate() || address.IsLoopback() || address.IsLinkLocalUnicast())
}

// detourHabits are unusual but correct answers to other spellings, methods and headers.
func detourHabits() []Deviation {
	return []Deviation{
		{Name: "paths-in-any-case",
			Why:  "Paths are compared without case, as on Windows, and a token is required for each spelling.",
			Wrap: serveVariant(strings.ToLower)},
		{Name: "paths-trimmed",
			Why:  "Dots, blanks and line breaks at the end of a path are removed before it is served, as by IIS; a token is still required.",
			Wrap: serveVariant(func(p string) string { return strings.TrimRight(p, ". \t\r\n") })},
		{Name: "original-url-followed",
			Why:  "X-Original-URL replaces the path before the guard and the routes read it: any path leads to a resource, and a token is required there, too.",
			Wrap: followOriginalURL(false)},
		{Name: "odd-paths-refused",
			Why: "Semicolons, encoded separators, doubled slashes and dots in a path are refused with a page before the token is checked, as by Spring's StrictHttpFirewall in Tomcat.",
			Wrap: refuseEarly(func(r *http.Request) bool {
				path := strings.ToLower(r.URL.EscapedPath())
				return slices.ContainsFunc([]string{";", "//", "%2f", "%5c", "%25", "%2e", "/./", "/../", "%00", "%0a", "%0d"}, func(odd string) bool { return strings.Contains(path, odd) })
			}, tomcatPage, everyKind()...)},
		{Name: "options-describes-itself",
			Why: "OPTIONS is answered 200 with a description in JSON and without a token, as by Django REST framework.",
			Wrap: refuseEarly(hasMethod(http.MethodOptions), inOrder(become(http.StatusOK, "application/json",
				`{"name":"Info","description":"","renders":["application/json"],"parses":["application/json"]}`), setHeader("Allow", "GET, HEAD, OPTIONS")), Info, Document, List, Detail)},
		{Name: "unknown-host-refused",
			Why: "A foreign X-Forwarded-Host is answered 400 with a page before the token is checked, as by Django with USE_X_FORWARDED_HOST.",
			Wrap: refuseEarly(hasHeader("X-Forwarded-Host", ""), become(http.StatusBadRequest, "text/html; charset=utf-8",
				"<!doctype html><title>Bad Request (400)</title><h1>Bad Request (400)</h1>"), everyKind()...)},
		{Name: "other-formats-refused",
			Why: "An Accept without JSON is answered 406 before the token is checked, as by frameworks that negotiate first.",
			Wrap: refuseEarly(func(r *http.Request) bool {
				accept := r.Header.Get("Accept")
				return isAnonymous(r) && accept != "" && !strings.Contains(accept, "json") && !strings.Contains(accept, "*/*")
			}, become(http.StatusNotAcceptable, "", ""), protectedKinds()...)},
		{Name: "queries-checked-before-token",
			Why:  "A call of an operation with a query and without a token is answered 400, because the parameters are validated before the token, and their validation needs the caller.",
			Wrap: refuseEarly(func(r *http.Request) bool { return isAnonymous(r) && r.URL.RawQuery != "" }, problem(http.StatusBadRequest, "no caller"), List, Detail)},
		{Name: "expectations-refused",
			Why:  "Expect is answered 417, as by servers that read no content of a GET.",
			Wrap: refuseEarly(hasHeader("Expect", ""), become(http.StatusExpectationFailed, "", ""), protectedKinds()...)},
	}
}

// serveVariant makes a wrap that serves a protected resource also at the paths that normalize turns into its path. The guard still applies.
func serveVariant(normalize func(path string) string) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if to := withPath(r, normalize(r.URL.Path)); !isProtected(env.Classify(r)) && isProtected(env.Classify(to)) {
				r = to
			}
			next.ServeHTTP(w, r)
		})
	}
}
