package fault

import (
	"net/http"
	"net/url"
	"strings"
)

// The faults in this file are about which records the list as CSV has.

// tableRowDeviations write other records than the list as JSON.
func tableRowDeviations() []Deviation {
	asTable := func(good *http.Request) {
		listWith("")(good)
		good.Header.Set("Accept", "text/csv")
	}
	return []Deviation{
		{Name: "table-loses-a-record", Breaks: []string{"API-02"},
			Why:     "The list as text/csv, which the document describes, lacks a record: its query joins a table in which some records have no row.",
			Example: asTable,
			Wrap: both(describeTable, exportTable(readTable, func(a *answer) {
				a.keep(func(record map[string]any) bool { return !strings.HasSuffix(text(record["id"]), "3") })
				a.tabulate()
			}))},
		{Name: "table-shows-a-draft", Breaks: []string{"API-02"},
			Why:     "The list as text/csv, which the document describes, has a draft that no other list has: its query lacks the condition of the list.",
			Example: asTable,
			Wrap: both(describeTable, exportTable(readTable, func(a *answer) {
				records := a.table()
				for i, record := range records {
					state := "published"
					if i == 0 {
						state = "state"
					}
					records[i] = append(record, state)
				}
				a.writeTable(append(records, []string{"XF-90000003", "Not yet decided", "COMPANY", "draft"}))
			}))},
	}
}

// tableHabits write the same records in unusual ways.
func tableHabits() []Deviation {
	return []Deviation{
		{Name: "table-without-names",
			Why:  "The list as text/csv, which the document describes, has no line with the names of the columns, which RFC 4180 makes optional.",
			Wrap: both(describeTable, exportTable(readTable, func(a *answer) { a.writeTable(a.table()[1:]) }))},
		{Name: "table-of-all-pages",
			Why: "The list as text/csv, which the document describes, has all records, whichever page is requested.",
			Wrap: both(describeTable, exportTable(func(next http.Handler, _ Env, r *http.Request) *answer {
				return capture(next, withQuery(r, func(q url.Values) {
					q.Del("page[page]")
					q.Del("page[size]")
				}))
			}, (*answer).tabulate))},
	}
}
