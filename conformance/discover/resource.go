package discover

import (
	"net/http"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
)

// Resource is something of the node that is asked with GET, under its name in the evidence.
type Resource struct {
	Name exchange.Resource
	URL  string
	// JSONType sends Content-Type: application/json with a request that has no content, as the interface document shows it for
	// the info endpoint (NET-R13).
	JSONType bool
	// Header are the fields that the document requires of each request, with sample values.
	Header []exchange.Field
}

// Get is a request without a token. It follows one redirect to the same origin.
func (r Resource) Get(c exchange.Case) record.Ask {
	ask := record.Ask{Label: r.Name.With(c), Method: http.MethodGet, URL: r.URL, FollowSameOrigin: true}
	if r.JSONType {
		ask.Header = append(ask.Header, exchange.Field{Name: "Content-Type", Value: "application/json"})
	}
	ask.Header = append(ask.Header, exchange.Field{Name: "Accept", Value: "application/json"})
	ask.Header = append(ask.Header, r.Header...)
	return ask
}

// GetWith is a request whose Authorization header is the value given; credential names the token in it, empty for none.
func (r Resource) GetWith(c exchange.Case, credential, authorization string) record.Ask {
	ask := r.Get(c)
	ask.Header = append([]exchange.Field{{Name: "Authorization", Value: authorization}}, ask.Header...)
	ask.Credential = credential
	return ask
}

// Authorized is the good request: "Bearer", one blank, the token (NET-R12).
func (r Resource) Authorized(c exchange.Case, token string) record.Ask {
	return r.GetWith(c, AccessToken, "Bearer "+token)
}

// RegistryRequest asks for the registry document.
func RegistryRequest(url string) record.Ask {
	return Resource{Name: exchange.Registry, URL: url}.Get(exchange.OK)
}
