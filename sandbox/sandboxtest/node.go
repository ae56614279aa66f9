package sandboxtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/fault"
)

// Node is one node of the network.
type Node struct {
	// Server is the node itself, for everything without a method here.
	Server *sandbox.Server
	// Addresses are the URLs of the node.
	Addresses sandbox.Addresses
	sandbox   *Sandbox
	transport *http.Transport
}

// Credential returns the first client of the node. Unless the test configures clients, it has all permissions.
func (n *Node) Credential() sandbox.Credential {
	n.sandbox.t.Helper()
	all := n.Server.Credentials()
	if len(all) == 0 {
		n.sandbox.t.Fatalf("sandboxtest: node %s has no client: its configuration has none", n.Server.Member().ID)
	}
	return all[0]
}

// CredentialOf returns the client with the id, such as sandbox.DemoClientWithoutRole.
func (n *Node) CredentialOf(id string) sandbox.Credential {
	n.sandbox.t.Helper()
	var ids []string
	for _, c := range n.Server.Credentials() {
		if c.ClientID == id {
			return c
		}
		ids = append(ids, c.ClientID)
	}
	n.sandbox.t.Fatalf("sandboxtest: node %s has no client %q, its clients are %s", n.Server.Member().ID, id, strings.Join(ids, ", "))
	return sandbox.Credential{}
}

// Deviate replaces the deviations of the node. Without names it has no deviations.
func (n *Node) Deviate(names ...string) {
	n.sandbox.t.Helper()
	if err := n.Server.Deviate(names...); err != nil {
		n.sandbox.t.Fatalf("sandboxtest: %v", err)
	}
}

// Play begins a scenario, written as for rin sandbox play: "429-then-ok", "503-twice:path=list:wait=5s".
func (n *Node) Play(text string) {
	n.sandbox.t.Helper()
	play, err := fault.ParsePlay(text)
	if err == nil {
		err = n.Server.Play(play)
	}
	if err != nil {
		n.sandbox.t.Fatalf("sandboxtest: %v", err)
	}
}

// HTTPClient returns a client without a token. It trusts the authority of a node with TLS.
func (n *Node) HTTPClient() *http.Client { return &http.Client{Transport: n.transport} }

// Token fetches an access token for a client of the node.
func (n *Node) Token(c sandbox.Credential) string {
	n.sandbox.t.Helper()
	token, _, err := n.fetch(c)
	if err != nil {
		n.sandbox.t.Fatalf("sandboxtest: %v", err)
	}
	return token
}

// Authorized returns an HTTP client with the tokens of one of the node's clients. It fetches a token when it needs one, keeps it until shortly
// before it expires, and sends it to this sandbox only.
func (n *Node) Authorized(c sandbox.Credential) *http.Client {
	return &http.Client{Transport: &tokenTransport{node: n, credential: c}}
}

// tokenTransport is an http.RoundTripper that adds tokens.
type tokenTransport struct {
	node       *Node
	credential sandbox.Credential
	mu         sync.Mutex
	token      string
	expires    time.Time // by the node's clock
}

// RoundTrip implements http.RoundTripper.
func (a *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.String(), a.node.sandbox.URL+"/") {
		return a.node.transport.RoundTrip(r)
	}
	token, err := a.currentToken()
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return a.node.transport.RoundTrip(r)
}

func (a *tokenTransport) currentToken() (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	const margin = 10 * time.Second // for requests in flight
	if a.token != "" && a.node.sandbox.Now().Add(margin).Before(a.expires) {
		return a.token, nil
	}
	token, lifetime, err := a.node.fetch(a.credential)
	if err != nil {
		return "", err
	}
	a.token, a.expires = token, a.node.sandbox.Now().Add(lifetime)
	return token, nil
}

// fetch fetches a token from the token endpoint that the registry lists.
func (n *Node) fetch(c sandbox.Credential) (token string, lifetime time.Duration, err error) {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.ClientID}, "client_secret": {c.Secret}}
	answer, err := n.HTTPClient().PostForm(n.Addresses.ListedToken, form)
	if err != nil {
		return "", 0, fmt.Errorf("fetch a token: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return "", 0, fmt.Errorf("fetch a token: %w", err)
	}
	var granted map[string]any // not a struct: json.Unmarshal would accept ACCESS_TOKEN for its field access_token
	_ = json.Unmarshal(body, &granted)
	access, _ := granted["access_token"].(string)
	if access == "" {
		return "", 0, fmt.Errorf("fetch a token: expected JSON with an access_token, got status %d %v: %v", answer.StatusCode, granted["error"], granted["error_description"])
	}
	seconds, _ := granted["expires_in"].(float64)
	return access, time.Duration(seconds) * time.Second, nil
}
