package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// MaxItems bounds how many items of a list are looked at. Clients of the network read pages of a thousand.
const MaxItems = 20_000

// maxMembers bounds how many members of an object are looked at.
const maxMembers = 1000

// List is what an answer lists, each item as the JSON text that it came in.
type List struct {
	Items [][]byte
	// Whole is false when the text breaks off, or lists more than [MaxItems].
	Whole bool
}

// ReadList finds the items of a list answer: those of an array, or of the one array inside a usual envelope (HAL, Spring Data, ORDS,
// JSON:API, the registry's own "member"). A body that breaks off is read as far as it goes. ok is false when it is no list.
func ReadList(body []byte) (list List, ok bool) { return readList(body, elements) }

// ListIn is [ReadList] for a text that is known to be JSON: it is not checked again.
func ListIn(text []byte) (list List, ok bool) { return readList(text, Split) }

// reading finds the values of an array.
type reading func(array []byte) (values [][]byte, whole bool)

func readList(body []byte, read reading) (list List, ok bool) {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	switch firstByte(body) {
	case '[':
		return listOf(body, read), true
	case '{':
		return enveloped(body, read)
	}
	return List{}, false
}

func listOf(array []byte, read reading) List {
	items, whole := read(array)
	return List{items, whole}
}

func enveloped(text []byte, read reading) (List, bool) {
	object := Object(text)
	for _, name := range envelopeNames() {
		switch inner := object[name]; firstByte(inner) {
		case '[':
			return listOf(inner, read), true
		case '{':
			if array, ok := onlyArray(Object(inner)); ok {
				return listOf(array, read), true
			}
		}
	}
	id := object["id"]
	if array, ok := onlyArray(object); ok && len(object) <= 8 && (id == nil || string(id) == "null") {
		return listOf(array, read), true
	}
	_, links := object["_links"]
	return List{Whole: true}, links && firstByte(object["page"]) == '{' // Spring HATEOAS leaves _embedded out of an empty page
}

func envelopeNames() []string {
	return []string{"_embedded", "items", "content", "data", "results", "value", "member", "records", "fundings", "calls"}
}

// Object is the members of a JSON object by name, a bounded number of them; of repeated names the last one counts. Anything else has
// none.
func Object(object []byte) map[string][]byte {
	out := map[string][]byte{}
	for name, value := range members(object) {
		if len(out) == maxMembers {
			break
		}
		out[name] = value
	}
	return out
}

// memberOf is one member of a JSON object as [Object] has it; nil when there is none.
func memberOf(object []byte, name string) (value []byte) {
	seen := 0
	for key, v := range rawMembers(object) {
		if seen++; seen > maxMembers {
			break
		}
		if plain := bytes.IndexByte(key, '\\') < 0; plain && string(key[1:len(key)-1]) == name || !plain && unquoted(key) == name {
			value = v
		}
	}
	return value
}

// onlyArray is the array member of an object that has exactly one.
func onlyArray(members map[string][]byte) (array []byte, ok bool) {
	for _, value := range members {
		if firstByte(value) == '[' {
			if ok {
				return nil, false
			}
			array, ok = value, true
		}
	}
	return array, ok
}

// MemberValues collects the scalar values at a path of member names ("type", "funder[].funder.id") of an item, through arrays:
// strings decoded, numbers and booleans as they are written.
func MemberValues(item []byte, path string) []string {
	at := flat(item)
	for name := range strings.SplitSeq(path, ".") {
		name = strings.TrimSuffix(name, "[]")
		var next [][]byte
		for _, value := range at {
			if inner := memberOf(value, name); inner != nil && len(next) < MaxItems {
				next = append(next, flat(inner)...)
			}
		}
		at = next
	}
	var out []string
	for _, value := range at {
		if text, ok := scalar(value); ok {
			out = append(out, text)
		}
	}
	return out
}

// flat is the value itself, or the values in it if it is an array.
func flat(value []byte) [][]byte {
	if firstByte(value) != '[' {
		return [][]byte{value}
	}
	out, _ := elements(value)
	return out
}

// scalar is the text of a string, number or boolean.
func scalar(value []byte) (text string, ok bool) {
	switch value = bytes.Trim(value, blanks); firstByte(value) {
	case '"':
		err := json.Unmarshal(value, &text)
		return text, err == nil
	case 0, '[', '{', 'n':
		return "", false
	}
	return string(value), json.Valid(value)
}

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
	if firstByte(object) != '{' {
		return nil
	}
	members := Object(object)
	var out []Reference
	for _, name := range []string{"_links", "links"} {
		switch place := path + "." + name; firstByte(members[name]) {
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
		if firstByte(value) == '{' {
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
	if firstByte(value) != '"' {
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
