package tui

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/tuitest"
)

// curse acts on a terminal that shows it as it is: clears, links, copies, titles, in both spellings of control characters; it turns and
// hides text, breaks the line and is wider than it is long.
const curse = "EVIL👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧\x1b[2J\x1b[31m\x1b]8;;http://evil.example\x07\x1b]52;c;cm0=\x07\x1b]0;EVIL\x07\x1bPq\x1b\\\u009b31m\u009d0;x\u009c\x7f\b\r\n\n\t\u202e\u2066\u200f\ufeff\u2028界界👩‍👩‍👧e\u0301‹client_secret›EVIL"

// header is what of it HTTP carries.
const header = "EVIL\u009b31m\t\u202e\u2066\u200f\ufeff界界‹token›EVIL"

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always can
	return string(b)
}

// unable is a suite that ends in words of a node.
func unable() tuitest.Suite {
	return tuitest.Scripted(report.Report{}, nil, errors.New("the suite did not run: "+curse))
}

// rewritten passes the JSON of every answer through a change, and writes into every field that somebody reads.
func rewritten(change func(path string, v any) any) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Accept-Encoding") // it is read here
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			maps.Copy(w.Header(), answer.Header())
			for _, name := range []string{"Server", "Via", "Link", "Etag", "X-Total-Count", "Retry-After", "Www-Authenticate"} {
				w.Header()[name] = []string{header}
			}
			w.Header().Del("Content-Length")
			body := answer.Body.Bytes()
			var v any
			if json.Unmarshal(body, &v) == nil {
				body, _ = json.Marshal(change(r.URL.Path, v)) // it was JSON
			}
			w.WriteHeader(answer.Code)
			_, _ = io.Copy(w, bytes.NewReader(body))
		})
	}
}

// cursed writes into the texts of a value. Those that a walk needs to go on are kept: addresses, ids, the token, paths.
func cursed(path string, v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = cursed(path, v[i])
		}
	case map[string]any:
		for name, member := range v {
			v[name] = cursed(path, member)
			if text, ok := member.(string); ok && !strings.Contains(text, "://") && !strings.HasPrefix(text, "#/") {
				switch name {
				case "id", "access_token", "token_type", "type", "in", "$ref", "openapi", "kty", "kid", "alg", "use", "x", "y", "crv", "n", "e":
				default:
					v[name] = curse + text
				}
			}
		}
		v["EVIL"+curse] = curse
		if enum, ok := v["enum"].([]any); ok {
			v["enum"] = append(enum, curse)
		}
	}
	return v
}

// described adds operations and parameters with such names to the document.
func described(path string, v any) any {
	if doc, ok := v.(map[string]any); ok && strings.HasSuffix(path, "api-docs") {
		paths, _ := doc["paths"].(map[string]any)
		for _, operations := range paths {
			get, _ := operations.(map[string]any)["get"].(map[string]any)
			if get != nil {
				list, _ := get["parameters"].([]any)
				get["parameters"] = append(list, map[string]any{"name": curse, "in": "query", "required": true, "description": curse, "schema": map[string]any{"type": "string", "enum": []any{curse}}})
				get["summary"], get["description"] = curse, strings.Repeat(curse, 50)
			}
		}
		paths["/v3/"+curse+"/{"+curse+"}"] = map[string]any{"get": map[string]any{"operationId": curse, "responses": map[string]any{"200": map[string]any{"description": curse}}}}
	}
	return v
}

func answers(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Www-Authenticate"] = []string{`Bearer realm="` + header + `", error="invalid_token", error_description="` + header + `"`}
		tuitest.Answer(status, contentType, body)(w, r)
	}
}

var (
	listed  = fmt.Sprintf(`{"entries":[{"id":%[1]s,"name":%[1]s,"token_url":%[1]s,"tokenUrl":%[1]s,"infoUrl":%[1]s},%[1]s]}`, quoted(curse))
	refused = fmt.Sprintf(`{"error":"invalid_client","error_description":%[1]s,"error_uri":%[1]s,%[1]s:%[1]s}`, quoted(curse))
	problem = fmt.Sprintf(`{"type":%[1]s,"title":%[1]s,"detail":%[1]s,"instance":%[1]s,"status":%[1]s,"errors":[{"pointer":%[1]s,"detail":%[1]s}]}`, quoted(curse))
	claims  = base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf(`{"alg":%[1]s,"kid":%[1]s}`, quoted(curse)))) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf(`{"iss":%[1]s,"sub":%[1]s,"aud":[%[1]s],"exp":1772373600,%[1]s:{%[1]s:%[1]s}}`, quoted(curse)))) + ".c2lnbmF0dXJl"
)

var _ = DescribeTable("A hostile node reaches no terminal: the layout holds and no control byte is in any frame", func(change func(http.Handler) http.Handler) {
	t := newTour(tourOptions{change: change, certify: unable()})
	seen := false
	t.through(func() {
		at := t.at
		for _, size := range [][2]int{{40, 15}, {80, 24}, {120, 40}} {
			t.resize(size[0], size[1])
			for _, k := range []string{"tab", "end", "tab", "pgdown", "w", "w", "tab", "tab", "right", "enter", "tab", "tab", "end", "tab", "tab", "left", "esc"} {
				t.press(k)
				t.stay(at)
				seen = seen || strings.Contains(t.frame(), "EVIL")
			}
		}
	})
	Expect(seen).To(BeTrue(), "it was seen, as text")
},
	Entry("in every text and header", rewritten(cursed)),
	Entry("in the document's paths, parameters and enums", rewritten(described)),
	Entry("in the registry", tuitest.Instead("/registry.json", answers(200, "application/json", listed))),
	Entry("in place of the registry", tuitest.Instead("/registry.json", answers(200, "text/html", curse))),
	Entry("in the token answer", tuitest.Instead("/token", answers(200, "application/json", fmt.Sprintf(`{"access_token":%[2]s,"token_type":%[1]s,"expires_in":%[1]s,"scope":%[1]s}`, quoted(curse), quoted(curse+"end-of-the-token"))))),
	Entry("in a refusal of the token endpoint", tuitest.Instead("/token", answers(401, "application/json", refused))),
	Entry("in the claims", tuitest.Instead("/token", answers(200, "application/json", `{"access_token":"`+claims+`","token_type":"Bearer","expires_in":300,"scope":`+quoted(curse)+`}`))),
	Entry("in the info", tuitest.Instead("/oauth/info/", answers(200, "application/json", fmt.Sprintf(`{%[1]s:%[1]s,"endpoints":[{"name":%[1]s,"url":%[1]s,%[1]s:%[1]s},%[1]s]}`, quoted(curse))))),
	Entry("in problem details", tuitest.Instead("/oauth/info/", answers(403, "application/problem+json", problem))),
	Entry("in the list of calls", tuitest.Instead("/fundings", answers(200, "application/json", fmt.Sprintf(`[{"id":%[1]s,"name":{"de":%[1]s,"en":%[1]s},"title":%[1]s,"type":%[1]s},%[1]s]`, quoted(curse))))),
	Entry("in place of JSON", tuitest.Instead("/fundings", answers(502, "text/html", strings.Repeat(curse, 200)))),
	Entry("in a redirect", tuitest.Instead("/oauth/info/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Location"] = []string{"/" + header}
		w.WriteHeader(http.StatusFound)
	})),
)
