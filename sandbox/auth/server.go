// Package auth is the node's authorization server and the guard of its protected resources.
//
// The authorization server authenticates clients (RFC 6749 §2.3.1), issues access tokens for the client credentials
// grant (§4.4, NET-R9, NET-R10) and publishes its keys and metadata (RFC 7517, RFC 8414). It knows the clients and their
// secrets; the funding service keeps roles and affiliations itself (NET-R17).
//
// The guard protects resources. It reads the bearer token (RFC 6750), verifies it and passes a Principal to the resource, which decides what the
// principal may do.
package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/journal"
)

// Server is the authorization server of the node.
type Server struct {
	clients Clients
	issuer  *Issuer
	places  address.Map
	log     *slog.Logger
	tally   *tally
}

// NewServer makes an authorization server for the given clients.
func NewServer(clients Clients, issuer *Issuer, places address.Map, log *slog.Logger) *Server {
	return &Server{clients: clients, issuer: issuer, places: places, log: log, tally: newTally()}
}

// grant is the successful answer of the token endpoint (RFC 6749 §5.1, NET-R11).
type grant struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in"`
	// Scope is present when the client requested another scope than it gets (RFC 6749 §3.3).
	Scope string `json:"scope,omitempty"`
}

// Token serves the token endpoint of the issuer at a path: "" for the staging endpoint, or the realm's path (NET-R10). Both issuers share
// clients and keys, but each puts its own URL into "iss", as its metadata says.
func (s *Server) Token(issuerPath string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, refused := s.exchange(w, r, issuerPath)
		if refused != nil {
			s.tally.refuse(refused.code)
			refused.write(w, r)
			return
		}
		s.tally.issued.Add(1)
		writeJSON(w, r, http.StatusOK, answer)
	})
}

// MethodNotAllowed answers methods other than POST at the token endpoint (RFC 6749 §3.2), in the error format of
// OAuth. The caller must have set the Allow header.
func (s *Server) MethodNotAllowed(w http.ResponseWriter, r *http.Request) {
	refused := invalidRequest("the token endpoint takes POST only, with the form " + exampleForm + " in the body")
	refused.status = http.StatusMethodNotAllowed
	refused.write(w, r)
}

// TemporarilyUnavailable refuses a valid request with status 429 or 503; the client may retry it. OAuth defines no error code for this at the token endpoint, so the
// answer uses temporarily_unavailable of the authorization endpoint (RFC 6749 §4.1.2.1).
func (s *Server) TemporarilyUnavailable(w http.ResponseWriter, r *http.Request, status int, description string) {
	refused := &refusal{status: status, code: "temporarily_unavailable", description: description}
	s.tally.refuse(refused.code)
	refused.write(w, r)
}

// WrongRealm answers requests for an unknown realm, and names the known one.
func (s *Server) WrongRealm(w http.ResponseWriter, r *http.Request) {
	refused := invalidRequest("there is no such resource below /realms: the realm here is " + s.places.Realm +
		", its token endpoint is POST " + s.places.RealmToken())
	refused.status = http.StatusNotFound
	refused.write(w, r)
}

// exchange reads a token request, authenticates the client and issues a token.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request, issuerPath string) (grant, *refusal) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxFormBytes))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			refused := invalidRequest("the body is larger than 32 KiB; a token request needs a few hundred bytes")
			refused.status = http.StatusRequestEntityTooLarge
			return grant{}, refused
		}
		return grant{}, invalidRequest("the body could not be read to its end")
	}
	request, refused := readTokenRequest(r.Header, r.URL.RawQuery, body, s.places.Realm)
	if refused != nil {
		return grant{}, refused
	}
	note := journal.FromContext(r.Context())
	note.Claim(request.clientID)
	note.Authenticate(request.secret)
	subject, audience, ok := s.clients.Authenticate(request.clientID, request.secret)
	if !ok {
		return grant{}, invalidClient("client_id and client_secret do not belong together; check for blanks and line ends around them, and that + and % are percent-encoded",
			request.basic, s.places.Realm)
	}
	note.Prove(request.clientID)
	origin := s.places.Origin(r)
	audience = cmp.Or(audienceOf(r, audience), origin+s.places.API())
	token, err := s.issuer.Issue(origin+issuerPath, audience, request.clientID, subject, Scope)
	if err != nil {
		s.log.Error("token not issued", "error", err)
		return grant{}, serverError()
	}
	note.Issue(token, s.issuer.now().Add(s.issuer.lifetime).Truncate(time.Second))
	answer := grant{AccessToken: token, TokenType: "Bearer", ExpiresIn: int64(s.issuer.lifetime / time.Second)}
	if wanted := strings.TrimSpace(request.scope); wanted != "" && wanted != Scope {
		answer.Scope = Scope
	}
	return answer, nil
}

// metadata describes an issuer (RFC 8414 §2). The last two fields are there because OpenID Connect Discovery 1.0 §3 requires them; this
// server issues no ID tokens.
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

// Metadata serves the metadata of the issuer at issuerPath, whose token endpoint is at tokenPath, without a token.
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

// Certs serves the JWK Set (RFC 7517 §5) with the public keys that verify the tokens.
func (s *Server) Certs(w http.ResponseWriter, r *http.Request) {
	keys, err := s.issuer.PublicKeys()
	if err != nil {
		s.log.Error("keys not available", "error", err)
		serverError().write(w, r)
		return
	}
	s.publish(w, r, keys)
}

// publish serves a document as JSON to everybody.
func (s *Server) publish(w http.ResponseWriter, r *http.Request, document any) {
	body, err := json.Marshal(document)
	if err != nil {
		s.log.Error("document not encoded", "error", err)
		serverError().write(w, r)
		return
	}
	content.NewBody("application/json", body).Serve(w, r, content.OpenHeaders())
}

// Tally counts the token requests to an authorization server since its start, by their outcome.
type Tally struct {
	Issued uint64
	// Refused counts the refused requests by their error code.
	Refused map[string]uint64
}

// tally has the counters of [Tally]. It needs no lock, because its map has a counter for each error code from the start.
type tally struct {
	issued  atomic.Uint64
	refused map[string]*atomic.Uint64 // its keys never change
}

func newTally() *tally {
	t := &tally{refused: map[string]*atomic.Uint64{}}
	for _, code := range []string{"invalid_request", "invalid_client", "unsupported_grant_type", "invalid_scope", "server_error", "temporarily_unavailable"} {
		t.refused[code] = &atomic.Uint64{}
	}
	return t
}

// refuse counts a refusal. It ignores a code that newTally does not list.
func (t *tally) refuse(code string) {
	if n, known := t.refused[code]; known {
		n.Add(1)
	}
}

// Tally returns the current counts.
func (s *Server) Tally() Tally {
	counts := Tally{Issued: s.tally.issued.Load(), Refused: map[string]uint64{}}
	for code, n := range s.tally.refused {
		counts.Refused[code] = n.Load()
	}
	return counts
}

type audienceKey struct{}

// ForAudience returns a copy of r for which the token endpoint issues a token for this audience instead of the client's own.
func ForAudience(r *http.Request, audience string) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), audienceKey{}, audience))
}

// audienceOf returns the audience of the token for r: that of [ForAudience], else the client's.
func audienceOf(r *http.Request, client string) string {
	if other, ok := r.Context().Value(audienceKey{}).(string); ok {
		return other
	}
	return client
}

// Clients is the list of the clients that the authorization server knows (NET-R16), as the token endpoint and the guard use it. It must be safe for
// concurrent use, and fast, because the guard uses it at each call.
type Clients interface {
	// Authenticate returns the service account and the audience of the client with this id and secret; an empty audience means the node's API.
	// It takes the same time whether the id or the secret is wrong.
	Authenticate(id, secret string) (subject, audience string, ok bool)
	// Registered reports whether the client is known, has this service account, and is not revoked.
	Registered(id, subject string) bool
}
