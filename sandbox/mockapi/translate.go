package mockapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Direction is whose values are judged.
type Direction int

// The directions.
const (
	forRequests Direction = iota
	forResponses
)

// rewriter collects schemas with all that they refer to.
type rewriter struct {
	document    *Document
	direction   Direction
	definitions map[string]any
	numbers     map[string]int      // of the definitions, in the order of their first mention
	definition  string              // that is being rewritten
	refersTo    map[string][]string // which definitions each refers to
	faults      map[string]*Fault   // by definition
	waiting     []string
}

// add rewrites the schema at a pointer and those that it refers to, and names those that were not there before.
func (r *rewriter) add(pointer string) (added []string) {
	r.refer(pointer)
	for len(r.waiting) > 0 {
		next := r.waiting[len(r.waiting)-1]
		r.waiting = r.waiting[:len(r.waiting)-1]
		added = append(added, next)
		value, ok := r.document.At(next)
		if !ok {
			r.definitions[next] = true
			r.faults[next] = r.document.Fault(next, "a schema refers to it, and it is not in the document")
			continue
		}
		r.definition = next
		r.definitions[next] = r.schema(value, next, 0)
	}
	return added
}

// fault is what is wrong with a definition, or with one that it refers to.
func (r *rewriter) fault(pointer string) *Fault {
	seen, waiting := map[string]bool{}, []string{pointer}
	for len(waiting) > 0 {
		next := waiting[0]
		waiting = waiting[1:]
		if seen[next] {
			continue
		}
		seen[next] = true
		if fault, ok := r.faults[next]; ok {
			return fault
		}
		waiting = append(waiting, r.refersTo[next]...)
	}
	return nil
}

// refer is the reference to a schema that is rewritten now or later.
func (r *rewriter) refer(pointer string) string {
	if _, known := r.numbers[pointer]; !known {
		r.numbers[pointer] = len(r.numbers)
		r.waiting = append(r.waiting, pointer)
	}
	return r.resource(pointer)
}

// resource is the name of a rewritten schema to the compiler, which never fetches it.
func (r *rewriter) resource(pointer string) string {
	return "rin:///" + strconv.Itoa(r.numbers[pointer])
}

// schema rewrites one.
func (r *rewriter) schema(value any, at string, depth int) any {
	if b, ok := value.(bool); ok {
		return b
	}
	object, ok := value.(map[string]any)
	if !ok || depth > maxDepth {
		r.faults[r.definition] = r.document.Fault(at, "a schema is an object")
		return true
	}
	out := map[string]any{}
	if reference, ok := object["$ref"].(string); ok {
		target, local := localPointer(reference)
		if !local {
			r.faults[r.definition] = r.document.Fault(at, "it refers to %q, outside of the document: only references within it are followed", reference)
			return true
		}
		r.refersTo[r.definition] = append(r.refersTo[r.definition], target)
		out["$ref"] = r.refer(target)
		if r.document.Version == "3.0" {
			return out // siblings mean nothing there (OAS 3.0.3 §4.7.23)
		}
	}
	for name, member := range object {
		switch {
		case slices.Contains(plainKeywords(), name):
			out[name] = member
		case slices.Contains(schemaKeywords(), name):
			out[name] = r.schema(member, Child(at, name), depth+1)
		case slices.Contains(listKeywords(), name):
			if all, ok := member.([]any); ok && len(all) > 0 {
				each := make([]any, len(all))
				for i, one := range all {
					each[i] = r.schema(one, Child(at, name, strconv.Itoa(i)), depth+1)
				}
				out[name] = each
			}
		case slices.Contains(mapKeywords(), name):
			if all, ok := member.(map[string]any); ok {
				each := make(map[string]any, len(all))
				for key, one := range all {
					if r.direction == forResponses && name == "properties" && r.marked(one, "writeOnly") {
						each[key] = false // it must not be sent back (OAS 3.0.3 §4.7.24.2)
						continue
					}
					each[key] = r.schema(one, Child(at, name, key), depth+1)
				}
				out[name] = each
			}
		}
	}
	if r.document.Version == "3.0" {
		asOf30(object, out)
	}
	r.relax(out, object)
	return out
}

// asOf30 says in keywords of JSON Schema what 3.0 says in its own.
func asOf30(object, out map[string]any) {
	for _, later := range []string{"const", "contains", "if", "then", "else", "patternProperties", "propertyNames", "prefixItems",
		"unevaluatedItems", "unevaluatedProperties", "dependentRequired", "dependentSchemas", "minContains", "maxContains"} {
		delete(out, later)
	}
	for bound, exclusive := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		yes, _ := object[exclusive].(bool)
		delete(out, exclusive)
		if limit, ok := out[bound]; ok && yes {
			out[exclusive] = limit
			delete(out, bound)
		}
	}
	kind, typed := object["type"].(string)
	if nullable, _ := object["nullable"].(bool); nullable && typed {
		out["type"] = []any{kind, "null"}
	}
}

// relax takes members out of required that the other side alone sends (OAS 3.0.3 §4.7.24.1).
func (r *rewriter) relax(out, object map[string]any) {
	required, ok := out["required"].([]any)
	if !ok {
		delete(out, "required")
		return
	}
	mark := "readOnly"
	if r.direction == forResponses {
		mark = "writeOnly"
	}
	properties, _ := object["properties"].(map[string]any)
	out["required"] = slices.DeleteFunc(slices.Clone(required), func(name any) bool {
		text, isText := name.(string)
		return !isText || r.marked(properties[text], mark)
	})
}

// marked tells whether a property is readOnly or writeOnly, there or in what it refers to.
func (r *rewriter) marked(property any, mark string) bool {
	for range 8 {
		object, _ := property.(map[string]any)
		if yes, _ := object[mark].(bool); yes {
			return true
		}
		reference, _ := object["$ref"].(string)
		target, ok := localPointer(reference)
		if !ok {
			return false
		}
		property, _ = r.document.At(target)
	}
	return false
}

// maxDepth bounds schemas inside one another.
const maxDepth = 200

func plainKeywords() []string {
	return []string{"type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength",
		"pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties", "required", "dependentRequired", "format"}
}

func schemaKeywords() []string {
	return []string{"items", "not", "additionalProperties", "contains", "if", "then", "else", "propertyNames", "unevaluatedItems", "unevaluatedProperties"}
}

func listKeywords() []string { return []string{"allOf", "anyOf", "oneOf", "prefixItems"} }

func mapKeywords() []string { return []string{"properties", "patternProperties", "dependentSchemas"} }

// formats are those that OpenAPI adds to the ones of JSON Schema (OAS 3.0.3 §4.4).
func formats() []*jsonschema.Format {
	return []*jsonschema.Format{{Name: "int32", Validate: signedRange(31)}, {Name: "int64", Validate: signedRange(63)}}
}

// signedRange bounds a number to the signed integers of bits+1 bits.
func signedRange(bits uint) func(any) error {
	return func(value any) error {
		n, ok := value.(json.Number)
		if !ok || len(n) > 64 {
			return nil
		}
		r, ok := new(big.Rat).SetString(string(n))
		limit := new(big.Int).Lsh(big.NewInt(1), bits)
		if ok && (r.Cmp(new(big.Rat).SetInt(limit)) >= 0 || r.Cmp(new(big.Rat).SetInt(limit.Neg(limit))) < 0) {
			return errors.New("it is too large")
		}
		return nil
	}
}

// patternTime bounds one match of a pattern that needs backtracking.
const patternTime = 50 * time.Millisecond

// compilePattern reads a regular expression of a document. Patterns are ECMAScript (OAS 3.0.3 §4.7.24); those that Go's own engine
// understands run there in linear time, the others (look-ahead, back references) with a limit on time.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	if re, err := regexp.Compile(pattern); err == nil {
		return re, nil
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript)
	if err != nil {
		return nil, fmt.Errorf("read pattern: %w", err)
	}
	re.MatchTimeout = patternTime
	return backtracking{re}, nil
}

type backtracking struct{ *regexp2.Regexp }

// MatchString counts what takes too long as no match: it would be refused anyhow, and no time is lost on it.
func (b backtracking) MatchString(s string) bool {
	matched, err := b.Regexp.MatchString(s)
	return err == nil && matched
}
