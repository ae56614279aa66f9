//go:build !race

package tui

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/tuitest"
)

// hostileHeader is a hostile text without the characters that a header field cannot carry.
const hostileHeader = "EVIL\u009b31m\t\u202e\u2066\u200f\ufeff界界‹token›EVIL"

func jsonString(s string) string {
	b, _ := json.Marshal(s) // a string always marshals
	return string(b)
}

// rewriteJSON changes the JSON of every answer, and replaces the header fields that the tour shows.
func rewriteJSON(change func(path string, v any) any) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Accept-Encoding") // the answer is parsed here
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			maps.Copy(w.Header(), answer.Header())
			for _, name := range []string{"Server", "Via", "Link", "Etag", "X-Total-Count", "Retry-After", "Www-Authenticate"} {
				w.Header()[name] = []string{hostileHeader}
			}
			w.Header().Del("Content-Length")
			body := answer.Body.Bytes()
			var v any
			if json.Unmarshal(body, &v) == nil {
				body, _ = json.Marshal(change(r.URL.Path, v)) // it was parsed from JSON
			}
			w.WriteHeader(answer.Code)
			_, _ = io.Copy(w, bytes.NewReader(body))
		})
	}
}

// addHostileText changes the texts of a value, except those that the tour needs to continue: URLs, IDs, the token, paths.
func addHostileText(path string, v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = addHostileText(path, v[i])
		}
	case map[string]any:
		for name, member := range v {
			v[name] = addHostileText(path, member)
			if text, ok := member.(string); ok && !strings.Contains(text, "://") && !strings.HasPrefix(text, "#/") {
				switch name {
				case "id", "access_token", "token_type", "type", "in", "$ref", "openapi", "kty", "kid", "alg", "use", "x", "y", "crv", "n", "e":
				default:
					v[name] = hostileText + text
				}
			}
		}
		v["EVIL"+hostileText] = hostileText
		if enum, ok := v["enum"].([]any); ok {
			v["enum"] = append(enum, hostileText)
		}
	}
	return v
}

// addHostileOperations adds operations and parameters with hostile names to the document.
func addHostileOperations(path string, v any) any {
	if doc, ok := v.(map[string]any); ok && strings.HasSuffix(path, "api-docs") {
		paths, _ := doc["paths"].(map[string]any)
		for _, operations := range paths {
			get, _ := operations.(map[string]any)["get"].(map[string]any)
			if get != nil {
				list, _ := get["parameters"].([]any)
				get["parameters"] = append(list, map[string]any{"name": hostileText, "in": "query", "required": true, "description": hostileText, "schema": map[string]any{"type": "string", "enum": []any{hostileText}}})
				get["summary"], get["description"] = hostileText, strings.Repeat(hostileText, 50)
			}
		}
		paths["/v3/"+hostileText+"/{"+hostileText+"}"] = map[string]any{"get": map[string]any{"operationId": hostileText, "responses": map[string]any{"200": map[string]any{"description": hostileText}}}}
	}
	return v
}

func answerWithChallenge(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Www-Authenticate"] = []string{`Bearer realm="` + hostileHeader + `", error="invalid_token", error_description="` + hostileHeader + `"`}
		tuitest.Answer(status, contentType, body)(w, r)
	}
}

var (
	hostileRegistry = fmt.Sprintf(`{"entries":[{"id":%[1]s,"name":%[1]s,"token_url":%[1]s,"tokenUrl":%[1]s,"infoUrl":%[1]s},%[1]s]}`, jsonString(hostileText))
	hostileRefusal  = fmt.Sprintf(`{"error":"invalid_client","error_description":%[1]s,"error_uri":%[1]s,%[1]s:%[1]s}`, jsonString(hostileText))
	hostileProblem  = fmt.Sprintf(`{"type":%[1]s,"title":%[1]s,"detail":%[1]s,"instance":%[1]s,"status":%[1]s,"errors":[{"pointer":%[1]s,"detail":%[1]s}]}`, jsonString(hostileText))
	hostileToken    = base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf(`{"alg":%[1]s,"kid":%[1]s}`, jsonString(hostileText)))) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf(`{"iss":%[1]s,"sub":%[1]s,"aud":[%[1]s],"exp":1772373600,%[1]s:{%[1]s:%[1]s}}`, jsonString(hostileText)))) + ".c2lnbmF0dXJl"
)

// make race leaves this table out. It takes minutes there, and walk_test.go presses the same keys at the same steps.
var _ = DescribeTable("Texts of a hostile node never act on the terminal: every frame keeps its layout and has no control characters", func(change func(http.Handler) http.Handler) {
	t := newTour(tourOptions{change: change, certify: failingSuite()})
	seen := false
	t.eachStep(func() {
		step := t.step
		for _, size := range [][2]int{{40, 15}, {80, 24}, {120, 40}} {
			t.resize(size[0], size[1])
			for _, k := range []string{"tab", "end", "tab", "pgdown", "w", "w", "tab", "tab", "right", "enter", "tab", "tab", "end", "tab", "tab", "left", "esc"} {
				t.press(k)
				t.returnTo(step)
				seen = seen || strings.Contains(t.frame(), "EVIL")
			}
		}
	})
	Expect(seen).To(BeTrue(), "the frames show the hostile text")
},
	Entry("in every text and header", rewriteJSON(addHostileText)),
	Entry("in the document's paths, parameters and enums", rewriteJSON(addHostileOperations)),
	Entry("in the registry", tuitest.ReplaceAnswer("/registry.json", answerWithChallenge(200, "application/json", hostileRegistry))),
	Entry("in place of the registry", tuitest.ReplaceAnswer("/registry.json", answerWithChallenge(200, "text/html", hostileText))),
	Entry("in the token answer", tuitest.ReplaceAnswer("/token", answerWithChallenge(200, "application/json", fmt.Sprintf(`{"access_token":%[2]s,"token_type":%[1]s,"expires_in":%[1]s,"scope":%[1]s}`, jsonString(hostileText), jsonString(hostileText+"end-of-the-token"))))),
	Entry("in a refusal of the token endpoint", tuitest.ReplaceAnswer("/token", answerWithChallenge(401, "application/json", hostileRefusal))),
	Entry("in the claims", tuitest.ReplaceAnswer("/token", answerWithChallenge(200, "application/json", `{"access_token":"`+hostileToken+`","token_type":"Bearer","expires_in":300,"scope":`+jsonString(hostileText)+`}`))),
	Entry("in the info", tuitest.ReplaceAnswer("/oauth/info/", answerWithChallenge(200, "application/json", fmt.Sprintf(`{%[1]s:%[1]s,"endpoints":[{"name":%[1]s,"url":%[1]s,%[1]s:%[1]s},%[1]s]}`, jsonString(hostileText))))),
	Entry("in problem details", tuitest.ReplaceAnswer("/oauth/info/", answerWithChallenge(403, "application/problem+json", hostileProblem))),
	Entry("in the list of calls", tuitest.ReplaceAnswer("/fundings", answerWithChallenge(200, "application/json", fmt.Sprintf(`[{"id":%[1]s,"name":{"de":%[1]s,"en":%[1]s},"title":%[1]s,"type":%[1]s},%[1]s]`, jsonString(hostileText))))),
	Entry("in place of JSON", tuitest.ReplaceAnswer("/fundings", answerWithChallenge(502, "text/html", strings.Repeat(hostileText, 200)))),
	Entry("in a redirect", tuitest.ReplaceAnswer("/oauth/info/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Location"] = []string{"/" + hostileHeader}
		w.WriteHeader(http.StatusFound)
	})),
)
