package control

import (
	"net/http"
	"net/url"

	"github.com/rin-network/rin/sandbox"
)

// Health says that the sandbox serves.
type Health struct {
	Status string `json:"status"`
}

func healthRoutes() []route {
	return []route{{"GET /healthz", func(*http.Request) (any, error) { return Health{"ok"}, nil }}}
}

// Node is one node of the network.
type Node struct {
	// ID is its member id in the registry.
	ID string `json:"id"`
	// Name is the institution's.
	Name string `json:"name"`
	// Flavour is its make; empty for none.
	Flavour string `json:"flavour,omitempty"`
	// Deviations are in force, the outermost first.
	Deviations []string `json:"deviations"`
	// Scenarios are on, in the order in which they see requests.
	Scenarios []Scenario `json:"scenarios"`
	// API is one that it serves from a document; nil for none.
	API *DescribedAPI `json:"api,omitempty"`
}

// Nodes are all nodes, in the order of the configuration.
type Nodes struct {
	Nodes []Node `json:"nodes"`
}

func nodeRoutes(network *sandbox.Network) []route {
	return []route{
		{"GET /nodes", func(*http.Request) (any, error) {
			all := Nodes{Nodes: []Node{}}
			for _, n := range network.Nodes() {
				all.Nodes = append(all.Nodes, describe(n))
			}
			return all, nil
		}},
		{"GET /nodes/{node}", func(r *http.Request) (any, error) {
			node, err := nodeOf(network, r)
			if err != nil {
				return nil, err
			}
			return describe(node), nil
		}},
	}
}

func describe(n *sandbox.Server) Node {
	node := Node{ID: n.Member().ID, Name: n.Member().Name, Flavour: n.Flavour().Name, Deviations: n.Deviations(), Scenarios: playing(n), API: describing(n)}
	if node.Deviations == nil {
		node.Deviations = []string{}
	}
	return node
}

// nodeOf finds the node that the path names.
func nodeOf(network *sandbox.Network, r *http.Request) (*sandbox.Server, error) {
	for _, n := range network.Nodes() {
		if n.Member().ID == r.PathValue("node") {
			return n, nil
		}
	}
	return nil, notFound("the network has no node with this id", "GET /nodes lists them")
}

// Nodes lists the nodes.
func (c Client) Nodes() (Nodes, error) { return call[Nodes](c, http.MethodGet, "/nodes", nil) }

// Node tells of one node.
func (c Client) Node(id string) (Node, error) {
	return call[Node](c, http.MethodGet, "/nodes/"+url.PathEscape(id), nil)
}

// DescribedAPI is an API that a node serves from its OpenAPI document.
type DescribedAPI struct {
	// File is the document.
	File string `json:"file"`
	// Operations counts those that are served; NotServed says which parts are not, and why.
	Operations int      `json:"operations"`
	NotServed  []string `json:"notServed,omitempty"`
	// Fault says why the newest version of the file is not served, but the one before it.
	Fault string `json:"fault,omitempty"`
}

// describing is the API that a node serves from a document; nil for none.
func describing(n *sandbox.Server) *DescribedAPI {
	api := n.API("")
	if api.File == "" {
		return nil
	}
	return &DescribedAPI{File: api.File, Operations: api.Operations, NotServed: api.NotServed, Fault: api.Fault}
}

func resetRoutes(network *sandbox.Network) []route {
	return []route{
		{"POST /reset", func(*http.Request) (any, error) {
			network.Reset()
			return Health{"ok"}, nil
		}},
		{"POST /nodes/{node}/reset", func(r *http.Request) (any, error) {
			node, err := nodeOf(network, r)
			if err != nil {
				return nil, err
			}
			node.Reset()
			return describe(node), nil
		}},
	}
}

// Reset puts the network back to its start, the time too.
func (c Client) Reset() error {
	_, err := call[Health](c, http.MethodPost, "/reset", nil)
	return err
}

// ResetNode puts one node back to its start; the time, which is that of all, stays.
func (c Client) ResetNode(node string) (Node, error) {
	return call[Node](c, http.MethodPost, "/nodes/"+url.PathEscape(node)+"/reset", nil)
}
