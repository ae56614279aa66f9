package control

import (
	"net/http"
	"net/url"

	"github.com/rin-network/rin/sandbox"
)

// Health says that the sandbox is running.
type Health struct {
	Status string `json:"status"`
}

func healthRoutes() []route {
	return []route{{"GET /healthz", func(*http.Request) (any, error) { return Health{"ok"}, nil }}}
}

// Node is one node of the network.
type Node struct {
	// ID is the member id of the node in the registry.
	ID string `json:"id"`
	// Name is the name of the institution.
	Name string `json:"name"`
	// Preset is the name of its preset; "" without one.
	Preset string `json:"flavour,omitempty"`
	// Deviations are in force, the outermost first.
	Deviations []string `json:"deviations"`
	// Scenarios are running, in the order in which they see requests.
	Scenarios []Scenario `json:"scenarios"`
	// API is the API that the node serves from a document; nil without one.
	API *DescribedAPI `json:"api,omitempty"`
}

// Nodes lists all nodes, in the order of the configuration.
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
		{"GET /nodes/{node}", changeNode(network, func(*sandbox.Server, *http.Request) error { return nil })},
	}
}

func describe(n *sandbox.Server) Node {
	node := Node{ID: n.Member().ID, Name: n.Member().Name, Preset: n.Preset().Name, Deviations: n.Deviations(), Scenarios: runningScenarios(n), API: describeAPI(n)}
	if node.Deviations == nil {
		node.Deviations = []string{}
	}
	return node
}

// atNode makes the answer of a route whose path names a node.
func atNode(network *sandbox.Network, answer func(node *sandbox.Server, r *http.Request) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		node, err := nodeOf(network, r)
		if err != nil {
			return nil, err
		}
		return answer(node, r)
	}
}

// changeNode makes the answer of a route that changes a node and describes it afterwards.
func changeNode(network *sandbox.Network, change func(node *sandbox.Server, r *http.Request) error) func(*http.Request) (any, error) {
	return atNode(network, func(node *sandbox.Server, r *http.Request) (any, error) {
		if err := change(node, r); err != nil {
			return nil, err
		}
		return describe(node), nil
	})
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

// Node describes one node.
func (c Client) Node(id string) (Node, error) {
	return call[Node](c, http.MethodGet, "/nodes/"+url.PathEscape(id), nil)
}

// DescribedAPI is an API that a node serves from its OpenAPI document.
type DescribedAPI struct {
	// File is the file of the document.
	File string `json:"file"`
	// Operations counts the operations that are served. NotServed says which parts are not, and why.
	Operations int      `json:"operations"`
	NotServed  []string `json:"notServed,omitempty"`
	// Fault says why the newest version of the file is not served; an older one is served instead.
	Fault string `json:"fault,omitempty"`
}

// describeAPI returns the API that a node serves from a document, or nil.
func describeAPI(n *sandbox.Server) *DescribedAPI {
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
		{"POST /nodes/{node}/reset", changeNode(network, func(node *sandbox.Server, _ *http.Request) error {
			node.Reset()
			return nil
		})},
	}
}

// Reset restores the start of the network, its time included.
func (c Client) Reset() error {
	_, err := call[Health](c, http.MethodPost, "/reset", nil)
	return err
}

// ResetNode restores the start of one node. The time stays, because all nodes share it.
func (c Client) ResetNode(node string) (Node, error) {
	return call[Node](c, http.MethodPost, "/nodes/"+url.PathEscape(node)+"/reset", nil)
}
