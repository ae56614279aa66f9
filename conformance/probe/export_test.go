package probe

import (
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// Scout returns the operation whose calls find out where operations are served: the list, or else one that needs no parameter.
func (n Node) Scout() (openapi.Operation, bool) {
	if len(n.sites) == 0 {
		return openapi.Operation{}, false
	}
	return n.sites[0].scout, n.sites[0].scoutable
}

// InFamily reports whether the row of a label has a family.
func InFamily(label evidence.Label) bool {
	c, _ := find(table(), label)
	return c.Family != ""
}
