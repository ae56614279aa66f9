package flavour

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/problem"
)

// Flavour is the make of a node. The zero value is a node of no make, which the registry lists under both its token endpoints.
type Flavour struct {
	// Name is what an operator types.
	Name string
	// Why says in one sentence what such a node is, and how clients notice.
	Why string
	// Grants says where tokens come from: /oauth/token, or the identity provider's realm (NET-R10).
	Grants address.Grants
	// Provider is the path of the identity provider, as in address.Map.
	Provider string
	// Tokens is the form of access tokens, unless the node's configuration has another.
	Tokens auth.Format
	// Dialect is how those are written that are JWTs.
	Dialect auth.Dialect
	// Errors is the form of the API's errors, unless the node's configuration has another.
	Errors problem.Shape
	// Warns lists the ids of the requirements that it earns a warning from, and nothing worse.
	Warns []string
	// Habits names benign deviations that such a node always has, the first outermost.
	Habits []string
}

// All lists the flavours, in the order in which the nodes of a network take them.
func All() []Flavour { return []Flavour{plain(), keycloak(), spring(), flask(), olderKeycloak()} }

// Names lists the names of the flavours.
func Names() []string {
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return names
}

// Find returns the flavour with the name. Its error lists those that there are.
func Find(name string) (Flavour, error) {
	for _, f := range All() {
		if f.Name == name {
			return f, nil
		}
	}
	return Flavour{}, fmt.Errorf("flavour %q is unknown: want one of %s", name, strings.Join(Names(), ", "))
}
