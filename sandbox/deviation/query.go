package deviation

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// inputDeviations break spellings and bad values of parameters.
func inputDeviations() []Deviation {
	return []Deviation{
		{
			// Clients that encode find no size, so that pages are not limited either.
			Name: "only-raw-brackets", Breaks: []string{"PAG-02", "PAG-05"},
			Why: "Parameters with brackets are understood only if the brackets are not encoded: the query is searched as text.",
			Wrap: readmit(func(r *http.Request, _ Env) *http.Request {
				return withRawQuery(r, slices.DeleteFunc(strings.Split(r.URL.RawQuery, "&"), func(p string) bool { return strings.HasPrefix(p, "page%5B") }))
			}, FundingList),
		},
		{
			Name: "raw-brackets-ignored", Breaks: []string{"PAG-05"},
			Why: "Parameters with raw brackets are dropped by a gateway that cleans queries.",
			Wrap: readmit(func(r *http.Request, _ Env) *http.Request {
				return withRawQuery(r, slices.DeleteFunc(strings.Split(r.URL.RawQuery, "&"), func(p string) bool { return strings.Contains(p, "[") }))
			}, FundingList),
		},
		{
			Name: "size-text-crashes", Breaks: []string{"PAG-06"},
			Why:  "A page size that is no number fails with 500: nobody catches the error of the conversion.",
			Wrap: inQuery(func(query string) bool { return strings.Contains(query, "size%5D=abc") }, crash),
		},
		{
			Name: "size-overflows", Breaks: []string{"PAG-06"},
			Why:  "A page size beyond 32 bits fails with 500.",
			Wrap: inQuery(func(query string) bool { return strings.Contains(query, "99999999999") }, crash),
		},
		{
			Name: "negative-page-crashes", Breaks: []string{"PAG-06"},
			Why:  "A negative page goes into the query of the database, which refuses it: 500.",
			Wrap: inQuery(func(query string) bool { return strings.Contains(query, "page%5D=-1") }, crash),
		},
		{
			Name: "unknown-parameter-crashes", Breaks: []string{"PAG-06"},
			Why:  "A parameter that nobody knows fails with 500: it is taken for the name of a column.",
			Wrap: inQuery(func(query string) bool { return strings.Contains(query, "x-conformance=") }, crash),
		},
		{
			Name: "unknown-vocabulary-ignored", Breaks: []string{"PAG-06"},
			Why: "A filter value that is not in the vocabulary is ignored, and the whole list comes back.",
			Wrap: asking(func(q url.Values) {
				for _, name := range filters() {
					if q.Get(name) == "CONFORMANCE_UNKNOWN" {
						q.Del(name)
					}
				}
			}),
		},
	}
}

// filterDeviations break one filter, one value, or filters in one company.
func filterDeviations() []Deviation {
	return []Deviation{
		{
			Name: "funder-filter-ignored", Breaks: []string{"PAG-07"},
			Why:  "The filter by funder is described and was never written; the others work.",
			Wrap: asking(func(q url.Values) { q.Del("funderId") }),
		},
		{
			Name: "filter-ignored-for-one-group", Breaks: []string{"PAG-07"},
			Why: "The filter by target group does not know the newest group and answers everything for it.",
			Wrap: asking(func(q url.Values) {
				if q.Get("targetGroup") == "GOVERNMENT" {
					q.Del("targetGroup")
				}
			}),
		},
		{
			Name: "filter-ignored-on-later-pages", Breaks: []string{"PAG-07"},
			Why: "Filters are applied to the first page only: the link to the next one forgets them.",
			Wrap: asking(func(q url.Values) {
				if q.Get("page[page]") == "" {
					return
				}
				for _, name := range filters() {
					q.Del(name)
				}
			}),
		},
		{
			Name: "filter-needs-page", Breaks: []string{"PAG-07"},
			Why: "Filters are applied together with a page only, since the whole list comes from a cache.",
			Wrap: asking(func(q url.Values) {
				if q.Get("page[size]") != "" {
					return
				}
				for _, name := range filters() {
					q.Del(name)
				}
			}),
		},
		{
			Name: "running-calls-ignored", Breaks: []string{"PAG-07"},
			Why:  "runningCalls is described and ignored.",
			Wrap: asking(func(q url.Values) { q.Del("runningCalls") }),
		},
		{
			Name: "running-calls-inverted", Breaks: []string{"PAG-07"},
			Why: "runningCalls=true gives the calls that are over: the flag in the database means the reverse.",
			Wrap: asking(func(q url.Values) {
				if value, turned := q.Get("runningCalls"), map[string]string{"true": "false", "false": "true"}; turned[value] != "" {
					q.Set("runningCalls", turned[value])
				}
			}),
		},
	}
}

// inQuery makes a Wrap that changes the answers to list requests whose query, as it was spelled, fits.
func inQuery(fits func(query string) bool, alter func(a *Answer)) wrap {
	return rewrite(func(r *http.Request, a *Answer) {
		if fits(r.URL.RawQuery) && !anonymous(r) {
			alter(a)
		}
	}, FundingList)
}

func withRawQuery(r *http.Request, parts []string) *http.Request {
	other := r.Clone(r.Context())
	other.URL.RawQuery = strings.Join(parts, "&")
	return other
}
