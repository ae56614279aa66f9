package fault

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The wraps in this file serve lists in forms that differ from the network's own: by cursor in an envelope, by numbered pages, and sorted.

// defaultCursorSize is the size of a page if the request has no limit.
const defaultCursorSize = 7

// paginateByCursor makes a wrap that serves the list in pages by cursor, {"items": […], "nextCursor": "…"}, with the parameters limit and cursor, and
// describes these pages in the document. next returns the number of records before the next page, or -1 after the last page.
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
				problem(http.StatusBadRequest, "limit or cursor is not valid for this list")(a)
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

// isRead holds for GET and HEAD. Answers to other methods, such as OPTIONS, have no items.
func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// nextRecord returns how many records the next page of a correct list skips, or -1 after the last page.
func nextRecord(skip, size, total int) int {
	if skip+size < total {
		return skip + size
	}
	return -1
}

// cursorAt returns the cursor of the page after the first skip records.
func cursorAt(skip int) string {
	return base64.RawURLEncoding.EncodeToString([]byte("after:" + strconv.Itoa(skip)))
}

// cursorOf reads limit and cursor; ok is false if one of them is invalid.
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
		n, errNumber := strconv.Atoi(after)
		if err != nil || !cut || errNumber != nil || n < 0 {
			return 0, 0, false
		}
		skip = n
	}
	return skip, size, true
}

// replacePaging describes these paging parameters in place of page[page] and page[size].
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
// document describes optional values as FastAPI writes them. editCount changes the filters of the query that counts the total.
func paginateByNumber(editCount func(url.Values)) wrap { return paginateUpTo(25, editCount) }

// paginateUpTo is [paginateByNumber] with another largest size of a page.
func paginateUpTo(most int, editCount func(url.Values)) wrap {
	usual := min(10, most)
	return both(
		interceptIf(isRead, func(node http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			number, size := numberOr(q.Get("page"), 1), numberOr(q.Get("perPage"), usual)
			complete := withQuery(r, func(q url.Values) {
				for _, name := range []string{"page", "perPage", "page[page]", "page[size]"} {
					q.Del(name)
				}
			})
			a := capture(node, complete)
			a.env = env
			switch {
			case a.ok() && (number < 1 || number > 100_000 || size < 1 || size > most):
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
				a.set("X-Total-Count", strconv.Itoa(len(capture(node, withQuery(complete, editCount)).items())))
			}
			a.send(w, r)
		}, List),
		editDocument(func(d apiDocument) {
			optional := func(name string, least, most, usual int) map[string]any {
				return map[string]any{"name": name, "in": "query", "schema": schema{"type": "integer", "minimum": least, "maximum": most, "default": usual}}
			}
			replacePaging(d, optional("page", 1, 100_000, 1), optional("perPage", 1, most, usual))
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

// pagingWords are the names of the parameters page and size, and of the members of the envelope.
type pagingWords struct{ page, size, items, total, pages, next, previous string }

// paginateInWords makes a wrap that serves the list in numbered pages, in an envelope, under these names.
func paginateInWords(words pagingWords) wrap {
	const defaultSize, maxSize = 10, 50
	unpaged := func(q url.Values) {
		for _, name := range []string{words.page, words.size, "page[page]", "page[size]"} {
			q.Del(name)
		}
	}
	return both(
		interceptIf(isRead, func(node http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			number, size := numberOr(q.Get(words.page), 1), numberOr(q.Get(words.size), defaultSize)
			a := capture(node, withQuery(r, unpaged))
			a.env = env
			switch {
			case a.ok() && (number < 1 || number > 100_000 || size < 1 || size > maxSize):
				problem(http.StatusBadRequest, words.page+" or "+words.size+" is out of bounds")(a)
			case a.ok():
				all := a.items()
				start := min((number-1)*size, len(all))
				pages := (len(all) + size - 1) / size
				linkTo := func(page int) any {
					if page < 1 || page > pages {
						return nil
					}
					q.Set(words.page, strconv.Itoa(page))
					return r.URL.Path + "?" + q.Encode()
				}
				a.Body, _ = json.Marshal(map[string]any{words.items: append([]map[string]any{}, all[start:min(start+size, len(all))]...),
					words.total: len(all), words.pages: pages, words.next: linkTo(number + 1), words.previous: linkTo(number - 1)}) // cannot fail: it was decoded from JSON
				a.set("Link", "")
			}
			a.send(w, r)
		}, List),
		editDocument(func(d apiDocument) {
			parameter := func(name string, maximum, defaultValue int) map[string]any {
				return map[string]any{"name": name, "in": "query", "schema": schema{"type": "integer", "minimum": 1, "maximum": maximum, "default": defaultValue}}
			}
			replacePaging(d, parameter(words.page, 100_000, 1), parameter(words.size, maxSize, defaultSize))
			link := schema{"type": "string", "nullable": true}
			for _, described := range member(d.list(), "responses", "200", "content") {
				if media, ok := described.(map[string]any); ok {
					media["schema"] = schema{"type": "object", "required": []any{words.items, words.total}, "properties": map[string]any{
						words.items: media["schema"], words.total: schema{"type": "integer"}, words.pages: schema{"type": "integer"}, words.next: link, words.previous: link}}
					delete(media, "examples")
				}
			}
		}))
}

// serveStatistics makes a wrap that describes and serves an operation with the number of records, in all and by type; count may change the numbers.
func serveStatistics(count func(total int, byType map[string]int) (int, map[string]int)) wrap {
	integer := schema{"type": "integer"}
	return serveNumbers("statistics", "How many fundings there are, in all and by type",
		schema{"type": "object", "required": []any{"total", "byType"}, "properties": map[string]any{"total": integer, "byType": schema{"type": "object", "additionalProperties": integer}}},
		func(items []map[string]any) any {
			byType := map[string]int{}
			for _, item := range items {
				byType[text(item["type"])]++
			}
			total, numbers := count(len(items), byType)
			return map[string]any{"total": total, "byType": numbers}
		})
}

// serveFilteredStatistics is [serveStatistics] with two filters of the list. alter changes the numbers for universities.
func serveFilteredStatistics(alter change) wrap {
	const path = "/funding/v3/statistics"
	return both(interceptPath(path, func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if a.ok() && r.Method == http.MethodGet && r.URL.Query().Get("targetGroup") == "UNIVERSITY" {
			alter(a)
		}
		a.send(w, r)
	}), both(editDocument(func(d apiDocument) {
		var filters []any
		for _, parameter := range objects(d.list(), "parameters") {
			if name := text(parameter["name"]); name == "fundingType" || name == "targetGroup" {
				filters = append(filters, parameter)
			}
		}
		member(d.at("paths"), path, "get")["parameters"] = filters
	}), serveStatistics(func(total int, byType map[string]int) (int, map[string]int) { return total, byType })))
}

// atStatistics makes an example: a request for the statistics with this query.
func atStatistics(query string) func(good *http.Request) {
	return func(good *http.Request) {
		good.URL.Path = strings.Replace(good.URL.Path, "/info/v1/oauth/info/", "/funding/v3/statistics", 1)
		good.URL.RawQuery = query
	}
}

// serveFunders makes a wrap that describes and serves a list of funders with the number of the fundings of each; count may change the number of the funder at
// a place of the list.
func serveFunders(count func(place, fundings int) int) wrap {
	return serveNumbers("funders", "The funders, with the number of the fundings of each",
		schema{"type": "array", "items": schema{"type": "object", "required": []any{"id", "fundings"}, "properties": map[string]any{"id": schema{"type": "string"}, "fundings": schema{"type": "integer"}}}},
		func(items []map[string]any) any {
			fundings := map[string]int{}
			for _, item := range items {
				funders, _ := item["funder"].([]any)
				for _, f := range funders {
					link, _ := f.(map[string]any)
					funder, _ := link["funder"].(map[string]any)
					fundings[text(funder["id"])]++
				}
			}
			out := []map[string]any{}
			for place, id := range slices.Sorted(maps.Keys(fundings)) {
				out = append(out, map[string]any{"id": id, "fundings": count(place, fundings[id])})
			}
			return out
		})
}

// serveNumbers makes a wrap that describes and serves an operation beside the list, whose answer is made from all records.
func serveNumbers(name, summary string, shape schema, answer func(items []map[string]any) any) wrap {
	path := "/funding/v3/" + name
	return both(
		editDocument(func(d apiDocument) {
			d.at("paths")[path] = map[string]any{"get": map[string]any{"operationId": name, "summary": summary, "responses": map[string]any{
				"200":     map[string]any{"description": "The numbers.", "content": map[string]any{"application/json": map[string]any{"schema": shape}}},
				"default": problemResponse(),
			}}}
		}),
		interceptPath(path, func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			a := capture(next, withoutPaging(withPath(r, env.Places.Fundings())))
			if a.ok() && isRead(r) {
				a.Body, _ = json.Marshal(answer(a.items())) // cannot fail: these are texts and numbers
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

// serveSortedInOwnWords is [serveSorted] with a parameter in another language, and - for the descending order. If shuffled is true, records with equal
// keys come in a random order.
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

// serveSortedByDeadline is [serveSorted] by a day on which calls close, with - for the descending order. The document says that ties go by ascending id; if
// turned is true, the descending order turns them around.
func serveSortedByDeadline(turned bool) wrap {
	sorted := serveSortedIn("sort", []string{"closesAt", "-closesAt"}, func(by string, q url.Values, all []map[string]any) []map[string]any {
		slices.SortFunc(all, func(x, y map[string]any) int {
			day, id := strings.Compare(text(x["closesAt"]), text(y["closesAt"])), strings.Compare(text(x["id"]), text(y["id"]))
			if by == "closesAt" {
				return cmp.Or(day, id)
			}
			if turned {
				id = -id
			}
			return cmp.Or(-day, id)
		})
		if p, paged := pageOf(q); paged {
			return p.slice(all)
		}
		return all
	})
	described := editDocument(func(d apiDocument) {
		parameters, _ := d.list()["parameters"].([]any)
		for _, p := range parameters {
			if p, ok := p.(map[string]any); ok && p["name"] == "sort" {
				p["description"] = "Order; - means descending. Ties go by id, ascending."
			}
		}
	})
	return both(described, both(sorted, editRecords(func(record map[string]any) { record["closesAt"] = deadlineOf(text(record["id"]))[:len(time.DateOnly)] })))
}

// serveSortedIn is [serveSortedBy] with another name and other values of the parameter.
func serveSortedIn(parameter string, values []string, cut func(by string, q url.Values, all []map[string]any) []map[string]any) wrap {
	enum := make([]any, len(values))
	for i, value := range values {
		enum[i] = value
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
			case a.ok() && !slices.Contains(values, by):
				problem(http.StatusBadRequest, parameter+" must be "+strings.Join(values, " or "))(a)
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
