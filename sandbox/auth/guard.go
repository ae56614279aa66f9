package auth

import (
	"context"
	"net/http"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/journal"
	"github.com/rin-network/rin/sandbox/problem"
)

// Guard stands before protected resources and lets only requests with a good access token pass.
type Guard struct {
	verifier *Verifier
	places   address.Map
}

// NewGuard makes a guard of the node's API.
func NewGuard(verifier *Verifier, places address.Map) *Guard {
	return &Guard{verifier: verifier, places: places}
}

type principalKey struct{}

// Caller returns the principal that a guard put into the context; ok is false for a request that passed no guard.
func Caller(ctx context.Context) (p Principal, ok bool) {
	p, ok = ctx.Value(principalKey{}).(Principal)
	return p, ok
}

// Protect refuses requests without a good token (RFC 6750 §3) and passes the others on with their Principal.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := readCredential(r.Header.Values("Authorization"))
		if c.token == "" {
			journal.Of(r.Context()).Refuse(journal.Refusal{Code: c.code, Detail: c.detail, Unreadable: len(r.Header.Values("Authorization")) > 0})
			g.refuse(w, r, c)
			return
		}
		principal, err := g.verifier.Verify(c.token, g.places.Origin(r)+g.places.API())
		if err != nil {
			g.refuse(w, r, credential{detail: err.Error(), hint: "fetch a new token", code: codeInvalidToken})
			return
		}
		journal.Of(r.Context()).Prove(principal.ClientID)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, principal)))
	})
}

// Identify tells whom the token of a request speaks for, if it has a good one.
func (g *Guard) Identify(r *http.Request) (Principal, bool) {
	c := readCredential(r.Header.Values("Authorization"))
	if c.token == "" {
		return Principal{}, false
	}
	principal, err := g.verifier.Verify(c.token, g.places.Origin(r)+g.places.API())
	return principal, err == nil
}

// Refuse answers 401 with the challenge invalid_token (RFC 6750 §3.1), as the guard does when the token is no good because of detail.
func (g *Guard) Refuse(w http.ResponseWriter, r *http.Request, detail string) {
	g.refuse(w, r, credential{detail: detail, hint: "fetch a new token", code: codeInvalidToken})
}

func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, c credential) {
	if r.URL.Query().Has("access_token") {
		c.hint += "; a token in the URL is not read"
	}
	journal.Of(r.Context()).Refuse(journal.Refusal{Code: c.code, Detail: c.detail})
	w.Header().Set("WWW-Authenticate", challenge(g.places.Realm, c.code, c.detail))
	if c.code == codeInvalidRequest {
		problem.BadRequest(c.detail, c.hint).Write(w, r)
		return
	}
	problem.Unauthorized(c.detail, c.hint+"; tokens are issued at POST "+g.places.Listed().Token).Write(w, r)
}

// Forbid answers an authenticated caller who lacks a privilege: 403 with the challenge insufficient_scope
// (RFC 6750 §3.1), as clients know it, although the privilege is a role.
func (g *Guard) Forbid(w http.ResponseWriter, r *http.Request, detail, hint string) {
	journal.Of(r.Context()).Refuse(journal.Refusal{Code: codeScope, Detail: detail})
	w.Header().Set("WWW-Authenticate", challenge(g.places.Realm, codeScope, detail))
	problem.Forbidden(detail, hint).Write(w, r)
}
