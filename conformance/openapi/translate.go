package openapi

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// Bounds of a translated schema. The compiler's work grows faster than the text, so larger schemas are not compiled.
const (
	maxNodes   = 10_000 // schema objects
	maxInline  = 100    // inline schemas inside one another
	maxLiteral = 2_000  // members of one enum or required
	maxPattern = 2_000  // bytes of a regular expression
)

var errTooLarge = errors.New("the schema is too large or too deeply nested to be judged")

// definitionAt is the start of the JSON Pointers of the definitions in a translation.
const definitionAt = "/$defs/"

// Translation is a JSON Schema (2020-12) made from one schema of an API document and all that it refers to. Each referenced schema
// becomes one definition, so that a finding can name its place in the document.
type Translation struct {
	Schema map[string]any
	// Root is the JSON Pointer, in Schema, of the schema to judge by.
	Root string
	// Items is the JSON Pointer, in Schema, of the schema of the items, if the items of a list can be judged one by one; else "".
	Items string
	// Kind is the single type that the schema allows beside null: array, object, …; "" if it allows several.
	Kind string
	// MinItems and MaxItems are the bounds of a list.
	MinItems, MaxItems *int64

	definitions map[string]any
	origins     map[string]origin // by name of the definition
}

// origin is the place of a definition in the document.
type origin struct {
	pointer string
	// synthetic marks a definition that the translator made up. A finding in it names only the pointer: the keywords below exist only
	// in the translation.
	synthetic bool
}

// Translate translates the schema at a pointer.
func (d *Document) Translate(pointer string) (Translation, error) {
	p := &translator{
		doc:      d,
		nullable: strings.HasPrefix(d.Version, "3.0"),
		names:    map[definition]string{},
		out:      Translation{definitions: map[string]any{}, origins: map[string]origin{}},
	}
	var err error
	if p.graph, err = newGraph(d, pointer); err != nil {
		return Translation{}, err
	}
	root := p.define(definition{pointer: pointer})
	for len(p.queue) > 0 {
		next := p.queue[0]
		p.queue = p.queue[1:]
		value, _ := d.Raw(next.pointer)
		at := place{pointer: next.pointer, owner: next.pointer, inPlace: true, noChoices: next.noChoices}
		if next.unwrapped {
			at = next.place
			at.unwrapped = true
		}
		p.out.definitions[p.names[next]] = p.schema(value, at)
	}
	if p.tooLarge {
		return Translation{}, errTooLarge
	}
	p.out.Schema = map[string]any{"$defs": p.out.definitions}
	p.out.describe(root)
	return p.out, nil
}

// describe sets Root, Items, Kind, MinItems and MaxItems from the root schema.
func (t *Translation) describe(root string) {
	t.Root = definitionAt + root
	name, body := root, map[string]any(nil)
	for range len(t.definitions) { // follow references without other keywords
		body, _ = t.definitions[name].(map[string]any)
		ref, ok := body["$ref"].(string)
		if !ok || len(body) > 1 {
			break
		}
		name = definitionName(ref)
	}
	t.Kind = t.kind(body, 0)
	t.MinItems, t.MaxItems = itemCount(body["minItems"]), itemCount(body["maxItems"])
	if _, ok := body["items"]; !ok || t.Kind != "array" {
		return
	}
	for keyword := range body {
		switch keyword {
		case "type", "items", "minItems", "maxItems":
		default:
			return
		}
	}
	t.Items = definitionAt + name + "/items"
}

// kind finds the single type that a schema allows beside null, also through allOf.
func (t *Translation) kind(body map[string]any, depth int) string {
	if depth > 8 {
		return ""
	}
	if types, _ := body["type"].([]any); len(types) > 0 {
		found := ""
		for _, word := range types {
			if name, _ := word.(string); name != "null" {
				if found != "" {
					return ""
				}
				found = name
			}
		}
		return found
	}
	if ref, ok := body["$ref"].(string); ok {
		target, _ := t.definitions[definitionName(ref)].(map[string]any)
		if kind := t.kind(target, depth+1); kind != "" {
			return kind
		}
	}
	parts, _ := body["allOf"].([]any)
	for _, part := range parts {
		schema, _ := part.(map[string]any)
		if kind := t.kind(schema, depth+1); kind != "" {
			return kind
		}
	}
	return ""
}

// itemCount reads a whole number; nil for other values.
func itemCount(value any) *int64 {
	n, _ := value.(json.Number)
	i, err := n.Int64()
	if err != nil {
		return nil
	}
	return &i
}

// Origin returns the JSON Pointer in the document from which the translator made a part of the translation. pointer leads to that part in Schema, and
// keywords lead on from there.
func (t Translation) Origin(pointer string, keywords []string) string {
	name, rest, _ := strings.Cut(strings.TrimPrefix(pointer, definitionAt), "/")
	from := t.origins[name]
	if from.synthetic {
		return from.pointer
	}
	if rest != "" {
		from.pointer += "/" + rest
	}
	return Join(from.pointer, keywords...)
}

// translator writes one translation.
type translator struct {
	doc      *Document
	nullable bool // the version has the keyword nullable: OpenAPI 3.0
	graph    *graph
	out      Translation
	names    map[definition]string
	queue    []definition
	nodes    int
	tooLarge bool // a bound was exceeded; the rest is not translated
}

// definition identifies a definition to write: the schema at a pointer, or a variant of it.
type definition struct {
	pointer   string
	noChoices bool  // without the choices (oneOf, anyOf, discriminator) that lead to subtypes
	unwrapped bool  // without the condition that lets null pass; see translator.schema
	place     place // of the schema, if unwrapped
}

// define returns the name of a definition. It queues a definition that is new.
func (p *translator) define(d definition) string {
	if name, known := p.names[d]; known {
		return name
	}
	name := strconv.Itoa(len(p.out.origins))
	p.names[d] = name
	p.out.origins[name] = origin{pointer: d.pointer}
	p.queue = append(p.queue, d)
	return name
}

// addDefinition adds a made-up definition for one keyword of the document, and returns a reference to it.
func (p *translator) addDefinition(pointer string, body map[string]any) map[string]any {
	name := strconv.Itoa(len(p.out.origins))
	p.out.origins[name] = origin{pointer: pointer, synthetic: true}
	p.out.definitions[name] = body
	return refer(name)
}

func refer(name string) map[string]any { return map[string]any{"$ref": "#" + definitionAt + name} }
func definitionName(ref string) string { return ref[len("#"+definitionAt):] }

// place is the position of a schema in the document and in the translation.
type place struct {
	pointer   string
	inPlace   bool   // the schema applies to the same value as the definition that contains it, the owner
	owner     string // pointer of the owner; "" unless inPlace
	choice    bool   // below oneOf or anyOf of the owner
	noChoices bool   // without the choices of the owner
	unwrapped bool   // the condition that lets null pass is written already
	depth     int    // inline schemas above it
}

// below returns the place of a schema for a member of the value.
func (at place) below(tokens ...string) place {
	next := at.same(tokens...)
	next.owner, next.inPlace, next.choice, next.noChoices = "", false, false, false
	return next
}

// same returns the place of another schema for the same value.
func (at place) same(tokens ...string) place {
	at.pointer = Join(at.pointer, tokens...)
	at.depth++
	at.unwrapped = false
	return at
}

// schema translates one schema into JSON Schema 2020-12. It keeps the known keywords whose values have the right type.
func (p *translator) schema(value any, at place) any {
	p.nodes++
	if p.tooLarge = p.tooLarge || p.nodes > maxNodes || at.depth > maxInline; p.tooLarge {
		return true
	}
	if b, ok := value.(bool); ok {
		return b
	}
	out := map[string]any{}
	in, ok := value.(map[string]any)
	if !ok {
		return out
	}
	if ref, ok := in["$ref"].(string); ok {
		if target, _, found := p.doc.Follow(ref); found {
			if linked := p.link(target, at); linked != nil {
				out["$ref"] = linked["$ref"]
			}
		}
		if p.ignoresSiblings() {
			return out
		}
	}
	if p.nullable && in["nullable"] == true && !at.unwrapped && isComposed(in) {
		name := p.define(definition{pointer: at.pointer, unwrapped: true, place: at})
		return map[string]any{"if": map[string]any{"not": map[string]any{"type": "null"}}, "then": refer(name)}
	}
	p.scalars(in, out)
	p.members(in, out, at)
	p.applicators(in, out, at)
	return out
}

// ignoresSiblings reports whether keywords beside $ref are ignored, as in Swagger 2.0 and OpenAPI 3.0 (OAS 3.0.3 Reference Object).
func (p *translator) ignoresSiblings() bool {
	return p.nullable || !strings.HasPrefix(p.doc.Version, "3.")
}

// link returns a reference to another schema of the document. It avoids references that would apply a schema to the same value without end: a subtype
// refers to its base without the base's list of subtypes, and a reference that only closes a cycle is left out (nil).
func (p *translator) link(target string, at place) map[string]any {
	if !at.inPlace {
		return refer(p.define(definition{pointer: target}))
	}
	switch {
	case at.choice:
		if p.graph.choices[[2]string{at.owner, target}] {
			return nil
		}
	case p.graph.strict[[2]string{at.owner, target}]:
		return nil
	case p.graph.all.isCyclic(at.owner, target): // a base, whose choices lead back to the owner
		return refer(p.define(definition{pointer: target, noChoices: true}))
	}
	return refer(p.define(definition{pointer: target}))
}

// isComposed reports whether keywords other than type decide about null, so that adding the type "null" is not enough.
func isComposed(in map[string]any) bool {
	for _, keyword := range []string{"$ref", "allOf", "anyOf", "oneOf", "not", "discriminator", "const"} {
		if _, ok := in[keyword]; ok {
			return true
		}
	}
	return false
}

// scalars copies the keywords without inner schemas.
func (p *translator) scalars(in, out map[string]any) {
	types := p.types(in)
	if len(types) > 0 {
		out["type"] = types
	}
	if values, ok := in["enum"].([]any); ok && len(values) > 0 && len(values) <= maxLiteral {
		values = BoundedNumbers(values).([]any)
		if p.nullable && in["nullable"] == true {
			values = append(append([]any{}, values...), nil)
		}
		out["enum"] = values
	}
	if value, ok := in["const"]; ok && !p.ignoresSiblings() {
		out["const"] = BoundedNumbers(value)
	}
	if format, ok := in["format"].(string); ok && isKnownFormat(format) {
		out["format"] = format
	}
	if pattern, ok := in["pattern"].(string); ok && len(pattern) <= maxPattern {
		if _, err := CompilePattern(pattern); err == nil {
			out["pattern"] = pattern
		}
	}
	for _, keyword := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"} {
		if n, ok := count(in[keyword]); ok {
			out[keyword] = n
		}
	}
	if in["uniqueItems"] == true {
		out["uniqueItems"] = true
	}
	limits(in, out)
}

// isKnownFormat reports whether values are judged by a format. Other formats are only hints (OAS 3.0.3 Data Types).
func isKnownFormat(format string) bool {
	switch format {
	case "date", "date-time", "uuid", "int32", "int64",
		"email", "uri", "uri-reference", "hostname", "ipv4", "ipv6", "time", "duration":
		return true
	}
	return false
}

// types returns the known types that a schema allows, each once, with null if the schema is nullable.
func (p *translator) types(in map[string]any) []any {
	var list []any
	switch t := in["type"].(type) {
	case string:
		list = []any{t}
	case []any:
		list = t
	}
	var out []any
	seen := map[string]bool{}
	for _, t := range list {
		switch name, _ := t.(string); name {
		case "array", "object", "string", "integer", "number", "boolean", "null":
			if !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	if len(out) > 0 && p.nullable && in["nullable"] == true && !seen["null"] {
		out = append(out, "null")
	}
	return out
}

// count reads a non-negative length.
func count(value any) (json.Number, bool) {
	n, ok := value.(json.Number)
	if !ok {
		return "", false
	}
	i, err := strconv.ParseInt(string(n), 10, 32)
	return n, err == nil && i >= 0
}

// limits copies bounds of numbers; exclusiveMinimum and exclusiveMaximum are flags in OpenAPI 3.0 and numbers later.
func limits(in, out map[string]any) {
	for keyword, exclusive := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		if n, ok := in[keyword].(json.Number); ok && isCheap(n) {
			if in[exclusive] == true {
				keyword = exclusive
			}
			out[keyword] = n
		}
		if n, ok := in[exclusive].(json.Number); ok && isCheap(n) {
			out[exclusive] = n
		}
	}
	if n, ok := in["multipleOf"].(json.Number); ok && isCheap(n) {
		if f, err := n.Float64(); err == nil && f > 0 {
			out["multipleOf"] = n
		}
	}
}
