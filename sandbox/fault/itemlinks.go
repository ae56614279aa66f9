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
			Why:  "The links of all records lead to the second record: the template of the link is filled in once.",
			Wrap: linkRecords(func(env Env, _ string) string { return env.Places.Fundings() + "/XF-00000002" })},
		{Name: "other-slash-redirects-inside", Breaks: []string{"PAG-10"},
			Why: "The list with a slash at the end of its path is redirected to the host that the framework sees behind the proxy, as by Starlette without forwarded headers.",
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
	servePages := func(next http.Handler, env Env) http.Handler {
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
			Wrap: both(servePages, linkRecords(func(_ Env, id string) string { return "/calls/" + url.PathEscape(id) }))},
		{Name: "items-link-to-neighbours",
			Why: "Records link to themselves and to the records before and after them, on pages of a portal on another host, as the document says.",
			Wrap: both(editDocument(func(d apiDocument) {
				for _, name := range []string{"Call", "Programme", "OtherFunding"} {
					member(d.schemas(), name, "properties")["links"] = schema{"type": "object", "additionalProperties": schema{"type": "string"},
						"description": "Pages of our portal, for people: of the funding, of the one after it, and of the one before it."}
				}
			}), editRecords(func(record map[string]any) {
				const portal = "https://portal.node.example/calls/"
				record["links"] = map[string]any{"self": portal + text(record["id"]), "next": portal + "next?of=" + text(record["id"]), "prev": portal + "previous?of=" + text(record["id"])}
			}))},
		{Name: "items-link-to-next-record",
			Why: "Records link to the record after them, as in a series: the relation next of a record is not a page of the list.",
			Wrap: func(next http.Handler, env Env) http.Handler {
				return editRecords(func(record map[string]any) {
					record["links"] = map[string]any{"next": env.Places.Fundings() + "/XF-00000002"}
				})(next, env)
			}},
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
