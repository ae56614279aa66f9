package fault

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parameterDeviations break parameters at their bounds, and the document's promises about them.
func parameterDeviations() []Deviation {
	return []Deviation{
		{
			Name: "longest-value-crashes", Breaks: []string{"API-01"},
			Why:  "A funderId of the greatest described length fails with 500: the column is one character shorter.",
			Wrap: rewrite(when(ofLength(func(n int) bool { return n == longestFunder }), crashing), FundingList),
		},
		{
			Name: "boolean-false-crashes", Breaks: []string{"API-01"},
			Why: "A described boolean of the detail fails with 500 when it is false; the portal only ever sends true.",
			Wrap: withParameter(query("annotated", map[string]any{"type": "boolean"}), func(value string, a *editableAnswer) {
				if value == "false" {
					crash(a)
				}
			}),
		},
		{
			Name: "described-value-refused", Breaks: []string{"API-01", "API-02"},
			Why: "The detail takes a described language, refuses the last one of them with 422, and the document does not say so.",
			Wrap: withParameter(query("lang", map[string]any{"type": "string", "enum": []any{"de", "en"}}), func(value string, a *editableAnswer) {
				if value == "en" {
					a.become(http.StatusUnprocessableEntity, "application/problem+json", `{"type":"about:blank","title":"Unprocessable Content","status":422}`)
				}
			}),
		},
		{
			Name: "described-header-crashes", Breaks: []string{"API-01"},
			Why: "A described header field of the detail fails with 500 for one of its values.",
			Wrap: withParameter(inHeader("X-Language", map[string]any{"type": "string", "enum": []any{"de", "en"}}), func(value string, a *editableAnswer) {
				if value == "en" {
					crash(a)
				}
			}),
		},
		{
			Name: "minimum-crashes", Breaks: []string{"API-01"},
			Why: "A described number of the detail fails with 500 at its minimum, which divides by zero.",
			Wrap: withParameter(query("depth", map[string]any{"type": "integer", "minimum": 0, "maximum": 3}), func(value string, a *editableAnswer) {
				if value == "0" {
					crash(a)
				}
			}),
		},
		{
			Name: "overlong-value-crashes", Breaks: []string{"PAG-06"},
			Why: "A funderId one character longer than described fails with 500: the database refuses it, and nobody else does.",
			Wrap: rewrite(when(func(r *http.Request, a *editableAnswer) bool {
				return a.Status == http.StatusBadRequest && utf8.RuneCountInString(r.URL.Query().Get("funderId")) > longestFunder
			}, crashing), FundingList),
		},
		{
			Name: "unknown-language-crashes", Breaks: []string{"PAG-06"},
			Why: "A described language of the detail outside of its vocabulary fails with 500: the enum of the code throws.",
			Wrap: withParameter(query("lang", map[string]any{"type": "string", "enum": []any{"de", "en"}}), func(value string, a *editableAnswer) {
				if value != "de" && value != "en" {
					crash(a)
				}
			}),
		},
		{
			Name: "beyond-maximum-crashes", Breaks: []string{"PAG-06"},
			Why: "A described number of the detail fails with 500 above its maximum.",
			Wrap: withParameter(query("depth", map[string]any{"type": "integer", "minimum": 0, "maximum": 3}), func(value string, a *editableAnswer) {
				if n, err := strconv.Atoi(value); err == nil && n > 3 {
					crash(a)
				}
			}),
		},
		{
			Name: "word-for-number-crashes", Breaks: []string{"PAG-06"},
			Why: "A word in place of a described number of the detail fails with 500: it is parsed without a net.",
			Wrap: withParameter(query("depth", map[string]any{"type": "integer"}), func(value string, a *editableAnswer) {
				if _, err := strconv.Atoi(value); err != nil {
					crash(a)
				}
			}),
		},
		{
			Name: "required-parameter-crashes", Breaks: []string{"PAG-06"},
			Why: "The detail without a described, required parameter fails with 500: the code takes it for granted.",
			Wrap: func(next http.Handler, env Env) http.Handler {
				view := query("view", map[string]any{"type": "string", "enum": []any{"full", "short"}})
				view.described["required"] = true
				crashes := rewrite(when(func(r *http.Request, a *editableAnswer) bool { return a.ok() && !r.URL.Query().Has("view") }, crashing), FundingDetail)
				return withParameter(view, func(string, *editableAnswer) {})(crashes(next, env), env)
			},
		},
		{
			Name: "required-header-missing", Breaks: []string{"API-02"},
			Why: "The document requires X-Total-Count of the list, and the proxy drops it.",
			Wrap: func(next http.Handler, env Env) http.Handler {
				return describeCount(next, env)
			},
		},
		{
			Name: "header-of-another-type", Breaks: []string{"API-02"},
			Why: "X-Total-Count of the list is described as a number and sent as \"10 fundings\".",
			Wrap: func(next http.Handler, env Env) http.Handler {
				return describeCount(rewrite(when(succeeded, field("X-Total-Count", "10 fundings")), FundingList)(next, env), env)
			},
		},
		{
			Name: "bad-value-answered-in-another-shape", Breaks: []string{"API-03"},
			Why: "A funderId that is too long is answered 200 with a message in place of the described list.",
			Wrap: rewrite(func(r *http.Request, a *editableAnswer) {
				if a.Status == http.StatusBadRequest && utf8.RuneCountInString(r.URL.Query().Get("funderId")) > longestFunder {
					a.Status, a.Body = http.StatusOK, []byte(`{"message":"nothing found"}`)
					a.set("Content-Type", "application/json")
				}
			}, FundingList),
		},
	}
}

// longestFunder is the greatest length of a funderId, as described.
const longestFunder = 200

// crashing is [crash] as a change.
func crashing(_ *http.Request, a *editableAnswer) { crash(a) }

// ofLength holds for calls whose funderId has such a length.
func ofLength(fits func(n int) bool) func(*http.Request, *editableAnswer) bool {
	return func(r *http.Request, _ *editableAnswer) bool {
		return fits(utf8.RuneCountInString(r.URL.Query().Get("funderId")))
	}
}

// place is a parameter as the document describes it, and how it is read from a request.
type place struct {
	described map[string]any
	read      func(r *http.Request) []string
}

func query(name string, schema map[string]any) place {
	return place{
		map[string]any{"name": name, "in": "query", "schema": schema},
		func(r *http.Request) []string {
			values, _ := url.ParseQuery(r.URL.RawQuery)
			return values[name]
		},
	}
}

func inHeader(name string, schema map[string]any) place {
	return place{
		map[string]any{"name": name, "in": "header", "schema": schema},
		func(r *http.Request) []string { return r.Header.Values(name) },
	}
}

// withParameter describes one more parameter of the detail and changes the answers to calls that use it.
func withParameter(p place, alter func(value string, a *editableAnswer)) wrap {
	return func(next http.Handler, env Env) http.Handler {
		describe := specs(func(document map[string]any, env Env) {
			detail := detailOperation(document, env)
			parameters, _ := detail["parameters"].([]any)
			detail["parameters"] = append(slices.Clone(parameters), any(p.described))
		})
		answer := rewrite(func(r *http.Request, a *editableAnswer) {
			for _, value := range p.read(r) {
				if a.ok() {
					alter(strings.TrimSpace(value), a)
				}
			}
		}, FundingDetail)
		return describe(answer(next, env), env)
	}
}

// describeCount requires the number of fundings in a header field of the list.
func describeCount(next http.Handler, env Env) http.Handler {
	return specs(func(document map[string]any, env Env) {
		member(listOperation(document, env), "responses", "200")["headers"] = map[string]any{"X-Total-Count": map[string]any{
			"required": true, "description": "The number of all fundings.", "schema": map[string]any{"type": "integer"},
		}}
	})(next, env)
}

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
func inQuery(fits func(query string) bool, alter func(a *editableAnswer)) wrap {
	return rewrite(func(r *http.Request, a *editableAnswer) {
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
