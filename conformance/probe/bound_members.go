package probe

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/openapi"
)

// This file reads the names of parameters that bound a number or a date, in the languages of the network: the direction, and the member of the items.

// directionOf returns what a word of a name does, "" for a word without a direction.
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

// timeWords are the words that name what a date is, and not which one: closesAt is the member for closesFrom, deadlineDate that for deadlineTo.
func timeWords() []string {
	return []string{"at", "on", "date", "time", "day", "am", "datum", "tag", "utc"}
}

// boundMember finds the one member of the items that a bound of this name is about. Of dates it may be a longer word: the Einreichfrist for fristBis.
func boundMember(name string, date bool, members openapi.Members) (path string, found bool) {
	for _, n := range []string{name, strings.TrimSuffix(name, "date")} {
		if path, found = members.Ending(n); found {
			return path, true
		}
	}
	if !date {
		return "", false
	}
	if path, found = only(members, func(own string) bool { return withoutTimeWords(own) == name }); found {
		return path, true
	}
	const shortest = 4 // a shorter ending is in many words
	if utf8.RuneCountInString(name) < shortest {
		return "", false
	}
	return only(members, func(own string) bool { return strings.HasSuffix(openapi.Joined(own), name) })
}

// withoutTimeWords joins the words of a name but those that say that it is a date.
func withoutTimeWords(name string) string {
	return strings.Join(slices.DeleteFunc(openapi.Words(name), func(word string) bool { return slices.Contains(timeWords(), word) }), "")
}

// only returns the only member whose last name fits. Members inside arrays have several values, and are left out.
func only(members openapi.Members, fits func(own string) bool) (path string, ok bool) {
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
