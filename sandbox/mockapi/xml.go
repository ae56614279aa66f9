package mockapi

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rin-network/rin/fixtures/sample"
)

// WriteXML writes a value as its schema describes elements and attributes (OAS 3.0.3, XML Object). members returns the members
// of a schema with the pointers of their schemas. The root element has the name in its schema, or the name of the component schema.
func WriteXML(d *Document, members func(schema string) map[string]string, schema string, value any) []byte {
	w := xmlWriter{document: d, members: members, known: map[string]map[string]string{}}
	w.out.WriteString(xml.Header)
	w.element(w.root(schema), schema, value)
	w.out.WriteByte('\n')
	return w.out.Bytes()
}

// xmlWriter writes one XML document.
type xmlWriter struct {
	document *Document
	members  func(schema string) map[string]string
	known    map[string]map[string]string // results of members, by schema
	out      bytes.Buffer
}

// element says how an element or attribute is written.
type element struct {
	name, prefix, namespace string
	attribute, wrapped      bool
}

// elementOf returns the element that a schema, or the schema that it refers to, describes; fallback is the name if neither gives a name.
func (w *xmlWriter) elementOf(schema, fallback string) element {
	e := element{name: fallback}
	if schema == "" {
		return e
	}
	own, _ := w.document.Raw(schema)
	target, _, _ := w.document.Object(schema)
	for _, raw := range []any{own, target} {
		object, _ := raw.(map[string]any)
		described, ok := object["xml"].(map[string]any)
		if !ok {
			continue
		}
		if name, ok := described["name"].(string); ok && name != "" {
			e.name = name
		}
		if prefix, ok := described["prefix"].(string); ok && !strings.HasPrefix(strings.ToLower(prefix), "xml") { // reserved names
			e.prefix = prefix
		}
		e.namespace, _ = described["namespace"].(string)
		e.attribute, _ = described["attribute"].(bool)
		e.wrapped, _ = described["wrapped"].(bool)
		break
	}
	return e
}

func (w *xmlWriter) root(schema string) element {
	_, at, fault := w.document.Object(schema)
	name, ok := strings.CutPrefix(at, "/components/schemas/")
	if fault != nil || !ok || strings.Contains(name, "/") {
		name = "root"
	}
	return w.elementOf(schema, name)
}

func (w *xmlWriter) element(e element, schema string, value any) {
	w.open(e)
	switch v := value.(type) {
	case nil:
		w.out.WriteString("/>")
		return
	case map[string]any:
		rest := w.attributes(e, schema, v)
		w.out.WriteByte('>')
		for _, member := range rest {
			w.member(member, w.memberOf(schema, member), v[member])
		}
	case []any:
		w.out.WriteByte('>')
		w.items("item", schema, v)
	default:
		w.out.WriteByte('>')
		w.text(fmt.Sprint(v))
	}
	w.out.WriteString("</" + e.qualifiedName() + ">")
}

// open writes the beginning of a start tag.
func (w *xmlWriter) open(e element) {
	w.out.WriteString("<" + e.qualifiedName())
	if space := e.declaration(); space != "" {
		w.attribute(space, e.namespace)
	}
}

func (w *xmlWriter) attribute(name, value string) {
	w.out.WriteString(" " + name + `="`)
	w.text(value)
	w.out.WriteByte('"')
}

// attributes writes the members that are attributes, and returns the names of the others.
func (w *xmlWriter) attributes(parent element, schema string, object map[string]any) (rest []string) {
	written := map[string]bool{"xmlns": true, parent.declaration(): true}
	for _, member := range slices.Sorted(maps.Keys(object)) {
		e := w.elementOf(w.memberOf(schema, member), member)
		name := e.qualifiedName()
		if !e.attribute || !isScalar(object[member]) || written[name] {
			rest = append(rest, member)
			continue
		}
		written[name] = true
		if space := e.declaration(); e.prefix != "" && space != "" && !written[space] {
			written[space] = true
			w.attribute(space, e.namespace)
		}
		w.attribute(name, fmt.Sprint(object[member]))
	}
	return rest
}

// member writes a member as an element. For an array, it writes one element for each item. If the array is wrapped, another element contains them.
func (w *xmlWriter) member(name, schema string, value any) {
	e := w.elementOf(schema, name)
	list, ok := value.([]any)
	switch {
	case !ok:
		w.element(e, schema, value)
	case e.wrapped:
		w.open(e)
		w.out.WriteByte('>')
		w.items(e.name, schema, list)
		w.out.WriteString("</" + e.qualifiedName() + ">")
	default: // without a wrapper, the name in the schema of the array has no meaning
		w.items(name, schema, list)
	}
}

// items writes the items of an array. Their name is fallback, unless their schema has another.
func (w *xmlWriter) items(fallback, schema string, list []any) {
	for i, item := range list {
		itemSchema := w.itemOf(schema, i)
		w.element(w.elementOf(itemSchema, fallback), itemSchema, item)
	}
}

// memberOf returns the pointer of a member's schema; "" without one.
func (w *xmlWriter) memberOf(schema, name string) string {
	if schema == "" {
		return ""
	}
	members, ok := w.known[schema]
	if !ok {
		members = w.members(schema)
		w.known[schema] = members
	}
	if pointer, ok := members[name]; ok {
		return pointer
	}
	return w.below(schema, "additionalProperties")
}

// itemOf returns the pointer of an item's schema; "" without one.
func (w *xmlWriter) itemOf(schema string, i int) string {
	if schema == "" {
		return ""
	}
	if pointer := w.below(schema, "prefixItems", strconv.Itoa(i)); pointer != "" {
		return pointer
	}
	return w.below(schema, "items")
}

// below follows references from a schema, and returns the pointer of a part of it; "" if the part does not exist.
func (w *xmlWriter) below(schema string, names ...string) string {
	_, at, fault := w.document.Object(schema)
	if fault != nil {
		return ""
	}
	pointer := sample.Join(at, names...)
	if _, ok := w.document.At(pointer); !ok {
		return ""
	}
	return pointer
}

// text writes escaped characters; those that XML does not allow become U+FFFD.
func (w *xmlWriter) text(s string) {
	_ = xml.EscapeText(&w.out, []byte(s)) // writing to a buffer does not fail
}

func isScalar(value any) bool {
	switch value.(type) {
	case string, bool, json.Number:
		return true
	}
	return false
}

// qualifiedName returns the name with its prefix; a prefix without a namespace is ignored.
func (e element) qualifiedName() string {
	if e.prefix != "" && e.namespace != "" {
		return xmlName(e.prefix) + ":" + xmlName(e.name)
	}
	return xmlName(e.name)
}

// declaration returns the attribute that declares the namespace; "" without one.
func (e element) declaration() string {
	switch {
	case e.namespace == "":
		return ""
	case e.prefix == "":
		return "xmlns"
	}
	return "xmlns:" + xmlName(e.prefix)
}

// startsXMLName reports whether a name may begin with a character. XML allows fewer letters than Unicode has.
func startsXMLName(r rune) bool {
	return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0xc0 && r <= 0x1fff && r != 0x37e && unicode.IsLetter(r)
}

// xmlName turns a text into a valid name (Namespaces in XML 1.0, NCName).
func xmlName(name string) string {
	valid := strings.Map(func(r rune) rune {
		if startsXMLName(r) || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, name)
	if first, _ := utf8.DecodeRuneInString(valid); !startsXMLName(first) {
		valid = "_" + valid
	}
	return valid
}
