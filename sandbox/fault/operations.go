package fault

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// operationDeviations break the answers and the protection of the operations in the OpenAPI document.
func operationDeviations() []Deviation {
	return []Deviation{
		{Name: "described-route-missing", Breaks: []string{"API-01"},
			Why: "The document describes an operation that is not served: it was removed from the code and not from the document.",
			Wrap: editDocument(func(d apiDocument) {
				d.at("paths")["/funding/v3/statistics"] = map[string]any{"get": map[string]any{
					"operationId": "statistics",
					"responses": map[string]any{
						"200":     map[string]any{"description": "The numbers.", "content": jsonContent()},
						"default": problemResponse(),
					},
				}}
			})},
		{Name: "described-server-gone", Breaks: []string{"API-01"},
			Why: "The document describes an operation at a server of its own, below the same host, which was switched off.",
			Wrap: editDocument(func(d apiDocument) {
				d.at("paths")["/statistics"] = map[string]any{"get": map[string]any{
					"operationId": "statistics", "servers": servers(d.env.Places.API() + "/reports/v1"),
					"responses": map[string]any{
						"200":     map[string]any{"description": "The numbers.", "content": jsonContent()},
						"default": problemResponse(),
					},
				}}
			})},
		{Name: "described-operation-needs-a-key",
			Breaks: []string{"API-01", "API-02", "API-03", "API-04", "API-05", "API-06", "API-07", "API-08"},
			Opens:  []string{"API-01", "API-02", "API-03", "API-04", "API-05", "API-06", "API-07", "API-08"},
			Why:    "The document describes an operation whose path needs a key that no answer and no example contains, so that a reader of the document cannot call it.",
			Wrap: editDocument(func(d apiDocument) {
				d.at("paths")["/funding/v3/reports/{reportKey}"] = map[string]any{"get": map[string]any{
					"operationId": "report", "parameters": []any{pathParameter("reportKey")},
					"responses": map[string]any{
						"200":     map[string]any{"description": "The report.", "content": jsonContent()},
						"default": problemResponse(),
					},
				}}
			})},
		{Name: "described-value-crashes", Breaks: []string{"API-01"},
			Why: "A valid value of a described parameter fails with 500, because the column was renamed.",
			Wrap: rewriteSuccess(whenRequest(func(r *http.Request) bool { return r.URL.Query().Has("applicantsScope") },
				crash), List)},
		{Name: "list-as-page-of-text", Breaks: []string{"API-02"},
			Why:  "The list is JSON that is declared as text/html, the default of PHP.",
			Wrap: rewriteSuccess(setHeader("Content-Type", "text/html; charset=UTF-8"), List)},
		{Name: "list-media-type-undescribed", Breaks: []string{"API-02"},
			Why:  "The list is sent as application/hal+json, and application/json is described.",
			Wrap: rewriteSuccess(setHeader("Content-Type", "application/hal+json"), List)},
		{Name: "detail-status-undescribed", Breaks: []string{"API-02"},
			Why:  "The detail is answered 203 by a proxy that changed it, and 200 is described.",
			Wrap: rewriteSuccess(setStatus(http.StatusNonAuthoritativeInfo), Detail)},
		{Name: "detail-unprotected", Breaks: []string{"API-08"},
			Why:  "The detail operation was forgotten when the guard was added to the routes.",
			Wrap: admitIf(func(*http.Request) bool { return true }, Detail)},
		{Name: "list-unprotected", Breaks: []string{"API-08"},
			Why:  "The list is open to callers without a token, because it is said to contain nothing secret.",
			Wrap: admitIf(isAnonymous, List)},
		{Name: "list-garbage-accepted", Breaks: []string{"API-08"},
			Why:  "The list requires a token and does not verify it; the info resource does.",
			Wrap: admitIf(hasToken, List)},
		{Name: "list-signature-not-verified", Breaks: []string{"API-08"},
			Why:  "The list trusts the payload of a token, because the verifying filter guards the info resource only.",
			Wrap: replaceRequest(trustUnexpired, List)},
		{Name: "list-head-open", Breaks: []string{"API-08"},
			Why:  "HEAD of the list needs no token.",
			Wrap: admitIf(isHead, List)},
		{Name: "detail-slash-variant-open", Breaks: []string{"API-08"},
			Why:  "The detail with a trailing slash is served and not guarded.",
			Wrap: admitIf(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/") }, Detail)},
		{Name: "detail-open-for-head", Breaks: []string{"API-08"},
			Why:  "HEAD of the detail needs no token: the guard names the method GET.",
			Wrap: admitIf(isHead, Detail)},
		{Name: "detail-open-with-query", Breaks: []string{"API-08"},
			Why:  "The detail with any query parameter passes the guard, whose rule compares the complete URL.",
			Wrap: admitIf(func(r *http.Request) bool { return r.URL.RawQuery != "" && isAnonymous(r) }, Detail)},
		{Name: "detail-open-after-first-call", Breaks: []string{"API-08"},
			Why:  "Once a caller with a token has read a record, it is open to everyone: a cache in front of the guard is keyed by the path.",
			Wrap: stateful(openAfterFirstCall)},
		{Name: "detail-any-token", Breaks: []string{"API-08"},
			Why:  "The detail accepts any bearer value: its route checks that a token was sent, and does not verify it.",
			Wrap: admitIf(hasToken, Detail)},
		{Name: "detail-alg-none-accepted", Breaks: []string{"API-08"},
			Why:  "The detail accepts a token without a signature: its library verifies with the algorithm that the token names.",
			Wrap: trustTokens(hasAlgNone, Detail)},
		{Name: "detail-unknown-key-passes", Breaks: []string{"API-08"},
			Why:  "The detail accepts a token whose key it cannot find; the other routes refuse it.",
			Wrap: trustTokens(func(t jwt, env Env) bool { return !env.hasOwnKey(t) && !hasAlgNone(t, env) }, Detail)},
		{Name: "page-of-list-open", Breaks: []string{"API-08"},
			Why:  "The list requires a token, and its pages do not: the rule of the gateway is for the path without a query.",
			Wrap: admitIf(func(r *http.Request) bool { return isAnonymous(r) && r.URL.Query().Has("page[size]") }, List)},
		{Name: "not-modified-unasked", Breaks: []string{"API-01"},
			Why:  "The detail is answered 304 without a condition: the cache does not check whether the caller has a copy.",
			Wrap: rewriteSuccess(func(a *answer) { a.Status, a.Body = http.StatusNotModified, nil }, Detail)},
		{Name: "one-filter-value-crashes", Breaks: []string{"API-01"},
			Why: "One value of a filter's vocabulary fails with 500: it was added to the document, and the database does not know it.",
			Wrap: rewriteSuccess(whenRequest(func(r *http.Request) bool { return r.URL.Query().Get("targetGroup") == "GOVERNMENT" },
				crash), List)},
		{Name: "client-credentials-admitted", Breaks: []string{"API-08"},
			Why:  "The filter of the API accepts client credentials in place of a token: id and secret by HTTP Basic, and either of them as a bearer token.",
			Wrap: replaceRequest(admitClientCredentials, protectedKinds()...)},
		{Name: "export-public-by-mistake", Breaks: []string{"API-08"},
			Why:  "An export of all fundings needs no token, and the generated document repeats the forgotten guard as security: [{}].",
			Wrap: both(describeExport(map[string]any{"security": []any{map[string]any{}}}), serveExport(isFailure))},
		{Name: "list-called-latin-1", Breaks: []string{"API-03"},
			Why:  "The list is UTF-8, and its Content-Type says ISO-8859-1, the default of a servlet that nobody changed.",
			Wrap: rewriteSuccess(setHeader("Content-Type", "application/json;charset=ISO-8859-1"), List)},
		{Name: "stages-of-nothing-as-text", Breaks: []string{"API-02", "ERR-02"},
			Why:  "The stages of a call that does not exist are answered 404 in plain text by the framework; the detail has the described error.",
			Wrap: serveStages(when(isNotFound, become(http.StatusNotFound, "text/plain", "Not Found")))},
		{Name: "described-operation-forbidden", Breaks: []string{"API-01"},
			Why: "The document describes an operation that answers 403 to every API client, and does not say so.",
			Wrap: both(
				describeClosed(""),
				serveClosed(inOrder(problem(http.StatusForbidden, "for administrators only"),
					challenge(`Bearer realm="ris", error="insufficient_scope", error_description="for administrators only"`))))},
	}
}

// serveStages makes a wrap that describes and serves an operation below the detail: the stages of a call. The guard protects it like the detail; alter
// changes its answers.
func serveStages(alter change) wrap {
	const below = "/stages"
	return both(
		editDocument(func(d apiDocument) {
			stages := maps.Clone(d.detail())
			responses := maps.Clone(member(stages, "responses"))
			responses["200"] = map[string]any{"description": "The stages of the call.", "content": map[string]any{
				"application/json": map[string]any{"schema": schema{"type": "array", "items": schema{"type": "object", "required": []any{"callStageStart"}}}}}}
			stages["operationId"], stages["responses"] = "stages", responses
			d.at("paths")["/funding/v3/fundings/{id}"+below] = map[string]any{"get": stages}
		}),
		func(next http.Handler, env Env) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				detail, stages := strings.CutSuffix(r.URL.Path, below)
				if !stages || !strings.HasPrefix(detail, env.Places.API()+"/funding/v3/fundings/") {
					next.ServeHTTP(w, r)
					return
				}
				a := capture(next, withPath(r, detail))
				if a.ok() && isRead(r) {
					var call map[string]any
					_ = json.Unmarshal(a.Body, &call) // cannot fail: the detail is an object
					a.Body, _ = json.Marshal(append([]map[string]any{}, objects(call, "callStages")...))
				}
				alter(a)
				a.send(w, r)
			})
		})
}

// exportPath is the path, below the base of the API, of an operation that exports all fundings.
const exportPath = "/funding/v3/export"

// describeExport makes a wrap that adds the export to the document; more has further members of the operation, such as security.
func describeExport(more map[string]any) wrap {
	return editDocument(func(d apiDocument) {
		export := map[string]any{"operationId": "export", "responses": d.list()["responses"]}
		maps.Copy(export, more)
		d.at("paths")[exportPath] = map[string]any{"get": export}
	})
}

// serveExport makes a wrap that serves the complete list as the export. It also serves callers whom the list refuses, if isIgnored holds for the refusal.
func serveExport(isIgnored func(a *answer) bool) wrap {
	return interceptPath(exportPath, func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		captureList(next, env, r, isIgnored).send(w, r)
	})
}

// captureList reads the complete list in place of r. It also reads it for callers whom the list refuses, if isIgnored holds for the refusal.
func captureList(next http.Handler, env Env, r *http.Request, isIgnored func(a *answer) bool) *answer {
	list := withoutPaging(withPath(r, env.Places.Fundings()))
	a := capture(next, list)
	if isIgnored(a) {
		a = capture(next, env.admit(list))
	}
	return a
}

// openAfterFirstCall makes a wrap that admits callers without a token to each record that a caller with a token has read.
func openAfterFirstCall() wrap {
	var read memory[bool]
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if read.has(r.URL.Path) && a.Status == http.StatusUnauthorized {
			a = capture(next, env.admit(r))
		} else if a.ok() {
			read.put(r.URL.Path, true)
		}
		a.send(w, r)
	}, Detail)
}

// admitClientCredentials admits callers who send client credentials by HTTP Basic, or the id or the secret of a client as a bearer token.
func admitClientCredentials(r *http.Request, env Env) *http.Request {
	scheme, value := credential(r)
	id, secret, _ := r.BasicAuth()
	plainID, errID := url.QueryUnescape(id)
	plainSecret, errSecret := url.QueryUnescape(secret)
	client, known := env.findClient(func(c Client) bool {
		if strings.EqualFold(scheme, "Basic") {
			return errID == nil && errSecret == nil && c.Secret != "" && c.ID == plainID && c.Secret == plainSecret
		}
		return value != "" && strings.EqualFold(scheme, "Bearer") && (value == c.ID || value == c.Secret)
	})
	if !known {
		return r
	}
	return env.admitAs(r, client.ID)
}

// jsonContent describes a body that is any JSON object.
func jsonContent() map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": map[string]any{"type": "object"}}}
}

// problemResponse describes a response whose body is a problem document.
func problemResponse() map[string]any {
	return map[string]any{"description": "Anything else.", "content": map[string]any{
		"application/problem+json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/Problem"}},
	}}
}

// versionDeviations break the version segment of paths, and the headers that announce the end of a version.
func versionDeviations() []Deviation {
	return []Deviation{
		{Name: "info-without-version", Breaks: []string{"VER-01"},
			Why: "The info resource is registered and served without a version in its path; the path with a version remains for old clients.",
			Wrap: movePath(func(env Env) (string, string) {
				return env.Places.Info(), strings.Replace(env.Places.Info(), "/v1/", "/", 1)
			})},
		{Name: "operations-without-version", Breaks: []string{"VER-01"},
			Why: "The funding operations are described and served without a version in their paths; the paths with a version remain for old clients.",
			Wrap: movePath(func(env Env) (string, string) {
				return env.Places.Fundings(), strings.Replace(env.Places.Fundings(), "/v3/", "/", 1)
			})},
		{Name: "any-version-served", Breaks: []string{"VER-02"},
			Why: "Every version of the info resource is answered like the existing one: the route has a wildcard for the version.",
			Wrap: interceptOtherVersions(func(next http.Handler, w http.ResponseWriter, r *http.Request, path string) {
				next.ServeHTTP(w, withPath(r, path))
			})},
		{Name: "any-version-redirected", Breaks: []string{"VER-02"},
			Why: "Every version of the info resource redirects to the existing one, for clients of the previous version.",
			Wrap: interceptOtherVersions(func(_ http.Handler, w http.ResponseWriter, r *http.Request, path string) {
				http.Redirect(w, r, path, http.StatusPermanentRedirect)
			})},
		{Name: "unknown-version-crashes", Breaks: []string{"VER-02"},
			Why: "A version that does not exist fails with 500: it is missing from the table of versions, and the code does not check that.",
			Wrap: interceptOtherVersions(func(next http.Handler, w http.ResponseWriter, r *http.Request, _ string) {
				a := capture(next, r)
				crash(a)
				a.send(w, r)
			})},
		{Name: "sunset-before-deprecation", Breaks: []string{"VER-03"},
			Why:  "The list ends before it is deprecated: the two dates were swapped.",
			Wrap: rewriteSuccess(phaseOut("@4102444800", "Thu, 31 Dec 2099 00:00:00 GMT"), List)},
		{Name: "deprecation-soon", Breaks: []string{"VER-03"},
			Why:  "Deprecation is a word instead of a date.",
			Wrap: rewriteSuccess(phaseOut("soon", ""), Detail)},
		{Name: "deprecation-true", Breaks: []string{"VER-03"},
			Why:  "Deprecation is true, as in the drafts of its RFC.",
			Wrap: rewriteSuccess(phaseOut("true", ""), Info)},
		{Name: "sunset-in-other-format", Breaks: []string{"VER-03"},
			Why:  "Sunset is formatted like dates in JSON.",
			Wrap: rewriteSuccess(phaseOut("", "2099-12-31T00:00:00Z"), List)},
	}
}

// interceptOtherVersions makes a wrap that calls serve for each request for a version of the info resource that does not exist; path is that of the existing
// version.
func interceptOtherVersions(serve func(next http.Handler, w http.ResponseWriter, r *http.Request, path string)) wrap {
	return func(next http.Handler, env Env) http.Handler {
		before, after, _ := strings.Cut(env.Places.Info(), "/v1/")
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rest, found := strings.CutPrefix(r.URL.Path, before+"/v")
			digits, tail, hasTail := strings.Cut(rest, "/")
			if !found || !hasTail || tail != after || digits == "" || digits == "1" || strings.Trim(digits, "0123456789") != "" {
				next.ServeHTTP(w, r)
				return
			}
			serve(next, w, r, env.Places.Info())
		})
	}
}

// phaseOut announces when a resource is deprecated and when it ends. Empty dates are omitted.
func phaseOut(deprecation, sunset string) change {
	return func(a *answer) {
		a.set("Deprecation", deprecation)
		a.set("Sunset", sunset)
	}
}

// movePath makes a wrap that replaces a path with another one in registry, info, document and links. It serves requests to both paths.
func movePath(places func(env Env) (from, to string)) wrap {
	return func(next http.Handler, env Env) http.Handler {
		from, to := places(env)
		d := apiDocument{env: env}
		replacer := strings.NewReplacer(from, to, `"`+d.relative(from), `"`+d.relative(to))
		renamed := rewriteSuccess(func(a *answer) {
			a.Body = []byte(replacer.Replace(string(a.Body)))
			a.set("Link", strings.ReplaceAll(a.Header.Get("Link"), from, to))
		}, Registry, Info, Document, List)(next, env)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isBelow(r.URL.Path, to) {
				rest := strings.TrimPrefix(r.URL.Path, strings.TrimSuffix(to, "/"))
				r = withPath(r, strings.TrimSuffix(from, "/")+rest)
			}
			renamed.ServeHTTP(w, r)
		})
	}
}
