// Package spec makes and serves the OpenAPI document of the node (NET-R1, NET-R3, NET-R14): OpenAPI 3.0.3, as JSON,
// describing exactly what the sandbox serves. Go code composes it from small parts, so that the documents of the protected API,
// the try-out space and both ways of paging differ only where the service does.
package spec

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/funding"
)

// Description has all values that the document depends on.
type Description struct {
	// Places are the addresses of the space that the document describes: the protected API or the try-out space.
	Places address.Map
	// Origin is the base URL under which the reader sees the node.
	Origin string
	// TryOut reports that no token is needed.
	TryOut bool
	// Paging is the meaning of page[page].
	Paging funding.Paging
	// Errors is the shape of the errors.
	Errors content.ErrorShape
	// Limited reports that the node has a rate limit, so that each operation may be answered 429.
	Limited bool
	Samples
}

// Document makes the OpenAPI 3.0.3 document as indented JSON. Equal descriptions give equal bytes.
func Document(d Description) ([]byte, error) {
	relative := func(path string) string { return strings.TrimPrefix(path, d.Places.API()) }
	document := node{
		"openapi": "3.0.3",
		"info": node{
			"title":       "Funding API",
			"version":     "3.0",
			"description": d.introduction(),
			"license":     node{"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
		},
		"externalDocs": node{"description": "Reference with try-out", "url": d.Origin + d.Places.Docs()},
		"servers":      list{node{"url": d.Origin + d.Places.API()}},
		"tags": list{
			node{"name": "Info", "description": "Where the APIs of the node are."},
			node{"name": "Fundings", "description": "Calls, programmes and other fundings."},
			node{"name": "Documentation", "description": "This document."},
		},
		"paths": node{
			relative(d.Places.Info()):     node{"get": d.infoOperation()},
			relative(d.Places.Spec()):     node{"get": d.specOperation()},
			relative(d.Places.Fundings()): node{"get": d.listOperation()},
			relative(d.Places.Funding()):  node{"get": d.detailOperation()},
		},
		"components": d.components(),
	}
	if !d.TryOut {
		document["security"] = d.security()
	}
	encoded, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the OpenAPI document: %w", err)
	}
	return encoded, nil
}

func (d Description) introduction() string {
	if d.TryOut {
		return "Sample data without a token: the same operations as those of the protected API, below another base URL."
	}
	return "Fundings of a node of the research-information network. Fetch an access token with the client credentials grant " +
		"and send it as `Authorization: Bearer <access token>`. Reading fundings needs the role " + model.RoleExternalAPIClient +
		" and an affiliation ID, both set by the operator of the funding service."
}

func (d Description) components() node {
	components := node{"schemas": join(fundingSchemas(), valueSchemas(), nodeSchemas(), errorSchema(d.Errors))}
	if !d.TryOut {
		schemes := node{"bearer": node{"type": "http", "scheme": "bearer", "description": "An access token that you fetched yourself. This form alone is enough."}}
		for _, e := range d.Places.Endpoints() {
			where := "at the node's token endpoint"
			if e.Issuer == d.Places.RealmIssuer() {
				where = "at the token endpoint of the node's identity provider"
			}
			schemes[d.scheme(e)] = clientCredentials(where, d.Origin+e.Token)
		}
		components["securitySchemes"] = schemes
	}
	return components
}

// scheme returns the name of the security scheme of a token endpoint.
func (d Description) scheme(e address.Endpoint) string {
	if e.Issuer == d.Places.RealmIssuer() {
		return "realmClientCredentials"
	}
	return "clientCredentials"
}

// security returns the security requirements of the protected API: a token, from any of the token endpoints.
func (d Description) security() list {
	alternatives := list{node{"bearer": list{}}}
	for _, e := range d.Places.Endpoints() {
		alternatives = append(alternatives, node{d.scheme(e): list{}})
	}
	return alternatives
}

// clientCredentials returns the security scheme of a token endpoint (NET-R9). Both endpoints of a node know the same
// clients (NET-R10).
func clientCredentials(where, tokenURL string) node {
	return node{
		"type":        "oauth2",
		"description": "Fetches an access token with client ID and secret " + where + ". This form alone is enough.",
		"flows": node{"clientCredentials": node{
			"tokenUrl": tokenURL,
			"scopes":   node{auth.Scope: "Every token has this scope; clients need not request it."},
		}},
	}
}

// bodyBudget limits the bytes of cached documents; there is one for each origin that callers use.
const bodyBudget = 512 << 10

// Resource serves the document to everybody, with the addresses as the caller sees them. describe returns the description for a caller who sees
// the node at an origin.
func Resource(origin func(*http.Request) string, describe func(origin string) (Description, error)) http.Handler {
	cache := content.NewCache[string, *content.Body](bodyBudget)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seenAt := origin(r)
		body, err := cache.Get(seenAt, func() (*content.Body, error) {
			description, err := describe(seenAt)
			if err != nil {
				return nil, err
			}
			document, err := Document(description)
			if err != nil {
				return nil, err
			}
			return content.NewBody("application/json", document), nil
		})
		if err != nil {
			content.Internal().Write(w, r)
			return
		}
		body.Serve(w, r, content.OpenHeaders())
	})
}

// Samples are the examples of a document, as the node serves them. The document leaves out missing examples.
type Samples struct {
	// Info is an example of the info resource.
	Info model.Info
	// Call and Programme are records of these kinds.
	Call, Programme json.RawMessage
	// FundingID and FunderID are example values of the parameters id and funderId.
	FundingID, FunderID string
}

// infoExamples returns the examples of the info resource; nil without one.
func (s Samples) infoExamples() node {
	if s.Info.Endpoints == nil {
		return nil
	}
	return node{"node": node{"summary": "This node", "value": s.Info}}
}

// listExamples returns the examples of the list; nil without one.
func (s Samples) listExamples() node {
	if s.Call == nil || s.Programme == nil {
		return nil
	}
	return node{"page": node{"summary": "A page of two", "value": list{s.Call, s.Programme}}}
}

// detailExamples returns the examples of one funding; nil without one.
func (s Samples) detailExamples() node {
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
