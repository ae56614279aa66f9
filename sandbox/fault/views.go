package fault

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
)

// viewDeviations show other records, or less of each, in one view of the list.
func viewDeviations() []Deviation {
	groupOnly := func(record map[string]any, group string) {
		if groups, ok := record["targetGroups"].([]any); ok {
			record["targetGroups"] = slices.DeleteFunc(slices.Clone(groups), func(one any) bool { return one != group })
		}
	}
	return []Deviation{
		{Name: "drafts-by-switch", Breaks: []string{"PAG-09"},
			Why:  "publicationState=preview and its like show drafts to every client, as by Strapi without permissions for it.",
			Wrap: addBySwitch("status", "draft")},
		{Name: "filter-cuts-groups", Breaks: []string{"PAG-07"},
			Why: "The list filtered by a target group shows no other group of its records, as by a JOIN FETCH with the condition of the filter.",
			Wrap: rewriteSuccess(func(a *answer) {
				if group := a.request.URL.Query().Get("targetGroup"); group != "" {
					a.editItems(func(_ int, record map[string]any) { groupOnly(record, group) })
				}
			}, List)},
	}
}

// viewHabits show other records in one view of the list, and are right.
func viewHabits() []Deviation {
	return []Deviation{
		{Name: "archive-by-switch", Warns: []string{"PAG-09"},
			Why:  "publicationState=preview and its like, which the document does not describe, show an archived record as well.",
			Wrap: addBySwitch("status", "archived")},
	}
}

// addBySwitch makes a wrap that adds a record with a member to lists with publicationState=preview, or another parameter for the state of drafts.
func addBySwitch(name, value string) wrap {
	states := []string{"publicationState", "status", "state", "stage", "published", "version"}
	isPreview := func(r *http.Request) bool {
		return slices.ContainsFunc(states, func(name string) bool { return r.URL.Query().Has(name) })
	}
	return interceptIf(isPreview, func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, withQuery(r, func(q url.Values) {
			for _, name := range states {
				q.Del(name)
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
