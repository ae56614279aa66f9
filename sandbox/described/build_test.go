package described_test

import (
	"github.com/rin-network/rin/fixtures/schema"
	"github.com/rin-network/rin/sandbox/described"
	"github.com/rin-network/rin/sandbox/described/document"
)

// drawn draws values for answers.
type drawn struct{ *schema.Generator }

// Value implements described.Samples.
func (d drawn) Value(pointer, key string) (any, error) {
	return d.Generator.Value(pointer, key, schema.Options{})
}

// build makes the API of a document.
func build(text []byte) (*described.API, error) {
	d, err := document.Read(text)
	if err != nil {
		return nil, err
	}
	return described.New(d, drawn{schema.New(d.Schemas, 1)}, "/ris-synergy", described.Options{Items: 3})
}
