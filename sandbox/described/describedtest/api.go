// Package describedtest makes APIs of documents and asks them, for the tests of package described and of its parts.
package describedtest

import (
	"net/http"
	"net/http/httptest"

	"github.com/rin-network/rin/fixtures/sample"
	"github.com/rin-network/rin/sandbox/mockapi"
)

// Base is the path below which the APIs are served.
const Base = "/ris-synergy"

// Samples draws values for answers.
type Samples struct{ *sample.Generator }

// Value implements mockapi.Samples.
func (s Samples) Value(pointer, key string) (any, error) {
	return s.Generator.Value(pointer, key, sample.Options{})
}

// Build makes the API of a document, which it returns as well.
func Build(text []byte) (*mockapi.API, *mockapi.Document, error) {
	d, err := mockapi.ReadDocument(text)
	if err != nil {
		return nil, nil, err
	}
	api, err := mockapi.New(d, Samples{sample.New(d.Schemas, 1)}, Base, mockapi.Options{Items: 3})
	return api, d, err
}

// Ask sends a request to an API. It returns nil where the API does not have the path.
func Ask(api *mockapi.API, request *http.Request) *httptest.ResponseRecorder {
	handler := api.Handler(mockapi.Space{Base: Base}, request)
	if handler == nil {
		return nil
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, request)
	return w
}
