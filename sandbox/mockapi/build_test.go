package mockapi_test

import (
	"net/http"
	"net/http/httptest"

	"github.com/rin-network/rin/sandbox/mockapi"
)

// nodeBase is the path below which the APIs are served.
const nodeBase = "/ris-synergy"

// buildAPI reads a document, and returns its API and the document.
func buildAPI(text []byte) (*mockapi.API, *mockapi.Document, error) {
	d, err := mockapi.ReadDocument(text)
	if err != nil {
		return nil, nil, err
	}
	api, err := mockapi.New(d, nodeBase, mockapi.Options{Seed: 1, Items: 3})
	return api, d, err
}

// ask sends a request to an API. It returns nil if the API does not have the path.
func ask(api *mockapi.API, request *http.Request) *httptest.ResponseRecorder {
	handler := api.Handler(mockapi.Space{Base: nodeBase}, request)
	if handler == nil {
		return nil
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, request)
	return w
}
