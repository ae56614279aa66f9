package deviation

import (
	"net/http"
	"strings"
)

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
	return func(_ *http.Request, a *Answer) {
		a.set("Deprecation", deprecation)
		a.set("Sunset", sunset)
	}
}

// moved makes a Wrap that serves what is below one path at another, too, and names the other in registry, info, document and links.
func moved(places func(env Env) (from, to string)) wrap {
	return func(next http.Handler, env Env) http.Handler {
		from, to := places(env)
		renamed := rewrite(when(succeeded, func(_ *http.Request, a *Answer) {
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
