package fault

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// The faults in this file concern parameters of the list whose names do not show what they do with the records.

// unmatchedDeviations describe parameters that the node ignores, or that have another default.
func unmatchedDeviations() []Deviation {
	return []Deviation{
		{Name: "filter-renamed-in-the-node", Breaks: []string{"PAG-07"},
			Why:     "The document describes a filter by country under its old name; the node drops it like any unknown parameter, and all items come back.",
			Example: listWith("residence=AT"),
			Wrap:    both(describeListParameter("residence", "Only calls of funders in this country.", schema{"type": "string"}), editQuery(func(q url.Values) { q.Del("residence") }))},
		{Name: "default-of-another-version", Breaks: []string{"PAG-07"},
			Why:     "The document says that records in the archive are left out by default; a later version of the node lists them, unless a client sends archive=false.",
			Example: listWith("archive=false"),
			Wrap:    describeArchive(false)},
		{Name: "two-filters-crash", Breaks: []string{"API-01"},
			Why: "Two filters together fail with 500: each joins the same table, and the alias of the second join is ambiguous.", Example: listWith("fundingType=CALL&targetGroup=COMPANY"),
			Wrap: rewriteSuccess(whenRequest(func(r *http.Request) bool { return len(filtersOf(r)) > 1 }, crash), List)},
	}
}

// unmatchedHabits describe parameters that leave the list as it is, as their documents say, and filters that work.
func unmatchedHabits() []Deviation {
	return []Deviation{
		{Name: "filter-by-unnamed-member",
			Why:  "The list has a filter that no member is named after, and a word that matches nothing gives an empty list.",
			Wrap: both(describeListParameter("residence", "Only calls of funders in this country.", schema{"type": "string"}), emptyUnless("residence", "AT"))},
		{Name: "parameter-for-the-log",
			Why:  "The list has a described parameter by which clients mark their requests in the node's log; it changes nothing.",
			Wrap: both(describeListParameter("mark", "Is written to the log with the request, so that only your requests are found there.", schema{"type": "string"}), editQuery(func(q url.Values) { q.Del("mark") }))},
		{Name: "default-sent-in-words",
			Why:  "The list has a described parameter that leaves out the records in the archive; its default keeps them, also if a client sends it.",
			Wrap: describeArchive(true)},
		{Name: "view-of-a-record",
			Why: "The list has a described parameter with a vocabulary that selects the form of its records; with these records all forms are the same.",
			Wrap: both(describeListParameter("depth", "Only the answer changes: how much of each record is shown.", schema{"type": "string", "enum": []any{"core", "common", "full"}}),
				editQuery(func(q url.Values) { q.Del("depth") }))},
		{Name: "parameter-for-statistics",
			Why: "The list has a parameter with the name and the vocabulary of a member; as the document says, it selects nothing, and only tells the node where the users of the caller come from.",
			Wrap: both(describeListParameter("origin", "Where your users come from; for our usage statistics only. The answer is the same with and without it.", origins()),
				markOrigin())},
		{Name: "parameter-explained-by-the-operation",
			Why: "Only the description of the operation explains the parameters, in a list, as from FastAPI; one of them selects nothing, although a member has its name.",
			Wrap: both(editDocument(func(d apiDocument) {
				d.list()["description"] = text(d.list()["description"]) + "\n\n- **origin**: the portal of the caller. It is for our statistics only.\n- **region**: a province."
			}), both(describeListParameter("origin", "", origins()), markOrigin()))},
		{Name: "level-with-those-below",
			Why: "A filter by level also gives the records of all levels below, as by filters in trees of organisations or subjects.",
			Wrap: both(describeListParameter("level", "Records of this level and of all levels below it.", schema{"type": "integer", "minimum": 1, "maximum": 3}), both(hideUnless("level", func(value string, record map[string]any) bool {
				return fmt.Sprint(record["level"]) >= value
			}), editRecords(func(record map[string]any) { record["level"] = 1 + lastDigit(record)%3 })))},
		{Name: "region-with-unassigned",
			Why: "The filter by region also gives calls without a region, as the document says.",
			Wrap: both(describeParameter("region", "Calls for applicants from this province. Calls without a region are always included."),
				both(hideUnless("region", func(region string, record map[string]any) bool {
					regions, _ := record["eligibleApplicantsRegions"].([]any)
					return len(regions) == 0 || slices.Contains(regions, any(region))
				}), editQuery(func(q url.Values) { q.Del("region") })))},
		{Name: "state-of-a-day",
			Why: "The list has a parameter for the state of the data on a day; the node keeps the newest state only, as the document says.",
			Wrap: both(describeListParameter("asOf", "The data as it was on this day. Only the newest state is kept at the moment.", schema{"type": "string", "format": "date"}),
				editQuery(func(q url.Values) { q.Del("asOf") }))},
		{Name: "total-rounded", Warns: []string{"PAG-01"},
			Why: "X-Total-Count is an estimate of the query planner, as the document says.",
			Wrap: both(rewriteSuccess(setHeader("X-Total-Count", "20"), List), editDocument(func(d apiDocument) {
				member(d.list(), "responses", "200")["headers"] = map[string]any{"X-Total-Count": map[string]any{
					"description": "An estimate of the number of records, rounded to tens; it may differ from the real one.", "schema": schema{"type": "integer"}}}
			}))},
		{Name: "statistics-of-all-records",
			Why: "The node counts its records by type, including those that clients do not see, as the document says.",
			Wrap: serveNumbers("summary", "Numbers of fundings by type. All fundings are counted, not only those that clients see in the list.",
				schema{"type": "object", "properties": map[string]any{"total": schema{"type": "integer"}, "byType": schema{"type": "object", "additionalProperties": schema{"type": "integer"}}}},
				func(items []map[string]any) any {
					byType := map[string]int{}
					for _, item := range items {
						byType[text(item["type"])] += 2
					}
					return map[string]any{"total": 2 * len(items), "byType": byType}
				})},
		{Name: "filter-by-ranges",
			Why:  "A filter by number takes ranges such as 2..5, as its pattern says; a single number is refused.",
			Wrap: filterByExpression(schema{"type": "string", "pattern": `^[0-9]+\.\.[0-9]+$`}, "Records with a number of points in this range.", "%d..%d")},
		{Name: "filter-by-comparison",
			Why:  "A filter by number takes comparisons such as ge:2,le:5, as its example shows; a single number is refused.",
			Wrap: filterByExpression(schema{"type": "string", "example": "ge:2,le:5"}, "Compares the points of the records.", "ge:%d,le:%d")},
		{Name: "statistics-in-groups",
			Why: "The node counts its records by type in an array of groups; the total beside it counts the records, not the groups.",
			Wrap: serveNumbers("summary", "Numbers of fundings by type.",
				schema{"type": "object", "properties": map[string]any{"total": schema{"type": "integer"}, "groups": schema{"type": "array", "items": schema{"type": "object",
					"properties": map[string]any{"type": schema{"type": "string"}, "count": schema{"type": "integer"}}}}}},
				func(items []map[string]any) any {
					byType := map[string]int{}
					for _, item := range items {
						byType[text(item["type"])]++
					}
					var groups []any
					for _, word := range slices.Sorted(maps.Keys(byType)) {
						groups = append(groups, map[string]any{"type": word, "count": byType[word]})
					}
					return map[string]any{"total": len(items), "groups": groups}
				})},
	}
}

// filterByExpression makes a wrap that gives the records a number of points, and describes a filter points that takes expressions of a form only.
func filterByExpression(s schema, description, form string) wrap {
	bounds := func(value string) (low, high int, ok bool) {
		n, err := fmt.Sscanf(value, form, &low, &high)
		return low, high, err == nil && n == 2
	}
	return both(describeListParameter("points", description, s), both(
		hideUnless("points", func(value string, record map[string]any) bool {
			low, high, _ := bounds(value)
			points := lastDigit(record) % 6
			return low <= points && points <= high
		}),
		both(editRecords(func(record map[string]any) { record["points"] = lastDigit(record) % 6 }),
			rewriteSuccess(whenRequest(func(r *http.Request) bool {
				value := r.URL.Query().Get("points")
				_, _, ok := bounds(value)
				return value != "" && !ok
			}, problem(http.StatusBadRequest, "points takes an expression")), List))))
}

// origins is the vocabulary of [markOrigin].
func origins() schema { return schema{"type": "string", "enum": []any{"PORTAL", "CRIS"}} }

// markOrigin makes a wrap that gives the records a member origin, and ignores the parameter of that name.
func markOrigin() wrap {
	return both(editQuery(func(q url.Values) { q.Del("origin") }), editRecords(func(record map[string]any) {
		record["origin"] = []string{"PORTAL", "CRIS"}[lastDigit(record)%2]
	}))
}

// lastDigit returns the last digit of the id of a record, or 0.
func lastDigit(record map[string]any) int {
	id := text(record["id"])
	if id == "" || id[len(id)-1] < '0' || id[len(id)-1] > '9' {
		return 0
	}
	return int(id[len(id)-1] - '0')
}

// hideUnless makes a wrap that hides the records of the list that do not fit the value of a parameter, if the request has the parameter.
func hideUnless(parameter string, fits func(value string, record map[string]any) bool) wrap {
	return rewriteSuccess(func(a *answer) {
		if value := a.request.URL.Query().Get(parameter); value != "" {
			a.hide(func(record map[string]any) bool { return !fits(value, record) })
		}
	}, List)
}

// listWith makes an example: a list request with this query.
func listWith(query string) func(good *http.Request) {
	return func(good *http.Request) {
		good.URL.Path = strings.Replace(good.URL.Path, "/info/v1/oauth/info/", "/funding/v3/fundings", 1)
		good.URL.RawQuery = query
	}
}

// describeListParameter makes a wrap that adds a query parameter of the list to the document.
func describeListParameter(name, description string, s schema) wrap {
	return editDocument(func(d apiDocument) {
		list := d.list()
		parameters, _ := list["parameters"].([]any)
		described := make([]any, len(parameters), len(parameters)+1)
		copy(described, parameters)
		list["parameters"] = append(described, map[string]any{"name": name, "in": "query", "description": description, "schema": s})
	})
}

// emptyUnless makes a wrap that removes a parameter from list requests, and answers with an empty list if it has another value than the known one.
func emptyUnless(name, known string) wrap {
	return interceptIf(isRead, func(node http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		value := r.URL.Query().Get(name)
		plain := withQuery(r, func(q url.Values) { q.Del(name) })
		if value == "" || value == known {
			node.ServeHTTP(w, plain)
			return
		}
		a := capture(node, plain)
		a.env = env
		if a.ok() {
			emptyList(a)
			a.set("Link", "")
		}
		a.send(w, r)
	}, List)
}

// describeArchive makes a wrap that describes the parameter archive of the list with this default. Only archive=false leaves out some records.
func describeArchive(usual bool) wrap {
	return both(describeListParameter("archive", "Whether records in the archive are listed, too.", schema{"type": "boolean", "default": usual}),
		rewriteSuccess(func(a *answer) {
			if a.request.URL.Query().Get("archive") == "false" {
				a.hide(func(record map[string]any) bool { return strings.HasSuffix(text(record["id"]), "3") })
			}
		}, List))
}
