package fault

import (
	"encoding/json"
	"net/http"
	"strings"
)

// olderVersionDeviations serve the data in other versions of the API with a weaker guard.
func olderVersionDeviations() []Deviation {
	asAnonymous := func(path string) func(good *http.Request) {
		return func(good *http.Request) {
			good.URL.Path = strings.Replace(good.URL.Path, "/info/v1/oauth/info/", path, 1)
			good.Header.Del("Authorization")
		}
	}
	return []Deviation{
		{Name: "older-version-open", Breaks: []string{"API-08"},
			Why:     "An older version of the API still runs and needs no token: the guard was added with the current version, by a rule for its path.",
			Example: asAnonymous("/funding/v2/fundings"),
			Wrap:    admitVariant(inCurrentVersion)},
		{Name: "unversioned-path-open", Breaks: []string{"API-08"},
			Why:     "The path without a version is kept for an old portal and needs no token: the guard's rule names the path with the version.",
			Example: asAnonymous("/funding/fundings"),
			Wrap:    admitVariant(withCurrentVersion)},
		{Name: "older-version-without-role", Breaks: []string{"BRR-18"},
			Why: "An older version of the API requires a token and not the role, which was added with the current version.",
			Wrap: atOtherPath(inCurrentVersion, func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, r)
				if isRoleRefusal(a) {
					a = capture(next, env.admit(r))
				}
				a.send(w, r)
			})},
	}
}

// olderVersionHabits publish something else in other versions of the API.
func olderVersionHabits() []Deviation {
	page := func(media, body string) handle {
		return func(_ http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
			a := newAnswer(r)
			become(http.StatusOK, media, body)(a)
			a.send(w, r)
		}
	}
	return []Deviation{
		{Name: "older-version-with-news",
			Why:  "An older version of the API lists the news of a portal, under small numbers and without a token.",
			Wrap: atOtherPath(inCurrentVersion, page("application/json", `[{"id":"1","type":"CALL","name":"A new web site"},{"id":"2","type":"CALL","name":"A new address"}]`))},
		{Name: "older-version-moved",
			Why: "An older version of the API leads to the current one by 301, before the token is checked.",
			Wrap: atOtherPath(inCurrentVersion, func(_ http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, r.URL.Path, http.StatusMovedPermanently)
			})},
		{Name: "portal-without-version", Warns: []string{"API-08"},
			Why: "The path without a version lists id and title of the records for the pages of a portal, without a token.",
			Wrap: atOtherPath(withCurrentVersion, func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, env.admit(r))
				var records []map[string]json.RawMessage
				_ = json.Unmarshal(a.Body, &records) // anything but a plain list becomes an empty list
				titles := []map[string]json.RawMessage{}
				for _, record := range records {
					titles = append(titles, map[string]json.RawMessage{"id": record["id"], "name": record["name"]})
				}
				a.Body, _ = json.Marshal(titles) // cannot fail: it was decoded from JSON
				a.send(w, r)
			})},
		{Name: "portal-page-without-version",
			Why:  "The path without a version is a web page of the portal.",
			Wrap: atOtherPath(withCurrentVersion, page("text/html; charset=utf-8", "<!doctype html><title>Funding</title><h1>Funding</h1>"))},
	}
}

// inCurrentVersion returns the path of the same resource in the current version of the API.
func inCurrentVersion(path string) string {
	return strings.Replace(path, "/funding/v2/", "/funding/v3/", 1)
}

// withCurrentVersion adds the current version to a path without one.
func withCurrentVersion(path string) string {
	return strings.Replace(path, "/funding/fundings", "/funding/v3/fundings", 1)
}

// atOtherPath makes a wrap that passes requests for a protected resource at another path to do, with the path that normalize returns.
func atOtherPath(normalize func(path string) string, do handle) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to := withPath(r, normalize(r.URL.Path))
			if isProtected(env.Classify(r)) || !isProtected(env.Classify(to)) {
				next.ServeHTTP(w, r)
				return
			}
			do(next, env, w, to)
		})
	}
}
