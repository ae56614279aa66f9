// Package validators loads the OpenAPI document of a node into two validators of other authors. Tests let both judge the answers of the node.
package validators

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/pb33f/libopenapi"
	"github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi/datamodel"
)

// Validators are both validators, loaded with one document.
type Validators struct {
	// Kin is the document as kin-openapi reads it, and Router finds its operations.
	Kin    *openapi3.T
	Router routers.Router
	PB33F  validator.Validator
}

// Load loads a document into both validators. They also check the formats of strings.
func Load(document []byte) (Validators, error) {
	var v Validators
	var err error
	if v.Kin, err = openapi3.NewLoader().LoadFromData(document); err != nil {
		return v, fmt.Errorf("kin-openapi: %w", err)
	}
	if v.Router, err = gorillamux.NewRouter(v.Kin); err != nil {
		return v, fmt.Errorf("kin-openapi: router: %w", err)
	}
	quiet := datamodel.NewDocumentConfiguration()
	quiet.Logger = slog.New(slog.DiscardHandler)
	parsed, err := libopenapi.NewDocumentWithConfiguration(document, quiet)
	if err != nil {
		return v, fmt.Errorf("libopenapi: %w", err)
	}
	made, faults := validator.NewValidator(parsed, config.WithFormatAssertions())
	v.PB33F = made
	if err := errors.Join(faults...); err != nil {
		return v, fmt.Errorf("libopenapi-validator: %w", err)
	}
	return v, nil
}
