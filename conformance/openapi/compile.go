package openapi

import (
	"encoding/json"
	"fmt"

	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi-validator/helpers"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// closed is the loader of a compiler that may read nothing.
type closed struct{}

func (closed) Load(address string) (any, error) {
	return nil, fmt.Errorf("%s is not part of the document and is never fetched", clip(address, 120))
}

// compiled is a schema of the document, ready to judge values.
type compiled struct {
	prepared
	whole *jsonschema.Schema
	items *jsonschema.Schema // of a plain array, whose members can be judged one at a time; else nil
	shape shape
	meter *meter
}

// shape is what the schema says of the value as a whole.
type shape struct {
	kind     string // array, object, or another single type; empty when it allows several or none is said
	min, max *int64 // of a plain array
}

// compile builds the schema with the compiler of libopenapi-validator. Its own loader reads files and URLs; it is replaced.
func compile(p prepared) (c *compiled, err error) {
	defer func() {
		if r := recover(); r != nil {
			c, err = nil, fmt.Errorf("the schema could not be compiled: %v", r)
		}
	}()
	options := []config.Option{config.WithFormatAssertions(), config.WithRegexEngine(compilePattern)}
	for name, check := range formats() {
		options = append(options, config.WithCustomFormat(name, check))
	}
	compiler := helpers.NewCompilerWithOptions(config.NewValidationOptions(options...))
	compiler.UseLoader(closed{})
	steps := &meter{}
	compiler.RegisterVocabulary(steps.vocabulary())
	compiler.AssertVocabs()
	if err := compiler.AddResource(schemaName, map[string]any{"$defs": p.definitions}); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	c = &compiled{prepared: p, shape: p.shape(), meter: steps}
	if c.whole, err = compiler.Compile(schemaName + "#" + definitionAt + p.root); err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	if at, ok := p.plainItems(); ok {
		if c.items, err = compiler.Compile(schemaName + "#" + at); err != nil {
			return nil, fmt.Errorf("compile schema of list items: %w", err)
		}
	}
	return c, nil
}

// top follows the root definition through references that stand alone.
func (p prepared) top() (name string, body map[string]any) {
	name = p.root
	for range len(p.definitions) {
		body, _ = p.definitions[name].(map[string]any)
		ref, ok := body["$ref"].(string)
		if !ok || len(body) > 1 {
			break
		}
		name = ref[len("#"+definitionAt):]
	}
	return name, body
}

func (p prepared) shape() shape {
	_, body := p.top()
	s := shape{kind: p.kind(body, 0)}
	s.min, s.max = length(body["minItems"]), length(body["maxItems"])
	return s
}

// kind looks for the one type that a schema allows beside null, also through allOf.
func (p prepared) kind(body map[string]any, depth int) string {
	if depth > 8 {
		return ""
	}
	if types, _ := body["type"].([]any); len(types) > 0 {
		found := ""
		for _, t := range types {
			if name, _ := t.(string); name != "null" {
				if found != "" {
					return ""
				}
				found = name
			}
		}
		return found
	}
	if ref, ok := body["$ref"].(string); ok {
		target, _ := p.definitions[ref[len("#"+definitionAt):]].(map[string]any)
		if kind := p.kind(target, depth+1); kind != "" {
			return kind
		}
	}
	parts, _ := body["allOf"].([]any)
	for _, part := range parts {
		schema, _ := part.(map[string]any)
		if kind := p.kind(schema, depth+1); kind != "" {
			return kind
		}
	}
	return ""
}

// plainItems finds the items of a schema that says nothing about an array but its length and its members.
func (p prepared) plainItems() (pointer string, ok bool) {
	name, body := p.top()
	if _, ok := body["items"]; !ok || p.kind(body, 0) != "array" {
		return "", false
	}
	for keyword := range body {
		switch keyword {
		case "type", "items", "minItems", "maxItems":
		default:
			return "", false
		}
	}
	return definitionAt + name + "/items", true
}

func length(value any) *int64 {
	n, ok := value.(json.Number)
	if !ok {
		return nil
	}
	i, err := n.Int64()
	if err != nil {
		return nil
	}
	return &i
}
