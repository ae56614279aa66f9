package sandboxtest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/sandboxtest"
)

// A test of a client begins with a sandbox, plays scenarios that the client must survive, and checks at the end that the client kept the rules.
func ExampleNew() {
	_ = func(t *testing.T) {
		box := sandboxtest.New(t)
		client := box.Credential()
		importCalls := newImporter(box.Addresses.Registry, client.ClientID, client.Secret)

		box.Play("503-twice")
		if err := importCalls(); err != nil {
			t.Fatal(err)
		}
		box.ExpectNoFindings(client.ClientID)
	}
}

// The test moves the time, so that a token of five minutes expires at once.
func ExampleSandbox_Advance() {
	_ = func(t *testing.T) {
		box := sandboxtest.New(t, sandboxtest.At(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)), sandboxtest.Calls(20))
		token := box.Token(box.Credential())
		box.Advance(301 * time.Second)
		request, _ := http.NewRequest(http.MethodGet, box.Addresses.Info, nil)
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := box.HTTPClient().Do(request)
		if err != nil || answer.StatusCode != http.StatusUnauthorized {
			t.Fatalf("an expired token was accepted: %v", err)
		}
	}
}

// A network has several nodes, each with its own clients.
func ExampleNodes() {
	_ = func(t *testing.T) {
		box := sandboxtest.New(t, sandboxtest.Nodes(3), sandboxtest.TLS())
		for _, node := range box.Nodes() {
			client := node.Authorized(node.Credential())
			if _, err := client.Get(node.Addresses.Fundings + "?runningCalls=true"); err != nil {
				t.Errorf("%s: %v", node.Server.Member().Name, err)
			}
		}
	}
}

// Configure sets everything that has no option.
func ExampleConfigure() {
	_ = func(t *testing.T) {
		box := sandboxtest.New(t, sandboxtest.Configure(func(c *sandbox.Config) {
			c.TokenTTL, c.Paging = time.Minute, "number"
			c.Clients = []sandbox.ClientConfig{{ID: "my-client", Secret: "weak is fine here", Role: "EXTERNAL_API_CLIENT", Affiliation: "AFF-1"}}
		}))
		t.Log(box.Credential().ClientID)
	}
}

// newImporter represents the tested client.
func newImporter(_, _, _ string) func() error { return func() error { return nil } }
