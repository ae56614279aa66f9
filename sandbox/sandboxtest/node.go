package sandboxtest

import (
	"net/http"
	"strings"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/scenario"
)

// Node is one node of the network.
type Node struct {
	// Server is the node itself, for what has no method here.
	Server *sandbox.Server
	// Addresses are where everything of it is.
	Addresses sandbox.Addresses
	sandbox   *Sandbox
	transport *http.Transport
}

// Credential is a client that may do everything: the first one.
func (n *Node) Credential() sandbox.Credential {
	n.sandbox.t.Helper()
	all := n.Server.Credentials()
	if len(all) == 0 {
		n.sandbox.t.Fatalf("sandboxtest: node %s has no client: it was configured with none", n.Server.Member().ID)
	}
	return all[0]
}

// CredentialOf is a client by its id, such as sandbox.DemoClientWithoutRole.
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

// Deviate makes the node misbehave in the named ways, in the place of all others; none makes a good node of it.
func (n *Node) Deviate(names ...string) {
	n.sandbox.t.Helper()
	if err := n.Server.Deviate(names...); err != nil {
		n.sandbox.t.Fatalf("sandboxtest: %v", err)
	}
}

// Play begins a scenario, in the words of rin sandbox play: "429-then-ok", "503-twice:path=list:wait=5s".
func (n *Node) Play(text string) {
	n.sandbox.t.Helper()
	play, err := scenario.Parse(text)
	if err == nil {
		err = n.Server.Play(play)
	}
	if err != nil {
		n.sandbox.t.Fatalf("sandboxtest: %v", err)
	}
}
