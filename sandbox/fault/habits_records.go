package fault

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// listHabits are unusual lists and ways to page through them.
func listHabits() []Deviation {
	return []Deviation{
		{
			Name: "list-in-described-envelope", Warns: []string{"PAG-01"},
			Why: "The list is the member data of an object with the numbers of the page beside it, and the document describes it so.",
			Wrap: both(
				rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
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
				rewrite(when(func(r *http.Request, a *editableAnswer) bool {
					page, _ := strconv.Atoi(r.URL.Query().Get("page[page]"))
					return a.ok() && page > 0 && len(a.items()) == 0
				}, func(_ *http.Request, a *editableAnswer) { notFound(a) }), FundingList),
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
			Wrap: refuseEarly(func(r *http.Request) bool { return len(filtersOf(r)) > 1 }, func(a *editableAnswer) {
				a.become(http.StatusBadRequest, "application/problem+json", `{"type":"about:blank","title":"Bad Request","status":400,"detail":"one filter at a time"}`)
			}),
		},
		{
			Name: "raw-brackets-refused", Warns: []string{"PAG-05"},
			Why:  "Brackets in a query are refused unless they are percent-encoded, as Tomcat does by RFC 3986.",
			Wrap: refuseEarly(rawBrackets, func(a *editableAnswer) { a.become(http.StatusBadRequest, "text/html;charset=utf-8", tomcatPage) }),
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
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
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

// recordHabits are unusual records that the document allows.
func recordHabits() []Deviation {
	return []Deviation{
		{
			Name: "records-with-more-members",
			Why:  "Records have members that the document does not name, on every level, as every API has after its next release.",
			Wrap: records(func(record map[string]any) {
				record["_links"] = map[string]any{"self": map[string]any{"href": "?id=" + text(record["id"])}}
				record["error"], record["internalNote"] = nil, "geprüft"
				for _, funder := range objects(record, "funder") {
					funder["@type"], funder["since"] = "Organisation", 1968
				}
			}),
		},
		{
			Name: "integers-with-fraction",
			Why:  "Whole numbers are written 5.0, as languages do that know one kind of number; JSON Schema takes them for integers.",
			Wrap: records(numbers(func(n json.Number) json.Number {
				if strings.ContainsAny(n.String(), ".eE") {
					return n
				}
				return n + ".0"
			})),
		},
		{
			Name: "numbers-with-exponent",
			Why:  "Numbers are written with an exponent, as Java's BigDecimal and Erlang do.",
			Wrap: records(numbers(func(n json.Number) json.Number {
				if strings.ContainsAny(n.String(), "eE") {
					return n
				}
				return n + "E+0"
			})),
		},
		{
			Name: "dates-with-offset",
			Why:  "Dates are written with the offset of Vienna and not as UTC.",
			Wrap: records(dates(func(t time.Time) string { return t.In(time.FixedZone("", 3600)).Format(time.RFC3339) })),
		},
		{
			Name: "dates-with-fraction",
			Why:  "Dates have nanoseconds, as Java writes its instants.",
			Wrap: records(dates(func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") })),
		},
		{
			Name: "dates-in-lower-case",
			Why:  "Dates are written with t and z in lower case, which RFC 3339 allows.",
			Wrap: records(dates(func(t time.Time) string { return strings.ToLower(t.UTC().Format(time.RFC3339)) })),
		},
		{
			Name: "ids-with-odd-characters",
			Why:  "Ids are identifiers of another world, with blanks, umlauts, percent signs, semicolons and a plus: they are text to the caller.",
			Wrap: renamed(func(id string) string { return "urn:ris:" + id + ";v=1 Förderung 100%+" }),
		},
		{
			Name: "ids-with-slash",
			Why:  "Ids are DOIs and hold a slash, percent-encoded in the path of the detail, as those of a funder of the network do.",
			Wrap: renamed(func(id string) string { return "10.55776/" + id }),
		},
		{
			Name: "optional-members-null",
			Why:  "Optional members are null where they have no value, and the document calls them nullable, as serialisers do that skip nothing.",
			Wrap: both(
				records(func(record map[string]any) {
					record["acronym"], record["website"], record["description"] = nil, nil, nil
				}),
				specs(func(document map[string]any, _ Env) {
					for _, name := range []string{"Call", "Programme", "OtherFunding"} {
						for _, property := range []string{"acronym", "website", "description"} {
							member(document, "components", "schemas", name, "properties", property)["nullable"] = true
						}
					}
				}),
			),
		},
		{
			Name: "optional-members-absent",
			Why:  "Records have the required members and nothing else, as those of nodes that have just begun.",
			Wrap: records(func(record map[string]any) {
				for _, name := range []string{"acronym", "website", "description", "identifiers", "careerStages", "contacts", "annotations", "partOf", "reportingPeriods"} {
					delete(record, name)
				}
			}),
		},
		{
			Name: "texts-of-every-kind",
			Why:  "Names hold markup, control pictures, right-to-left text, combining marks and characters beyond the first plane, as people paste them.",
			Wrap: records(func(record map[string]any) {
				for _, name := range objects(record, "name") {
					name["text"] = text(name["text"]) + " <b>&amp;</b> \u200f\u05e9\u05dc\u05d5\u05dd e\u0301 \U0001F52C\t\u2028\u0000\uFEFF \"'`{{7*7}}"
				}
			}),
		},
		{
			Name: "detail-with-more-than-the-list",
			Why:  "The detail has members that the list leaves out, which is what details are for.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
				a.editItems(func(_ int, record map[string]any) {
					delete(record, "description")
					delete(record, "contacts")
				})
			}), FundingList),
		},
	}
}

// records makes a Wrap that edits records, in the list and alone.
func records(edit func(record map[string]any)) wrap {
	return both(items(func(_ int, record map[string]any) { edit(record) }), details(edit))
}

// text is a value that is a string, empty for any other.
func text(value any) string {
	s, _ := value.(string)
	return s
}

// everyValue replaces the values in an object that are neither object nor array.
func everyValue(object map[string]any, replace func(value any) any) {
	for name, value := range object {
		object[name] = replaced(value, replace)
	}
}

func replaced(value any, replace func(value any) any) any {
	switch value := value.(type) {
	case map[string]any:
		everyValue(value, replace)
		return value
	case []any:
		for i := range value {
			value[i] = replaced(value[i], replace)
		}
		return value
	}
	return replace(value)
}

// numbers edits all numbers of a record.
func numbers(write func(n json.Number) json.Number) func(map[string]any) {
	return func(record map[string]any) {
		everyValue(record, func(value any) any {
			if n, ok := value.(json.Number); ok {
				return write(n)
			}
			return value
		})
	}
}

// dates edits all points in time of a record.
func dates(write func(t time.Time) string) func(map[string]any) {
	return func(record map[string]any) {
		everyValue(record, func(value any) any {
			if t, err := time.Parse(time.RFC3339, text(value)); err == nil {
				return write(t)
			}
			return value
		})
	}
}

// renamed makes a Wrap that gives the records other ids, in answers and in requests.
func renamed(rename func(id string) string) wrap {
	edit := func(record map[string]any) {
		if id := text(record["id"]); id != "" {
			record["id"] = rename(id)
		}
	}
	ask := around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		wanted := strings.TrimPrefix(r.URL.Path, env.Places.Fundings()+"/")
		before, after, _ := strings.Cut(rename("\x00"), "\x00")
		id := strings.TrimSuffix(strings.TrimPrefix(wanted, before), after)
		if rename(id) != wanted {
			id = "unknown"
		}
		other := r.Clone(r.Context())
		other.URL.Path, other.URL.RawPath = env.Places.Fundings()+"/"+id, ""
		next.ServeHTTP(w, other)
	}, FundingDetail)
	return both(records(edit), ask)
}
