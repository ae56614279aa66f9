package fault

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// listDeviations break paging, filters and the way from the list to the detail.
func listDeviations() []Deviation {
	return []Deviation{
		{
			Name: "page-size-ignored", Breaks: []string{"PAG-02"},
			Why:  "The described page[size] is ignored: the framework binds size and drops what it does not know.",
			Wrap: asking(func(q url.Values) { q.Del("page[size]") }),
		},
		{
			Name: "page-size-one-too-many", Breaks: []string{"PAG-02"},
			Why: "A page holds one record more than was asked for: the one that is fetched to see whether there is a next page.",
			Wrap: asking(func(q url.Values) {
				if size, err := strconv.Atoi(q.Get("page[size]")); err == nil {
					q.Set("page[size]", strconv.Itoa(size+1))
				}
			}),
		},
		{
			// A value that is not in the vocabulary is ignored like the others.
			Name: "filters-ignored", Breaks: []string{"PAG-07", "PAG-06"},
			Why: "The described filters are ignored, and all items come back.",
			Wrap: asking(func(q url.Values) {
				for _, name := range filters() {
					q.Del(name)
				}
			}),
		},
		{
			Name: "filter-ignored-for-one-value", Breaks: []string{"PAG-07"},
			Why: "The filter by type knows all values but PROGRAMME, which was added to the vocabulary later.",
			Wrap: asking(func(q url.Values) {
				if q.Get("fundingType") == "PROGRAMME" {
					q.Del("fundingType")
				}
			}),
		},
		{
			Name: "filter-finds-nothing", Breaks: []string{"PAG-07"},
			Why:  "A filter finds nothing: it compares the name of the value with its number in the database.",
			Wrap: rewrite(when(filtered, func(_ *http.Request, a *editableAnswer) { a.Body = []byte("[]") }), FundingList),
		},
		{
			Name: "filter-refused", Breaks: []string{"PAG-07"},
			Why: "The values of the described vocabulary are refused, because the service expects them in lower case.",
			Wrap: rewrite(when(filtered, func(_ *http.Request, a *editableAnswer) {
				a.become(http.StatusBadRequest, "application/problem+json", `{"type":"about:blank","title":"Bad Request","status":400,"detail":"unknown value"}`)
			}), FundingList),
		},
		{
			Name: "filter-lets-one-through", Breaks: []string{"PAG-07"},
			Why:  "A filtered list holds one record that does not match: the pinned announcement.",
			Wrap: leaking,
		},
		{
			// The detail's own good call meets the same 404, as one of a described operation.
			Name: "detail-not-found", Breaks: []string{"PAG-08", "API-01"},
			Why:  "The detail operation answers 404 for listed ids, since it looks for the key of the database.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) { notFound(a) }), FundingDetail),
		},
		{
			Name: "detail-id-respelled", Breaks: []string{"PAG-08"},
			Why: "The detail names its id in lower case, and the list does not.",
			Wrap: details(func(item map[string]any) {
				if id, ok := item["id"].(string); ok {
					item["id"] = strings.ToLower(id)
				}
			}),
		},
		{
			Name: "detail-cached-by-route", Breaks: []string{"PAG-08", "PAG-09"},
			Why:  "The cache of details is keyed by the route without the id, so that the first one that was fetched is answered to all.",
			Wrap: cachedByRoute,
		},
		{
			Name: "unknown-id-crashes", Breaks: []string{"PAG-09"},
			Why:  "An unknown id fails with 500, because nobody catches the error of the lookup; seen in a node of the network.",
			Wrap: rewrite(when(missing, func(_ *http.Request, a *editableAnswer) { crash(a) }), FundingDetail),
		},
		{
			Name: "unknown-id-empty-object", Breaks: []string{"PAG-09", "API-04"},
			Why: "An unknown id is answered 200 with an empty object.",
			Wrap: rewrite(when(missing, func(_ *http.Request, a *editableAnswer) {
				a.become(http.StatusOK, "application/json", "{}")
			}), FundingDetail),
		},
		{
			Name: "unknown-id-bad-request", Breaks: []string{"PAG-09"},
			Why: "An unknown id is answered 400.",
			Wrap: rewrite(when(missing, func(_ *http.Request, a *editableAnswer) {
				a.become(http.StatusBadRequest, "application/problem+json", `{"type":"about:blank","title":"Bad Request","status":400,"detail":"no such id"}`)
			}), FundingDetail),
		},
		{
			Name: "list-ids-with-blank", Breaks: []string{"PAG-08"},
			Why:  "The ids of the list end with a blank, from a column of fixed width; the detail knows them without.",
			Wrap: padded,
		},
	}
}

// filters are the described filters that name a member of the items.
func filters() []string {
	return []string{"fundingType", "targetGroup", "region", "funderId", "applicantsScope"}
}

// filtered holds for good answers to a list request with such a filter.
func filtered(r *http.Request, a *editableAnswer) bool {
	query := r.URL.Query()
	return a.ok() && slices.ContainsFunc(filters(), func(name string) bool { return query.Get(name) != "" })
}

// missing holds for details that do not exist.
func missing(_ *http.Request, a *editableAnswer) bool { return a.Status == http.StatusNotFound }

func notFound(a *editableAnswer) {
	a.become(http.StatusNotFound, "application/problem+json", `{"type":"about:blank","title":"Not Found","status":404,"detail":"no such record"}`)
}

// asking makes a Wrap that changes the query of list requests.
func asking(alter func(query url.Values)) wrap {
	return readmit(func(r *http.Request, _ Env) *http.Request { return withQuery(r, alter) }, FundingList)
}

func withQuery(r *http.Request, alter func(query url.Values)) *http.Request {
	other := r.Clone(r.Context())
	query := other.URL.Query()
	alter(query)
	other.URL.RawQuery = query.Encode()
	return other
}

// leaking adds to a filtered list the first record of the whole one that is not in it.
func leaking(next http.Handler, env Env) http.Handler {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if filtered(r, a) {
			whole := capture(next, withQuery(r, func(query url.Values) { clear(query) }))
			a.add(firstOther(whole.items(), a.items()))
		}
		a.send(w, r)
	}, FundingList)(next, env)
}

// firstOther is the first record of all that is not among those known; nil when there is none.
func firstOther(all, known []map[string]any) map[string]any {
	for _, item := range all {
		if !slices.ContainsFunc(known, func(k map[string]any) bool { return k["id"] == item["id"] }) {
			return item
		}
	}
	return nil
}

// add appends an item to a body that is an array.
func (a *editableAnswer) add(item map[string]any) {
	if item == nil {
		return
	}
	// Both came out of JSON, so that they can be written as JSON again.
	if encoded, err := json.Marshal(append(a.items(), item)); err == nil {
		a.Body = encoded
	}
}

// cachedByRoute answers each authorized detail with the first one that was found.
func cachedByRoute(next http.Handler, env Env) http.Handler {
	var first memory[*editableAnswer]
	return rewrite(func(_ *http.Request, a *editableAnswer) {
		if !a.ok() && !missing(nil, a) {
			return
		}
		if kept, known := first.get("detail"); known {
			*a = *kept.clone()
		} else if a.ok() {
			first.put("detail", a.clone())
		}
	}, FundingDetail)(next, env)
}

// padded adds a blank to the ids of the list and ignores it in the path of the detail.
func padded(next http.Handler, env Env) http.Handler {
	list := items(func(_ int, item map[string]any) {
		if id, ok := item["id"].(string); ok {
			item["id"] = id + " "
		}
	})
	detail := readmit(func(r *http.Request, _ Env) *http.Request {
		trimmed := r.Clone(r.Context())
		trimmed.URL.Path, trimmed.URL.RawPath = strings.TrimRight(r.URL.Path, " "), ""
		return trimmed
	}, FundingDetail)
	return list(detail(next, env), env)
}

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
			Wrap: rewrite(when(func(r *http.Request, a *editableAnswer) bool { return a.ok() && len(filtersOf(r)) > 1 },
				func(_ *http.Request, a *editableAnswer) { a.Body = []byte("[]") }), FundingList),
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
