package document

import (
	"fmt"
	"slices"
	"strings"
)

// A Reference is a link inside an answer, in one of the shapes that APIs use: HAL's _links, the links of JSON:API, of Spring HATEOAS
// and of ORDS, and members named by their relation.
type Reference struct {
	Relation string // next, prev, previous, first, last, self
	Target   string // URI reference as spelled
	Path     string // where it stands: "$._links.next"
}

// linkedItems is how many items of a list are searched for links.
const linkedItems = 50

// ReadReferences finds the links of an answer and of its first items. Other members that hold URLs, such as website, are content.
func ReadReferences(body []byte) []Reference {
	list, _ := ReadList(body)
	return References(body, list.Items)
}

// References is [ReadReferences] for an answer whose items were read already.
func References(body []byte, items [][]byte) []Reference {
	out := references(body, "$")
	for i, item := range items[:min(len(items), linkedItems)] {
		out = append(out, references(item, fmt.Sprintf("$[%d]", i))...)
	}
	return out
}

func relations() []string { return []string{"next", "prev", "previous", "first", "last", "self"} }

// references are those of one object.
func references(object []byte, path string) []Reference {
	if begins(object) != '{' {
		return nil
	}
	members := Object(object)
	var out []Reference
	for _, name := range []string{"_links", "links"} {
		switch place := path + "." + name; begins(members[name]) {
		case '{': // HAL, JSON:API
			out = append(out, named(Object(members[name]), place)...)
		case '[': // Spring HATEOAS, ORDS
			links, _ := elements(members[name])
			for i, link := range links[:min(len(links), linkedItems)] {
				relation, target := first(MemberValues(link, "rel")), first(MemberValues(link, "href"))
				out = appendReference(out, relation, target, fmt.Sprintf("%s[%d]", place, i), link)
			}
		}
	}
	out = append(out, named(members, path)...)
	return appendReference(out, "self", stringOf(members["href"]), path+".href", object)
}

// named are the links among members that are named by their relations.
func named(members map[string][]byte, path string) []Reference {
	var out []Reference
	for _, relation := range relations() {
		value, place := members[relation], path+"."+relation
		if begins(value) == '{' {
			out = appendReference(out, relation, first(MemberValues(value, "href")), place, value)
			continue
		}
		out = appendReference(out, relation, stringOf(value), place, nil)
	}
	return out
}

// appendReference adds a link unless it is none: another relation, a cursor in place of a reference, or a URI template.
func appendReference(list []Reference, relation, target, path string, link []byte) []Reference {
	relation = strings.ToLower(relation)
	if !slices.Contains(relations(), relation) || !referenceLike(target) || first(MemberValues(link, "templated")) == "true" {
		return list
	}
	return append(list, Reference{relation, target, path})
}

// referenceLike tells a URL, a path or a query from a cursor or a word.
func referenceLike(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "?") || strings.Contains(text, "://")
}

func stringOf(value []byte) string {
	if begins(value) != '"' {
		return ""
	}
	out, _ := scalar(value)
	return out
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
