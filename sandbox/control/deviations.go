package control

import (
	"net/http"
	"net/url"

	"github.com/rin-network/rin/sandbox"
)

// Deviations names those of one node, the outermost first.
type Deviations struct {
	Deviations []string `json:"deviations"`
}

func deviationRoutes(network *sandbox.Network) []route {
	return []route{
		{"PUT /nodes/{node}/deviations", func(r *http.Request) (any, error) {
			node, err := nodeOf(network, r)
			if err != nil {
				return nil, err
			}
			wanted, err := read[Deviations](r)
			if err != nil {
				return nil, err
			}
			if err := node.Deviate(wanted.Deviations...); err != nil {
				return nil, badRequest(err, "rin sandbox --deviations lists them")
			}
			return describe(node), nil
		}},
	}
}

// Deviate puts the named deviations in force at a node, in the place of all others.
func (c Client) Deviate(node string, names ...string) (Node, error) {
	return call[Node](c, http.MethodPut, "/nodes/"+url.PathEscape(node)+"/deviations", Deviations{Deviations: names})
}
