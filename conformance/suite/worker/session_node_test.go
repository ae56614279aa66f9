package worker_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"

	"github.com/rin-network/rin/conformance/target"
)

const (
	clientSecret = "the-secret-of-the-client-0123456789"
	accessToken  = "an-access-token-of-this-node-0123456789"
	goodDocument = `{"openapi":"3.0.1","info":{"title":"funding","version":"v3"},"servers":[{"url":"/funding/v3"}],
		"paths":{"/fundings":{"get":{"operationId":"listFundings","responses":{"200":{"description":"the calls","content":{"application/json":{
		"schema":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}}}}}}}}}}`
)

// node is a small node, written here for the session alone: token endpoint, info, document and one list.
type node struct {
	*httptest.Server
	document string

	mu    sync.Mutex
	asked []string // method and path of each request
}

func newNode(document string) *node {
	n := &node{document: document}
	n.Server = httptest.NewServer(n)
	DeferCleanup(n.Close)
	return n
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	n.asked = append(n.asked, r.Method+" "+r.URL.Path)
	n.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case r.URL.Path == "/token":
		if r.FormValue("client_secret") != clientSecret || r.FormValue("grant_type") != "client_credentials" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
			return
		}
		_, _ = w.Write([]byte(`{"access_token":"` + accessToken + `","token_type":"Bearer","expires_in":300}`))
	case r.URL.Path == "/funding/v3/api-docs":
		_, _ = w.Write([]byte(n.document))
	case r.Header.Get("Authorization") != "Bearer "+accessToken:
		w.Header().Set("WWW-Authenticate", `Bearer realm="node"`)
		w.WriteHeader(http.StatusUnauthorized)
	case strings.HasPrefix(r.URL.Path, "/info/v1/oauth/info"):
		_, _ = w.Write([]byte(`{"endpoints":{}}`))
	case r.URL.Path == "/funding/v3/fundings":
		_, _ = w.Write([]byte(`[{"id":"f-1"},{"id":2}]`))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (n *node) requests() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string{}, n.asked...)
}

func targetOf(n *node) target.Target {
	return target.Target{
		TokenURL: n.URL + "/token", InfoURL: n.URL + "/info/v1/oauth/info/", SpecURL: n.URL + "/funding/v3/api-docs",
		Credentials: target.Credentials{ClientID: "client", ClientSecret: target.NewSecret(clientSecret)}, Profile: "funding",
	}
}
