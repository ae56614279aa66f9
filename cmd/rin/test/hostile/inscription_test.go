package hostile_test

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
	"sync"
)

// inscription is a text that acts on everything that shows it unescaped: terminal escapes (CSI, OSC 8 and 52, DCS, and C1 in both
// encodings), marks that reorder or hide text, and the end of every kind of quoting.
const inscription = marker + "\x1b[2J\x1b]8;;http://" + marker + ".example\x07\x1b]52;c;cm0=\x07\x1bPq\x1b\\\u009b31m\u009d0;x\u009c\x9b31m\x7f\b\u202e\u2066\u200f\ufeff\u2028" +
	"<" + marker + " onload=alert(1)><script>" + marker + "</script></code></pre>]]>--><!--&lt;\"'|`" + marker + "``" + marker + "```" +
	"[" + marker + "](javascript:" + marker + ")![i](http://" + marker + ".example/i.png)*_@" + marker + "#1 https://" + marker + ".example"

// visible is an inscription without control characters: HTTP clients refuse a header that has them.
const visible = marker + "<" + marker + " onload=alert(1)><script>" + marker + "</script></code></pre>]]>--><!--&lt;\"'|`" + marker + "``" + marker + "```" +
	"[" + marker + "](javascript:" + marker + ")![i](http://" + marker + ".example/i.png)*_@" + marker + "\u202e\u2066\u200f\ufeff"

// lines is an inscription with line ends, for texts that may have them.
const lines = inscription + "\r\n\r\n# " + marker + "\n```\n" + marker + "\n~~~\n- <" + marker + ">\n"

// quoted returns a text as a JSON string.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string can always be encoded
	return string(b)
}

// hostileTexts returns nodes that write texts into every part of an answer that may be shown in a
// report.
func hostileTexts() []attack {
	status := func(status int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.Header()["Www-Authenticate"] = []string{`Bearer realm="` + visible + `", error="` + marker + `|<b>", scope="` + visible + `"`, visible, "Basic " + visible}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	oauth := fmt.Sprintf(`{"error":%[1]s,"error_description":%[1]s,"error_uri":%[1]s,%[1]s:%[1]s}`, quoted(lines))
	return []attack{
		{name: "texts in every header", profile: "funding", wrap: changeEveryHeader(writeEveryField(visible)), harmless: true},
		{name: "escapes in every header", profile: "funding", wrap: changeEveryHeader(writeEveryField(inscription))},
		{name: "texts in names of headers", wrap: answerAt(infoPath, answerRaw(head(200, "X-"+marker+"-'|`*_: b\r\nX-!#$%&'*+-.^_`|~: "+inscription+"\r\n\r\n{}")))},
		{name: "texts in media types", profile: "funding", wrap: changeEveryHeader(func(h http.Header) { h["Content-Type"] = []string{visible} })},
		{name: "texts in media types that are almost valid", profile: "funding", wrap: changeEveryHeader(func(h http.Header) {
			h["Content-Type"] = []string{"application/" + marker + "|`;charset=\"" + visible + "\""}
		})},
		{name: "texts in reason phrases", wrap: answerAt(infoPath, answerRaw("HTTP/1.1 418 "+inscription+"\r\nContent-Length: 0\r\n\r\n"))},
		{name: "texts in versions of HTTP", wrap: answerAt(infoPath, answerRaw("HTTP/9.9"+inscription+" 200 OK\r\nContent-Length: 0\r\n\r\n"))},
		{name: "texts in errors of the token endpoint", wrap: answerAt(tokenPath, status(400, "application/json", oauth))},
		{name: "texts in token answers", wrap: answerAt(tokenPath, answerJSON(fmt.Sprintf(`{"access_token":%[1]s,"token_type":%[1]s,"expires_in":%[1]s,"scope":%[1]s,"refresh_token":%[1]s}`, quoted(lines))))},
		{name: "texts in refusals of the info", wrap: answerAt(infoPath, status(401, "application/problem+json", fmt.Sprintf(`{"type":%[1]s,"title":%[1]s,"detail":%[1]s,"instance":%[1]s,"status":%[1]s,"error":%[1]s,"message":%[1]s}`, quoted(lines))))},
		{name: "texts in refusals of the list", profile: "funding", wrap: answerAt(listPath, status(403, "text/html", lines))},
		{name: "texts in the info", wrap: answerAt(infoPath, answerJSON(fmt.Sprintf(`{%[1]s:%[1]s,"name":%[1]s,"version":%[1]s,"endpoints":[{"name":%[1]s,"url":%[1]s,%[1]s:%[1]s},%[1]s],"services":{%[1]s:{"url":%[1]s}},"specification":%[1]s}`, quoted(lines))))},
		{name: "texts in a list", profile: "funding", wrap: answerAt(listPath, answerJSON(fmt.Sprintf(`[{"id":%[1]s,%[1]s:%[1]s,"title":%[1]s,"type":%[1]s,"status":%[1]s,"startDate":%[1]s},%[1]s]`, quoted(lines))))},
		{name: "texts in a document", profile: "funding", wrap: rewriteJSON},
		{name: "texts in place of a document", profile: "funding", wrap: answerAt(specPath, answerText("text/html", lines))},
		{name: "texts in something that is not a document", typical: true, profile: "funding", wrap: answerDocument(`{"openapi":` + quoted(lines) + `,"swagger":` + quoted(lines) + `,"info":{"title":` + quoted(lines) + `,"version":` + quoted(lines) + `},"paths":{` + quoted("/"+lines) + `:{"get":{"operationId":` + quoted(lines) + `}}},` + quoted(lines) + `:1}`)},
		{name: "texts in references", profile: "funding", wrap: answerDocument(documentWith("3.1.0", `{"$ref":`+quoted(lines)+`,"$id":`+quoted(lines)+`,"pattern":`+quoted("["+lines)+`,"format":`+quoted(lines)+`,"type":`+quoted(lines)+`}`, quoted(lines)+`:{"$ref":`+quoted("#/"+lines)+`}`))},
		{name: "texts in claims", wrap: issueHostileTokens, flags: []string{"--profile", "full", "--wait", "0s"}},
		{name: "texts in redirects", profile: "funding", wrap: changeEveryHeader(func(h http.Header) { h["Location"] = []string{visible} }), harmless: true},
		{name: "texts in the targets of redirects", wrap: answerWithTrapAt(infoPath, func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Location"] = []string{"/" + visible}
				w.WriteHeader(http.StatusFound)
			}
		})},
	}
}

// writeEveryField writes a text into header fields that clients read.
func writeEveryField(text string) func(http.Header) {
	return func(h http.Header) {
		for _, name := range []string{"Server", "X-Powered-By", "Via", "Link", "Deprecation", "Sunset", "Allow", "Vary", "Etag", "Content-Language", "X-Total-Count", "Retry-After", "Date", "Cache-Control", "Pragma"} {
			h[name] = append(h[name], text)
		}
		h["Set-Cookie"] = []string{text + "=" + text + "; Path=" + text, marker + "=x; SameSite=" + text}
		h["Access-Control-Allow-Origin"] = []string{text}
	}
}

// changeEveryHeader changes the header of every answer.
func changeEveryHeader(change func(http.Header)) wrapper {
	return func(string) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := httptest.NewRecorder()
				next.ServeHTTP(answer, r)
				maps.Copy(w.Header(), answer.Header())
				change(w.Header())
				w.WriteHeader(answer.Code)
				_, _ = w.Write(answer.Body.Bytes())
			})
		}
	}
}

// rewriteJSON adds hostile texts to the good node's document, and describes members that no answer has.
func rewriteJSON(string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != specPath {
				next.ServeHTTP(w, r)
				return
			}
			r.Header.Del("Accept-Encoding") // the body is read here
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			var doc map[string]any
			_ = json.Unmarshal(answer.Body.Bytes(), &doc) // the sandbox serves JSON
			addHostileTexts(doc)
			if paths, ok := doc["paths"].(map[string]any); ok {
				paths["/v3/"+lines] = map[string]any{"get": map[string]any{"operationId": lines, "responses": map[string]any{"200": map[string]any{"description": "d"}}}}
				paths["/v3/"+lines+"/{"+lines+"}"] = paths["/v3/"+lines]
			}
			maps.Copy(w.Header(), answer.Header())
			w.Header().Del("Content-Length")
			_ = json.NewEncoder(w).Encode(doc)
		})
	}
}

func addHostileTexts(value any) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			addHostileTexts(item)
		}
	case map[string]any:
		for key, member := range v {
			switch m := member.(type) {
			case string:
				switch key {
				case "title", "description", "summary", "operationId", "version", "format":
					v[key] = lines + m
				}
			case []any:
				if key == "enum" || key == "tags" || key == "required" {
					v[key] = append(m[:0:0], lines)
				}
			case map[string]any:
				addHostileTexts(m)
				if key == "properties" {
					m[lines] = map[string]any{"type": "string", "enum": []any{lines}, "pattern": lines}
				}
				if key == "responses" {
					m[lines] = map[string]any{"description": lines, "headers": map[string]any{lines: map[string]any{"required": true}}, "content": map[string]any{lines: map[string]any{}}}
				}
			}
		}
		for _, member := range v {
			if list, ok := member.([]any); ok {
				addHostileTexts(list)
			}
		}
	}
}

// issueHostileTokens issues tokens with texts in every claim, and replaces them by the good tokens
// in requests.
func issueHostileTokens(trap string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		var good sync.Map // odd token to good token
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if odd, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); found {
				if token, known := good.Load(odd); known {
					r.Header.Set("Authorization", "Bearer "+token.(string))
				}
			}
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			maps.Copy(w.Header(), answer.Header())
			body := answer.Body.Bytes()
			var issued map[string]any
			if r.URL.Path == tokenPath && json.Unmarshal(body, &issued) == nil && issued["access_token"] != nil {
				token, _ := issued["access_token"].(string)
				odd := oddToken(trap, token)
				good.Store(odd, token)
				body = bytes.Replace(body, []byte(token), []byte(odd), 1)
				w.Header().Del("Content-Length")
			}
			w.WriteHeader(answer.Code)
			_, _ = w.Write(body)
		})
	}
}

// oddToken returns a token with texts in its claims and the signature of a good token, so that it is as unique as that one.
func oddToken(trap, good string) string {
	part := base64.RawURLEncoding.EncodeToString
	header := fmt.Sprintf(`{"alg":"ES256","typ":%[1]s,"kid":%[1]s,"jku":"%[2]s/keys","x5u":"%[2]s/cert","crit":[%[1]s],%[1]s:%[1]s}`, quoted(lines), trap)
	claims := fmt.Sprintf(`{"iss":"%[2]s","sub":%[1]s,"aud":[%[1]s],"exp":%[1]s,"iat":%[1]s,"scope":%[1]s,"azp":%[1]s,"password":%[1]s,%[1]s:%[1]s}`, quoted(lines), trap)
	return part([]byte(header)) + "." + part([]byte(claims)) + "." + good[strings.LastIndexByte(good, '.')+1:]
}
