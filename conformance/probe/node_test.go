package probe_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"

	"github.com/rin-network/rin/conformance/conformancetest"
)

const (
	clientID     = "conformance-client"
	clientSecret = "S3cret-with-+&=%-and-ümläut-Xy"
	secondID     = "client-without-role"
	secondSecret = "another-Secret-of-256-bits"
)

// seen is one request as the node saw it.
type seen struct {
	method, uri, authorization, contentType, body string
	header                                        http.Header
}

// node is a small research-information node, which only these tests use.
type node struct {
	*httptest.Server
	mu       sync.Mutex
	requests []seen
	issued   int
	tokens   map[string]string // token to client id
	items    []map[string]any
	// before may answer a request instead of the node.
	before func(n *node, w http.ResponseWriter, q *http.Request) bool
	// document replaces the API document.
	document string
	life     int
	// revokes ends the other tokens of a client when it gets a new one.
	revokes bool
	// second is the clock of a server that issues one token per client and second. If it is nil, each token is new.
	second func() int64
}

func newNode(change ...func(*node)) *node {
	n := &node{tokens: map[string]string{}, life: 300}
	for i := range 5 {
		kind := []string{"CALL", "PROGRAMME"}[i%2]
		n.items = append(n.items, map[string]any{
			"id": fmt.Sprintf("f-%d", i), "type": kind, "targetGroups": []string{"UNIVERSITY"},
			"funder": []any{map[string]any{"funder": map[string]any{"id": "org-1"}}},
		})
	}
	for _, c := range change {
		c(n)
	}
	n.Server = httptest.NewServer(n)
	DeferCleanup(n.Close)
	return n
}

// log returns the requests so far, in order of arrival.
func (n *node) log() []seen {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.requests)
}

func (n *node) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body := make([]byte, 64<<10)
	read, _ := q.Body.Read(body)
	n.mu.Lock()
	n.requests = append(n.requests, seen{q.Method, q.RequestURI, q.Header.Get("Authorization"), q.Header.Get("Content-Type"), string(body[:read]), q.Header.Clone()})
	n.mu.Unlock()
	q.Body = readCloser{strings.NewReader(string(body[:read]))} // before can read it again
	if n.before != nil && n.before(n, w, q) {
		return
	}
	switch path := q.URL.Path; {
	case path == "/oauth/token":
		n.token(w, q, string(body[:read]))
	case path == "/ris/funding/v3/api-docs":
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(n.spec()))
	case path == "/ris/info/v1/oauth/info/":
		n.guarded(w, q, func() { n.info(w, q) })
	case path == "/ris/funding/v3/fundings":
		n.guarded(w, q, func() { n.list(w, q) })
	case strings.HasPrefix(path, "/ris/funding/v3/fundings/"):
		n.guarded(w, q, func() { n.detail(w, strings.TrimPrefix(path, "/ris/funding/v3/fundings/")) })
	default:
		http.Error(w, "no such thing", http.StatusNotFound)
	}
}

func (n *node) token(w http.ResponseWriter, q *http.Request, body string) {
	id := ""
	for client, secret := range map[string]string{clientID: clientSecret, secondID: secondSecret} {
		form := parseForm(body)
		if form["client_id"] == client && form["client_secret"] == secret && form["grant_type"] == "client_credentials" {
			id = client
		}
	}
	if id == "" || q.Method != http.MethodPost {
		conformancetest.RefuseClient(w)
		return
	}
	n.mu.Lock()
	if n.revokes {
		maps.DeleteFunc(n.tokens, func(_, client string) bool { return client == id })
	}
	n.issued++
	token := fmt.Sprintf("access-token-number-%d", n.issued)
	if n.second != nil {
		token = jwtOf(fmt.Sprintf(`{"iss":%q,"client_id":%q,"iat":%d}`, n.URL, id, n.second()))
	}
	n.tokens[token] = id
	n.mu.Unlock()
	conformancetest.WriteToken(w, token, n.life)
}

// jwtOf returns a token in the form of a JWT, with a signature that nobody can verify.
func jwtOf(claims string) string {
	segment := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return segment(`{"alg":"ES256","kid":"k"}`) + "." + segment(claims) + "." + segment("signature of "+claims)
}

func (n *node) guarded(w http.ResponseWriter, q *http.Request, serve func()) {
	n.mu.Lock()
	_, good := n.tokens[strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer ")]
	n.mu.Unlock()
	if !good {
		conformancetest.RefuseToken(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	serve()
}

func (n *node) info(w http.ResponseWriter, q *http.Request) {
	if q.Method == http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	_, _ = fmt.Fprintf(w, `{"endpoints":{"funding":[{"name":"FUNDINGS","majorVersion":3,"minorVersion":0,"url":"http://%s/ris/funding/v3/fundings"},
{"name":"FUNDING","majorVersion":3,"url":"http://%s/ris/funding/v3/fundings/{id}"},
{"name":"PROJECTS","majorVersion":1,"url":"https://elsewhere.example/v1/projects"}]}}`, q.Host, q.Host)
}

func (n *node) list(w http.ResponseWriter, q *http.Request) {
	items := n.items
	if kind := q.URL.Query().Get("fundingType"); kind != "" {
		items = slices.DeleteFunc(slices.Clone(items), func(i map[string]any) bool { return i["type"] != kind })
	}
	if size, err := strconv.Atoi(q.URL.Query().Get("page[size]")); err == nil && size >= 0 && size < len(items) {
		items = items[:size]
	}
	_ = json.NewEncoder(w).Encode(items)
}

func (n *node) detail(w http.ResponseWriter, id string) {
	for _, i := range n.items {
		if i["id"] == id {
			_ = json.NewEncoder(w).Encode(i)
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
}

func (n *node) spec() string {
	if n.document != "" {
		return n.document
	}
	return `{"openapi":"3.0.3","info":{"title":"t","version":"3"},"servers":[{"url":"/ris/funding/v3"}],"paths":{
"/fundings":{"get":{"operationId":"listFundings","parameters":[
 {"name":"fundingType","in":"query","schema":{"type":"string","enum":["CALL","PROGRAMME","AWARD"]}},
 {"name":"runningCalls","in":"query","schema":{"type":"boolean"}},
 {"name":"funderId","in":"query","schema":{"type":"string"}},
 {"name":"words","in":"query","schema":{"type":"string"}},
 {"name":"page[size]","in":"query","schema":{"type":"integer","minimum":1}}],
 "responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"array","items":{"type":"object"}}}}}}}},
"/fundings/{id}":{"get":{"operationId":"getFunding","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
 "responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"object"}}}}}}}}}`
}

func parseForm(body string) map[string]string {
	out := map[string]string{}
	q := http.Request{Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
		Body: http.NoBody}
	q.Body = readCloser{strings.NewReader(body)}
	if q.ParseForm() != nil {
		return out
	}
	for k, v := range q.PostForm {
		if len(v) != 1 {
			return map[string]string{}
		}
		out[k] = v[0]
	}
	return out
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }
