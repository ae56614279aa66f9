package deviation

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// listHabits are unusual lists and ways to page through them.
func listHabits() []Deviation {
	return []Deviation{
		{
			Name: "list-in-described-envelope", Warns: []string{"PAG-01"},
			Why: "The list is the member data of an object with the numbers of the page beside it, and the document describes it so.",
			Wrap: both(
				rewrite(when(succeeded, func(_ *http.Request, a *Answer) {
					a.edit(func(items any) any {
						return map[string]any{"data": items, "meta": map[string]any{"version": 3}}
					})
				}), FundingList),
				specs(func(document map[string]any, env Env) {
					for _, described := range member(listOperation(document, env), "responses", "200", "content") {
						media, _ := described.(map[string]any)
						envelop(media)
					}
				}),
			),
		},
		{
			Name: "page-size-from-five",
			Why:  "A page has five records at least, the document says so, and smaller sizes are refused.",
			Wrap: both(sized(func(size int) bool { return size < 5 }, nil), sizes("minimum", 5)),
		},
		{
			Name: "page-size-up-to-eight",
			Why:  "A page has eight records at most, the document says so, and larger sizes are refused.",
			Wrap: both(sized(func(size int) bool { return size > 8 }, nil), sizes("maximum", 8)),
		},
		{
			Name: "page-size-cut",
			Why:  "A page has eight records at most, the document says so, and larger sizes are cut to that, as Spring Data does.",
			Wrap: both(sized(func(size int) bool { return size > 8 }, func(q url.Values) { q.Set("page[size]", "8") }), sizes("maximum", 8)),
		},
		{
			Name: "bad-values-ignored",
			Why:  "Bad values of paging parameters count as absent, as Spring Data reads them.",
			Wrap: asking(func(q url.Values) {
				for _, name := range []string{"page[page]", "page[size]"} {
					if n, err := strconv.Atoi(q.Get(name)); err != nil || n < 0 || n == 0 && name == "page[size]" || n > 1<<31-1 {
						q.Del(name)
					}
				}
				if n, err := strconv.Atoi(q.Get("page[size]")); err == nil && n > 10_000 {
					q.Set("page[size]", "10000")
				}
			}),
		},
		{
			Name: "beyond-the-end-not-found", Warns: []string{"PAG-04"},
			Why: "A page past the end is answered 404 and described so, the default of Django REST.",
			Wrap: both(
				rewrite(when(func(r *http.Request, a *Answer) bool {
					page, _ := strconv.Atoi(r.URL.Query().Get("page[page]"))
					return a.ok() && page > 0 && len(a.items()) == 0
				}, func(_ *http.Request, a *Answer) { notFound(a) }), FundingList),
				specs(func(document map[string]any, env Env) {
					member(listOperation(document, env), "responses")["404"] = problemResponse()
				}),
			),
		},
		{
			Name: "filters-joined-by-or", Warns: []string{"PAG-07"},
			Why:  "Several filters give what fits any of them; no document of the network says that all must fit.",
			Wrap: joinedByOr,
		},
		{
			Name: "filters-one-at-a-time", Warns: []string{"PAG-07"},
			Why: "A list takes one filter at a time, and refuses two with 400.",
			Wrap: before(func(r *http.Request) bool { return len(filtersOf(r)) > 1 }, func(a *Answer) {
				a.become(http.StatusBadRequest, "application/problem+json", `{"type":"about:blank","title":"Bad Request","status":400,"detail":"one filter at a time"}`)
			}),
		},
		{
			Name: "raw-brackets-refused", Warns: []string{"PAG-05"},
			Why:  "Brackets in a query are refused unless they are percent-encoded, as Tomcat does by RFC 3986.",
			Wrap: before(rawBrackets, func(a *Answer) { a.become(http.StatusBadRequest, "text/html;charset=utf-8", tomcatPage) }),
		},
		{
			Name: "unknown-parameters-refused",
			Why:  "A query parameter that the document does not name is answered 400, as express-openapi-validator does by default.",
			Wrap: strict,
		},
		{
			Name: "list-with-links",
			Why:  "Lists name the next page and themselves in Link headers, with parameters of every form, as GitHub and Spring HATEOAS do.",
			Wrap: linked,
		},
		{
			Name: "list-with-counts",
			Why:  "Lists tell the number of records in header fields, as JSON Server and many admin frameworks read it.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *Answer) {
				count := strconv.Itoa(len(a.items()))
				a.set("X-Total-Count", count)
				a.set("Content-Range", "items 0-"+count+"/*")
				a.set("Accept-Ranges", "none")
			}), FundingList),
		},
		{
			Name: "list-media-type-of-a-vendor",
			Why:  "List and detail have a media type of their own with a version and a charset, and the document describes it, as GitHub's API does.",
			Wrap: both(
				rewrite(when(succeeded, field("Content-Type", "application/vnd.ris.v3+json;charset=UTF-8")), FundingList, FundingDetail),
				specs(func(document map[string]any, env Env) {
					for _, operation := range []map[string]any{listOperation(document, env), detailOperation(document, env)} {
						relabel(member(operation, "responses", "200"), "application/vnd.ris.v3+json")
					}
				}),
			),
		},
	}
}

// envelop describes a list as the member data of an object.
func envelop(media map[string]any) {
	media["schema"] = map[string]any{
		"type": "object", "required": []any{"data"},
		"properties": map[string]any{"data": media["schema"], "meta": map[string]any{"type": "object"}},
	}
	delete(media, "examples")
}

// sized makes a Wrap that mends page sizes that are out of bounds, or refuses them when it cannot.
func sized(out func(size int) bool, mend func(q url.Values)) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		size, err := strconv.Atoi(r.URL.Query().Get("page[size]"))
		switch {
		case err != nil || !out(size):
			next.ServeHTTP(w, r)
			return
		case mend != nil && size > 0:
			next.ServeHTTP(w, withQuery(r, mend))
			return
		}
		a := capture(next, r)
		if a.ok() {
			a.become(http.StatusBadRequest, "application/problem+json", `{"type":"about:blank","title":"Bad Request","status":400,"detail":"page[size] is out of bounds"}`)
		}
		a.send(w, r)
	}, FundingList)
}

// sizes makes a Wrap that describes a bound of the page size.
func sizes(bound string, value int) wrap {
	return specs(func(document map[string]any, env Env) {
		for _, parameter := range objects(listOperation(document, env), "parameters") {
			if parameter["name"] == "page[size]" {
				member(parameter, "schema")[bound] = value
				delete(member(parameter, "schema"), "default")
				parameter["example"] = value
			}
		}
	})
}

// rawBrackets holds for queries that RFC 3986 §3.4 does not allow.
func rawBrackets(r *http.Request) bool { return strings.ContainsAny(r.URL.RawQuery, "[]{}|") }

// strict refuses what the document does not name, once the token is good.
func strict(next http.Handler, env Env) http.Handler {
	known := append(filters(), "runningCalls", "page[page]", "page[size]")
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		for name := range r.URL.Query() {
			if a.ok() && (env.Classify(r) != FundingList || !slices.Contains(known, name)) {
				a.become(http.StatusBadRequest, "application/problem+json", `{"type":"about:blank","title":"Bad Request","status":400,"detail":"unknown query parameter"}`)
			}
		}
		a.send(w, r)
	}, protected()...)(next, env)
}

// linked adds links to lists: to the list itself, to its description, and to the next page where there is one.
func linked(next http.Handler, env Env) http.Handler {
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if a.ok() {
			self := env.Places.Origin(r) + r.URL.RequestURI()
			a.Header.Add("Link", "<"+strings.NewReplacer("[", "%5B", "]", "%5D").Replace(self)+">; rel=self, <"+env.Places.Spec()+`>; rel="service-desc describedby"; type="application/json"; title*=UTF-8''Beschreibung%20%C3%B6ffentlich`)
			query := r.URL.Query()
			page, _ := strconv.Atoi(query.Get("page[page]"))
			size, err := strconv.Atoi(query.Get("page[size]"))
			if err == nil && len(a.items()) == size {
				query.Set("page[page]", strconv.Itoa(page+size))
				a.Header.Add("Link", "<"+r.URL.Path+"?"+query.Encode()+`>;Rel="next" ; title="next, or \"weiter\""`)
			}
		}
		a.send(w, r)
	}, FundingList)(next, env)
}
