package openapi

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// SaysNothing reports whether the schemas of an operation's good JSON answer allow any answer, as {} and an object without properties do: comparing
// an answer with them shows nothing. Operations about the service itself do not count.
func (d *Document) SaysNothing(o Operation) bool {
	status, response, ok := o.Success()
	if !ok || o.AboutService() {
		return false
	}
	vague := false
	for _, media := range response.MediaTypes() {
		if bare := evidence.MediaType(media); !strings.HasSuffix(bare, "json") && !strings.HasSuffix(bare, "/*") {
			return false
		}
		pointer, why := d.ResponseSchema(o, status, media)
		value, _ := d.Raw(pointer)
		if why == "" && !d.isVague(value, maxInline, map[string]bool{}) {
			return false
		}
		vague = true
	}
	return vague
}

// isVague reports whether a schema allows anything below its type, also by members that each allow anything. seen holds the references that were followed,
// and whether each was found vague, so that a document of many references to references costs no more than their number.
func (d *Document) isVague(value any, depth int, seen map[string]bool) bool {
	schema, ok := value.(map[string]any)
	if !ok || depth == 0 {
		return value == true
	}
	if ref, ok := schema["$ref"].(string); ok {
		if vague, followed := seen[ref]; followed {
			return vague
		}
		seen[ref] = false // a schema that refers only to itself does not count as vague
		_, target, found := d.Follow(ref)
		seen[ref] = found && d.isVague(target, depth-1, seen)
		return seen[ref]
	}
	for keyword, inner := range schema {
		switch keyword {
		case "type":
			if inner != "object" && inner != "array" {
				return false
			}
		case "allOf", "anyOf", "oneOf":
			list, _ := inner.([]any)
			if slices.ContainsFunc(list, func(s any) bool { return !d.isVague(s, depth-1, seen) }) {
				return false
			}
		case "items", "additionalProperties":
			if _, isSchema := inner.(map[string]any); isSchema && !d.isVague(inner, depth-1, seen) {
				return false
			}
		case "properties", "patternProperties":
			members, _ := inner.(map[string]any)
			for _, member := range members {
				if !d.isVague(member, depth-1, seen) {
					return false
				}
			}
		case "required", "enum", "prefixItems":
			if !isEmptyValue(inner) {
				return false
			}
		case "const", "not", "pattern", "format", "discriminator", "dependentRequired", "dependentSchemas", "if", "unevaluatedProperties":
			return false
		}
	}
	return true
}

func isEmptyValue(value any) bool {
	switch v := value.(type) {
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return value == nil
}

// SchemasWith lists the pointers of the named schemas of an operation's good JSON answer that have a property of this name.
func (d *Document) SchemasWith(o Operation, property string) []string {
	status, response, ok := o.Success()
	if !ok {
		return nil
	}
	var out []string
	seen := map[string]bool{}
	var walk func(value any, at string, depth int)
	walk = func(value any, at string, depth int) {
		schema, ok := value.(map[string]any)
		if !ok || depth == 0 || len(seen) > maxInline*100 {
			return
		}
		if ref, ok := schema["$ref"].(string); ok {
			if pointer, target, found := d.Follow(ref); found && !seen[pointer] {
				seen[pointer] = true
				walk(target, pointer, depth-1)
			}
			return
		}
		if properties, ok := schema["properties"].(map[string]any); ok {
			if _, has := properties[property]; has && at != "" {
				out = append(out, at)
			}
			for _, name := range sortedKeys(properties) {
				walk(properties[name], "", depth-1)
			}
		}
		walk(schema["items"], "", depth-1)
		for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
			parts, _ := schema[keyword].([]any)
			for _, part := range parts {
				walk(part, "", depth-1)
			}
		}
	}
	for _, media := range response.MediaTypes() {
		if pointer, why := d.ResponseSchema(o, status, media); why == "" {
			value, _ := d.Raw(pointer)
			walk(value, pointer, schemaDepth)
		}
	}
	return out
}
