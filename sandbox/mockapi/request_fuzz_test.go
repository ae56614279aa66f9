package mockapi_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
)

// FuzzRequest checks that each request gets a status that this package uses, and that the body of a JSON answer is JSON.
func FuzzRequest(f *testing.F) {
	text, err := os.ReadFile("testdata/library.json")
	if err != nil {
		f.Fatal(err)
	}
	api, _, err := buildAPI(text)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("GET", "/styles/query?needed=a&deep[x]=1&form=1&pipe=1|2&json={}", "x=1", "session=1", "")
	f.Add("POST", "/shelves", "", "", `{"label":"ab","kind":"WOOD","secret":""}`)
	f.Add("GET", "/styles/matrix/;one=5/;list=1,2/;exploded=1;exploded=2/;object=x,1,y,2/;x=1;y=2", "", "", "")
	f.Add("GET", "/styles/simple/1,2/x,1/x=1", "1e9999999", "", "")
	f.Add("PATCH", "/shelves/1", "", "", `{"open":1e99999999}`)
	f.Fuzz(func(t *testing.T, method, target, header, cookie, body string) {
		request, err := http.NewRequest(method, "http://node.example/ris-synergy/library/live"+target, strings.NewReader(body))
		if err != nil {
			return
		}
		request.Header["X-Point"], request.Header["X-List"], request.Header["Cookie"] = []string{header}, []string{header}, []string{cookie}
		w := ask(api, request)
		if w == nil {
			return
		}
		switch w.Code {
		case 200, 201, 204, 304, 400, 404, 405, 413, 415, 422:
		default:
			t.Fatalf("%s %q: %d %s", method, target, w.Code, w.Body)
		}
		if strings.Contains(w.Header().Get("Content-Type"), "json") && method != http.MethodHead && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%s %q: %s", method, target, w.Body)
		}
	})
}
