package openapi

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Members are the paths of the scalar members that items of a list have, such as "status", "regions" or "funder[].funder.id".
type Members []string

// Bounds of what is read to learn the members of items.
const (
	memberItems = 50
	memberDepth = 3
	maxPaths    = 300
)

// MembersOf lists the members of the first items.
func MembersOf(items [][]byte) Members {
	var out Members
	seen := map[string]bool{}
	var walk func(value []byte, path string, depth int)
	walk = func(value []byte, path string, depth int) {
		switch FirstByte(value) {
		case '[':
			inner, _ := elements(value)
			scalars := true
			for _, v := range inner[:min(len(inner), memberItems)] {
				if b := FirstByte(v); b == '{' || b == '[' {
					scalars = false
					walk(v, path+"[]", depth)
				}
			}
			if scalars && len(inner) > 0 && !seen[path] && len(out) < maxPaths {
				seen[path] = true
				out = append(out, path)
			}
		case '{':
			if depth == 0 {
				return
			}
			object := Object(value)
			for _, name := range sortedKeys(object) {
				if strings.ContainsAny(name, ".[]") {
					continue
				}
				below := name
				if path != "" {
					below = path + "." + name
				}
				walk(object[name], below, depth-1)
			}
		case 0, 'n':
		default:
			if path != "" && !seen[path] && len(out) < maxPaths {
				seen[path] = true
				out = append(out, path)
			}
		}
	}
	for _, item := range items[:min(len(items), memberItems)] {
		walk(item, "", memberDepth)
	}
	return out
}

// Has reports whether some item has the member.
func (m Members) Has(path string) bool { return slices.Contains(m, path) }

// Named returns the member that has a name, however it is spelled: in singular or plural, in snake or camel case, or as the id or code of an object
// (funder.id or funderId for funder). If there are both a member with the name and an id, it returns neither.
func (m Members) Named(name string) (path string, ok bool) {
	want := plainName(name)
	ids := []string{"id", "code", "key"}
	find := func(fits func(s []string) bool) string {
		if i := slices.IndexFunc(m, func(path string) bool { return fits(segmentsOf(path)) }); i >= 0 {
			return m[i]
		}
		return ""
	}
	top := find(func(s []string) bool { return len(s) == 1 && s[0] == want })
	full := find(func(s []string) bool { return strings.Join(s, "") == want })
	id := find(func(s []string) bool {
		joined := strings.Join(s, "")
		return slices.ContainsFunc(ids, func(end string) bool { return joined == want+end })
	})
	if path = cmp.Or(top, full); path != "" && id != "" {
		return "", false
	}
	path = cmp.Or(path, id)
	return path, path != ""
}

// Ending returns the member that [Members.Named] finds, or else the only one whose path ends in the name: "maxProjectVolume.amount" for amount.
func (m Members) Ending(name string) (path string, ok bool) {
	if path, ok := m.Named(name); ok {
		return path, true
	}
	want := plainName(name)
	for _, p := range m {
		if s := segmentsOf(p); s[len(s)-1] == want {
			if ok {
				return "", false
			}
			path, ok = p, true
		}
	}
	return path, ok
}

// segmentsOf returns the plain names in a path without repetitions: funder and id for "funder[].funder.id".
func segmentsOf(path string) []string {
	var out []string
	for name := range strings.SplitSeq(path, ".") {
		out = append(out, plainName(strings.TrimSuffix(name, "[]")))
	}
	return slices.Compact(out)
}

// plainName returns a name without case, separators and plural.
func plainName(name string) string {
	name = Joined(name)
	switch {
	case strings.HasSuffix(name, "ies") && len(name) > 4:
		return name[:len(name)-3] + "y"
	case strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss") && !strings.HasSuffix(name, "us") && len(name) > 2:
		return name[:len(name)-1]
	}
	return name
}

// Joined returns a name in lower case, without separators.
func Joined(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// An IdentityMember names the member that identifies a record: no two records of a list have the same value, and the detail operation takes it.
type IdentityMember struct {
	Member string
	// Guessed reports that only its usual name suggests the member: the document does not connect it with the parameter of the detail operation.
	Guessed bool
}

// IdentityIn finds the member that identifies the records: the one with the name of the path parameter of the detail operation; their id; the member that the
// description of the parameter names; or one with a usual name. Each record has one value of it, and no two records have the same. Without such a member it
// returns "id".
func IdentityIn(records [][]byte, p Parameter, collection string) IdentityMember {
	namesID := regexp.MustCompile(`(?i)\bid\b`).MatchString(p.Description) && !regexp.MustCompile(`(?i)\b(not|nicht|no|kein\w*)\b`).MatchString(p.Description)
	if len(records) > 1 && p.Name != "" && p.Name != "id" && !namesID && isUnique(records, p.Name) {
		return IdentityMember{Member: p.Name}
	}
	if slices.ContainsFunc(records, func(record []byte) bool { return len(MemberValues(record, "id")) > 0 }) || len(records) == 0 {
		return IdentityMember{Member: "id"}
	}
	members := slices.DeleteFunc(MembersOf(records), func(m string) bool { return strings.ContainsAny(m, ".[") || !isUnique(records, m) })
	if m, ok := members.Named(p.Name); ok {
		return IdentityMember{Member: m}
	}
	var named []string
	for _, word := range strings.FieldsFunc(p.Description, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '@' }) {
		for _, m := range members {
			if Joined(m) == Joined(word) && !slices.Contains(named, m) {
				named = append(named, m)
			}
		}
	}
	if len(named) == 1 {
		return IdentityMember{Member: named[0]}
	}
	noun := plainName(collection[strings.LastIndexByte(collection, '/')+1:])
	for _, usual := range []string{noun + "id", "uuid", "guid", "identifier", noun + "number", "number", "nummer", "kennung", "code", "key"} {
		for _, m := range members {
			if Joined(m) == usual {
				return IdentityMember{m, true}
			}
		}
	}
	return IdentityMember{Member: "id"}
}

// isUnique reports whether each record has one value of a member, and no two records have the same.
func isUnique(records [][]byte, member string) bool {
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
