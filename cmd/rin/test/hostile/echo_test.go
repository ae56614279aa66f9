package hostile_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// echoingNode is a node that echoes every secret in every form and in every part of its answers.
type echoingNode struct {
	good http.Handler
	// onRequest is called with the number of each request, from 1.
	onRequest func(n int)
	strays    strays

	mu      sync.Mutex
	count   int
	secrets []string // secrets, tokens and cookies of requests and answers, each once, in order
}

// secretPrefix begins every client secret.
const secretPrefix = "kanari"

// session returns the value of the session cookie for a path.
func session(path string) string { return fmt.Sprintf("%x", "session of "+path) }

// remember adds secrets to those that were exchanged.
func (p *echoingNode) remember(secrets ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range secrets {
		if s != "" && !slices.Contains(p.secrets, s) {
			p.secrets = append(p.secrets, s)
		}
	}
}

// ServeHTTP implements http.Handler.
func (p *echoingNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.count++
	n := p.count
	p.mu.Unlock()
	p.onRequest(n)
	secrets := secretsOf(r)
	p.remember(secrets...)

	r.Header.Del("Accept-Encoding") // the echoes are written into the plain body
	answer := httptest.NewRecorder()
	p.good.ServeHTTP(answer, r)
	maps.Copy(w.Header(), answer.Header())
	w.Header().Del("Content-Length")
	body := answer.Body.Bytes()
	var issued struct {
		AccessToken string `json:"access_token"`
	}
	if json.Unmarshal(body, &issued) == nil && issued.AccessToken != "" {
		p.remember(issued.AccessToken)
		secrets = append(secrets, issued.AccessToken)
	}
	cookie := session(r.URL.Path)
	w.Header().Add("Set-Cookie", "session="+cookie+"; Path=/; Secure; HttpOnly; SameSite=Strict")
	p.remember(cookie)
	secrets = append(secrets, cookie)

	var echoes []string
	for _, s := range secrets {
		echoes = append(echoes, forms(s)...)
		w.Header().Add("Link", "</?token="+url.QueryEscape(s)+">; rel=\"prev\"")
		w.Header().Add("X-"+strings.Map(fieldNameOnly, s), "name")
	}
	for i, e := range echoes[:min(len(echoes), 30)] {
		w.Header().Add(fmt.Sprintf("X-Echo-%d", i), strings.Map(fieldValueOnly, e))
	}
	status, body := p.strays.plant(r.URL.Path, answer.Code, w.Header(), withEchoes(body, echoes))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// isToken reports whether s is a token that a node issued, or was derived from one. Tokens that the suite
// invents name https://conformance.invalid.
func isToken(s string) bool {
	_, rest, _ := strings.Cut(s, ".")
	claims, _, found := strings.Cut(rest, ".")
	text, err := base64.RawURLEncoding.DecodeString(claims)
	return found && strings.HasPrefix(s, "eyJ") && err == nil && !bytes.Contains(text, []byte("https://conformance.invalid"))
}

// forms returns the encodings in which a secret may appear.
func forms(secret string) []string {
	escaped := func(format string) string {
		var b strings.Builder
		for i := range len(secret) {
			fmt.Fprintf(&b, format, secret[i])
		}
		return b.String()
	}
	out := []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), escaped("%%%02X"), escaped("%%%02x"),
		hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))),
		strings.Trim(quoted(secret), `"`), escaped(`\u00%02x`), html.EscapeString(secret), escaped("&#%d;"), escaped("&#x%x;"),
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
		for _, prefix := range []string{"", "x", "xy"} {
			out = append(out, encoding.EncodeToString([]byte(prefix+secret+" ")))
		}
	}
	return out
}

// withEchoes writes the echoes into the first object of a JSON body, and after any other text.
func withEchoes(body []byte, echoes []string) []byte {
	brace := bytes.IndexByte(body, '{')
	if brace < 0 || !json.Valid(body) || len(echoes) == 0 {
		if len(body) == 0 || json.Valid(body) {
			return body
		}
		return append(body, strings.Join(echoes, "\n")...)
	}
	rest := bytes.TrimLeft(body[brace+1:], " \n")
	if len(rest) == 0 || rest[0] != '"' {
		return body
	}
	return slices.Concat(body[:brace+1], []byte(`"echo":`+quoted(strings.Join(echoes, " "))+`,`), body[brace+1:])
}

// fieldNameOnly drops the characters that a header name must not contain.
func fieldNameOnly(r rune) rune {
	if strings.ContainsRune("!#$%&'*+-.^_`|~", r) || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r
	}
	return -1
}

// fieldValueOnly drops the characters that a header value must not contain.
func fieldValueOnly(r rune) rune {
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}

// secretsOf returns the secrets and tokens of a request: those of its form, its query and its Authorization headers.
func secretsOf(r *http.Request) []string {
	sent, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	r.Body = io.NopCloser(bytes.NewReader(sent))
	form, _ := url.ParseQuery(string(sent))
	out := []string{form.Get("client_secret"), form.Get("access_token"), r.URL.Query().Get("access_token"), r.URL.Query().Get("client_secret")}
	for _, value := range r.Header.Values("Authorization") {
		scheme, rest, _ := strings.Cut(value, " ")
		rest = strings.TrimSpace(rest)
		if !strings.EqualFold(scheme, "Basic") {
			out = append(out, rest)
			continue
		}
		pair, _ := base64.StdEncoding.DecodeString(rest)
		_, secret, _ := strings.Cut(string(pair), ":")
		secret, _ = url.QueryUnescape(secret)
		out = append(out, secret)
	}
	// An invented value that only the client knows is not a secret.
	return slices.DeleteFunc(out, func(s string) bool { return !strings.HasPrefix(s, secretPrefix) && !isToken(s) })
}
