package spec

import (
	"encoding/json"

	"github.com/rin-network/rin/fixtures/model"
)

// Samples are the examples of a document, as the node serves them. What is missing is left out of the document.
type Samples struct {
	// Info is an example of the info resource.
	Info model.Info
	// Call and Programme are records of these kinds.
	Call, Programme json.RawMessage
	// FundingID and FunderID are example values of the parameters id and funderId.
	FundingID, FunderID string
}

func (s Samples) node() node {
	if s.Info.Endpoints == nil {
		return nil
	}
	return node{"node": node{"summary": "This node", "value": s.Info}}
}

func (s Samples) page() node {
	if s.Call == nil || s.Programme == nil {
		return nil
	}
	return node{"page": node{"summary": "A page of two", "value": list{s.Call, s.Programme}}}
}

func (s Samples) single() node {
	examples := node{}
	if s.Call != nil {
		examples["call"] = node{"summary": "A call", "value": s.Call}
	}
	if s.Programme != nil {
		examples["programme"] = node{"summary": "A programme", "value": s.Programme}
	}
	if len(examples) == 0 {
		return nil
	}
	return examples
}
