package fault

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// filterDeviations break filters: all, one, one value, or filters in combination with pages.
func filterDeviations() []Deviation {
	return []Deviation{
		{
			// PAG-06 breaks because values outside the vocabulary are ignored, too.
			Name: "filters-ignored", Breaks: []string{"PAG-07", "PAG-06"}, May: []string{"PAG-10"},
			Why:  "The described filters are ignored, and all items come back.",
			Wrap: editQuery(dropFilters)},
		{Name: "filter-ignored-for-one-value", Breaks: []string{"PAG-07"},
			Why:  "The filter by type knows all values except PROGRAMME, which was added to the vocabulary later.",
			Wrap: editQuery(dropValue("PROGRAMME", "fundingType"))},
		{Name: "filter-finds-nothing", Breaks: []string{"PAG-07"},
			Why:  "A filter finds nothing: it compares the name of the value with its number in the database.",
			Wrap: rewrite(when(isFiltered, emptyList), List)},
		{Name: "filter-refused", Breaks: []string{"PAG-07"},
			Why:  "The values of the described vocabulary are refused, because the service expects them in lower case.",
			Wrap: rewrite(when(isFiltered, problem(http.StatusBadRequest, "unknown value")), List)},
		{Name: "filter-lets-one-through", Breaks: []string{"PAG-07"},
			Why:  "A filtered list contains one record that does not match: an announcement that is always shown.",
			Wrap: rewrite(when(isFiltered, addOneMismatch), List)},
		{Name: "funder-filter-ignored", Breaks: []string{"PAG-07"}, May: []string{"PAG-10"},
			Why:  "The filter by funder is described and was never implemented; the others work.",
			Wrap: editQuery(func(q url.Values) { q.Del("funderId") })},
		{Name: "filter-ignored-for-one-group", Breaks: []string{"PAG-07"},
			Why:  "The filter by target group does not know the newest group and returns everything for it.",
			Wrap: editQuery(dropValue("GOVERNMENT", "targetGroup"))},
		{Name: "filter-ignored-on-later-pages", Breaks: []string{"PAG-07"}, May: []string{"PAG-10"},
			Why: "Filters are applied to the first page only: the link to the next page lacks them.",
			Wrap: editQuery(func(q url.Values) {
				if q.Get("page[page]") != "" {
					dropFilters(q)
				}
			})},
		{Name: "filter-needs-page", Breaks: []string{"PAG-07"},
			Why: "Filters are applied only with a page size, because the complete list comes from a cache.",
			Wrap: editQuery(func(q url.Values) {
				if q.Get("page[size]") == "" {
					dropFilters(q)
				}
			})},
		{Name: "filters-show-drafts", Breaks: []string{"PAG-07"}, May: []string{"PAG-10"},
			Why: "The list leaves out a record that is not published yet, and a filtered list has it: the query of a filter replaces the condition of the list.",
			Wrap: rewriteSuccess(func(a *answer) {
				if !isFiltered(a) {
					a.hide(func(record map[string]any) bool { return strings.HasSuffix(text(record["id"]), "3") })
				}
			}, List)},
		{Name: "running-calls-ignored", Breaks: []string{"PAG-07"},
			Why:  "runningCalls is described and ignored.",
			Wrap: editQuery(func(q url.Values) { q.Del("runningCalls") })},
		{Name: "running-calls-inverted", Breaks: []string{"PAG-07"}, May: []string{"PAG-10"},
			Why: "runningCalls=true returns the calls that have ended: the flag in the database has the opposite meaning.",
			Wrap: editQuery(func(q url.Values) {
				if value, inverse := q.Get("runningCalls"), map[string]string{"true": "false", "false": "true"}; inverse[value] != "" {
					q.Set("runningCalls", inverse[value])
				}
			})},
	}
}

// filterPairDeviations break filters that are sent together. Each filter works alone.
func filterPairDeviations() []Deviation {
	return []Deviation{
		{Name: "last-filter-wins", Breaks: []string{"PAG-07"}, May: []string{"PAG-10"},
			Why:  "Of several filters only the last is applied: each replaces the query of the database.",
			Wrap: applyOneFilter(func(given []string) string { return given[len(given)-1] })},
		{Name: "first-filter-wins", Breaks: []string{"PAG-07"}, May: []string{"PAG-10"},
			Why:  "Of several filters only the first is applied: a chain of else-ifs.",
			Wrap: applyOneFilter(func(given []string) string { return given[0] })},
		{Name: "filters-find-nothing-together", Breaks: []string{"PAG-07"},
			Why:  "Two filters together find nothing: both conditions apply to the same row of a table of attributes.",
			Wrap: rewriteSuccess(whenRequest(func(r *http.Request) bool { return len(filtersOf(r)) > 1 }, emptyList), List)},
	}
}

// valueListDeviations break filters that are described as arrays.
func valueListDeviations() []Deviation {
	return []Deviation{
		{Name: "first-value-wins", Breaks: []string{"PAG-07"}, May: []string{"PAG-10"},
			Why: "A filter is described as an array, and only its first value is read: req.query.get().",
			Wrap: both(editDocument(describeValueLists), editQuery(func(q url.Values) {
				for _, name := range valueLists() {
					if q.Has(name) {
						q.Set(name, q.Get(name))
					}
				}
			}))},
		{Name: "several-values-refused", Breaks: []string{"PAG-07"}, May: []string{"PAG-10"},
			Why:  "A filter is described as an array, and a second value is refused as a repeated parameter.",
			Wrap: editDocument(describeValueLists)},
		{Name: "links-lose-second-value", Breaks: []string{"PAG-07"}, May: []string{"PAG-10"},
			Why: "Links to the next page repeat one value of each parameter: the query was turned into a map.",
			Wrap: both(editDocument(describeValueLists), rewrite(answerValueLists(func(q url.Values) {
				for name := range q {
					q.Set(name, q.Get(name))
				}
			}), List))},
	}
}

// valueLists lists the filters that [describeValueLists] describes as arrays.
func valueLists() []string { return []string{"fundingType", "region"} }

// describeValueLists describes the filters of [valueLists] as arrays: clients repeat the parameter for each value.
func describeValueLists(d apiDocument) {
	for _, parameter := range objects(d.list(), "parameters") {
		if name, _ := parameter["name"].(string); slices.Contains(valueLists(), name) {
			parameter["schema"] = schema{"type": "array", "items": parameter["schema"]}
			parameter["description"] = text(parameter["description"]) + " Repeat the parameter for calls with any of several values."
		}
	}
}

// answerValueLists makes a change that answers repeated filters with the requested page of the records that match any of the values, in the order of the
// complete list. changeLink changes the query of the link to the next page.
func answerValueLists(changeLink func(q url.Values)) change {
	return func(a *answer) {
		query := a.request.URL.Query()
		repeated := slices.DeleteFunc(valueLists(), func(name string) bool { return len(query[name]) < 2 })
		if len(repeated) == 0 {
			return
		}
		unpaged := func(edit func(q url.Values)) *answer {
			return a.ask(withQuery(withoutPaging(a.request), edit))
		}
		complete := unpaged(func(q url.Values) {
			for _, name := range repeated {
				q.Del(name)
			}
		})
		if !complete.ok() {
			a.replaceBy(complete)
			return
		}
		for _, name := range repeated {
			matches := map[any]bool{}
			for _, value := range query[name] {
				for _, item := range unpaged(func(q url.Values) { dropFilters(q); q.Set(name, value) }).items() {
					matches[item["id"]] = true
				}
			}
			complete.keep(func(item map[string]any) bool { return matches[item["id"]] })
		}
		a.replaceBy(complete)
		a.page(query, changeLink)
	}
}

// page cuts the records to the page of a query and links to the next one.
func (a *answer) page(query url.Values, changeLink func(q url.Values)) {
	size, err := strconv.Atoi(query.Get("page[size]"))
	if err != nil {
		return
	}
	start, _ := strconv.Atoi(query.Get("page[page]"))
	n, total := -1, len(a.items())
	a.keep(func(map[string]any) bool {
		n++
		return n >= start && n < start+size
	})
	if start+size < total {
		query.Set("page[page]", strconv.Itoa(start+size))
		changeLink(query)
		a.set("Link", "<"+a.request.URL.Path+"?"+query.Encode()+`>; rel="next"`)
	}
}

// hide removes the records that fit from the complete list, and then cuts the requested page.
func (a *answer) hide(fits func(record map[string]any) bool) {
	query := a.request.URL.Query()
	complete := a.ask(withoutPaging(a.request))
	if !complete.ok() {
		return
	}
	complete.keep(func(record map[string]any) bool { return !fits(record) })
	a.replaceBy(complete)
	a.page(query, func(url.Values) {})
}

// filters lists the described filters that compare a member of the records.
func filters() []string {
	return []string{"fundingType", "targetGroup", "region", "funderId", "applicantsScope"}
}

// filtersOf returns the filters of a request.
func filtersOf(r *http.Request) []string {
	query := r.URL.Query()
	return slices.DeleteFunc(filters(), func(name string) bool { return query.Get(name) == "" })
}

// isFiltered holds for good answers to a list request with a filter.
func isFiltered(a *answer) bool { return a.ok() && len(filtersOf(a.request)) > 0 }

// emptyList removes all records from a list.
func emptyList(a *answer) { a.Body = []byte("[]") }

// editQuery makes a wrap that changes the query of list requests.
func editQuery(edit func(q url.Values)) wrap {
	return replaceRequest(func(r *http.Request, _ Env) *http.Request { return withQuery(r, edit) }, List)
}

// withQuery returns r with an edited query.
func withQuery(r *http.Request, edit func(q url.Values)) *http.Request {
	changed := r.Clone(r.Context())
	query := changed.URL.Query()
	edit(query)
	changed.URL.RawQuery = query.Encode()
	return changed
}

func dropFilters(q url.Values) {
	for _, name := range filters() {
		q.Del(name)
	}
}

// dropValue makes an edit that removes the named filters if they have the value.
func dropValue(value string, names ...string) func(q url.Values) {
	return func(q url.Values) {
		for _, name := range names {
			if q.Get(name) == value {
				q.Del(name)
			}
		}
	}
}

// addOneMismatch adds one record that does not match to a filtered list: the first of the complete list.
func addOneMismatch(a *answer) {
	complete := a.ask(withQuery(a.request, func(q url.Values) { clear(q) }))
	a.add(firstOther(complete.items(), a.items()))
}

// firstOther returns the first item of all whose id is not among the ids of known, or nil.
func firstOther(all, known []map[string]any) map[string]any {
	for _, item := range all {
		if !slices.ContainsFunc(known, func(k map[string]any) bool { return k["id"] == item["id"] }) {
			return item
		}
	}
	return nil
}

// applyOneFilter makes a wrap that keeps one of several filters.
func applyOneFilter(choose func(given []string) string) wrap {
	return replaceRequest(func(r *http.Request, _ Env) *http.Request {
		given := filtersOf(r)
		if len(given) < 2 {
			return r
		}
		return withQuery(r, func(q url.Values) {
			for _, name := range filters() {
				if name != choose(given) {
					q.Del(name)
				}
			}
		})
	}, List)
}

// joinFiltersByOr replaces the answer to several filters by the records that match any of them, in the order of the complete list and on one page.
func joinFiltersByOr(a *answer) {
	given := filtersOf(a.request)
	if len(given) < 2 {
		return
	}
	matches := map[any]bool{}
	for _, name := range given {
		alone := withQuery(a.request, func(q url.Values) {
			value := q.Get(name)
			clear(q)
			q.Set(name, value)
		})
		for _, item := range a.ask(alone).items() {
			matches[item["id"]] = true
		}
	}
	a.replaceBy(a.ask(withQuery(a.request, func(q url.Values) { clear(q) })))
	a.keep(func(item map[string]any) bool { return matches[item["id"]] })
}
