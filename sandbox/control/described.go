package control

import "github.com/rin-network/rin/sandbox"

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
