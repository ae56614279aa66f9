package openapi

import (
	"errors"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

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
