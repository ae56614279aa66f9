package deviation

import (
	"net/http"
	"net/url"
	"slices"
)

// togetherDeviations break filters that are sent together; each works alone.
func togetherDeviations() []Deviation {
	return []Deviation{
		{
			Name: "last-filter-wins", Breaks: []string{"PAG-07"},
			Why:  "Of several filters the last one is applied: each begins the query of the database anew.",
			Wrap: choosing(func(given []string) []string { return given[len(given)-1:] }),
		},
		{
			Name: "first-filter-wins", Breaks: []string{"PAG-07"},
			Why:  "Of several filters the first one is applied: a chain of else-ifs.",
			Wrap: choosing(func(given []string) []string { return given[:1] }),
		},
		{
			Name: "filters-find-nothing-together", Breaks: []string{"PAG-07"},
			Why: "Two filters together find nothing: both conditions are put to the same row of a table of attributes.",
			Wrap: rewrite(when(func(r *http.Request, a *Answer) bool { return a.ok() && len(filtersOf(r)) > 1 },
				func(_ *http.Request, a *Answer) { a.Body = []byte("[]") }), FundingList),
		},
	}
}

// filtersOf are the filters that a request has.
func filtersOf(r *http.Request) []string {
	query := r.URL.Query()
	return slices.DeleteFunc(filters(), func(name string) bool { return query.Get(name) == "" })
}

// choosing makes a Wrap that leaves some of several filters.
func choosing(leave func(given []string) []string) wrap {
	return readmit(func(r *http.Request, _ Env) *http.Request {
		given := filtersOf(r)
		if len(given) < 2 {
			return r
		}
		return only(r, leave(given)...)
	}, FundingList)
}

// only is a request without the other filters.
func only(r *http.Request, left ...string) *http.Request {
	return withQuery(r, func(q url.Values) {
		for _, name := range filters() {
			if !slices.Contains(left, name) {
				q.Del(name)
			}
		}
	})
}

// joinedByOr gives the records that fit any of several filters, in the order of the whole list and on one page.
func joinedByOr(next http.Handler, env Env) http.Handler {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		given := filtersOf(r)
		if a := capture(next, r); len(given) < 2 || !a.ok() {
			a.send(w, r)
			return
		}
		fits := map[any]bool{}
		for _, name := range given {
			alone := withQuery(r, func(q url.Values) {
				value := q.Get(name)
				clear(q)
				q.Set(name, value)
			})
			for _, item := range capture(next, alone).items() {
				fits[item["id"]] = true
			}
		}
		whole := capture(next, withQuery(r, func(q url.Values) { clear(q) }))
		whole.keep(func(item map[string]any) bool { return fits[item["id"]] })
		whole.send(w, r)
	}, FundingList)(next, env)
}
