package setup

import (
	"strings"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/flavour"
	"github.com/rin-network/rin/sandbox/registry"
)

// MaxNodes is how many nodes a network may have.
const MaxNodes = 100

// Many makes n nodes of one: the first is at the root of the host, every other below a root named after its id, with a service prefix, a
// realm, clients and data of its own, and the flavours come in turn. What first has set is the same for all: prefix, realm,
// flavour, clients, and everything else but the seed, which counts up. A single node stays as it is.
func Many(first sandbox.Config, n int) []sandbox.Config {
	if n == 1 {
		return []sandbox.Config{first}
	}
	makes := flavour.All()
	nodes := make([]sandbox.Config, 0, n)
	for i := range n {
		c := first
		c.Member = registry.Invented(i)
		if first.Flavour.Name == "" {
			c.Flavour = makes[i%len(makes)]
		}
		if i > 0 {
			apart(&c, i)
		}
		nodes = append(nodes, c)
	}
	return nodes
}

// apart gives a node what it shares with no other one.
func apart(c *sandbox.Config, i int) {
	code, _, _ := strings.Cut(strings.ToLower(c.Member.ID), "_")
	own := strings.ToLower(c.Member.Acronym)
	c.Root = "/" + code
	c.Seed += uint64(i)
	if c.Prefix == "" {
		c.Prefix = own
	}
	if c.Realm == "" {
		c.Realm = own
	}
	if c.Clients == nil {
		c.Clients = sandbox.DemoClients("-" + code)
	}
}
