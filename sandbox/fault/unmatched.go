package fault

import (
	"net/http"
	"net/url"
	"strings"
)

// The faults in this file are about parameters of the list that no member of the records is named after.

// unmatchedDeviations describe filters that the node does not know.
func unmatchedDeviations() []Deviation {
	return []Deviation{
		{Name: "filter-renamed-in-the-node", Breaks: []string{"PAG-07"},
			Why:     "The document describes a filter by country under the name from before a renaming; the node drops it like any unknown parameter, and all items come back.",
			Example: listWith("residence=AT"),
			Wrap:    both(describeListParameter("residence", "Only calls of funders in this country.", schema{"type": "string"}), editQuery(func(q url.Values) { q.Del("residence") }))},
		{Name: "default-of-another-version", Breaks: []string{"PAG-07"},
			Why:     "The document says that records in the archive are left out by default; a later version of the node lists them, unless a client asks it not to.",
			Example: listWith("archive=false"),
			Wrap:    describeArchive(false)},
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
	}
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
