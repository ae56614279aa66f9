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
		c.Seed += uint64(i)
		if i > 0 {
			c.Root = "/" + code(c.Member.ID)
			apart(&c)
		}
		nodes = append(nodes, c)
	}
	return nodes
}

// apart gives a node what it shares with no other one, where nothing was said of it.
func apart(c *sandbox.Config) {
	own := plain(c.Member.Acronym)
	if own == "" {
		own = code(c.Member.ID)
	}
	if c.Prefix == "" {
		c.Prefix = own
	}
	if c.Realm == "" {
		c.Realm = own
	}
	if c.Clients == nil {
		c.Clients = sandbox.DemoClients("-" + code(c.Member.ID))
	}
}

// code is a member id as a segment of paths, without the suffix of a test entry.
func code(id string) string {
	before, _, _ := strings.Cut(id, "_")
	if short := plain(before); short != "" {
		return short
	}
	return plain(id)
}

// plain is a name in lower case, of letters and digits alone.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}
