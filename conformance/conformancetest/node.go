// Package conformancetest is the fake node of the tests of conformance: a token endpoint, an info endpoint, an API document and one list.
//
// Two tests have nodes of their own, which share the answers of this one: package probe has a node that misbehaves in more ways, package
// conformance one with thirty operations.
package conformancetest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/target"
)

// The client secret that a node accepts, and the text with which its access tokens begin.
const (
	ClientSecret = "the-secret-of-the-client-0123456789"
	AccessToken  = "an-access-token-of-this-node-0123456789"
)

// Issuer issues a new token for each request. A run against a server that hands out its token again waits for the lifetime to sink, which takes seconds: tests
// with a clock of their own have such servers.
type Issuer struct {
	mu     sync.Mutex
	issued map[string]bool
}

// Issue returns a token that begins with a text and was not issued before.
func (i *Issuer) Issue(prefix string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.issued == nil {
		i.issued = map[string]bool{}
	}
	token := fmt.Sprintf("%s%04d", prefix, len(i.issued))
	i.issued[token] = true
	return token
}

// Issued reports whether a token was issued.
func (i *Issuer) Issued(token string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.issued[token]
}

// Document describes the list of a node.
const Document = `{"openapi":"3.0.1","info":{"title":"funding","version":"v3"},"servers":[{"url":"/funding/v3"}],
	"paths":{"/fundings":{"get":{"operationId":"listFundings","responses":{"200":{"description":"the calls","content":{"application/json":{
	"schema":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}}}}}}}}}}`

// Node is a running fake node.
type Node struct {
	*httptest.Server
	// Document is served as the API document; empty for none.
	Document string
	// Info answers info requests with a good token; nil lists no endpoints.
	Info http.HandlerFunc

	tokens   Issuer
	mu       sync.Mutex
	requests []string
}

// Start runs a node until the test ends; change may be nil.
func Start(test interface{ Cleanup(func()) }, change func(*Node)) *Node {
	n := &Node{}
	if change != nil {
		change(n)
	}
	n.Server = httptest.NewServer(n)
	test.Cleanup(n.Close)
	return n
}

// Requests lists method and path of each request so far.
func (n *Node) Requests() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.requests)
}

// Target is the node as a target for the profile auth, or funding if it has a document.
func (n *Node) Target() target.Target {
	t := target.Target{
		TokenURL: n.URL + "/token", InfoURL: n.URL + "/info/v1/oauth/info/", Profile: "auth",
		Credentials: target.Credentials{ClientID: "client", ClientSecret: target.NewSecret(ClientSecret)},
	}
	if n.Document != "" {
		t.Profile, t.SpecURL = "funding", n.URL+"/funding/v3/api-docs"
	}
	return t
}

// ServeHTTP implements http.Handler.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	n.requests = append(n.requests, r.Method+" "+r.URL.Path)
	n.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case r.URL.Path == "/token" && r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.URL.Path == "/token":
		if r.FormValue("client_secret") != ClientSecret || r.FormValue("grant_type") != "client_credentials" {
			RefuseClient(w)
			return
		}
		WriteToken(w, n.tokens.Issue(AccessToken), 300)
	case r.URL.Path == "/funding/v3/api-docs" && n.Document != "":
		_, _ = w.Write([]byte(n.Document))
	case !n.tokens.Issued(BearerToken(r)):
		RefuseToken(w)
	case strings.HasPrefix(r.URL.Path, "/info/v1/oauth/info"):
		if n.Info != nil {
			n.Info(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"endpoints":{}}`))
	case r.URL.Path == "/funding/v3/fundings":
		_, _ = w.Write([]byte(`[{"id":"f-1"},{"id":2}]`)) // the second id is wrong by the document
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// BearerToken returns the token of a request's Authorization header; "" without one.
func BearerToken(r *http.Request) string {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		return ""
	}
	return token
}

// WriteToken answers a token request with a token that expires in life seconds (RFC 6749 §5.1).
func WriteToken(w http.ResponseWriter, token string, life int) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":%d}`, token, life)
}

// RefuseClient answers a token request with wrong credentials (RFC 6749 §5.2).
func RefuseClient(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
}

// RefuseToken answers a request without a good token (RFC 6750 §3).
func RefuseToken(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="node"`)
	w.WriteHeader(http.StatusUnauthorized)
}

// Text returns the lines of an evidence file, for tests that search them.
func Text(file []byte) string {
	in, err := evidence.Text(bytes.NewReader(file))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		panic(err)
	}
	return string(text)
}
