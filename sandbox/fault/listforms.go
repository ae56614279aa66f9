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

// listFormDeviations break lists in the forms of lists.go. Others break lists and details so that only a comparison of answers shows it.
func listFormDeviations() []Deviation {
	return []Deviation{
		{Name: "cursor-skips-a-record", Breaks: []string{"PAG-03"},
			Why: "The cursor of a list skips the first record of the next page: the query compares with > where >= was meant.",
			Wrap: paginateByCursor(func(skip, size, total int) int {
				if skip+size+1 < total {
					return skip + size + 1
				}
				return -1
			})},
		{Name: "cursor-repeats-a-record", Breaks: []string{"PAG-03"},
			Why: "Each page by cursor begins with the last record of the page before: the query compares with >= where > was meant.",
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
			Why: "The last page by cursor, if it is full, names a next page, which is empty; the document says that no page after the first is empty.",
			Wrap: both(paginateByCursor(func(skip, size, total int) int {
				if skip+size <= total {
					return skip + size
				}
				return -1
			}), describeFullPages())},
		{Name: "filter-by-first-value-only", Breaks: []string{"PAG-07"},
			Why: "The filter by target group compares only the first group of a record, and misses records whose second group matches.",
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
			Why: "In a list sorted by type, each page continues after the last type of the page before, so that further records of that type are lost.",
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
		{Name: "ties-in-the-opposite-order", Breaks: []string{"PAG-03"}, Rare: true,
			Why:     "In descending order the whole comparison is turned around, so that records with the same deadline come by descending ids, although the document says ascending.",
			Example: listWith("sort=-closesAt"),
			Wrap:    serveSortedByDeadline(true)},
		{Name: "sorted-after-the-page", Breaks: []string{"PAG-03"},
			Why: "The list is cut into pages before it is sorted.",
			Wrap: serveSortedBy(func(by string, q url.Values, all []map[string]any) []map[string]any {
				if p, paged := pageOf(q); paged {
					all = p.slice(reverse(all))
				}
				sortBy(by, all)
				return all
			})},
		{Name: "sort-ignored-with-filter", Breaks: []string{"PAG-03"},
			Why: "A filtered list comes in the order of the ids, whatever order is asked for: the search has a query of its own.",
			Wrap: serveSortedBy(func(by string, q url.Values, all []map[string]any) []map[string]any {
				if !slices.ContainsFunc(filters(), q.Has) {
					sortBy(by, all)
				}
				if p, paged := pageOf(q); paged {
					return p.slice(all)
				}
				return all
			})},
		{Name: "sorted-from-a-map", Breaks: []string{"PAG-03"},
			Why:  "The sorted records come from a map, so that those of one type change their order with each request, and pages repeat some and lose others.",
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
			Why: "The detail writes local times, as the database stores them, with a Z at the end.",
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
			Why: "The query that counts uses only the first filter: with two filters, X-Total-Count is too high.",
			Wrap: paginateByNumber(func(q url.Values) {
				counted := false
				for _, name := range filters() {
					if counted {
						q.Del(name)
					}
					counted = counted || q.Get(name) != ""
				}
			})},
		{Name: "total-of-joined-rows", Breaks: []string{"PAG-01"},
			Why: "X-Total-Count counts the rows of a join: with two values of a filter, a record that has both is counted twice.",
			Wrap: both(editDocument(describeValueLists), both(rewriteSuccess(func(a *answer) {
				if regions := a.request.URL.Query()["region"]; len(regions) == 2 {
					total := 0
					for _, region := range regions {
						alone := a.ask(withQuery(a.request, func(q url.Values) { q.Set("region", region) }))
						total += numberOr(alone.Header.Get("X-Total-Count"), 0)
					}
					a.set("X-Total-Count", strconv.Itoa(total))
				}
			}, List), both(paginateByNumber(func(url.Values) {}), rewrite(answerValueLists(func(url.Values) {}), List))))},
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
			Why: "X-Total-Count, which the document requires, is sent with the first page only: later pages skip the query that counts.",
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
			Why: "The numbers by type count a record once for each of its funders, so that their sum is not the total.",
			Wrap: serveStatistics(func(total int, byType map[string]int) (int, map[string]int) {
				byType["PROGRAMME"] += 2
				return total, byType
			})},
		{Name: "statistics-of-distinct-values", Breaks: []string{"PAG-01"},
			Why:     "The statistics of universities count distinct values of a join, so that some records are missing; other groups have few records with equal values.",
			Example: atStatistics("targetGroup=UNIVERSITY"),
			Wrap: serveFilteredStatistics(edit(func(numbers map[string]any) {
				if n, ok := numbers["total"].(json.Number); ok && n != "0" {
					numbers["total"] = 1
				}
			}))},
		{Name: "funder-count-with-drafts", Breaks: []string{"PAG-01"},
			Why: "The number beside one funder counts a draft that the list leaves out; the numbers of all others are those of the list.",
			Wrap: serveFunders(func(place, fundings int) int {
				if place == 1 {
					return fundings + 1
				}
				return fundings
			})},
		{Name: "detail-of-stale-replica", Breaks: []string{"PAG-08"},
			Why: "Every second detail comes from a replica whose last import is a month old.",
			Wrap: stateful(func() wrap {
				var calls memory[int] // by URL, so that requests for other records do not decide which requests reach the replica
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

// listFormHabits are correct lists in the forms of lists.go.
func listFormHabits() []Deviation {
	return []Deviation{
		{Name: "list-by-cursor",
			Why:  "The list is an envelope with nextCursor and at most 20 records, as the document describes; cursors are opaque, and others are refused.",
			Wrap: paginateByCursor(nextRecord)},
		{Name: "list-by-cursor-without-empty-pages",
			Why:  "The list has pages by cursor, and the document says that no page after the first is empty.",
			Wrap: both(paginateByCursor(nextRecord), describeFullPages())},
		{Name: "list-by-cursor-to-an-empty-page",
			Why: "The list by cursor ends with an empty page if the number of records is a multiple of the page size; the document does not exclude it.",
			Wrap: paginateByCursor(func(skip, size, total int) int {
				if skip+size <= total {
					return skip + size
				}
				return -1
			})},
		{Name: "list-per-page",
			Why:  "The list has numbered pages with the parameters page and perPage, ten records by default, and X-Total-Count; the schemas of optional values also allow null.",
			Wrap: paginateByNumber(func(url.Values) {})},
		{Name: "list-per-page-that-grows",
			Why:  "A record appears at the end of a list in numbered pages soon after the first answer, and X-Total-Count goes up by one.",
			Wrap: both(paginateByNumber(func(url.Values) {}), keepRecords(lateRecord))},
		{Name: "list-in-german",
			Why:  "Parameters and members have German names: pages seite and anzahl, and an envelope with inhalt, gesamt, seiten, naechste and vorige.",
			Wrap: paginateInWords(pagingWords{"seite", "anzahl", "inhalt", "gesamt", "seiten", "naechste", "vorige"})},
		{Name: "list-in-irish",
			Why:  "Parameters and members have Irish names, which the suite does not know: it cannot tell whether the list goes on after its first page.",
			Wrap: paginateInWords(pagingWords{"leathanach", "méid", "míreanna", "iomlán", "leathanaigh", "arAghaidh", "siar"})},
		{Name: "statistics-beside-list",
			Why:  "The node describes an operation that says how many records there are, in all and by type.",
			Wrap: serveStatistics(func(total int, byType map[string]int) (int, map[string]int) { return total, byType })},
		{Name: "statistics-under-filters",
			Why:  "The statistics take two filters of the list, and count what the list has under them.",
			Wrap: serveFilteredStatistics(func(*answer) {})},
		{Name: "funders-beside-list",
			Why:  "The node describes a list of funders with the number of the fundings of each.",
			Wrap: serveFunders(func(_, fundings int) int { return fundings })},
		{Name: "list-sortable",
			Why:  "The list can be sorted by id and by type.",
			Wrap: serveSorted(func(_ page, all []map[string]any) []map[string]any { return all })},
		{Name: "list-sortable-by-deadline",
			Why:  "The list can be sorted by deadline, ascending and descending; records with the same one come by ascending ids in both directions.",
			Wrap: serveSortedByDeadline(false)},
		{Name: "list-sortable-in-own-words",
			Why:  "The list can be sorted by id and by type, ascending and descending, by a parameter whose name is not English.",
			Wrap: serveSortedInOwnWords(false)},
	}
}
