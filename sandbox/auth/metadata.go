package auth

import (
	"encoding/json"
	"net/http"

	"github.com/rin-network/rin/sandbox/representation"
)

// metadata describes an issuer (RFC 8414 §2). The last two members are what OpenID Connect Discovery 1.0 §3 asks for
// beside them; this server issues no ID tokens.
type metadata struct {
	Issuer                   string   `json:"issuer"`
	TokenEndpoint            string   `json:"token_endpoint"`
	JWKSURI                  string   `json:"jwks_uri"`
	GrantTypes               []string `json:"grant_types_supported"`
	ResponseTypes            []string `json:"response_types_supported"`
	TokenEndpointAuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	Scopes                   []string `json:"scopes_supported"`
	SubjectTypes             []string `json:"subject_types_supported"`
	IDTokenAlgorithms        []string `json:"id_token_signing_alg_values_supported"`
}

// Metadata serves the metadata of the issuer at issuerPath, whose token endpoint is at tokenPath; no token is needed.
func (s *Server) Metadata(issuerPath, tokenPath string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := s.places.Origin(r)
		s.publish(w, r, metadata{
			Issuer:                   origin + issuerPath,
			TokenEndpoint:            origin + tokenPath,
			JWKSURI:                  origin + s.places.Certs(),
			GrantTypes:               []string{"client_credentials"},
			ResponseTypes:            []string{},
			TokenEndpointAuthMethods: []string{"client_secret_post", "client_secret_basic"},
			Scopes:                   []string{Scope},
			SubjectTypes:             []string{"public"},
			IDTokenAlgorithms:        []string{"RS256"},
		})
	})
}

// Certs serves the JWK Set with the public key of the tokens (RFC 7517 §5).
func (s *Server) Certs(w http.ResponseWriter, r *http.Request) {
	keys, err := s.issuer.Published()
	if err != nil {
		s.log.Error("keys not available", "error", err)
		serverError().write(w, r)
		return
	}
	s.publish(w, r, keys)
}

func (s *Server) publish(w http.ResponseWriter, r *http.Request, document any) {
	body, err := json.Marshal(document)
	if err != nil {
		s.log.Error("document not encoded", "error", err)
		serverError().write(w, r)
		return
	}
	representation.New("application/json", body).Serve(w, r, representation.Open())
}
