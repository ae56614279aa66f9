package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// MaxItems bounds the items of a list that are read. Clients of the network read pages of a thousand.
const MaxItems = 20_000

// maxMembers bounds the members of an object that are read.
const maxMembers = 1000

// List holds the items of an answer as JSON texts.
type List struct {
	Items [][]byte
	// Complete is false if the text breaks off, or lists more than [MaxItems].
	Complete bool
}

// ReadList returns the items of a list answer: those of an array, or of the only array inside a common envelope (HAL, Spring Data, ORDS,
// JSON:API, the registry's own "member"). It reads a truncated body as far as possible. ok is false if the body is not a list.
func ReadList(body []byte) (list List, ok bool) { return readList(body, elements) }

// ReadValidList is [ReadList] for a text that is known to be valid JSON; it does not validate the text again.
func ReadValidList(text []byte) (list List, ok bool) { return readList(text, Split) }

// splitter splits an array into its values. complete is false if values are missing.
type splitter func(array []byte) (values [][]byte, complete bool)

func readList(body []byte, split splitter) (list List, ok bool) {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	switch FirstByte(body) {
	case '[':
		return listOf(body, split), true
	case '{':
		return enveloped(body, split)
	}
	return List{}, false
}

func listOf(array []byte, split splitter) List {
	items, complete := split(array)
	return List{items, complete}
}

// enveloped returns the items inside an envelope. An object with an id or with many members is an item, not an envelope.
func enveloped(text []byte, split splitter) (List, bool) {
	object := Object(text)
	for _, name := range envelopeNames() {
		switch inner := object[name]; FirstByte(inner) {
		case '[':
			return listOf(inner, split), true
		case '{':
			if array, ok := onlyArray(Object(inner)); ok {
				return listOf(array, split), true
			}
		}
	}
	id := object["id"]
	if array, ok := onlyArray(object); ok && len(object) <= 8 && (id == nil || string(id) == "null") {
		return listOf(array, split), true
	}
	_, links := object["_links"]
	return List{Complete: true}, links && FirstByte(object["page"]) == '{' // Spring HATEOAS leaves _embedded out of an empty page
}

func envelopeNames() []string {
	return []string{"_embedded", "items", "content", "data", "results", "value", "member", "records", "fundings", "calls"}
}

// Object returns the members of a JSON object by name, up to a bound; of repeated names the last one counts.
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

// memberOf returns one member of a JSON object, as [Object] would, or nil.
func memberOf(object []byte, name string) (value []byte) {
	seen := 0
	for key, v := range rawMembers(object) {
		if seen++; seen > maxMembers {
			break
		}
		// key is quoted as in the text; it is decoded only if it has an escape.
		if plain := bytes.IndexByte(key, '\\') < 0; plain && string(key[1:len(key)-1]) == name || !plain && unquote(key) == name {
			value = v
		}
	}
	return value
}

// onlyArray returns the array member of an object that has exactly one.
func onlyArray(members map[string][]byte) (array []byte, ok bool) {
	for _, value := range members {
		if FirstByte(value) == '[' {
			if ok {
				return nil, false
			}
			array, ok = value, true
		}
	}
	return array, ok
}

// MemberValue returns the first of the [MemberValues] at a path, or "".
func MemberValue(item []byte, path string) string {
	values := MemberValues(item, path)
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// MemberValues returns the scalar values at a path of member names, such as "type" or "funder[].funder.id". It descends into the items of
// arrays, decodes strings, and returns numbers and booleans as they are written.
func MemberValues(item []byte, path string) []string {
	values := flatten(item)
	for name := range strings.SplitSeq(path, ".") {
		name = strings.TrimSuffix(name, "[]")
		var next [][]byte
		for _, value := range values {
			if inner := memberOf(value, name); inner != nil && len(next) < MaxItems {
				next = append(next, flatten(inner)...)
			}
		}
		values = next
	}
	var out []string
	for _, value := range values {
		if text, ok := scalar(value); ok {
			out = append(out, text)
		}
	}
	return out
}

// flatten returns the values in an array, or the value itself.
func flatten(value []byte) [][]byte {
	if FirstByte(value) != '[' {
		return [][]byte{value}
	}
	out, _ := elements(value)
	return out
}

// scalar returns the text of a string, number or boolean.
func scalar(value []byte) (text string, ok bool) {
	switch value = bytes.Trim(value, blanks); FirstByte(value) {
	case '"':
		err := json.Unmarshal(value, &text)
		return text, err == nil
	case 0, '[', '{', 'n':
		return "", false
	}
	return string(value), json.Valid(value)
}

// A Reference is a link inside an answer, in one of the usual shapes: HAL's _links, the links of JSON:API, Spring HATEOAS and ORDS, and
// members named by their relation.
type Reference struct {
	Relation string // next, prev, previous, first, last, self
	Target   string // URI reference as spelled
	Path     string // place in the answer: "$._links.next"
}

// MaxLinkedItems bounds the items that are searched for links, and the links that are read from one array.
const MaxLinkedItems = 50

// References returns the links of a list answer, also of the objects of its envelope that describe the page, and of its first items: those to themselves, for
// next and prev of an item name other items, and no page of the list. Other members with URLs, such as website, are content.
func References(body []byte, items [][]byte) []Reference {
	out := references(body, "$")
	if FirstByte(body) == '{' && len(items) > 0 {
		left := pageHolders() // each counts once: a hostile envelope repeats them
		for name, value := range rawMembers(body) {
			if len(name) > maxHolder || FirstByte(value) != '{' {
				continue
			}
			holder := unquote(name)
			if at := slices.Index(left, holder); at >= 0 {
				left = slices.Delete(left, at, at+1)
				out = append(out, references(value, "$."+holder)...)
			}
		}
	}
	for i, item := range items[:min(len(items), MaxLinkedItems)] {
		for _, r := range references(item, fmt.Sprintf("$[%d]", i)) {
			if r.Relation == "self" {
				out = append(out, r)
			}
		}
	}
	return out
}

// maxHolder is longer than any name of [pageHolders] as it is written.
const maxHolder = 32

// pageHolders returns the names of objects in an envelope that describe its page.
func pageHolders() []string {
	return []string{"page", "meta", "pagination", "paging", "pageInfo", "page_info", "metadata", "_meta"}
}

func relations() []string { return []string{"next", "prev", "previous", "first", "last", "self"} }

// references returns the links of one object.
func references(object []byte, path string) []Reference {
	if FirstByte(object) != '{' {
		return nil
	}
	members := linkMembers(object)
	var out []Reference
	for _, name := range []string{"_links", "links"} {
		switch place := path + "." + name; FirstByte(members[name]) {
		case '{': // HAL, JSON:API
			out = append(out, namedReferences(linkMembers(members[name]), place)...)
		case '[': // Spring HATEOAS, ORDS
			links, _ := elements(members[name])
			for i, link := range links[:min(len(links), MaxLinkedItems)] {
				relation, target := MemberValue(link, "rel"), MemberValue(link, "href")
				out = appendReference(out, relation, target, fmt.Sprintf("%s[%d]", place, i), link)
			}
		}
	}
	out = append(out, namedReferences(members, path)...)
	return appendReference(out, "self", stringOf(members["href"]), path+".href", object)
}

// linkMembers returns the members of an object whose names are those of links. Most items have none.
func linkMembers(object []byte) map[string][]byte {
	var out map[string][]byte
	seen := 0
	for name, value := range members(object) {
		if seen++; seen > maxMembers {
			break
		}
		if relationNamed(name) == "" && !slices.Contains([]string{"_links", "links", "href"}, name) {
			continue
		}
		if out == nil {
			out = map[string][]byte{}
		}
		out[name] = value
	}
	return out
}

// relationNamed returns the relation that a member is named by, in English or another language, or "".
func relationNamed(name string) string {
	if slices.Contains(relations(), name) {
		return name
	}
	if english := englishWord(withoutMarks(Joined(name))); slices.Contains(relations(), english) {
		return english
	}
	return ""
}

// namedReferences returns the links among members that are named by their relations. Those of an envelope, "$", may have names of other languages;
// in an item, such a name more often means something else.
func namedReferences(members map[string][]byte, path string) []Reference {
	var out []Reference
	for _, relation := range relations() {
		name, value := relation, members[relation]
		if value == nil && strings.HasPrefix(path, "$") && !strings.HasPrefix(path, "$[") {
			name, value = memberNamed(members, relation)
		}
		if FirstByte(value) == '{' {
			out = appendReference(out, relation, MemberValue(value, "href"), path+"."+name, value)
			continue
		}
		out = appendReference(out, relation, stringOf(value), path+"."+name, nil)
	}
	return out
}

// memberNamed returns the member whose name means the relation in another language.
func memberNamed(members map[string][]byte, relation string) (name string, value []byte) {
	for _, name := range sortedKeys(members) {
		if b := FirstByte(members[name]); (b == '{' || b == '"') && relationNamed(name) == relation {
			return name, members[name]
		}
	}
	return relation, nil
}

// appendReference adds a link, unless its relation is unknown, its target is not a reference, or the link object says that it is a template or leads to a web page.
func appendReference(list []Reference, relation, target, path string, link []byte) []Reference {
	relation = strings.ToLower(relation)
	if !slices.Contains(relations(), relation) || !isReference(target) || MemberValue(link, "templated") == "true" || strings.HasPrefix(MemberValue(link, "type"), "text/html") {
		return list
	}
	return append(list, Reference{relation, target, path})
}

// isReference reports whether a text is a URL, an absolute path, or a query, with a relative path before it or not. A cursor or a word is not.
func isReference(text string) bool {
	path, query, _ := strings.Cut(text, "?")
	return strings.HasPrefix(text, "/") || strings.Contains(text, "://") || strings.Contains(query, "=") && !strings.ContainsAny(path, " \t\"") || strings.HasPrefix(text, "?")
}

func stringOf(value []byte) string {
	if FirstByte(value) != '"' {
		return ""
	}
	out, _ := scalar(value)
	return out
}
