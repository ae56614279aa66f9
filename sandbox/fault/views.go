package fault

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// viewDeviations show other records, or records with fewer values, in one view of the list.
func viewDeviations() []Deviation {
	keepGroup := func(record map[string]any, group string) {
		if groups, ok := record["targetGroups"].([]any); ok {
			record["targetGroups"] = slices.DeleteFunc(slices.Clone(groups), func(one any) bool { return one != group })
		}
	}
	return []Deviation{
		{Name: "drafts-by-switch", Breaks: []string{"PAG-09"},
			Why:  "publicationState=preview and similar parameters show drafts to every client, as by Strapi without permissions for drafts.",
			Wrap: addBySwitch("status", "draft")},
		{Name: "filter-cuts-groups", Breaks: []string{"PAG-07"},
			Why: "The list filtered by a target group shows no other group of its records, as by a JOIN FETCH with the condition of the filter.",
			Wrap: rewriteSuccess(func(a *answer) {
				if group := a.request.URL.Query().Get("targetGroup"); group != "" {
					a.editItems(func(_ int, record map[string]any) { keepGroup(record, group) })
				}
			}, List)},
	}
}

// viewHabits show other records in one view of the list, which is correct.
func viewHabits() []Deviation {
	return []Deviation{
		{Name: "archive-by-switch", Warns: []string{"PAG-09"},
			Why:  "publicationState=preview and similar parameters, which the document does not describe, show an archived record as well.",
			Wrap: addBySwitch("status", "archived")},
	}
}

// addBySwitch makes a wrap that adds one record, whose member name has the value, to lists that are requested with publicationState=preview or a similar
// parameter.
func addBySwitch(name, value string) wrap {
	states := []string{"publicationState", "status", "state", "stage", "published", "version"}
	isPreview := func(r *http.Request) bool {
		return slices.ContainsFunc(states, r.URL.Query().Has)
	}
	return interceptIf(isPreview, func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, withQuery(r, func(q url.Values) {
			for _, state := range states {
				q.Del(state)
			}
		}))
		if items := a.items(); a.ok() && len(items) > 0 {
			added := maps.Clone(items[0])
			added["id"], added[name] = "XF-99999999", value
			a.add(added)
		}
		a.send(w, r)
	}, List)
}

// The faults below concern the records in the list as CSV.

// tableRowDeviations write CSV with other records than the list as JSON has.
func tableRowDeviations() []Deviation {
	asTable := func(good *http.Request) {
		listWith("")(good)
		good.Header.Set("Accept", "text/csv")
	}
	return []Deviation{
		{Name: "table-loses-a-record", Breaks: []string{"API-02"},
			Why:     "The list as text/csv, which the document describes, lacks a record: its query joins a table in which some records have no row.",
			Example: asTable,
			Wrap: both(describeTable, exportTable(readList, func(a *answer) {
				a.keep(func(record map[string]any) bool { return !strings.HasSuffix(text(record["id"]), "3") })
				a.tabulate()
			}))},
		{Name: "table-shows-a-draft", Breaks: []string{"API-02"},
			Why:     "The list as text/csv, which the document describes, has a draft that no other list has: its query lacks the condition of the list.",
			Example: asTable,
			Wrap: both(describeTable, exportTable(readList, func(a *answer) {
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

// tableHabits write CSV with the right records in an unusual way.
func tableHabits() []Deviation {
	return []Deviation{
		{Name: "table-without-names",
			Why:  "The list as text/csv, which the document describes, has no line with the names of the columns, which RFC 4180 makes optional.",
			Wrap: both(describeTable, exportTable(readList, func(a *answer) { a.writeTable(a.table()[1:]) }))},
		{Name: "table-of-all-pages",
			Why: "The list as text/csv, which the document describes, has all records, whichever page is requested.",
			Wrap: both(describeTable, exportTable(func(next http.Handler, _ Env, r *http.Request) *answer {
				return capture(next, withoutPaging(r))
			}, (*answer).tabulate))},
	}
}
