package fault

import (
	"net/http"
	"net/url"
)

// The deviations in this file break what a document promises about bad values. If the document does not promise it, the same behaviour is a habit.

// promiseDeviations accept what their documents promise to refuse.
func promiseDeviations() []Deviation {
	return []Deviation{
		{Name: "promised-refusal-is-an-empty-list", Breaks: []string{"PAG-06"},
			Why:  "The document says that other types are answered with 400; a type that does not exist gives an empty list, because it is only compared with the database.",
			Wrap: both(describeParameter("fundingType", "Only fundings of this type. Other values are answered with 400."), emptyForUnknownType())},
		{Name: "promised-refusal-is-the-whole-list", Breaks: []string{"PAG-06"},
			Why: "The document says of all parameters that wrong values are answered with 400; a type that does not exist is ignored.",
			Wrap: both(editDocument(func(d apiDocument) {
				d.list()["description"] = text(d.list()["description"]) + " A parameter with a wrong value is answered with 400."
			}), editQuery(dropUnknownValues))},
		{Name: "bad-cursor-starts-again", Breaks: []string{"PAG-06"},
			Why: "The document says that other cursors are refused with 400; a cursor that cannot be read counts as absent, and the list starts again.",
			Wrap: both(describeParameter("cursor", "Where the page begins, from nextCursor. Any other value is refused with 400."),
				both(dropBadCursors(), paginateByCursor(nextRecord)))},
	}
}

// promiseHabits do the same, and their documents allow it.
func promiseHabits() []Deviation {
	return []Deviation{
		{Name: "unknown-type-finds-nothing",
			Why:  "A type that does not exist gives an empty list, as from a query of a database; the document does not say that it is refused.",
			Wrap: emptyForUnknownType()},
		{Name: "bad-cursor-is-none",
			Why:  "A cursor that cannot be read counts as absent; the document does not say that it is refused.",
			Wrap: both(dropBadCursors(), paginateByCursor(nextRecord))},
	}
}

// describeParameter makes a wrap that replaces the description of a parameter of the list.
func describeParameter(name, description string) wrap {
	return editDocument(func(d apiDocument) {
		for _, parameter := range objects(d.list(), "parameters") {
			if parameter["name"] == name {
				parameter["description"] = description
			}
		}
	})
}

// emptyForUnknownType makes a wrap that answers an unknown type with an empty list.
func emptyForUnknownType() wrap {
	return interceptIf(isRead, func(node http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		known := withQuery(r, dropUnknownValues)
		if known.URL.Query().Get("fundingType") == r.URL.Query().Get("fundingType") {
			node.ServeHTTP(w, r)
			return
		}
		a := capture(node, known)
		a.env = env
		if a.ok() {
			a.keep(func(map[string]any) bool { return false })
			emptyList(a)
			a.set("Link", "")
		}
		a.send(w, r)
	}, List)
}

// dropBadCursors makes a wrap that removes cursors that [paginateByCursor] did not issue.
func dropBadCursors() wrap {
	return editQuery(func(q url.Values) {
		if q.Has("cursor") {
			if _, _, ok := cursorOf(url.Values{"cursor": {q.Get("cursor")}}); !ok {
				q.Del("cursor")
			}
		}
	})
}
