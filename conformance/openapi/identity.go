package openapi

import (
	"slices"
	"strings"
	"unicode"
)

// An IdentityOf is the member by which the records of a list are told apart, and by which a detail operation finds one.
type IdentityOf struct {
	Member string
	// Guessed reports that no name of the document leads from the parameter of the detail to the member.
	Guessed bool
}

// IdentityIn finds the member by which records are known: their id; without one the member that the path parameter of the detail operation names, or its
// description; else one with a usual name. Each record has one value of it, and no two the same. Member is "id" if there is none.
func IdentityIn(records [][]byte, p Parameter, collection string) IdentityOf {
	if slices.ContainsFunc(records, func(record []byte) bool { return len(MemberValues(record, "id")) > 0 }) || len(records) == 0 {
		return IdentityOf{Member: "id"}
	}
	members := slices.DeleteFunc(MembersOf(records), func(m string) bool { return strings.ContainsAny(m, ".[") || !tellsApart(records, m) })
	if m, ok := members.Named(p.Name); ok {
		return IdentityOf{Member: m}
	}
	var named []string
	for _, word := range strings.FieldsFunc(p.Description, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '@' }) {
		for _, m := range members {
			if joinedName(m) == joinedName(word) && !slices.Contains(named, m) {
				named = append(named, m)
			}
		}
	}
	if len(named) == 1 {
		return IdentityOf{Member: named[0]}
	}
	noun := plainName(collection[strings.LastIndexByte(collection, '/')+1:])
	for _, usual := range []string{noun + "id", "uuid", "guid", "identifier", noun + "number", "number", "nummer", "kennung", "code", "key"} {
		for _, m := range members {
			if joinedName(m) == usual {
				return IdentityOf{m, true}
			}
		}
	}
	return IdentityOf{Member: "id"}
}

// tellsApart reports that each record has one value of a member, and no two the same.
func tellsApart(records [][]byte, member string) bool {
	seen := map[string]bool{}
	for _, record := range records {
		values := MemberValues(record, member)
		if len(values) != 1 || values[0] == "" || seen[values[0]] {
			return false
		}
		seen[values[0]] = true
	}
	return true
}
