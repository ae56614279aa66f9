package constraint

import (
	"encoding/json"
	"errors"
	"math/big"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// formats are those that OpenAPI adds to the ones of JSON Schema (OAS 3.0.3 §4.4).
func formats() []*jsonschema.Format {
	return []*jsonschema.Format{{Name: "int32", Validate: within(31)}, {Name: "int64", Validate: within(63)}}
}

// within bounds a number to the signed integers of bits+1 bits.
func within(bits uint) func(any) error {
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
