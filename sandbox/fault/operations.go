package fault

import (
	"net/http"
	"strings"
)

// operationDeviations break what the described operations answer as a whole.
func operationDeviations() []Deviation {
	return []Deviation{
		{
			Name: "described-route-missing", Breaks: []string{"API-01"},
			Why: "The document describes an operation that is not served: it was taken out of the code and not out of the document.",
			Wrap: specs(func(document map[string]any, _ Env) {
				answer := map[string]any{"description": "The numbers.", "content": jsonContent()}
				member(document, "paths")["/funding/v3/statistics"] = map[string]any{"get": map[string]any{
					"operationId": "statistics",
					"responses":   map[string]any{"200": answer, "default": problemResponse()},
				}}
			}),
		},
		{
			Name: "described-value-crashes", Breaks: []string{"API-01"},
			Why: "A valid value of a described parameter fails with 500, because the column was renamed.",
			Wrap: rewrite(when(func(r *http.Request, a *editableAnswer) bool {
				return a.ok() && r.URL.Query().Has("applicantsScope")
			}, func(_ *http.Request, a *editableAnswer) { crash(a) }), FundingList),
		},
		{
			Name: "list-as-page-of-text", Breaks: []string{"API-02"},
			Why:  "The list is JSON declared as text/html, the default of PHP.",
			Wrap: rewrite(when(succeeded, field("Content-Type", "text/html; charset=UTF-8")), FundingList),
		},
		{
			Name: "list-media-type-undescribed", Breaks: []string{"API-02"},
			Why:  "The list is sent as application/hal+json, and application/json is described.",
			Wrap: rewrite(when(succeeded, field("Content-Type", "application/hal+json")), FundingList),
		},
		{
			Name: "detail-status-undescribed", Breaks: []string{"API-02"},
			Why:  "The detail is answered 203 by a proxy that changed it, and 200 is described.",
			Wrap: rewrite(when(succeeded, status(http.StatusNonAuthoritativeInfo)), FundingDetail),
		},
		{
			Name: "detail-unprotected", Breaks: []string{"API-08"},
			Why:  "The detail operation was forgotten when the guard was put before the routes.",
			Wrap: admit(always, FundingDetail),
		},
		{
			Name: "list-unprotected", Breaks: []string{"API-08"},
			Why:  "The list is open to callers without a token, since it holds nothing secret, they say.",
			Wrap: admit(anonymous, FundingList),
		},
		{
			Name: "list-garbage-accepted", Breaks: []string{"API-08"},
			Why:  "The list looks for a token and does not verify it; the info resource does.",
			Wrap: admit(func(r *http.Request) bool { return bearer(r) != "" }, FundingList),
		},
		{
			Name: "list-signature-not-verified", Breaks: []string{"API-08"},
			Why: "The list believes the payload of a token, because the verifying filter stands before the info resource only.",
			Wrap: readmit(func(r *http.Request, env Env) *http.Request {
				if token, ok := unverified(r); ok {
					return env.believe(r, token)
				}
				return r
			}, FundingList),
		},
		{
			Name: "list-head-open", Breaks: []string{"API-08"},
			Why:  "HEAD of the list needs no token.",
			Wrap: admit(func(r *http.Request) bool { return r.Method == http.MethodHead }, FundingList),
		},
		{
			Name: "detail-slash-variant-open", Breaks: []string{"API-08"},
			Why:  "The detail with a slash at its end is served and not guarded.",
			Wrap: admit(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/") }, FundingDetail),
		},
		{
			Name: "detail-open-for-head", Breaks: []string{"API-08"},
			Why:  "HEAD of the detail needs no token: the guard names the method GET.",
			Wrap: admit(func(r *http.Request) bool { return r.Method == http.MethodHead }, FundingDetail),
		},
		{
			Name: "detail-open-with-query", Breaks: []string{"API-08"},
			Why:  "The detail with any query parameter passes the guard, whose rule compares the whole URL.",
			Wrap: admit(func(r *http.Request) bool { return r.URL.RawQuery != "" && anonymous(r) }, FundingDetail),
		},
		{
			Name: "detail-open-after-first-call", Breaks: []string{"API-08"},
			Why: "Once somebody with a token has read a record, everybody may: a cache in front of the guard is keyed by the path.",
			Wrap: func(next http.Handler, env Env) http.Handler {
				var read memory[bool]
				return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
					a := capture(next, r)
					if _, known := read.get(r.URL.Path); known && a.Status == http.StatusUnauthorized {
						a = capture(next, env.admit(r))
					} else if a.ok() {
						read.put(r.URL.Path, true)
					}
					a.send(w, r)
				}, FundingDetail)(next, env)
			},
		},
		{
			Name: "detail-any-token", Breaks: []string{"API-08"},
			Why:  "The detail takes any bearer value: its route asks whether a token is there, not whether it is good.",
			Wrap: admit(func(r *http.Request) bool { return bearer(r) != "" }, FundingDetail),
		},
		{
			Name: "detail-alg-none-accepted", Breaks: []string{"API-08"},
			Why:  "The detail takes a token without a signature: its route was written with a library that verifies what the token asks for.",
			Wrap: believing(func(p parts, _ Env) bool { return p.header["alg"] == "none" }, FundingDetail),
		},
		{
			Name: "detail-unknown-key-passes", Breaks: []string{"API-08"},
			Why:  "The detail lets a token pass whose key it cannot find; the other routes refuse it.",
			Wrap: believing(func(p parts, env Env) bool { return !env.ownKey(p) && p.header["alg"] != "none" }, FundingDetail),
		},
		{
			Name: "page-of-list-open", Breaks: []string{"API-08"},
			Why:  "The list asks for a token, and its pages do not: the rule of the gateway is for the path without a query.",
			Wrap: admit(func(r *http.Request) bool { return anonymous(r) && r.URL.Query().Has("page[size]") }, FundingList),
		},
		{
			Name: "not-modified-unasked", Breaks: []string{"API-01"},
			Why:  "The detail is answered 304 without a condition: a cache that forgot to look whether the caller has a copy.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) { a.Status, a.Body = http.StatusNotModified, nil }), FundingDetail),
		},
	}
}

func always(*http.Request) bool { return true }

// jsonContent describes a body that is any JSON object.
func jsonContent() map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": map[string]any{"type": "object"}}}
}

// problemResponse describes an answer of any status with a problem body.
func problemResponse() map[string]any {
	return map[string]any{"description": "Anything else.", "content": map[string]any{
		"application/problem+json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/Problem"}},
	}}
}

// crash makes the answer that of a server that failed.
func crash(a *editableAnswer) {
	a.become(http.StatusInternalServerError, "application/problem+json", `{"type":"about:blank","title":"Internal Server Error","status":500,"detail":"something went wrong"}`)
}

// versionDeviations break the version segment of the paths.
func versionDeviations() []Deviation {
	return []Deviation{
		{
			Name: "info-without-version", Breaks: []string{"VER-01"},
			Why: "The info resource is recorded and served without a version in its path; the one with it is left for old clients.",
			Wrap: moved(func(env Env) (string, string) {
				return env.Places.Info(), strings.Replace(env.Places.Info(), "/v1/", "/", 1)
			}),
		},
		{
			Name: "operations-without-version", Breaks: []string{"VER-01"},
			Why: "The funding operations are described and served without a version in their paths; those with it are left for old clients.",
			Wrap: moved(func(env Env) (string, string) {
				return env.Places.Fundings(), strings.Replace(env.Places.Fundings(), "/v3/", "/", 1)
			}),
		},
		{
			Name: "any-version-served", Breaks: []string{"VER-02"},
			Why: "Every version of the info resource is answered like the one there is: the route has a wildcard in its place.",
			Wrap: versioned(func(next http.Handler, w http.ResponseWriter, r *http.Request, path string) {
				other := r.Clone(r.Context())
				other.URL.Path, other.URL.RawPath = path, ""
				next.ServeHTTP(w, other)
			}),
		},
		{
			Name: "any-version-redirected", Breaks: []string{"VER-02"},
			Why: "Every version of the info resource leads to the one there is, for the clients of the last one.",
			Wrap: versioned(func(_ http.Handler, w http.ResponseWriter, r *http.Request, path string) {
				http.Redirect(w, r, path, http.StatusPermanentRedirect)
			}),
		},
		{
			Name: "unknown-version-crashes", Breaks: []string{"VER-02"},
			Why: "A version of three digits fails with 500: it is looked up in a table of two.",
			Wrap: versioned(func(next http.Handler, w http.ResponseWriter, r *http.Request, _ string) {
				a := capture(next, r)
				crash(a)
				a.send(w, r)
			}),
		},
		{
			Name: "sunset-before-deprecation", Breaks: []string{"VER-03"},
			Why:  "The list is to end before it is deprecated: the two dates were mixed up.",
			Wrap: rewrite(when(succeeded, phasedOut("@4102444800", "Thu, 31 Dec 2099 00:00:00 GMT")), FundingList),
		},
		{
			Name: "deprecation-soon", Breaks: []string{"VER-03"},
			Why:  "Deprecation is a word in place of a date.",
			Wrap: rewrite(when(succeeded, phasedOut("soon", "")), FundingDetail),
		},
		{
			Name: "deprecation-true", Breaks: []string{"VER-03"},
			Why:  "Deprecation is true, as the drafts of its RFC had it.",
			Wrap: rewrite(when(succeeded, phasedOut("true", "")), Info),
		},
		{
			Name: "sunset-in-other-format", Breaks: []string{"VER-03"},
			Why:  "Sunset is written as JSON writes dates.",
			Wrap: rewrite(when(succeeded, phasedOut("", "2099-12-31T00:00:00Z")), FundingList),
		},
	}
}

// versioned makes a Wrap that does something about the info resource in a version that there is not; path is where it really is.
func versioned(do func(next http.Handler, w http.ResponseWriter, r *http.Request, path string)) wrap {
	return func(next http.Handler, env Env) http.Handler {
		before, after, _ := strings.Cut(env.Places.Info(), "/v1/")
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rest, found := strings.CutPrefix(r.URL.Path, before+"/v")
			digits, tail, parted := strings.Cut(rest, "/")
			if !found || !parted || tail != after || digits == "" || digits == "1" || strings.Trim(digits, "0123456789") != "" {
				next.ServeHTTP(w, r)
				return
			}
			do(next, w, r, env.Places.Info())
		})
	}
}

// phasedOut says when a resource is deprecated and when it ends; empty for nothing.
func phasedOut(deprecation, sunset string) change {
	return func(_ *http.Request, a *editableAnswer) {
		a.set("Deprecation", deprecation)
		a.set("Sunset", sunset)
	}
}

// moved makes a Wrap that serves what is below one path at another, too, and names the other in registry, info, document and links.
func moved(places func(env Env) (from, to string)) wrap {
	return func(next http.Handler, env Env) http.Handler {
		from, to := places(env)
		renamed := rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
			a.Body = []byte(strings.NewReplacer(from, to, `"`+relative(env, from), `"`+relative(env, to)).Replace(string(a.Body)))
			if link := a.Header.Get("Link"); link != "" {
				a.set("Link", strings.ReplaceAll(link, from, to))
			}
		}), Registry, Info, Spec, FundingList)(next, env)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if path := r.URL.Path; below(path, to) {
				r = r.Clone(r.Context())
				rest := strings.TrimPrefix(path, strings.TrimSuffix(to, "/"))
				r.URL.Path, r.URL.RawPath = strings.TrimSuffix(from, "/")+rest, ""
			}
			renamed.ServeHTTP(w, r)
		})
	}
}

// below tells whether a path is at or below another.
func below(path, place string) bool {
	place = strings.TrimSuffix(place, "/")
	return path == place || strings.HasPrefix(path, place+"/")
}
