// Package describedtest makes APIs of documents and asks them, for the tests of package described and of its parts.
package describedtest

import (
	"net/http"
	"net/http/httptest"

	"github.com/rin-network/rin/fixtures/schema"
	"github.com/rin-network/rin/sandbox/described"
	"github.com/rin-network/rin/sandbox/described/document"
)

// Base is the path below which the APIs are served.
const Base = "/ris-synergy"

// Samples draws values for answers.
type Samples struct{ *schema.Generator }

// Value implements described.Samples.
func (s Samples) Value(pointer, key string) (any, error) {
	return s.Generator.Value(pointer, key, schema.Options{})
}

// Build makes the API of a document, which it returns as well.
func Build(text []byte) (*described.API, *document.Document, error) {
	d, err := document.Read(text)
	if err != nil {
		return nil, nil, err
	}
	api, err := described.New(d, Samples{schema.New(d.Schemas, 1)}, Base, described.Options{Items: 3})
	return api, d, err
}

// Ask sends a request to an API. It returns nil where the API does not have the path.
func Ask(api *described.API, request *http.Request) *httptest.ResponseRecorder {
	handler := api.Handler(described.Space{Base: Base}, request)
	if handler == nil {
		return nil
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, request)
	return w
}
