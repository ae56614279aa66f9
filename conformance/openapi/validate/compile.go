package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi-validator/helpers"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rin-network/rin/conformance/openapi"
)

// refusingLoader is the loader of a compiler that may read nothing.
type refusingLoader struct{}

func (refusingLoader) Load(address string) (any, error) {
	return nil, fmt.Errorf("%s is not part of the document and is never fetched", openapi.Clip(address, 120))
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
	compiler.UseLoader(refusingLoader{})
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

// A few references can make a schema apply itself to a value more often than there is time: each level twice is enough.
const (
	stepsPerValue = 1_000_000  // schemas applied within one value that is judged as one
	stepsPerBody  = 10_000_000 // and within one answer
)

var errSteps = errors.New("the schema applies to this body in more ways than can be tried")

// meter counts the schemas that are applied and stops the library when there are too many. It takes part in judging as a vocabulary of
// which every schema has a keyword. The lock is held while one body is judged.
type meter struct {
	sync.Mutex
	value, body int // steps left
	// gaveUp says that they did not suffice for one value. The schema is given up then: each further value would cost as much.
	gaveUp bool
}

func (m *meter) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "rin:///meter",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return m, nil
		},
	}
}

// Validate implements jsonschema.SchemaExt. The library offers no other way to stop than a panic, which apply recovers.
func (m *meter) Validate(*jsonschema.ValidatorContext, any) {
	m.value--
	m.body--
	if m.value < 0 || m.body < 0 {
		panic(errSteps)
	}
}

// begin starts one body; the caller must call the function returned when it is judged.
func (m *meter) begin() (end func()) {
	m.Lock()
	m.body = stepsPerBody
	return m.Unlock
}

// next starts one value of the body.
func (m *meter) next() { m.value = stepsPerValue }

// patternTime bounds one match of a pattern that needs backtracking.
const patternTime = 50 * time.Millisecond

// compilePattern reads a regular expression of a document. Patterns are ECMAScript (OAS 3.0.3 Schema Object); those that Go's own engine
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
	return &backtracking{re: re}, nil
}

// backtracking is a pattern that gives up for good once it was too slow: many slow matches would add up.
type backtracking struct {
	re     *regexp2.Regexp
	gaveUp atomic.Bool
}

func (b *backtracking) String() string { return b.re.String() }

// MatchString counts as matched what could not be decided in time: no finding without proof.
func (b *backtracking) MatchString(s string) bool {
	if b.gaveUp.Load() {
		return true
	}
	matched, err := b.re.MatchString(s)
	if err != nil {
		b.gaveUp.Store(true)
		return true
	}
	return matched
}
