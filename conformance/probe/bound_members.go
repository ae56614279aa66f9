package probe

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/openapi"
)

// This file reads the names of parameters that bound a number or a date, in the languages of the network: they give the direction, and the member of the
// items.

// directionOf returns the direction that a word means, or "".
func directionOf(word string) bound {
	switch word {
	case "min", "minimum", "from", "after", "since", "gte", "ge", "gt", "least", "above",
		"von", "ab", "seit", "nach", "mindestens", "depuis", "desde", "dal", "vanaf":
		return atLeastBound
	case "max", "maximum", "to", "until", "till", "before", "lte", "le", "lt", "most", "below",
		"bis", "vor", "höchstens", "hoechstens", "maximal", "jusque", "hasta", "fino", "tot":
		return atMostBound
	}
	return ""
}

// timeWords are the words that say that a member is a date, and not which date: closesFrom bounds closesAt, and deadlineTo bounds deadlineDate.
func timeWords() []string {
	return []string{"at", "on", "date", "time", "day", "am", "datum", "tag", "utc"}
}

// boundMember finds the only member of the items that fits the name of a bound. For a date the member may be a longer word: fristBis bounds Einreichfrist.
func boundMember(name string, date bool, members openapi.Members) (path string, found bool) {
	for _, n := range []string{name, strings.TrimSuffix(name, "date")} {
		if path, found = members.Ending(n); found {
			return path, true
		}
	}
	if !date {
		return "", false
	}
	if path, found = onlyMember(members, func(own string) bool { return withoutTimeWords(own) == name }); found {
		return path, true
	}
	const shortest = 4 // many words have a shorter ending
	if utf8.RuneCountInString(name) < shortest {
		return "", false
	}
	return onlyMember(members, func(own string) bool { return strings.HasSuffix(openapi.Joined(own), name) })
}

// withoutTimeWords joins the words of a name without the [timeWords].
func withoutTimeWords(name string) string {
	return strings.Join(slices.DeleteFunc(openapi.Words(name), func(word string) bool { return slices.Contains(timeWords(), word) }), "")
}

// onlyMember returns the only member whose last name fits. It skips members inside arrays, because they have several values.
func onlyMember(members openapi.Members, fits func(own string) bool) (path string, ok bool) {
	for _, m := range members {
		if _, own, _ := cutLast(m, "."); strings.Contains(m, "[]") || !fits(own) {
			continue
		}
		if ok {
			return "", false
		}
		path, ok = m, true
	}
	return path, ok
}
