package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi-validator/helpers"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// refusingLoader is the loader of a compiler that must not fetch anything.
type refusingLoader struct{}

func (refusingLoader) Load(address string) (any, error) {
	return nil, fmt.Errorf("%s is not part of the document and is never fetched", evidence.Clip(address, 120))
}

const schemaName = "rin:///schema"

// compiledSchema is a schema of the document that is ready to judge values.
type compiledSchema struct {
	openapi.Translation
	whole *jsonschema.Schema
	items *jsonschema.Schema // of a plain array, whose members can be judged one by one; else nil
	meter *meter
}

// compile compiles a translation with the compiler of libopenapi-validator, without its loader, which reads files and URLs.
func compile(t openapi.Translation) (c *compiledSchema, err error) {
	defer func() {
		if r := recover(); r != nil {
			c, err = nil, fmt.Errorf("the schema could not be compiled: %v", r)
		}
	}()
	options := []config.Option{
		config.WithFormatAssertions(), config.WithRegexEngine(patternEngine), config.WithCustomFormat("date-time", dateTime(dateTimeForm())),
	}
	for name, bits := range map[string]uint{"int32": 31, "int64": 63} { // the JSON Schema library knows the other formats
		options = append(options, config.WithCustomFormat(name, integerRange(bits)))
	}
	compiler := helpers.NewCompilerWithOptions(config.NewValidationOptions(options...))
	compiler.UseLoader(refusingLoader{})
	steps := &meter{}
	compiler.RegisterVocabulary(steps.vocabulary())
	compiler.AssertVocabs()
	if err := compiler.AddResource(schemaName, t.Schema); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	c = &compiledSchema{Translation: t, meter: steps}
	if c.whole, err = compiler.Compile(schemaName + "#" + t.Root); err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	if t.Items != "" {
		if c.items, err = compiler.Compile(schemaName + "#" + t.Items); err != nil {
			return nil, fmt.Errorf("compile schema of list items: %w", err)
		}
	}
	return c, nil
}

var (
	errRange     = errors.New("out of range")
	errMalformed = errors.New("malformed")
)

// dateTimeForm returns the grammar of date-time (RFC 3339 §5.6). The JSON Schema library has a laxer one: it accepts "T+1:00:00Z".
func dateTimeForm() *regexp.Regexp {
	return regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
}

// dateTime accepts texts of the form whose day and time exist. It accepts a leap second (:60) only in the last minute of an hour (§5.7).
func dateTime(form *regexp.Regexp) func(any) error {
	return func(value any) error {
		text, ok := value.(string)
		if !ok {
			return nil
		}
		if !form.MatchString(text) {
			return errMalformed
		}
		minute, second := text[:len("2006-01-02T15:04:")], text[len("2006-01-02T15:04:"):]
		if strings.HasSuffix(minute, ":59:") && strings.HasPrefix(second, "60") {
			second = "59" + second[2:]
		}
		_, err := time.Parse(time.RFC3339, strings.ToUpper(minute+second))
		return err
	}
}

// integerRange returns a check that refuses integers below -2^bits, and those of 2^bits or more. It accepts all other values, which the keyword type judges.
func integerRange(bits uint) func(any) error {
	return func(value any) error {
		n, ok := value.(json.Number)
		if !ok {
			return nil
		}
		r, ok := new(big.Rat).SetString(string(openapi.BoundedNumber(n)))
		if !ok || !r.IsInt() {
			return nil
		}
		limit := new(big.Int).Lsh(big.NewInt(1), bits)
		if i := r.Num(); i.Cmp(limit) >= 0 || i.Cmp(new(big.Int).Neg(limit)) < 0 {
			return errRange
		}
		return nil
	}
}

// Bounds of the steps of judging: each schema that is applied to a value is one step. With a few references a schema can apply itself to a value very
// often, since each level may double the work.
const (
	stepsPerValue = 200_000    // within one value
	stepsPerBody  = 10_000_000 // within one answer
)

var errSteps = errors.New("the schema applies to this body in more ways than can be tried")

// meter counts the applied schemas and stops the library when there are too many. It is registered as a vocabulary, so that the library calls
// it for every schema. Its lock is held while one body is judged.
type meter struct {
	sync.Mutex
	value, body int // steps left
	// gaveUp reports whether one value exceeded the bound. The schema is not applied again, because each further value would cost as much.
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

// Validate implements jsonschema.SchemaExt. A panic is the only way to stop the library; apply recovers from it.
func (m *meter) Validate(*jsonschema.ValidatorContext, any) {
	m.value--
	m.body--
	if m.value < 0 || m.body < 0 {
		panic(errSteps)
	}
}

// begin starts one body; the caller must call end after judging it.
func (m *meter) begin() (end func()) {
	m.Lock()
	m.body = stepsPerBody
	return m.Unlock
}

// next starts one value of the body.
func (m *meter) next() { m.value = stepsPerValue }

// patternEngine is [openapi.CompilePattern] with the result type that the library expects.
func patternEngine(pattern string) (jsonschema.Regexp, error) { return openapi.CompilePattern(pattern) }
