package fault

import (
	"net/http"
	"net/url"
	"strings"
)

// itemLinkDeviations give records links to themselves that do not work.
func itemLinkDeviations() []Deviation {
	return []Deviation{
		{Name: "item-links-without-prefix", Breaks: []string{"PAG-10"},
			Why:  "The links of records to themselves lack the prefix that the proxy removes, and answer 404.",
			Wrap: linkRecords(func(_ Env, id string) string { return "/fundings/" + url.PathEscape(id) })},
		{Name: "item-links-to-one-record", Breaks: []string{"PAG-10"},
			Why:  "The links of all records lead to the record after the first one: the template of the link is filled in once.",
			Wrap: linkRecords(func(env Env, _ string) string { return env.Places.Fundings() + "/XF-00000002" })},
		{Name: "other-slash-redirects-inside", Breaks: []string{"PAG-10"},
			Why: "The list with another slash at the end of its path is redirected to the host that the framework sees behind the proxy, as by Starlette without forwarded headers.",
			Wrap: intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/") {
					next.ServeHTTP(w, r)
					return
				}
				http.Redirect(w, r, "http://app:8000"+strings.TrimSuffix(r.URL.Path, "/"), http.StatusTemporaryRedirect)
			}, List)},
	}
}

// itemLinkHabits give records links to themselves that work.
func itemLinkHabits() []Deviation {
	pages := func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/calls/") {
				next.ServeHTTP(w, r)
				return
			}
			a := newAnswer(r)
			become(http.StatusOK, "text/html; charset=utf-8", "<!doctype html><title>A call</title>")(a)
			a.send(w, r)
		})
	}
	return []Deviation{
		{Name: "items-link-to-themselves",
			Why:  "Records have links to themselves, as in HAL.",
			Wrap: linkRecords(func(env Env, id string) string { return env.Places.Fundings() + "/" + url.PathEscape(id) })},
		{Name: "items-link-to-pages",
			Why:  "The links of records to themselves lead to pages of the portal on the same host.",
			Wrap: both(pages, linkRecords(func(_ Env, id string) string { return "/calls/" + url.PathEscape(id) }))},
	}
}

// linkRecords makes a wrap that adds to each record a link to itself, in list and detail.
func linkRecords(target func(env Env, id string) string) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return editRecords(func(record map[string]any) {
			record["_links"] = map[string]any{"self": map[string]any{"href": target(env, text(record["id"]))}}
		})(next, env)
	}
}
