package validate

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/openapi"
)

// Bounds of what one answer's schema may unfold to. The compiler's work grows faster than the text, so it never sees more.
const (
	maxNodes     = 10_000 // schema objects
	maxNesting   = 100    // inline schemas inside one another
	maxLiteral   = 2_000  // members of one enum or required
	maxPattern   = 2_000  // bytes of a regular expression
	schemaName   = "rin:///schema"
	definitionAt = "/$defs/"
)

var errTooLarge = errors.New("the schema is too large or too deeply nested to be judged")

// prepared is a JSON Schema (2020-12) made from one schema of an API document and everything that it refers to. Each schema that is
// referred to is one definition, so that the place of a finding can be told in terms of the document.
type prepared struct {
	definitions map[string]any
	origins     map[string]origin // by name of the definition
	root        string            // name of the definition to judge by
}

// origin is where a definition stands in the document.
type origin struct {
	pointer string
	// exact says that keywords inside the definition are rin's own: the pointer is all there is to tell.
	exact bool
}

// preparer writes one prepared schema.
type preparer struct {
	doc      *openapi.Document
	subtypes subtypes
	nullable bool // the word counts: OpenAPI 3.0
	graph    *graph
	out      prepared
	names    map[definition]string
	queue    []definition
	nodes    int
}

// definition asks for the schema at a pointer.
type definition struct {
	pointer string
	plain   bool // without the choices (oneOf, anyOf, discriminator) that lead to subtypes
	bare    bool // without the wrapping that lets null pass; the rest belongs to the place that the schema was lifted from
	place   place
}

func prepare(doc *openapi.Document, known subtypes, pointer string) (prepared, error) {
	p := &preparer{
		doc:      doc,
		subtypes: known,
		nullable: strings.HasPrefix(doc.Version, "3.0"),
		names:    map[definition]string{},
		out:      prepared{definitions: map[string]any{}, origins: map[string]origin{}},
	}
	var err error
	if p.graph, err = newGraph(doc, known, pointer); err != nil {
		return prepared{}, err
	}
	p.out.root = p.name(definition{pointer: pointer})
	for len(p.queue) > 0 {
		next := p.queue[0]
		p.queue = p.queue[1:]
		value, _ := doc.Raw(next.pointer)
		at := place{pointer: next.pointer, owner: next.pointer, inPlace: true, plain: next.plain}
		if next.bare {
			at = next.place
			at.bare = true
		}
		body, err := p.schema(value, at)
		if err != nil {
			return prepared{}, err
		}
		p.out.definitions[p.names[next]] = body
	}
	return p.out, nil
}

// name returns the name of a definition and sees to it that it is written.
func (p *preparer) name(d definition) string {
	if name, known := p.names[d]; known {
		return name
	}
	name := strconv.Itoa(len(p.out.origins))
	p.names[d] = name
	p.out.origins[name] = origin{pointer: d.pointer}
	p.queue = append(p.queue, d)
	return name
}

// own adds a definition of rin's making that stands for one keyword of the document.
func (p *preparer) own(pointer string, body map[string]any) map[string]any {
	name := strconv.Itoa(len(p.out.origins))
	p.out.origins[name] = origin{pointer: pointer, exact: true}
	p.out.definitions[name] = body
	return refer(name)
}

func refer(name string) map[string]any { return map[string]any{"$ref": "#" + definitionAt + name} }

// place says where in the document and in the prepared schema a schema stands.
type place struct {
	pointer string
	owner   string // definition that it applies with to the same value, if inPlace
	inPlace bool
	choice  bool // below oneOf or anyOf of the owner
	plain   bool // without the choices of the owner
	bare    bool // nullable was dealt with
	depth   int
}

// below is the place of a schema for a member of the value.
func (at place) below(tokens ...string) place {
	next := at.same(tokens...)
	next.owner, next.inPlace, next.choice, next.plain = "", false, false, false
	return next
}

// same is the place of a schema for the same value.
func (at place) same(tokens ...string) place {
	for _, t := range tokens {
		at.pointer += "/" + openapi.Escape(t)
	}
	at.depth++
	at.bare = false
	return at
}

// schema copies one schema: known keywords in their right shape, in the words of JSON Schema 2020-12.
func (p *preparer) schema(value any, at place) (any, error) {
	p.nodes++
	if p.nodes > maxNodes || at.depth > maxNesting {
		return nil, errTooLarge
	}
	if b, ok := value.(bool); ok {
		return b, nil
	}
	in, ok := value.(map[string]any)
	if !ok {
		return map[string]any{}, nil
	}
	out := map[string]any{}
	if ref, ok := in["$ref"].(string); ok {
		if target, _, found := p.doc.Follow(ref); found {
			if linked := p.link(target, at); linked != nil {
				out["$ref"] = linked["$ref"]
			}
		}
		if p.ignoresSiblings() {
			return out, nil
		}
	}
	if p.nullable && in["nullable"] == true && !at.bare && composed(in) {
		name := p.name(definition{pointer: at.pointer, bare: true, place: at})
		return map[string]any{"if": map[string]any{"not": map[string]any{"type": "null"}}, "then": refer(name)}, nil
	}
	p.scalars(in, out)
	if err := p.members(in, out, at); err != nil {
		return nil, err
	}
	if err := p.applicators(in, out, at); err != nil {
		return nil, err
	}
	return out, nil
}

// ignoresSiblings: in Swagger 2.0 and OpenAPI 3.0 a $ref stands alone (OAS 3.0.3 Reference Object).
func (p *preparer) ignoresSiblings() bool {
	return p.nullable || !strings.HasPrefix(p.doc.Version, "3.")
}

// link refers to another schema of the document. References that would apply a schema to a value without end are cut: a subtype
// takes its base without the base's list of subtypes, and what only repeats itself adds nothing (nil).
func (p *preparer) link(target string, at place) map[string]any {
	if !at.inPlace {
		return refer(p.name(definition{pointer: target}))
	}
	switch {
	case at.choice:
		if p.graph.choices[[2]string{at.owner, target}] {
			return nil
		}
	case p.graph.strict[[2]string{at.owner, target}]:
		return nil
	case p.graph.all.cyclic(at.owner, target):
		return refer(p.name(definition{pointer: target, plain: true}))
	}
	return refer(p.name(definition{pointer: target}))
}

// composed tells a schema whose type is not its own word alone, so that "null" can't simply be added to it.
func composed(in map[string]any) bool {
	for _, keyword := range []string{"$ref", "allOf", "anyOf", "oneOf", "not", "discriminator", "const"} {
		if _, ok := in[keyword]; ok {
			return true
		}
	}
	return false
}

// scalars copies the keywords that hold no schema.
func (p *preparer) scalars(in, out map[string]any) {
	types := p.types(in)
	if len(types) > 0 {
		out["type"] = types
	}
	if values, ok := in["enum"].([]any); ok && len(values) > 0 && len(values) <= maxLiteral {
		values = bounded(values).([]any)
		if p.nullable && in["nullable"] == true {
			values = append(append([]any{}, values...), nil)
		}
		out["enum"] = values
	}
	if value, ok := in["const"]; ok && !p.ignoresSiblings() {
		out["const"] = bounded(value)
	}
	if format, ok := in["format"].(string); ok && knownFormat(format) {
		out["format"] = format
	}
	if pattern, ok := in["pattern"].(string); ok && len(pattern) <= maxPattern {
		if _, err := compilePattern(pattern); err == nil {
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

func (p *preparer) types(in map[string]any) []any {
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
