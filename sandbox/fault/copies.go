package fault

import (
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The faults in this file come from a second copy of the data, such as a search index behind the filters, or what a record repeats from another record.

// copyDeviations make answers with the same records disagree.
func copyDeviations() []Deviation {
	return []Deviation{
		{Name: "filtered-records-of-another-time", Breaks: []string{"PAG-07"},
			Why: "Filtered lists come from a search index, which has older websites of the funders than the list without a filter.",
			Wrap: rewriteSuccess(when(isFiltered, func(a *answer) {
				a.editItems(func(_ int, record map[string]any) {
					for _, f := range objects(record, "funder") {
						member(f, "funder")["website"] = "http://old.example/"
					}
				})
			}), List)},
		{Name: "filtered-list-in-another-order", Breaks: []string{"PAG-03"},
			Why:  "Filtered lists come in the opposite order of the ids: only the query without a filter has the ORDER BY that the document promises.",
			Wrap: rewriteSuccess(when(isFiltered, reverseItems), List)},
		{Name: "stages-of-detail-in-winter-time", Breaks: []string{"PAG-08"},
			Why: "The detail gives the deadlines of stages with the offset of the server, +01:00, all year round: deadlines in summer are an hour later than in the list.",
			Wrap: editDetail(func(record map[string]any) {
				for _, stage := range objects(record, "callStages") {
					for name := range stage {
						update(name, func(at string) string { return strings.Replace(at, "+02:00", "+01:00", 1) })(stage)
					}
				}
			})},
		{Name: "detail-escaped-for-pages", Breaks: []string{"PAG-08"},
			Why: "The texts of the detail are escaped for HTML, those of the list are not: the detail was first made for a page.",
			Wrap: editDetail(func(record map[string]any) {
				replaceValues(record, func(value any) any {
					if s, ok := value.(string); ok {
						return strings.NewReplacer("ä", "&auml;", "ö", "&ouml;", "ü", "&uuml;").Replace(html.EscapeString(s))
					}
					return value
				})
			})},
		{Name: "reference-without-zeros", Breaks: []string{"PAG-08"},
			Why: "A call names its programme by an id without leading zeros, which no record has: the foreign key is a number.",
			Wrap: editReferences(func(programme map[string]any) {
				update("id", func(id string) string {
					prefix, number, _ := strings.Cut(id, "-")
					n, _ := strconv.Atoi(number)
					return prefix + "-" + strconv.Itoa(n)
				})(programme)
			})},
		{Name: "reference-of-another-type", Breaks: []string{"PAG-08"},
			Why:  "A call says that its programme is a grant, and the record of the programme does not: the type of the reference is that of an older vocabulary.",
			Wrap: editReferences(put("type", "GRANT"))},
		{Name: "calls-run-before-they-begin", Breaks: []string{"PAG-07"},
			Why:  "runningCalls compares only the end of a call with the present day, and the document says that running calls have begun.",
			Wrap: selectRunning()},
		{Name: "letters-become-question-marks", Breaks: []string{"API-03"},
			Why: "All letters beyond ASCII are question marks: the connection to the database is not in UTF-8.",
			Wrap: rewriteSuccess(func(a *answer) {
				a.Body = []byte(strings.Map(func(r rune) rune {
					if r > 127 {
						return '?'
					}
					return r
				}, string(a.Body)))
			}, List, Detail)},
	}
}

// copyHabits are answers that differ and are right.
func copyHabits() []Deviation {
	return []Deviation{
		{Name: "filtered-records-with-score",
			Why: "Records of a filtered list have a score, which depends on the filter.",
			Wrap: rewriteSuccess(when(isFiltered, func(a *answer) {
				n := len(a.items())
				a.editItems(func(place int, record map[string]any) { record["score"] = (n - place) * len(filtersOf(a.request)) })
			}), List)},
		{Name: "filtered-list-by-relevance",
			Why: "Filtered lists begin with the newest record; the document promises the order of the ids only for the list without filters.",
			Wrap: both(rewriteSuccess(when(func(a *answer) bool {
				return isFiltered(a) && !a.request.URL.Query().Has("page[page]") && !a.request.URL.Query().Has("page[size]")
			}, reverseItems), List),
				editDocument(func(d apiDocument) {
					update("description", func(text string) string {
						return strings.Replace(text, "All fundings in the order of their ids.", "All fundings; without filters, in the order of their ids.", 1)
					})(d.list())
				}))},
		{Name: "stages-of-detail-in-utc",
			Why: "The detail gives the deadlines of stages in UTC, the list with the local offset.",
			Wrap: editDetail(func(record map[string]any) {
				for _, stage := range objects(record, "callStages") {
					replaceValues(stage, func(value any) any {
						if at, err := time.Parse(time.RFC3339, text(value)); err == nil {
							return at.UTC().Format(time.RFC3339)
						}
						return value
					})
				}
			})},
		{Name: "topics-numbered-like-records",
			Why: "Each record names a topic, whose ids look like those of the records and mean something else.",
			Wrap: editRecords(func(record map[string]any) {
				record["topic"] = map[string]any{"id": "XF-00000002", "type": "TOPIC", "acronym": "CHEMISTRY", "name": "Analytical chemistry"}
			})},
		{Name: "calls-run-until-their-deadline",
			Why: "runningCalls selects calls by their deadline alone, as one line of the network's published text says, and the node's document says the same.",
			Wrap: both(selectRunning(), editDocument(func(d apiDocument) {
				for _, p := range objects(d.list(), "parameters") {
					if p["name"] == "runningCalls" {
						p["description"] = "true: calls whose first deadline lies in the future. false: the other calls. Any case is accepted."
					}
				}
			}))},
	}
}

// editReferences makes a wrap that edits the programme that a record names.
func editReferences(edit func(programme map[string]any)) wrap {
	return editRecords(func(record map[string]any) {
		if programme, ok := record["partOf"].(map[string]any); ok {
			edit(programme)
		}
	})
}

// reverseItems puts the items of a list in the opposite order.
func reverseItems(a *answer) {
	a.edit(func(value any) any {
		items, _ := value.([]any)
		slices.Reverse(items)
		return value
	})
}

// selectRunning makes a wrap that selects running calls by the end of their first stage.
func selectRunning() wrap {
	return rewriteSuccess(func(a *answer) {
		query := a.request.URL.Query()
		wanted := strings.ToLower(query.Get("runningCalls"))
		if wanted == "" {
			return
		}
		a.replaceBy(a.ask(withQuery(withoutPaging(a.request), func(q url.Values) { q.Del("runningCalls") })))
		a.keep(func(record map[string]any) bool {
			stages := objects(record, "callStages")
			if len(stages) == 0 {
				return false
			}
			end, err := time.Parse(time.RFC3339, text(stages[0]["callStageEnd"]))
			return (err != nil || a.env.Now().Before(end)) == (wanted == "true")
		})
		a.page(query, func(url.Values) {})
	}, List)
}
