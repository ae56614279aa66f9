package control

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/problem"
)

// AccessRequest is what a party writes into the contact form of a node (NET-R18).
type AccessRequest struct {
	// ID, Asked and ClientID are the node's: the request's id, its time, and the client that answered it.
	ID       string    `json:"id,omitempty"`
	Asked    time.Time `json:"asked,omitzero"`
	ClientID string    `json:"clientId,omitempty"`
	// Party asks, Contact is where to reach it, Purpose what it wants the access for.
	Party   string `json:"party"`
	Contact string `json:"contact"`
	Purpose string `json:"purpose"`
}

func accessRoutes(network *sandbox.Network) []route {
	return []route{
		{"POST /nodes/{node}/requests", func(r *http.Request) (any, error) {
			node, err := nodeOf(network, r)
			if err != nil {
				return nil, err
			}
			asked, err := read[AccessRequest](r)
			if err != nil {
				return nil, err
			}
			request, err := node.Books().Ask(account.Request{Party: asked.Party, Contact: asked.Contact, Purpose: asked.Purpose})
			return accessRequest(request), stepFault(err)
		}},
	}
}

func accessRequest(r account.Request) AccessRequest {
	return AccessRequest{ID: r.ID, Asked: r.Asked, ClientID: r.Client, Party: r.Party, Contact: r.Contact, Purpose: r.Purpose}
}

// stepFault is why a step with the books could not be done: the caller's mistake, or the store's failure, whose cause the one who runs the
// sandbox needs to know.
func stepFault(err error) error {
	var refusal *account.Refusal
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &refusal):
		p := problem.Internal()
		p.Detail, p.Hint = err.Error(), "is the directory of --data writable, its file whole, and the disk not full?"
		return &fault{p}
	case refusal.Kind == account.Unknown:
		return &fault{problem.NotFound(refusal.Detail, refusal.Hint)}
	case refusal.Kind == account.Conflict:
		return &fault{problem.Conflict(refusal.Detail, refusal.Hint)}
	}
	return &fault{problem.BadRequest(refusal.Detail, refusal.Hint)}
}

// Ask sends a request for access to a node.
func (c Client) Ask(node string, request AccessRequest) (AccessRequest, error) {
	return call[AccessRequest](c, http.MethodPost, "/nodes/"+url.PathEscape(node)+"/requests", request)
}
