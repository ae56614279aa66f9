package fault

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file makes lists in other forms than the network's own: by cursor in an envelope, by numbered pages under other names, and sorted.

// defaultCursorSize is the size of a page if the request has no limit.
const defaultCursorSize = 7

// paginateByCursor makes a wrap that serves the list in pages by cursor, {"items": […], "nextCursor": "…"}, with the parameters limit and cursor, and
// describes that. next returns how many records the next page skips, or -1 if there is no next page.
func paginateByCursor(next func(skip, size, total int) int) wrap {
	return both(
		interceptIf(isRead, func(node http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			skip, size, ok := cursorOf(r.URL.Query())
			a := capture(node, withQuery(r, func(q url.Values) {
				for _, name := range []string{"cursor", "limit", "page[page]", "page[size]"} {
					q.Del(name)
				}
			}))
			a.env = env
			switch {
			case a.ok() && !ok:
				problem(http.StatusBadRequest, "limit or cursor is not one of this list")(a)
			case a.ok():
				all := a.items()
				page := all[min(skip, len(all)):min(skip+size, len(all))]
				body := map[string]any{"items": page, "nextCursor": nil}
				if page == nil {
					body["items"] = []any{}
				}
				if at := next(skip, size, len(all)); at >= 0 {
					body["nextCursor"] = cursorAt(at)
				}
				a.Body, _ = json.Marshal(body) // cannot fail: it was decoded from JSON
				a.set("Link", "")
			}
			a.send(w, r)
		}, List),
		editDocument(func(d apiDocument) {
			replacePaging(d,
				map[string]any{"name": "limit", "in": "query", "schema": schema{"type": "integer", "minimum": 1, "maximum": 20, "default": defaultCursorSize}},
				map[string]any{"name": "cursor", "in": "query", "schema": schema{"type": "string"}})
			for _, described := range member(d.list(), "responses", "200", "content") {
				if media, ok := described.(map[string]any); ok {
					media["schema"] = schema{"type": "object", "required": []any{"items"}, "properties": map[string]any{
						"items": media["schema"], "nextCursor": schema{"type": "string", "nullable": true}}}
					delete(media, "examples")
				}
			}
		}))
}

// describeFullPages makes the document say that no page of the list is empty.
func describeFullPages() wrap {
	return editDocument(func(d apiDocument) {
		list := d.list()
		list["description"] = text(list["description"]) + " The last page names no next one: no page after the first is empty."
	})
}

// isRead holds for requests that read the list; others, such as OPTIONS, have no items.
func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// nextRecord returns how many records the next page of a correct list skips, or -1 after the last page.
func nextRecord(skip, size, total int) int {
	if skip+size < total {
		return skip + size
	}
	return -1
}

func cursorAt(skip int) string {
	return base64.RawURLEncoding.EncodeToString([]byte("after:" + strconv.Itoa(skip)))
}

// cursorOf reads limit and cursor; ok is false if one is bad.
func cursorOf(q url.Values) (skip, size int, ok bool) {
	size = defaultCursorSize
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 20 {
			return 0, 0, false
		}
		size = n
	}
	if text := q.Get("cursor"); text != "" {
		decoded, err := base64.RawURLEncoding.DecodeString(text)
		after, cut := strings.CutPrefix(string(decoded), "after:")
		n, noNumber := strconv.Atoi(after)
		if err != nil || !cut || noNumber != nil || n < 0 {
			return 0, 0, false
		}
		skip = n
	}
	return skip, size, true
}

// replacePaging describes other paging parameters in place of the list's own.
func replacePaging(d apiDocument, parameters ...map[string]any) {
	list := d.list()
	kept, _ := list["parameters"].([]any)
	kept = slices.DeleteFunc(slices.Clone(kept), func(p any) bool {
		described, _ := p.(map[string]any)
		return strings.HasPrefix(text(described["name"]), "page[")
	})
	for _, p := range parameters {
		kept = append(kept, p)
	}
	list["parameters"] = kept
}

// paginateByNumber makes a wrap that serves the list by the parameters page, from 1, and perPage, ten by default, with the total in X-Total-Count. The
// document describes optional values as FastAPI writes them. editCount changes the filters of the query that counts.
func paginateByNumber(editCount func(url.Values)) wrap {
	return both(
		interceptIf(isRead, func(node http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			number, size := numberOr(q.Get("page"), 1), numberOr(q.Get("perPage"), 10)
			a := capture(node, withQuery(r, func(q url.Values) {
				for _, name := range []string{"page", "perPage", "page[page]", "page[size]"} {
					q.Del(name)
				}
			}))
			a.env = env
			switch {
			case a.ok() && (number < 1 || number > 100_000 || size < 1 || size > 25):
				problem(http.StatusUnprocessableEntity, "page or perPage is out of bounds")(a)
			case a.ok():
				all := a.items()
				start := min((number-1)*size, len(all))
				page := all[start:min(start+size, len(all))]
				a.Body, _ = json.Marshal(page) // cannot fail: it was decoded from JSON
				if len(page) == 0 {
					emptyList(a)
				}
				a.set("Link", "")
				a.set("X-Total-Count", strconv.Itoa(len(capture(node, withQuery(r, func(q url.Values) {
					for _, name := range []string{"page", "perPage", "page[page]", "page[size]"} {
						q.Del(name)
					}
					editCount(q)
				})).items())))
			}
			a.send(w, r)
		}, List),
		editDocument(func(d apiDocument) {
			optional := func(name string, least, most, usual int) map[string]any {
				return map[string]any{"name": name, "in": "query", "schema": schema{"type": "integer", "minimum": least, "maximum": most, "default": usual}}
			}
			replacePaging(d, optional("page", 1, 100_000, 1), optional("perPage", 1, 25, 10))
			for _, p := range objects(d.list(), "parameters") {
				if described, ok := p["schema"].(map[string]any); ok && described["type"] != "integer" {
					p["schema"] = schema{"oneOf": []any{described, schema{"enum": []any{nil}, "nullable": true, "type": "string"}}}
				}
			}
			responses := member(d.list(), "responses")
			responses["422"] = problemResponse()
			member(responses, "200")["headers"] = map[string]any{"X-Total-Count": map[string]any{
				"description": "how many records there are on all pages, with the filters", "schema": schema{"type": "integer"}}}
		}))
}

// serveStatistics makes a wrap that describes and serves an operation with the number of records, in all and by type; count may change the numbers.
func serveStatistics(count func(total int, byType map[string]int) (int, map[string]int)) wrap {
	const path = "/funding/v3/statistics"
	return both(
		editDocument(func(d apiDocument) {
			d.at("paths")[path] = map[string]any{"get": map[string]any{
				"operationId": "statistics", "summary": "How many fundings there are, in all and by type", "responses": map[string]any{
					"200": map[string]any{"description": "The numbers.", "content": map[string]any{"application/json": map[string]any{"schema": schema{
						"type": "object", "required": []any{"total", "byType"}, "properties": map[string]any{
							"total": schema{"type": "integer"}, "byType": schema{"type": "object", "additionalProperties": schema{"type": "integer"}}}}}}},
					"default": problemResponse(),
				}}}
		}),
		interceptPath(path, func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			a := capture(next, withoutPaging(withPath(r, env.Places.Fundings())))
			if a.ok() && isRead(r) {
				byType := map[string]int{}
				for _, item := range a.items() {
					byType[text(item["type"])]++
				}
				total, numbers := count(len(a.items()), byType)
				a.Body, _ = json.Marshal(map[string]any{"total": total, "byType": numbers}) // cannot fail: these are numbers
				a.set("Link", "")
			}
			a.send(w, r)
		}))
}

// numberOr reads a number. It returns fallback for an empty text, and 0 for a text that is not a number.
func numberOr(text string, fallback int) int {
	if text == "" {
		return fallback
	}
	n, _ := strconv.Atoi(text)
	return n
}

// serveSorted makes a wrap that describes the parameter sort, sorts the list by id or type, and then cuts the requested page. alter may change the sorted
// list before the page is cut.
func serveSorted(alter func(p page, all []map[string]any) []map[string]any) wrap {
	return serveSortedBy(func(by string, q url.Values, all []map[string]any) []map[string]any {
		sortBy(by, all)
		if p, paged := pageOf(q); paged {
			return p.slice(alter(p, all))
		}
		return all
	})
}

func sortBy(by string, all []map[string]any) {
	slices.SortStableFunc(all, func(x, y map[string]any) int { return strings.Compare(text(x[by]), text(y[by])) })
}

// slice returns the records of a list that are on the page.
func (p page) slice(all []map[string]any) []map[string]any {
	start := min(max(0, p.start), len(all))
	return all[start:min(start+p.size, len(all))]
}

// serveSortedBy is [serveSorted] with a function that sorts the list and cuts the page.
func serveSortedBy(cut func(by string, q url.Values, all []map[string]any) []map[string]any) wrap {
	return serveSortedIn("sort", []string{"id", "type"}, cut)
}

// serveSortedInOwnWords is [serveSorted] with a parameter in another language, and a sign for the direction. If shuffled is true, records with equal keys
// come in a random order.
func serveSortedInOwnWords(shuffled bool) wrap {
	return serveSortedIn("ordem", []string{"id", "-id", "type", "-type"}, func(by string, q url.Values, all []map[string]any) []map[string]any {
		if shuffled {
			rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		}
		key, down := strings.CutPrefix(by, "-")
		slices.SortStableFunc(all, func(x, y map[string]any) int {
			d := strings.Compare(text(x[key]), text(y[key]))
			if down {
				return -d
			}
			return d
		})
		if p, paged := pageOf(q); paged {
			return p.slice(all)
		}
		return all
	})
}

// serveSortedIn is [serveSortedBy] with the name of the parameter and its values.
func serveSortedIn(parameter string, words []string, cut func(by string, q url.Values, all []map[string]any) []map[string]any) wrap {
	enum := make([]any, len(words))
	for i, word := range words {
		enum[i] = word
	}
	return both(
		interceptIf(isRead, func(node http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			by := q.Get(parameter)
			if by == "" {
				node.ServeHTTP(w, r)
				return
			}
			a := capture(node, withQuery(r, func(q url.Values) {
				for _, name := range []string{parameter, "page[page]", "page[size]"} {
					q.Del(name)
				}
			}))
			a.env = env
			switch {
			case a.ok() && !slices.Contains(words, by):
				problem(http.StatusBadRequest, parameter+" is "+strings.Join(words, " or "))(a)
			case a.ok():
				all := a.items()
				all = cut(by, q, all)
				a.Body, _ = json.Marshal(all) // cannot fail: it was decoded from JSON
				if len(all) == 0 {
					emptyList(a)
				}
			}
			a.send(w, r)
		}, List),
		editDocument(func(d apiDocument) {
			list := d.list()
			parameters, _ := list["parameters"].([]any)
			list["parameters"] = append(parameters, map[string]any{"name": parameter, "in": "query", "schema": schema{"type": "string", "enum": enum}})
		}))
}

// reverse returns a list in the opposite order.
func reverse(all []map[string]any) []map[string]any {
	out := slices.Clone(all)
	slices.Reverse(out)
	return out
}

// listFormDeviations break lists in these forms, and other lists and details in ways that only a comparison of answers shows.
func listFormDeviations() []Deviation {
	return []Deviation{
		{Name: "cursor-skips-a-record", Breaks: []string{"PAG-03"},
			Why: "The cursor of a list points behind the first record of the next page: greater than the last id, where greater or equal to the next was meant.",
			Wrap: paginateByCursor(func(skip, size, total int) int {
				if skip+size+1 < total {
					return skip + size + 1
				}
				return -1
			})},
		{Name: "cursor-repeats-a-record", Breaks: []string{"PAG-03"},
			Why: "Each page by cursor begins with the last record of the page before: greater or equal, where greater was meant.",
			Wrap: paginateByCursor(func(skip, size, total int) int {
				if skip+size < total {
					return max(skip+size-1, skip+1)
				}
				return -1
			})},
		{Name: "cursor-never-ends", Breaks: []string{"PAG-04"},
			Why: "The last page by cursor names the first one as the next.",
			Wrap: paginateByCursor(func(skip, size, total int) int {
				if skip+size < total {
					return skip + size
				}
				return 0
			})},
		{Name: "cursor-after-full-last-page", Breaks: []string{"PAG-04"},
			Why: "A full page is taken for one that has a next: where the size divides the number of records, the last page by cursor names an empty one, which the document excludes.",
			Wrap: both(paginateByCursor(func(skip, size, total int) int {
				if skip+size <= total {
					return skip + size
				}
				return -1
			}), describeFullPages())},
		{Name: "filter-by-first-value-only", Breaks: []string{"PAG-07"},
			Why: "The filter by target group finds records whose first group is the one that is asked for, and loses those with a second.",
			Wrap: rewriteSuccess(func(a *answer) {
				group := a.request.URL.Query().Get("targetGroup")
				if group == "" {
					return
				}
				a.keep(func(item map[string]any) bool {
					groups, _ := item["targetGroups"].([]any)
					return len(groups) == 0 || text(groups[0]) == group
				})
			}, List)},
		{Name: "sort-loses-ties", Breaks: []string{"PAG-03"},
			Why: "Sorted by type, pages continue after the last type of the page before: records of the same type beyond the end of a page are lost.",
			Wrap: serveSorted(func(p page, all []map[string]any) []map[string]any {
				if p.start <= 0 || p.start >= len(all) {
					return all
				}
				last := all[p.start-1]["type"]
				kept := slices.Clone(all[:p.start])
				for _, item := range all[p.start:] {
					if item["type"] != last {
						kept = append(kept, item)
					}
				}
				return kept
			})},
		{Name: "sorted-after-the-page", Breaks: []string{"PAG-03"},
			Why: "The page is cut first and sorted then.",
			Wrap: serveSortedBy(func(by string, q url.Values, all []map[string]any) []map[string]any {
				if p, paged := pageOf(q); paged {
					all = p.slice(reverse(all))
				}
				sortBy(by, all)
				return all
			})},
		{Name: "sorted-from-a-map", Breaks: []string{"PAG-03"},
			Why:  "Sorted, the records come from a map: those of one type in another order with each request, so that pages repeat and lose some.",
			Wrap: serveSortedInOwnWords(true)},
		{Name: "filter-by-part-of-id", Breaks: []string{"PAG-07"}, Rare: true,
			Why: "The filter by funder compares the beginning of ids: LIKE with a wildcard at the end.",
			Wrap: interceptIf(isRead, func(node http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				funder := r.URL.Query().Get("funderId")
				if funder == "" {
					node.ServeHTTP(w, r)
					return
				}
				a := capture(node, withQuery(r, func(q url.Values) {
					for _, name := range []string{"funderId", "page[page]", "page[size]"} {
						q.Del(name)
					}
				}))
				a.env = env
				if a.ok() {
					a.keep(func(item map[string]any) bool {
						return slices.ContainsFunc(objects(item, "funder"), func(f map[string]any) bool {
							return strings.HasPrefix(text(member(f, "funder")["id"]), funder)
						})
					})
					if p, paged := pageOf(r.URL.Query()); paged {
						a.Body, _ = json.Marshal(append([]map[string]any{}, p.slice(a.items())...)) // cannot fail: it was decoded from JSON
					}
				}
				a.send(w, r)
			}, List)},
		{Name: "detail-in-local-time", Breaks: []string{"PAG-08"},
			Why: "The detail writes times as the database has them, in local time, and puts a Z behind them.",
			Wrap: editDetail(func(item map[string]any) {
				for _, name := range []string{"startDate", "endDate"} {
					if at, err := time.Parse(time.RFC3339, text(item[name])); err == nil {
						item[name] = at.UTC().Add(2 * time.Hour).Format(time.RFC3339)
					}
				}
			})},
		{Name: "next-link-loses-filter", Breaks: []string{"PAG-10"},
			Why: "The link to the next page of a filtered list has no filter.",
			Wrap: rewrite(func(a *answer) {
				link := a.Header.Get("Link")
				for _, name := range filters() {
					if value := a.request.URL.Query().Get(name); value != "" {
						field := url.QueryEscape(name) + "=" + url.QueryEscape(value)
						link = strings.NewReplacer(field+"&", "", "&"+field, "").Replace(link)
					}
				}
				a.set("Link", link)
			}, List)},
		{Name: "total-of-one-filter", Breaks: []string{"PAG-01"},
			Why: "The query that counts forgets all filters but the first: with two filters, X-Total-Count is too high.",
			Wrap: paginateByNumber(func(q url.Values) {
				counted := false
				for _, name := range filters() {
					if counted {
						q.Del(name)
					}
					counted = counted || q.Get(name) != ""
				}
			})},
		{Name: "total-of-the-rest", Breaks: []string{"PAG-01"},
			Why: "X-Total-Count counts from the first record of the page on: the count is made after OFFSET.",
			Wrap: both(rewriteSuccess(func(a *answer) {
				q, total := a.request.URL.Query(), numberOr(a.Header.Get("X-Total-Count"), 0)
				if skipped := (numberOr(q.Get("page"), 1) - 1) * numberOr(q.Get("perPage"), 10); skipped < total {
					a.set("X-Total-Count", strconv.Itoa(total-skipped))
				}
			}, List), paginateByNumber(func(url.Values) {}))},
		{Name: "total-of-an-empty-page", Breaks: []string{"PAG-01"},
			Why: "Beyond the last page X-Total-Count is 0: the total comes with the rows, by COUNT(*) OVER ().",
			Wrap: both(rewriteSuccess(func(a *answer) {
				if len(a.items()) == 0 && numberOr(a.request.URL.Query().Get("page"), 1) > 1 {
					a.set("X-Total-Count", "0")
				}
			}, List), paginateByNumber(func(url.Values) {}))},
		{Name: "total-on-the-first-page-only", Breaks: []string{"API-02"},
			Why: "X-Total-Count, which the document requires, is sent with the first page alone: later ones save the query that counts.",
			Wrap: both(rewriteSuccess(func(a *answer) {
				if numberOr(a.request.URL.Query().Get("page"), 1) > 1 {
					a.set("X-Total-Count", "")
				}
			}, List), both(editDocument(func(d apiDocument) {
				member(d.list(), "responses", "200", "headers", "X-Total-Count")["required"] = true
			}), paginateByNumber(func(url.Values) {})))},
		{Name: "statistics-with-drafts", Breaks: []string{"PAG-01"},
			Why: "The statistics count a draft that the list leaves out.",
			Wrap: serveStatistics(func(total int, byType map[string]int) (int, map[string]int) {
				byType["CALL"]++
				return total + 1, byType
			})},
		{Name: "statistics-multiplied-by-a-join", Breaks: []string{"PAG-01"},
			Why: "The numbers by type count a record once for each of its funders, so that they do not add up to the total.",
			Wrap: serveStatistics(func(total int, byType map[string]int) (int, map[string]int) {
				byType["PROGRAMME"] += 2
				return total, byType
			})},
		{Name: "detail-of-stale-replica", Breaks: []string{"PAG-08"},
			Why: "Every second detail comes from a replica whose last import is a month old.",
			Wrap: stateful(func() wrap {
				var calls memory[int] // by URL: what the run asks in between must not decide which calls of a record meet the replica
				return rewriteSuccess(func(a *answer) {
					url := a.request.URL.RequestURI()
					n, _ := calls.get(url)
					calls.put(url, n+1)
					if n%2 == 1 {
						a.editObject(func(item map[string]any) { item["acronym"] = text(item["acronym"]) + " (old)" })
					}
				}, Detail)
			})},
	}
}

// listFormHabits are correct lists in these forms.
func listFormHabits() []Deviation {
	return []Deviation{
		{Name: "list-by-cursor",
			Why:  "The list is an envelope with nextCursor and at most 20 records, as the document describes; cursors are opaque, and others are refused.",
			Wrap: paginateByCursor(nextRecord)},
		{Name: "list-by-cursor-without-empty-pages",
			Why:  "The list by cursor, whose document says that no page is empty.",
			Wrap: both(paginateByCursor(nextRecord), describeFullPages())},
		{Name: "list-by-cursor-to-an-empty-page",
			Why: "The list by cursor ends with an empty page, where the number of records is a multiple of the size; the document does not exclude it.",
			Wrap: paginateByCursor(func(skip, size, total int) int {
				if skip+size <= total {
					return skip + size
				}
				return -1
			})},
		{Name: "list-per-page",
			Why:  "The list comes in pages page and perPage from 1, ten records unless asked otherwise, with X-Total-Count; optional values are described beside null.",
			Wrap: paginateByNumber(func(url.Values) {})},
		{Name: "statistics-beside-list",
			Why:  "The node describes an operation that says how many records there are, in all and by type.",
			Wrap: serveStatistics(func(total int, byType map[string]int) (int, map[string]int) { return total, byType })},
		{Name: "list-sortable",
			Why:  "The list can be sorted by id and by type.",
			Wrap: serveSorted(func(_ page, all []map[string]any) []map[string]any { return all })},
		{Name: "list-sortable-in-own-words",
			Why:  "The list can be sorted by id and by type, up and down, by a parameter whose name is not English.",
			Wrap: serveSortedInOwnWords(false)},
	}
}
