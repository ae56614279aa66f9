package document_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

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
func build(text []byte) (*described.API, *document.Document, error) {
	d, err := document.Read(text)
	if err != nil {
		return nil, nil, err
	}
	api, err := described.New(d, drawn{schema.New(d.Schemas, 1)}, "/ris-synergy", described.Options{Items: 3})
	return api, d, err
}

// ask sends a request to an API, if it has the path.
func ask(api *described.API, request *http.Request) *httptest.ResponseRecorder {
	handler := api.Handler(described.Space{Base: "/ris-synergy"}, request)
	if handler == nil {
		return nil
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, request)
	return w
}

// FuzzDocument: whatever a document is, it is refused, or each of its operations answers.
func FuzzDocument(f *testing.F) {
	for _, name := range []string{"library.json", "museum.yaml", "faulty.yaml"} {
		text, err := os.ReadFile("../testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"openapi":"3.0.0","paths":{"/a":{"get":{"responses":{"200":{"$ref":"#/paths/~1a/get/responses/200"}}}}}}`)
	f.Add("openapi: 3.1.0\npaths: {/a: {$ref: '#/paths/~1a'}, '/{b}': {get: {responses: {2xx: {content: {'*/*': {schema: true}}}}}}}")
	f.Fuzz(func(t *testing.T, text string) {
		api, d, err := build([]byte(text))
		if err != nil {
			return
		}
		for _, o := range d.Operations {
			path := strings.NewReplacer("{", "", "}", "", "%", "", " ", "", "\n", "", "#", "", "?", "").Replace(o.Path)
			request, err := http.NewRequest(o.Method, "http://node.example/ris-synergy"+path, nil)
			if err != nil {
				continue
			}
			if w := ask(api, request); w != nil && w.Code == http.StatusInternalServerError {
				t.Fatalf("%s %s: %s", o.Method, o.Path, w.Body)
			}
		}
		if _, err := api.Published(described.Space{}, "http://node.example", ""); err != nil {
			t.Fatal(err)
		}
		api.Endpoints()
	})
}
