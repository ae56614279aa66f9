package requirement

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file compares the records of filtered lists with the same records in the list without a filter.

// The bounds of the comparison: records, views of each record, and how many records must differ before a filter fails.
const (
	maxViewedRecords  = 200
	maxViews          = 40
	minDifferingViews = 2
)

// A view is a record as one answer shows it. place is the index of the call in the order of time.
type view struct {
	item               []byte
	call               *evidence.Exchange
	place              int
	filtered, isDetail bool
}

// findDifferingViews finds members that have one value in a filtered list and another in the list without a filter, before and after. Then a second query or
// mapping makes the filtered list: a record that was edited meanwhile does not change back.
func findDifferingViews(e Evidence) []Judgement {
	for _, id := range []ID{"API-04", "API-05", "API-06", "API-07"} {
		if e.judge(id).Outcome == Fail { // then the other value may be such a wrong one
			return nil
		}
	}
	found := map[string][]Subject{}
	views, converting := viewsOf(e), convertingFilters(e)
	for _, id := range slices.Sorted(maps.Keys(views)) {
		for _, v := range views[id] {
			if !v.filtered || slices.ContainsFunc(conditionsOf(*v.call), func(c condition) bool { return converting[c.parameter] }) {
				continue
			}
			before, after := plainAround(views[id], v)
			if before == nil || len(after) == 0 || e.bodies.digestOf(before) == e.bodies.digestOf(v.item) {
				continue
			}
			plain, filtered := openapi.Object(before), openapi.Object(v.item)
			for _, name := range slices.Sorted(maps.Keys(filtered)) {
				if plain[name] == nil || dependsOnSearch(name) || len(found[name]) >= maxViews || isEchoed(filtered[name], *v.call) || mayAgree(filtered[name], plain[name]) {
					continue
				}
				if keepsValue(after, name, plain[name]) {
					found[name] = append(found[name], Subject{Name: clip(callInWords(*v.call) + ", item " + quote(id) + " $." + name), Label: v.call.Label,
						Expected: valueInWords(plain[name]) + ", as in the list without a filter", Got: valueInWords(filtered[name])})
				}
			}
		}
	}
	var parts []Judgement
	for _, name := range slices.Sorted(maps.Keys(found)) {
		subjects := found[name]
		if len(subjects) < minDifferingViews {
			continue
		}
		reason := "a filtered list gives another " + clip(name) + " than the list without a filter, before and after"
		j := Failed(reason, subjects[0].Expected, subjects[0].Got)
		if parameter := commonParameter(e, subjects); parameter != "" { // the parameter may also convert values, as one for a currency does
			j = Warned(reason+": always with "+clip(parameter), subjects[0].Expected, subjects[0].Got)
		}
		parts = append(parts, j.Hinting("make the records of all lists by one mapping, from one table: look for a second query, a cache or a search index behind the filter").About(subjects...).bounded())
	}
	return parts
}

// keepsValue reports whether a member has the value in all of the records that have the member, and at least one record has it.
func keepsValue(records [][]byte, name string, value []byte) bool {
	seen := false
	for _, record := range records {
		later := openapi.Object(record)[name]
		if later != nil && !mayAgree(later, value) {
			return false
		}
		seen = seen || later != nil
	}
	return seen
}

// commonParameter returns a filter that all calls have, or "".
func commonParameter(e Evidence, subjects []Subject) string {
	for _, c := range conditionsOf(e.exchange(subjects[0].Label)) {
		has := func(other condition) bool { return other.parameter == c.parameter }
		if !slices.ContainsFunc(subjects, func(s Subject) bool { return !slices.ContainsFunc(conditionsOf(e.exchange(s.Label)), has) }) {
			return c.parameter
		}
	}
	return ""
}

// convertingFilters returns the parameters of the list that change how records are shown, or what is calculated for them, as the document says.
func convertingFilters(e Evidence) map[string]bool {
	out := map[string]bool{}
	o, _ := operation(e, e.Roles.List)
	converts := regexp.MustCompile(`(?i)\b(convert(s|ed)?|conversion|shown in|(re)?calculated|computed|umgerechnet|berechnet)\b`)
	for _, p := range o.QueryParameters() {
		if converts.MatchString(p.Description) {
			out[p.Name] = true
		}
	}
	return out
}

// viewsOf returns the records in the answers of the list and of the detail, by id, in the order of the calls. It leaves out records that are the same in all
// answers.
func viewsOf(e Evidence) map[string][]view {
	var calls []*evidence.Exchange
	for i := range e.Exchanges {
		if x := &e.Exchanges[i]; success(*x) && showsRecords(e, *x) {
			calls = append(calls, x)
		}
	}
	slices.SortStableFunc(calls, func(a, b *evidence.Exchange) int { return a.Started.Compare(b.Started) })
	first, differ := map[string]digest{}, map[string]bool{}
	for _, x := range calls {
		for _, item := range viewedRecords(e, *x) {
			id := e.identity(item)
			known, seen := first[id]
			switch {
			case !seen && len(first) < maxViewedRecords:
				first[id] = e.bodies.digestOf(item)
			case seen && known != e.bodies.digestOf(item):
				differ[id] = true
			}
		}
	}
	out := map[string][]view{}
	if len(differ) == 0 {
		return out
	}
	for place, x := range calls {
		for _, item := range viewedRecords(e, *x) {
			if id := e.identity(item); differ[id] && len(out[id]) < maxViews {
				out[id] = append(out[id], view{item, x, place, len(conditionsOf(*x)) > 0, x.Label.Resource() == e.Roles.Detail})
			}
		}
	}
	return out
}

// viewedRecords returns the items of a list, or the record of a detail, except those without an id and those that are too large to compare.
func viewedRecords(e Evidence, x evidence.Exchange) [][]byte {
	items := itemsOrNone(e, x)
	if x.Label.Resource() == e.Roles.Detail {
		text, err := e.jsonText(x)
		if err != nil || len(text) > maxCompared {
			return nil
		}
		items = [][]byte{unwrap(text, memberOfID(x))}
	}
	return slices.DeleteFunc(slices.Clone(items), func(item []byte) bool { return len(item) > maxCompared || e.isAnonymous(item) })
}

// showsRecords reports whether a call gets records without asking for another language or form: a plain call of the list, with or without a condition, or of
// the detail of a listed item.
func showsRecords(e Evidence, x evidence.Exchange) bool {
	c := string(x.Label.Case())
	switch x.Label.Resource() {
	case e.Roles.List:
		whole := e.exchange(evidence.ListOperation.With(evidence.OK))
		return isPlainList(x) || strings.HasPrefix(c, "good-") && x.Request.URL == whole.Request.URL && len(evidence.Values(x.Request.Header, "Accept-Language")) == 0
	case e.Roles.Detail:
		return strings.HasPrefix(c, "item-")
	}
	return false
}

// plainAround returns a record as the list without a filter showed it last before a view, and as this list and the detail showed it after the view.
func plainAround(views []view, v view) (before []byte, after [][]byte) {
	for _, other := range views {
		switch {
		case other.filtered:
		case other.place > v.place:
			after = append(after, other.item)
		case other.place < v.place && !other.isDetail: // the list may show less than the detail
			before = other.item
		}
	}
	return before, after
}

// mayAgree reports whether one of two values may be a shorter form of the other.
func mayAgree(a, b []byte) bool { return compatible(a, b) || compatible(b, a) }

// dependsOnSearch reports whether a member may differ with the query, by its name: scores, matches, and links that repeat the query.
func dependsOnSearch(name string) bool {
	return volatile(name) || slices.ContainsFunc([]string{"score", "rank", "relevan", "match", "highlight", "snippet", "distance", "position", "index", "self", "url", "next"}, func(part string) bool {
		return strings.Contains(strings.ToLower(name), part)
	})
}

// isEchoed reports whether a value contains the value of a filter of the call.
func isEchoed(text []byte, x evidence.Exchange) bool {
	return slices.ContainsFunc(conditionsOf(x), func(c condition) bool {
		return slices.ContainsFunc(c.values(), func(v string) bool { return v != "" && strings.Contains(string(text), v) })
	})
}
