package auth

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/address"
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

// NewServer makes an authorization server that reads the given book of clients.
func NewServer(clients Clients, issuer *Issuer, places address.Map, log *slog.Logger) *Server {
	return &Server{clients: clients, issuer: issuer, places: places, log: log, tally: newTally()}
}

// grant is the successful answer of the token endpoint (RFC 6749 §5.1, NET-R11).
type grant struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in"`
	// Scope is present when the client asked for another scope than it gets (RFC 6749 §3.3).
	Scope string `json:"scope,omitempty"`
}

// Token is the token endpoint of the issuer whose path is given: "" for the staging endpoint, or the realm's
// (NET-R10). Both issuers share clients and keys; each names itself in its tokens, so that the metadata of either
// agrees with the tokens it gives.
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

// MethodNotAllowed answers methods other than POST at the token endpoint (RFC 6749 §3.2), in its error format. The
// caller has set the Allow header.
func (s *Server) MethodNotAllowed(w http.ResponseWriter, r *http.Request) {
	f := invalidRequest("the token endpoint takes POST only, with the form " + exampleForm + " in the body")
	f.status = http.StatusMethodNotAllowed
	f.write(w, r)
}

// Later answers a caller whose request is good at another time, with status 429 or 503. OAuth has no error code of its own for that; this
// one says that the same request is good later (RFC 6749 §4.1.2.1).
func (s *Server) Later(w http.ResponseWriter, r *http.Request, status int, description string) {
	refused := &refusal{status: status, code: "temporarily_unavailable", description: description}
	s.tally.refuse(refused.code)
	refused.write(w, r)
}

// WrongRealm answers requests below the path of a realm that does not exist, and names the one that does.
func (s *Server) WrongRealm(w http.ResponseWriter, r *http.Request) {
	f := invalidRequest("there is no such resource below /realms: the realm here is " + s.places.Realm +
		", its token endpoint is POST " + s.places.RealmToken())
	f.status = http.StatusNotFound
	f.write(w, r)
}

func (s *Server) exchange(w http.ResponseWriter, r *http.Request, issuerPath string) (grant, *refusal) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxFormBytes))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			f := invalidRequest("the body is larger than 32 KiB; a token request needs a few hundred bytes")
			f.status = http.StatusRequestEntityTooLarge
			return grant{}, f
		}
		return grant{}, invalidRequest("the body could not be read to its end")
	}
	request, refused := readTokenRequest(r.Header, r.URL.RawQuery, body, s.places.Realm)
	if refused != nil {
		return grant{}, refused
	}
	note := journal.Of(r.Context())
	note.Claim(request.clientID)
	note.Authenticate(request.secret)
	subject, audience, ok := s.clients.Authenticate(request.clientID, request.secret)
	if !ok {
		return grant{}, invalidClient("client_id and client_secret do not belong together; check for blanks and line ends around them, and that + and % are percent-encoded",
			request.basic, s.places.Realm)
	}
	note.Prove(request.clientID)
	origin := s.places.Origin(r)
	audience = audienceOf(r, audience)
	if audience == "" {
		audience = origin + s.places.API()
	}
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
