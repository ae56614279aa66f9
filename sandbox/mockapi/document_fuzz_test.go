package mockapi_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/rin-network/rin/sandbox/mockapi"
)

// FuzzDocument checks that each document is refused, or that none of its operations fails with 500.
func FuzzDocument(f *testing.F) {
	for _, name := range []string{"library.json", "museum.yaml", "faulty.yaml"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"openapi":"3.0.0","paths":{"/a":{"get":{"responses":{"200":{"$ref":"#/paths/~1a/get/responses/200"}}}}}}`)
	f.Add("openapi: 3.1.0\npaths: {/a: {$ref: '#/paths/~1a'}, '/{b}': {get: {responses: {2xx: {content: {'*/*': {schema: true}}}}}}}")
	f.Fuzz(func(t *testing.T, text string) {
		api, d, err := buildAPI([]byte(text))
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
		if _, err := api.SpaceDocument(mockapi.Space{}, "http://node.example", ""); err != nil {
			t.Fatal(err)
		}
		api.Endpoints()
	})
}
