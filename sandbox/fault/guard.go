package fault

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/address"
)

// guardDeviations let callers pass the guard by another method, header, path or cache.
func guardDeviations() []Deviation {
	return []Deviation{
		{Name: "head-open", Breaks: []string{"BRR-15"},
			Why:  "HEAD needs no token: the guard applies to GET only, as with HttpMethod.GET in Spring's requestMatchers.",
			Wrap: admitIf(isHead, protectedKinds()...)},
		{Name: "method-override-open", Breaks: []string{"BRR-15"},
			Why:  "A GET with X-HTTP-Method-Override: OPTIONS passes the guard as a preflight, and is then served as GET.",
			Wrap: admitIf(overridesMethod, protectedKinds()...)},
		{Name: "method-override-answers-options", Breaks: []string{"BRR-15"},
			Why: "X-HTTP-Method-Override is applied to a GET before the token is checked, so the GET is answered like OPTIONS.",
			Wrap: replaceRequest(func(r *http.Request, _ Env) *http.Request {
				if !overridesMethod(r) {
					return r
				}
				return withMethod(r, http.MethodOptions)
			}, protectedKinds()...)},
		{Name: "browser-open", Breaks: []string{"BRR-15"},
			Why:  "Callers that accept text/html pass the guard, because the login of the web pages is expected to stop them; that login does not cover the API.",
			Wrap: admitIf(isFromBrowser, protectedKinds()...)},
		{Name: "slash-variant-open", Breaks: []string{"BRR-16"},
			Why: "The path with the slash added or removed at its end is served and not guarded: the rule names the exact path, as antMatchers did.",
			Wrap: replaceRequest(func(r *http.Request, env Env) *http.Request {
				// The path of the info resource ends with a slash; the other protected paths do not.
				if strings.HasSuffix(r.URL.Path, "/") != (env.Classify(r) == Info) {
					return env.admit(r)
				}
				return r
			}, protectedKinds()...)},
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
			Why:  "The guard's comparison of paths is case-sensitive, and that of the server is not, as on Windows.",
			Wrap: admitVariant(strings.ToLower)},
		{Name: "path-suffix-open", Breaks: []string{"BRR-16"},
			Why: "A path parameter hides the path from the guard, and the servlet container removes the parameter: Tomcat behind an older filter.",
			Wrap: admitVariant(func(p string) string {
				before, after, _ := strings.Cut(p, ";")
				if _, rest, more := strings.Cut(after, "/"); more {
					before += "/" + rest
				}
				return before
			})},
		{Name: "cache-keyed-by-url", Breaks: []string{"BRR-17"}, May: []string{"BRR-18", "API-08"},
			Why:  "A cache in front stores answers to URLs with a query and gives them to any caller: a CDN whose only key is the URL.",
			Wrap: stateful(cacheQueries)},
		{Name: "protected-data-public", Breaks: []string{"BRR-17"},
			Why:  "Protected data is sent with Cache-Control: public, which allows shared caches to give it to others.",
			Wrap: rewriteSuccess(setHeader("Cache-Control", "public, max-age=600"), protectedKinds()...)},
		{Name: "encoded-letter-open", Breaks: []string{"BRR-16"},
			Why: "The guard compares the path as it was sent, and the router decodes it: %69nfo is served and not guarded.",
			Wrap: replaceRequest(func(r *http.Request, env Env) *http.Request {
				if isAnonymous(r) && r.URL.EscapedPath() != r.URL.Path {
					return env.admit(r)
				}
				return r
			}, protectedKinds()...)},
		{Name: "json-suffix-open", Breaks: []string{"BRR-16"},
			Why: "The path with .json is served and not guarded: suffix patterns of Spring with a rule for the exact path.",
			Wrap: admitVariant(func(p string) string {
				bare := strings.TrimRight(p, "/")
				return strings.TrimSuffix(bare, ".json") + p[len(bare):]
			})},
		{Name: "other-method-override-open", Breaks: []string{"BRR-15"},
			Why:  "X-Method-Override: OPTIONS passes the guard as a preflight; the gateway drops only the better known X-HTTP-Method-Override.",
			Wrap: admitIf(isAnonymousWith("X-Method-Override", http.MethodOptions), protectedKinds()...)},
		{Name: "list-may-be-shared", Breaks: []string{"BRR-17"},
			Why:  "Only the list is sent with s-maxage, which allows shared caches to give it to others: it was added to make the list faster.",
			Wrap: rewriteSuccess(setHeader("Cache-Control", "s-maxage=300"), List)},
	}
}

// overridesMethod holds for a GET that asks to be treated as OPTIONS.
func overridesMethod(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("X-HTTP-Method-Override"), http.MethodOptions)
}

// isFromBrowser holds for requests that accept a web page.
func isFromBrowser(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// admitVariant makes a wrap that serves a protected resource, without a token, also at the paths that normalize turns into its path.
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
	}, protectedKinds()...)
}

// roleDeviations break the refusal of clients without the role.
func roleDeviations() []Deviation {
	return []Deviation{
		{Name: "role-not-checked", Breaks: []string{"BRR-18"},
			Why:  "Any token opens the fundings: the service checks the token and not the role of the account.",
			Wrap: ignoreRole(List, Detail)},
		{Name: "role-not-checked-on-detail", Breaks: []string{"BRR-18"},
			Why:  "The role is checked for the list and not for the detail, whose method lacks the annotation.",
			Wrap: ignoreRole(Detail)},
		{Name: "role-missing-empty-list", Breaks: []string{"BRR-18", "BRR-19"},
			Why:  "A client without the role gets an empty list, because the role is a filter of the query.",
			Wrap: rewrite(when(isRoleRefusal, become(http.StatusOK, "application/json", "[]")), List)},
		{Name: "role-missing-invalid-token", Breaks: []string{"BRR-19"},
			Why: "A missing role is reported as an invalid token, so clients fetch new tokens in a loop.",
			Wrap: rewrite(when(isRoleRefusal, inOrder(
				setStatus(http.StatusUnauthorized), challenge(`Bearer realm="ris", error="invalid_token"`))), List, Detail)},
		{Name: "role-missing-not-found", Breaks: []string{"BRR-19"},
			Why:  "A client without the role is answered 404, as if the resource did not exist.",
			Wrap: rewrite(when(isRoleRefusal, problem(http.StatusNotFound, "no such resource")), List, Detail)},
		{Name: "role-missing-without-challenge", Breaks: []string{"BRR-19"},
			Why:  "A missing role is answered 403 without a challenge, as by most frameworks.",
			Wrap: rewrite(when(isRoleRefusal, challenge("")), List, Detail)},
		{Name: "role-cached-by-url", Breaks: []string{"BRR-18"},
			Why:  "The role is checked behind a cache: an answer that one client may read is given to every client with a token.",
			Wrap: stateful(cacheForAllRoles)},
		{Name: "role-checked-behind-page-cache", Breaks: []string{"BRR-18"},
			Why:  "The types of fundings have a page cache between the checks of the token and of the role: any client gets what a client with the role has read.",
			Wrap: both(describeTypes(), stateful(cacheTypes))},
		{Name: "role-not-checked-on-types", Breaks: []string{"BRR-18"},
			Why:  "The operation that counts the fundings of each type does not check the role, although the document describes the same 403 as for the list.",
			Wrap: both(describeTypes(), serveTypes(isRoleRefusal))},
		{Name: "role-not-checked-under-other-slash", Breaks: []string{"BRR-18"},
			Why:  "The rule for the role names the path of the list, and with a slash at the end only the token is checked, as by antMatchers of Spring Security.",
			Wrap: ignoreRoleIf(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/") }, List, Detail)},
		{Name: "client-without-role-unknown-to-info", Breaks: []string{"BRR-18"}, Opens: []string{"BRR-18"},
			Why:  "Info answers a client without the role as if its token were bad, so that its refusal by the list proves nothing.",
			Wrap: refuseRolelessAtInfo()},
		{Name: "role-not-checked-on-export", Breaks: []string{"BRR-18"},
			Why:  "An export of all fundings needs a token and no role: its controller was written by another team.",
			Wrap: both(describeExport(nil), serveExport(isRoleRefusal))},
	}
}

// refuseRolelessAtInfo makes a wrap in which info refuses the token of a caller who lacks the role for the list.
func refuseRolelessAtInfo() wrap {
	refuse := inOrder(problem(http.StatusUnauthorized, "the token is not known"), challenge(`Bearer realm="ris", error="invalid_token"`))
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		list := withMethod(withPath(r, env.Places.Fundings()), http.MethodGet)
		list.URL.RawQuery = ""
		if !hasToken(r) || !isRoleRefusal(capture(next, list)) {
			next.ServeHTTP(w, r)
			return
		}
		a := newAnswer(r)
		refuse(a)
		a.send(w, r)
	}, Info)
}

// ignoreRole makes a wrap that serves callers who lack the role.
func ignoreRole(kinds ...Kind) wrap {
	return ignoreRoleIf(func(*http.Request) bool { return true }, kinds...)
}

// ignoreRoleIf is [ignoreRole] for requests that fit.
func ignoreRoleIf(fits func(*http.Request) bool, kinds ...Kind) wrap {
	return interceptIf(fits, func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if isRoleRefusal(a) {
			a = capture(next, env.admit(r))
		}
		a.send(w, r)
	}, kinds...)
}

// cacheForAllRoles answers clients without the role with earlier answers to other clients.
func cacheForAllRoles() wrap {
	var cache memory[*answer]
	return intercept(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if cached, known := cache.get(r.URL.String()); known && isRoleRefusal(a) {
			a = cached.clone()
		} else if a.ok() && r.Method == http.MethodGet {
			cache.put(r.URL.String(), a.clone())
		}
		a.send(w, r)
	}, List, Detail)
}

// typesPath is the path of an operation that counts the fundings of each type, below the base of the API.
const typesPath = "/funding/v3/types"

// describeTypes makes a wrap that adds this operation to the document, with the same refusals as the list.
func describeTypes() wrap {
	return editDocument(func(d apiDocument) {
		responses := maps.Clone(member(d.list(), "responses"))
		responses["200"] = map[string]any{"description": "The types.", "content": map[string]any{
			"application/json": map[string]any{"schema": schema{"type": "array", "items": schema{"type": "object", "required": []any{"type", "fundings"}}}}}}
		d.at("paths")[typesPath] = map[string]any{"get": map[string]any{"operationId": "types", "responses": responses}}
	})
}

// cacheTypes serves the types. Clients without the role get them from a cache.
func cacheTypes() wrap {
	var cache memory[*answer]
	return interceptPath(typesPath, func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, withoutPaging(withPath(r, env.Places.Fundings())))
		switch cached, known := cache.get(r.URL.String()); {
		case known && isRoleRefusal(a):
			a = cached.clone()
		case a.ok():
			countTypes(a)
			cache.put(r.URL.String(), a.clone())
		}
		a.send(w, r)
	})
}

// serveTypes makes a wrap that serves the types. It also serves callers whom the list refuses, if isIgnored holds for the refusal.
func serveTypes(isIgnored func(a *answer) bool) wrap {
	return interceptPath(typesPath, func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := captureList(next, env, r, isIgnored)
		if a.ok() {
			countTypes(a)
		}
		a.send(w, r)
	})
}

// countTypes turns a list of fundings into the number of each type.
func countTypes(a *answer) {
	counts := map[string]int{}
	for _, item := range a.items() {
		counts[text(item["type"])]++
	}
	types := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		types = append(types, map[string]any{"type": name, "fundings": counts[name]})
	}
	a.Body, _ = json.Marshal(types) // cannot fail: it was decoded from JSON
	a.set("Link", "")
	a.set("X-Total-Count", "")
}

// hygieneDeviations admit callers by cookies, by headers of proxies and from foreign pages, and reveal secrets.
func hygieneDeviations() []Deviation {
	return []Deviation{
		{Name: "session-cookie-admitted", Breaks: []string{"SEC-01"},
			Why:  "A good call starts a session, and its cookie opens the API without a token: Spring Security whose sessions are not STATELESS.",
			Wrap: stateful(startSessions)},
		{Name: "token-kept-in-cookie", Breaks: []string{"SEC-01", "SEC-04"},
			Why: "The token is set as a cookie for the pages of the same application, and read from it when there is no header.",
			Wrap: intercept(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				if cookie, err := r.Cookie("access_token"); err == nil && isAnonymous(r) {
					r = withAuthorization(r, "Bearer "+cookie.Value)
				}
				a := capture(next, r)
				if token := bearer(r); a.ok() && token != "" {
					a.Header.Add("Set-Cookie", "access_token="+token+"; Path=/; Secure; HttpOnly")
				}
				a.send(w, r)
			}, protectedKinds()...)},
		{Name: "forwarded-user-trusted", Breaks: []string{"SEC-02"},
			Why:  "X-Forwarded-User is trusted from any sender: the proxy that sets it was meant to be the only way in.",
			Wrap: admitIf(hasHeader("X-Forwarded-User", ""), protectedKinds()...)},
		{Name: "local-address-trusted", Breaks: []string{"SEC-02"},
			Why:  "Calls from the same machine and from private addresses need no token, and X-Forwarded-For says where a call comes from.",
			Wrap: admitIf(func(r *http.Request) bool { return isOwnAddress(r.Header.Get("X-Forwarded-For")) }, protectedKinds()...)},
		{Name: "original-url-guarded", Breaks: []string{"SEC-02"},
			Why:  "The guard reads X-Original-URL and the routes read the path: public pages are open, and so is every request that claims to be for one.",
			Wrap: admitIf(hasHeader("X-Original-URL", ""), protectedKinds()...)},
		{Name: "cors-origin-repeated", Breaks: []string{"SEC-03"},
			Why:  "Every Origin is allowed with credentials, to avoid the browser's error for * with credentials.",
			Wrap: rewrite(allowAnyOrigin, protectedKinds()...)},
		{Name: "cors-any-origin-with-credentials", Breaks: []string{"SEC-03"},
			Why: "All origins are allowed with credentials by *, which browsers refuse.",
			Wrap: rewrite(func(a *answer) {
				if a.request.Header.Get("Origin") != "" {
					allowOrigin(a, "*")
				}
			}, protectedKinds()...)},
		{Name: "cors-preflight-repeats-origin", Breaks: []string{"SEC-03"},
			Why: "The preflight of the token endpoint allows any origin with credentials; the API allows none.",
			Wrap: rewrite(func(a *answer) {
				if a.request.Method == http.MethodOptions {
					a.become(http.StatusNoContent, "", "")
					allowAnyOrigin(a)
				}
			}, Token)},
		{Name: "info-repeats-authorization", Breaks: []string{"SEC-04"},
			Why: "The info answer repeats the Authorization header in its own header field, left over from debugging.",
			Wrap: rewriteSuccess(func(a *answer) {
				a.set("X-Request-Authorization", a.request.Header.Get("Authorization"))
			}, Info)},
		{Name: "correlation-id-from-token", Breaks: []string{"SEC-04"},
			Why:  "The correlation id of list answers is the token in hexadecimal digits, which was thought to be unreadable.",
			Wrap: rewriteSuccess(func(a *answer) { a.set("X-Correlation-Id", hex.EncodeToString([]byte(bearer(a.request)))) }, List)},
		{Name: "token-error-quotes-form", Breaks: []string{"SEC-04"},
			Why: "The error for an unknown grant_type quotes the form, including the secret.",
			Wrap: rewriteToken(func(q tokenRequest, a *answer) bool { return !a.ok() && strings.HasPrefix(q.Get("grant_type"), "urn:") },
				func(a *answer) { a.editObject(put("error_description", "cannot read "+a.form.raw)) })},
		{Name: "any-page-admitted", Breaks: []string{"SEC-02"}, May: []string{"BRR-15", "API-08"},
			Why:  "Calls with an Origin pass without a token: the filter for browsers answers before the filter for tokens.",
			Wrap: admitIf(isAnonymousWith("Origin", ""), protectedKinds()...)},
		{Name: "authenticating-proxy-trusted", Breaks: []string{"SEC-02"},
			Why:  "X-Auth-Request-User of an authenticating proxy is trusted from any sender: the node can be reached without the proxy.",
			Wrap: admitIf(isAnonymousWith("X-Auth-Request-User", ""), protectedKinds()...)},
		{Name: "cors-origin-compared-by-prefix", Breaks: []string{"SEC-03"},
			Why: "An Origin that begins like the node's own is allowed with credentials: the code compares with startsWith, or with a pattern that does not match the end.",
			Wrap: rewrite(func(a *answer) {
				origin := a.request.Header.Get("Origin")
				if _, host, _ := strings.Cut(origin, "://"); strings.HasPrefix(host, address.Hostname(a.request.Host)) {
					allowOrigin(a, origin)
				}
			}, protectedKinds()...)},
		{Name: "spec-shows-secret", Breaks: []string{"SEC-04"},
			Why: "The description of the document has an example call with the secret of a real client.",
			Wrap: editDocument(func(d apiDocument) {
				if client, ok := d.env.clientWithSecret(); ok {
					d.at("info")["description"] = "Try it: curl -d client_secret=" + client.Secret
				}
			})},
		{Name: "wrong-secret-quoted", Breaks: []string{"SEC-04"},
			Why: "The refusal of a wrong secret quotes it, to help people who misspell theirs: a misspelt secret is almost the right one.",
			Wrap: rewriteToken(isSecretRefusal, func(a *answer) {
				a.editObject(put("error_description", "no client has the secret "+a.form.Get("client_secret")))
			})},
	}
}

// hasHeader returns a condition that holds for requests with a header field; an empty value matches any.
func hasHeader(name, value string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		got := r.Header.Get(name)
		return got != "" && (value == "" || strings.EqualFold(got, value))
	}
}

// isAnonymousWith is [hasHeader] for requests without a token.
func isAnonymousWith(name, value string) func(*http.Request) bool {
	has := hasHeader(name, value)
	return func(r *http.Request) bool { return isAnonymous(r) && has(r) }
}

// startSessions answers good calls with a session cookie, and admits callers who send it.
func startSessions() wrap {
	var started memory[bool]
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		if session, err := r.Cookie("JSESSIONID"); err == nil && isAnonymous(r) && started.has(session.Value) {
			r = env.admit(r)
		}
		a := capture(next, r)
		if a.ok() && hasToken(r) {
			id := sha256.Sum256([]byte(bearer(r)))
			session := strings.ToUpper(hex.EncodeToString(id[:16]))
			started.put(session, true)
			a.Header.Add("Set-Cookie", "JSESSIONID="+session+"; Path=/; HttpOnly")
		}
		a.send(w, r)
	}, protectedKinds()...)
}

// allowOrigin lets pages of an origin call with credentials.
func allowOrigin(a *answer, origin string) {
	a.set("Access-Control-Allow-Origin", origin)
	a.set("Access-Control-Allow-Credentials", "true")
}

// allowAnyOrigin lets pages of the calling origin call with credentials.
func allowAnyOrigin(a *answer) {
	if origin := a.request.Header.Get("Origin"); origin != "" {
		allowOrigin(a, origin)
	}
}
