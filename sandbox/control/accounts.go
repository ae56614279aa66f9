package control

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/content"
)

// AccessRequest is what a party writes into the contact form of a node (NET-R18).
type AccessRequest struct {
	// ID, Received and ClientID are set by the node: the id and time of the request, and the client that was created for it.
	ID       string    `json:"id,omitempty"`
	Received time.Time `json:"asked,omitzero"`
	ClientID string    `json:"clientId,omitempty"`
	// Party asks for access, Contact is its address, and Purpose is why it needs access.
	Party   string `json:"party"`
	Contact string `json:"contact"`
	Purpose string `json:"purpose"`
}

func accessRoutes(network *sandbox.Network) []route {
	return []route{
		{"POST /nodes/{node}/requests", atNode(network, func(node *sandbox.Server, r *http.Request) (any, error) {
			form, err := read[AccessRequest](r)
			if err != nil {
				return nil, err
			}
			request, err := node.Books().RequestAccess(account.Request{Party: form.Party, Contact: form.Contact, Purpose: form.Purpose})
			return newAccessRequest(request), accountError(err)
		})},
	}
}

func newAccessRequest(r account.Request) AccessRequest {
	return AccessRequest{ID: r.ID, Received: r.Received, ClientID: r.Client, Party: r.Party, Contact: r.Contact, Purpose: r.Purpose}
}

// accountError describes why the books refused a change: a mistake of the caller, or a failure of the store with its cause.
func accountError(err error) error {
	var refusal *account.Refusal
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &refusal):
		p := content.Internal()
		p.Detail, p.Hint = err.Error(), "is the directory of --data writable, its file intact, and the disk not full?"
		return &problemError{p}
	case refusal.Kind == account.Unknown:
		return &problemError{content.NotFound(refusal.Detail, refusal.Hint)}
	case refusal.Kind == account.Conflict:
		return &problemError{content.Conflict(refusal.Detail, refusal.Hint)}
	}
	return &problemError{content.BadRequest(refusal.Detail, refusal.Hint)}
}

// RequestAccess sends a request for access to a node.
func (c Client) RequestAccess(node string, request AccessRequest) (AccessRequest, error) {
	return call[AccessRequest](c, http.MethodPost, "/nodes/"+url.PathEscape(node)+"/requests", request)
}

// Account is a client with its service account in the books of a node, without the secret.
type Account struct {
	ClientID string `json:"clientId"`
	Subject  string `json:"serviceAccountUserId"`
	// State is registered (it gets tokens), permitted (it reads fundings) or revoked.
	State string `json:"state"`
	// Role and Affiliation are the permissions of the account in the funding service.
	Role        string `json:"role,omitempty"`
	Affiliation string `json:"affiliationId,omitempty"`
	// Audience is the audience of the client's tokens; "" means the node's API.
	Audience string `json:"audience,omitempty"`
	// Request is the id of the request for which the client was created.
	Request string    `json:"request,omitempty"`
	Created time.Time `json:"created,omitzero"`
	Rotated time.Time `json:"rotated,omitzero"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// Accounts lists the accounts of a node, and the requests for access.
type Accounts struct {
	Node     string          `json:"node"`
	Accounts []Account       `json:"clients"`
	Requests []AccessRequest `json:"requests"`
}

// NewAccount is a client as the operator of the authorization server registers it.
type NewAccount struct {
	ClientID string `json:"clientId"`
	Audience string `json:"audience,omitempty"`
	// Request is the id of the request for which the client is created.
	Request string `json:"request,omitempty"`
}

// Permission is the permission that the operator of the funding service grants a service account (NET-R17).
type Permission struct {
	Role        string `json:"role"`
	Affiliation string `json:"affiliationId"`
}

// Credentials is what the requester of a client receives once (NET-R16, NET-R18).
type Credentials struct {
	Node     string `json:"node"`
	ClientID string `json:"clientId"`
	Secret   string `json:"clientSecret,omitempty"`
	Subject  string `json:"serviceAccountUserId"`
	TokenURL string `json:"tokenUrl"`
	// Request is the request for which the client was created; nil without one.
	Request *AccessRequest `json:"request,omitempty"`
}

func accountRoutes(network *sandbox.Network) []route {
	return []route{
		{"GET /nodes/{node}/clients", atNode(network, func(node *sandbox.Server, _ *http.Request) (any, error) {
			return accountsOf(node), nil
		})},
		{"POST /nodes/{node}/clients", atNode(network, func(node *sandbox.Server, r *http.Request) (any, error) {
			client, err := read[NewAccount](r)
			if err != nil {
				return nil, err
			}
			credentials, err := node.Books().Create(account.NewClient{ID: client.ClientID, Audience: client.Audience, Request: client.Request})
			return newCredentials(network, node, credentials), accountError(err)
		})},
		{"PUT /nodes/{node}/clients/{client}/permission", atNode(network, func(node *sandbox.Server, r *http.Request) (any, error) {
			p, err := read[Permission](r)
			if err != nil {
				return nil, err
			}
			entry, err := node.Books().Grant(r.PathValue("client"), account.Permission(p))
			return accountOf(entry), accountError(err)
		})},
		{"POST /nodes/{node}/clients/{client}/secret", atNode(network, func(node *sandbox.Server, r *http.Request) (any, error) {
			credentials, err := node.Books().Rotate(r.PathValue("client"))
			return newCredentials(network, node, credentials), accountError(err)
		})},
		{"DELETE /nodes/{node}/clients/{client}", atNode(network, func(node *sandbox.Server, r *http.Request) (any, error) {
			entry, err := node.Books().Revoke(r.PathValue("client"))
			return accountOf(entry), accountError(err)
		})},
	}
}

func accountsOf(node *sandbox.Server) Accounts {
	all := Accounts{Node: node.Member().ID, Accounts: []Account{}, Requests: []AccessRequest{}}
	for _, e := range node.Books().List() {
		all.Accounts = append(all.Accounts, accountOf(e))
	}
	for _, r := range node.Books().Requests() {
		all.Requests = append(all.Requests, newAccessRequest(r))
	}
	return all
}

func accountOf(e account.Entry) Account {
	return Account{
		ClientID: e.ID, Subject: e.Subject, State: string(e.State), Role: e.Role, Affiliation: e.Affiliation, Audience: e.Audience,
		Request: e.Request, Created: e.Created, Rotated: e.Rotated, Revoked: e.Revoked,
	}
}

// newCredentials makes the credentials of a client, with its token URL and the request for which it was created.
func newCredentials(network *sandbox.Network, node *sandbox.Server, credentials account.Credentials) Credentials {
	issued := Credentials{
		Node: node.Member().ID, ClientID: credentials.ID, Secret: credentials.Secret, Subject: credentials.Subject, TokenURL: node.Addresses(network.Origin()).ListedToken,
	}
	if entry, known := node.Books().Entry(credentials.ID); known {
		if request, known := node.Books().Request(entry.Request); known {
			answered := newAccessRequest(request)
			issued.Request = &answered
		}
	}
	return issued
}

func clientsPath(node string) string { return "/nodes/" + url.PathEscape(node) + "/clients" }

func clientPath(node, client string) string { return clientsPath(node) + "/" + url.PathEscape(client) }

// Accounts lists the clients of a node with their accounts, and the requests for access.
func (c Client) Accounts(node string) (Accounts, error) {
	return call[Accounts](c, http.MethodGet, clientsPath(node), nil)
}

// Create registers a client with the authorization server of a node.
func (c Client) Create(node string, client NewAccount) (Credentials, error) {
	return call[Credentials](c, http.MethodPost, clientsPath(node), client)
}

// Grant sets role and affiliation of a client's service account in the funding service of a node.
func (c Client) Grant(node, client string, p Permission) (Account, error) {
	return call[Account](c, http.MethodPut, clientPath(node, client)+"/permission", p)
}

// Rotate gives a client another secret.
func (c Client) Rotate(node, client string) (Credentials, error) {
	return call[Credentials](c, http.MethodPost, clientPath(node, client)+"/secret", nil)
}

// Revoke revokes a client and its tokens.
func (c Client) Revoke(node, client string) (Account, error) {
	return call[Account](c, http.MethodDelete, clientPath(node, client), nil)
}
