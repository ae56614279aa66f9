package fault

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// listHabits are unusual lists and ways to page through them.
func listHabits() []Deviation {
	return []Deviation{
		{Name: "funders-with-ampersand",
			Why:  "The ids of funders have an ampersand, and the links between pages encode it.",
			Wrap: ampersandInFunders()},
		{Name: "list-in-described-envelope",
			Why: "The list is the member data of an object, with the numbers of the page beside it, and the document describes that.",
			Wrap: both(
				rewriteSuccess(inOrder(wrapIn("data"), edit(put("meta", map[string]any{"version": 3}))), List),
				editDocument(func(d apiDocument) {
					for _, described := range member(d.list(), "responses", "200", "content") {
						if media, ok := described.(map[string]any); ok {
							describeEnvelope(media)
						}
					}
				}))},
		{Name: "unknown-cursors-refused",
			Why: "The list describes a cursor and refuses unknown cursors with 400; the document does not describe the 400, and its schema allows any text.",
			Wrap: both(editDocument(describeCursor),
				rewriteSuccess(whenRequest(func(r *http.Request) bool { return r.URL.Query().Has("cursor") }, problem(http.StatusBadRequest, "not a cursor of this list")), List))},
		{Name: "page-size-from-five",
			Why:  "A page has at least five records, the document says so, and smaller sizes are refused.",
			Wrap: both(refusePageSize(func(size int) bool { return size < 5 }), describePageSize("minimum", 5))},
		{Name: "page-size-up-to-eight",
			Why:  "A page has at most eight records, the document says so, and larger sizes are refused.",
			Wrap: both(refusePageSize(func(size int) bool { return size > 8 }), describePageSize("maximum", 8))},
		{Name: "page-size-cut",
			Why: "A page has at most eight records, the document says so, and larger sizes are reduced, as by Spring Data.",
			Wrap: both(
				replaceRequest(func(r *http.Request, _ Env) *http.Request {
					if size, err := strconv.Atoi(r.URL.Query().Get("page[size]")); err != nil || size <= 8 {
						return r
					}
					return withQuery(r, func(q url.Values) { q.Set("page[size]", "8") })
				}, List),
				describePageSize("maximum", 8))},
		{Name: "list-with-one-item",
			Why:  "The list has one record, as at a node that has just been set up.",
			Wrap: keepRecords(oneRecord)},
		{Name: "list-that-grows",
			Why:  "New records appear at the top of the list while it is read, as on the day of a call's publication.",
			Wrap: keepRecords(growingList)},
		{Name: "list-that-moves",
			Why:  "After every eighth request the record at the top leaves the list and another one appears at its end, as where calls have short deadlines.",
			Wrap: keepRecords(movingList)},
		{Name: "bad-values-ignored",
			Why: "Bad values of paging parameters count as absent, as in Spring Data.",
			Wrap: editQuery(func(q url.Values) {
				for _, name := range []string{"page[page]", "page[size]"} {
					if n, err := strconv.Atoi(q.Get(name)); err != nil || n < 0 || n == 0 && name == "page[size]" || n > 1<<31-1 {
						q.Del(name)
					}
				}
				if n, err := strconv.Atoi(q.Get("page[size]")); err == nil && n > 10_000 {
					q.Set("page[size]", "10000")
				}
			})},
		{Name: "beyond-the-end-not-found", Warns: []string{"PAG-04"},
			Why: "A page past the end is answered 404, as the document says, the default of Django REST.",
			Wrap: both(
				rewriteSuccess(when(func(a *answer) bool {
					start, _ := strconv.Atoi(a.request.URL.Query().Get("page[page]"))
					return start > 0 && len(a.items()) == 0
				}, problem(http.StatusNotFound, "no such record")), List),
				editDocument(func(d apiDocument) { member(d.list(), "responses")["404"] = problemResponse() }))},
		{Name: "vast-pages-refused",
			Why: "Pages from the millionth record on are answered 400, as by a search index with a limited window.",
			Wrap: rewriteSuccess(whenRequest(func(r *http.Request) bool {
				start, err := strconv.Atoi(r.URL.Query().Get("page[page]"))
				return err == nil && start >= 1_000_000
			}, problem(http.StatusBadRequest, "the page is out of the window")), List)},
		{Name: "filters-joined-by-or", Warns: []string{"PAG-07"},
			Why: "Several filters return what matches any of them; like all published documents, this one does not say that all must match.",
			Wrap: both(
				rewriteSuccess(joinFiltersByOr, List),
				editDocument(func(d apiDocument) {
					update("description", func(text string) string { return strings.Replace(text, "Filters hold together (AND); an", "An", 1) })(d.list())
				}))},
		{Name: "filters-take-several-values",
			Why:  "Two filters are described as arrays, and records with any of their values match.",
			Wrap: both(editDocument(describeValueLists), rewrite(answerValueLists(func(url.Values) {}), List))},
		{Name: "filters-one-at-a-time", Warns: []string{"PAG-07"},
			Why: "A list accepts one filter at a time, and refuses two with 400.",
			Wrap: refuseEarly(func(r *http.Request) bool { return len(filtersOf(r)) > 1 },
				problem(http.StatusBadRequest, "one filter at a time"), everyKind()...)},
		{Name: "raw-brackets-refused", Warns: []string{"PAG-05"},
			Why: "Brackets in a query are refused unless they are percent-encoded, as by Tomcat according to RFC 3986.",
			Wrap: refuseEarly(func(r *http.Request) bool { return strings.ContainsAny(r.URL.RawQuery, "[]{}|") },
				tomcatPage, everyKind()...)},
		{Name: "unknown-parameters-refused",
			Why:  "A query parameter that the document does not name is answered 400, the default of express-openapi-validator.",
			Wrap: rewriteSuccess(when(hasUnknownParameter, problem(http.StatusBadRequest, "unknown query parameter")), protectedKinds()...)},
		{Name: "list-with-links",
			Why:  "Lists link to the next page and to themselves in Link headers, with parameters of every form, as from GitHub and Spring HATEOAS.",
			Wrap: rewriteSuccess(addLinks, List)},
		{Name: "list-with-counts",
			Why: "Header fields of lists contain the number of records, as JSON Server and many admin frameworks expect.",
			Wrap: rewriteSuccess(func(a *answer) {
				if !strings.HasPrefix(string(a.Body), "[") {
					return // another habit has put the records into an envelope
				}
				count := strconv.Itoa(len(a.items()))
				setHeaders("X-Total-Count", count, "Content-Range", "items 0-"+count+"/*", "Accept-Ranges", "none")(a)
			}, List)},
		{Name: "list-media-type-of-a-vendor",
			Why: "List and detail have a vendor's media type with a version and a charset, and the document describes it, as for GitHub's API.",
			Wrap: both(
				rewriteSuccess(setHeader("Content-Type", "application/vnd.ris.v3+json;charset=UTF-8"), List, Detail),
				editDocument(func(d apiDocument) { d.relabelSuccess("application/vnd.ris.v3+json") }))},
	}
}

// keepRecords makes a wrap that shows only a part of the records, in the complete list and in its pages, with and without filters. It calls begin when
// the habit is put before a node, and then window for each request, with the number of all records. window returns how many of the first records are hidden,
// and how many of the next ones are shown.
func keepRecords(begin func() (window func(all int) (hidden, shown int))) wrap {
	return stateful(func() wrap {
		window := begin()
		return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			a := capture(next, r)
			if a.ok() && r.Method != http.MethodOptions { // OPTIONS has no records
				visible := map[string]bool{}
				all := capture(next, withQuery(r, func(q url.Values) { clear(q) })).items()
				hidden, shown := window(len(all))
				for _, record := range slicePage(all, hidden, shown) {
					visible[text(record["id"])] = true
				}
				found := capture(next, withoutPaging(r)).items()
				found = slices.DeleteFunc(found, func(record map[string]any) bool { return !visible[text(record["id"])] })
				start, _ := strconv.Atoi(r.URL.Query().Get("page[page]"))
				size, err := strconv.Atoi(r.URL.Query().Get("page[size]"))
				if err != nil {
					size = len(found)
				}
				page := slicePage(found, start, size)
				if body, err := json.Marshal(page); err == nil {
					a.Body = body
				}
				if len(page) < size {
					a.set("Link", "") // which is that of the list with all records
				}
			}
			a.send(w, r)
		}, List)
	})
}

// slicePage returns up to size records from the index start on; never nil.
func slicePage(records []map[string]any, start, size int) []map[string]any {
	start = min(max(start, 0), len(records))
	return append([]map[string]any{}, records[start:min(start+max(size, 0), len(records))]...)
}

// oneRecord shows only the first record.
func oneRecord() func(int) (hidden, shown int) { return func(int) (int, int) { return 0, 1 } }

// growingList hides the first eight records, and one record less after every eighth request.
func growingList() func(int) (hidden, shown int) {
	var mu sync.Mutex
	requests := 0
	return func(int) (int, int) {
		mu.Lock()
		defer mu.Unlock()
		requests++
		return max(0, 8-requests/8), math.MaxInt32
	}
}

// movingList shows five records. After every eighth request it moves on by one record, until it has hidden five.
func movingList() func(int) (hidden, shown int) {
	var requests atomic.Int64
	return func(int) (int, int) { return int(min(requests.Add(1)/8, 5)), 5 }
}

// lateRecord hides the last record in the first three answers.
func lateRecord() func(int) (hidden, shown int) {
	var requests atomic.Int64
	return func(all int) (int, int) {
		if requests.Add(1) > 3 {
			return 0, all
		}
		return 0, all - 1
	}
}

// describeEnvelope describes a list as the member data of an object.
func describeEnvelope(media map[string]any) {
	media["schema"] = schema{
		"type": "object", "required": []any{"data"},
		"properties": map[string]any{"data": media["schema"], "meta": schema{"type": "object"}},
	}
	delete(media, "examples")
}

// refusePageSize makes a wrap that answers 400 in place of a list if isOut holds for the requested page size. Other errors of the node stay as they are.
func refusePageSize(isOut func(size int) bool) wrap {
	return rewriteSuccess(whenRequest(func(r *http.Request) bool {
		size, err := strconv.Atoi(r.URL.Query().Get("page[size]"))
		return err == nil && isOut(size)
	}, problem(http.StatusBadRequest, "page[size] is out of bounds")), List)
}

// describePageSize makes a wrap that describes a bound of the page size.
func describePageSize(bound string, value int) wrap {
	return editDocument(func(d apiDocument) {
		for _, parameter := range objects(d.list(), "parameters") {
			if parameter["name"] == "page[size]" {
				member(parameter, "schema")[bound] = value
				delete(member(parameter, "schema"), "default")
				parameter["example"] = value
			}
		}
	})
}

// hasUnknownParameter holds for answers to requests with a query parameter that the document does not name.
func hasUnknownParameter(a *answer) bool {
	known := append(filters(), "runningCalls", "page[page]", "page[size]")
	for name := range a.request.URL.Query() {
		if a.env.Classify(a.request) != List || !slices.Contains(known, name) {
			return true
		}
	}
	return false
}

// addLinks adds links to a list: to itself, to its description, and to the next page.
func addLinks(a *answer) {
	self := a.env.Places.Origin(a.request) + a.request.URL.RequestURI()
	a.Header.Add("Link", "<"+strings.NewReplacer("[", "%5B", "]", "%5D").Replace(self)+">; rel=self, <"+a.env.Places.Spec()+
		`>; rel="service-desc describedby"; type="application/json"; title*=UTF-8''Beschreibung%20%C3%B6ffentlich`)
	query := a.request.URL.Query()
	start, _ := strconv.Atoi(query.Get("page[page]"))
	size, err := strconv.Atoi(query.Get("page[size]"))
	if err == nil && len(a.items()) == size {
		query.Set("page[page]", strconv.Itoa(start+size))
		a.Header.Add("Link", "<"+a.request.URL.Path+"?"+query.Encode()+`>;Rel="next" ; title="next, or \"weiter\""`)
	}
}

// recordHabits are unusual records that the document allows.
func recordHabits() []Deviation {
	return []Deviation{
		{Name: "records-with-more-members",
			Why: "Records have members that the document does not name, at every level, like every API after its next release.",
			Wrap: editRecords(func(record map[string]any) {
				record["_links"] = map[string]any{"self": map[string]any{"href": "?id=" + url.QueryEscape(text(record["id"]))}}
				record["error"], record["internalNote"] = nil, "geprüft"
				for _, funder := range objects(record, "funder") {
					funder["@type"], funder["since"] = "Organisation", 1968
				}
			})},
		{Name: "integers-with-fraction",
			Why:  "Whole numbers are written as 5.0, as by languages with one type for all numbers; JSON Schema accepts them as integers.",
			Wrap: extendNumbers(".0", ".eE")},
		{Name: "numbers-with-exponent",
			Why:  "Numbers are written with an exponent, as by Java's BigDecimal and Erlang.",
			Wrap: extendNumbers("E+0", "eE")},
		{Name: "dates-with-offset",
			Why:  "Dates are written with the offset of Vienna and not as UTC.",
			Wrap: editDates(func(t time.Time) string { return t.In(time.FixedZone("", 3600)).Format(time.RFC3339) })},
		{Name: "dates-with-fraction",
			Why:  "Dates have nanoseconds, as Java writes instants.",
			Wrap: editDates(func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") })},
		{Name: "dates-in-lower-case",
			Why:  "Dates are written with t and z in lower case, which RFC 3339 allows.",
			Wrap: editDates(func(t time.Time) string { return strings.ToLower(t.UTC().Format(time.RFC3339)) })},
		{Name: "ids-with-odd-characters",
			Why:  "Ids come from another system, with blanks, umlauts, percent signs, semicolons and a plus; callers use them unchanged.",
			Wrap: replaceIDs(func(id string) string { return "urn:ris:" + id + ";v=1 Förderung 100%+" })},
		{Name: "ids-with-slash",
			Why:  "Ids are DOIs and contain a slash, percent-encoded in the path of the detail, as for a funder of the network.",
			Wrap: replaceIDs(func(id string) string { return "10.55776/" + id })},
		{Name: "one-id-with-slash",
			Why:  "Few ids contain a slash; the document says that ids are percent-encoded in the path of the detail, which finds them.",
			Wrap: slashInID()},
		{Name: "optional-members-null",
			Why: "Optional members without a value are null, and the document calls them nullable, as from serialisers that omit nothing.",
			Wrap: both(
				editRecords(func(record map[string]any) {
					record["acronym"], record["website"], record["description"] = nil, nil, nil
				}),
				editDocument(func(d apiDocument) {
					for _, name := range []string{"Call", "Programme", "OtherFunding"} {
						for _, property := range []string{"acronym", "website", "description"} {
							member(d.schemas(), name, "properties", property)["nullable"] = true
						}
					}
				}))},
		{Name: "optional-members-absent",
			Why: "Records have only the required members, like those of new nodes.",
			Wrap: editRecords(func(record map[string]any) {
				for _, name := range []string{"acronym", "website", "description", "identifiers", "careerStages", "contacts", "annotations", "partOf", "reportingPeriods"} {
					delete(record, name)
				}
			})},
		{Name: "texts-of-every-kind",
			Why: "Names contain markup, control characters, right-to-left text, combining marks and characters that need two units of UTF-16, as people paste them.",
			Wrap: editRecords(func(record map[string]any) {
				for _, name := range objects(record, "name") {
					name["text"] = text(name["text"]) + " <b>&amp;</b> \u200f\u05e9\u05dc\u05d5\u05dd e\u0301 \U0001F52C\t\u2028\u0000\uFEFF \"'`{{7*7}}"
				}
			})},
		{Name: "detail-with-more-than-the-list",
			Why: "The detail has members that the list omits, which is the purpose of details.",
			Wrap: editItems(func(_ int, record map[string]any) {
				delete(record, "description")
				delete(record, "contacts")
			})},
		{Name: "records-with-signed-links",
			Why: "Records have links with a signature that is new in each answer, as to object stores, and say when they were read.",
			Wrap: func(next http.Handler, env Env) http.Handler {
				var answers atomic.Int64
				return editRecords(func(record map[string]any) {
					n := answers.Add(1)
					record["lastAccessed"] = time.Unix(1772442000+n, 0).UTC().Format(time.RFC3339)
					record["files"] = []any{map[string]any{"name": "guide.pdf", "url": fmt.Sprintf("https://files.node.example/guide.pdf?signature=%016x", n*0x9e3779b9)}}
				})(next, env)
			}},
		{Name: "record-members-in-capitals-besides",
			Why: "Records have members that differ from their own by case only, as two serialisers write them into one object.",
			Wrap: editRecords(func(record map[string]any) {
				record["ID"], record["Type"], record["NAME"] = 0, "UNKNOWN", false
			})},
	}
}

// editRecords makes a wrap that edits the records of list and detail.
func editRecords(edit func(record map[string]any)) wrap {
	return both(editItems(func(_ int, record map[string]any) { edit(record) }), editDetail(edit))
}

// extendNumbers makes a wrap that appends a suffix to each number in a record, except numbers that contain a character of unless.
func extendNumbers(suffix json.Number, unless string) wrap {
	return editValues(func(value any) any {
		if n, ok := value.(json.Number); ok && !strings.ContainsAny(n.String(), unless) {
			return n + suffix
		}
		return value
	})
}

// editDates makes a wrap that formats all points in time of records.
func editDates(format func(t time.Time) string) wrap {
	return editValues(func(value any) any {
		if t, err := time.Parse(time.RFC3339, text(value)); err == nil {
			return format(t)
		}
		return value
	})
}

// editValues makes a wrap that replaces the values of records that are neither objects nor arrays.
func editValues(replace func(value any) any) wrap {
	return editRecords(func(record map[string]any) { replaceValues(record, replace) })
}

// replaceValues replaces the values inside value that are neither objects nor arrays, and returns the changed value.
func replaceValues(value any, replace func(value any) any) any {
	switch value := value.(type) {
	case map[string]any:
		for name := range value {
			value[name] = replaceValues(value[name], replace)
		}
		return value
	case []any:
		for i := range value {
			value[i] = replaceValues(value[i], replace)
		}
		return value
	}
	return replace(value)
}

// replaceIDs makes a wrap that gives the records other ids, in answers and in requests.
func replaceIDs(replace func(id string) string) wrap {
	request := replaceRequest(func(r *http.Request, env Env) *http.Request {
		given := strings.TrimPrefix(r.URL.Path, env.Places.Fundings()+"/")
		before, after, _ := strings.Cut(replace("\x00"), "\x00")
		id := strings.TrimSuffix(strings.TrimPrefix(given, before), after)
		if replace(id) != given {
			id = "unknown"
		}
		return withPath(r, env.Places.Fundings()+"/"+id)
	}, Detail)
	edit := func(record map[string]any) {
		if id := text(record["id"]); id != "" {
			record["id"] = replace(id)
		}
	}
	return both(editRecords(edit), request)
}
