package auth

import (
	"context"
	"net/http"
	"strings"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/journal"
)

// Guard protects resources: it lets only requests with a valid access token pass.
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

// Protect refuses requests without a valid token (RFC 6750 §3), and passes the others on with their Principal, which [Caller] returns.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, fault := readBearerToken(r.Header.Values("Authorization"))
		if fault != nil {
			g.refuse(w, r, *fault)
			return
		}
		v := g.verify(r, token)
		if v.err != nil {
			g.Refuse(w, r, v.err.Error())
			return
		}
		journal.FromContext(r.Context()).Prove(v.principal.ClientID)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, v.principal)))
	})
}

// Identify returns the client and the account that the token of a request belongs to; ok is false without a valid token. The returned request
// carries the result, so that Protect does not verify the same token again.
func (g *Guard) Identify(r *http.Request) (p Principal, ok bool, verified *http.Request) {
	token, fault := readBearerToken(r.Header.Values("Authorization"))
	if fault != nil {
		return Principal{}, false, r
	}
	v := g.verify(r, token)
	return v.principal, v.err == nil, r.WithContext(context.WithValue(r.Context(), verificationKey{}, v))
}

// verification is the result of verifying a token.
type verification struct {
	input     verificationInput
	principal Principal
	err       error
}

// verificationInput is what the result of a verification depends on. The generation of keys is part of it, because keys may be rotated while a request
// is answered.
type verificationInput struct {
	verifier    *Verifier
	token, base string
	generation  uint64
}

type verificationKey struct{}

// verify verifies a token, unless the request already carries the result for the same input.
func (g *Guard) verify(r *http.Request, token string) verification {
	input := verificationInput{g.verifier, token, g.places.Origin(r) + g.places.API(), g.verifier.own.keyring.current.Load().number}
	if known, ok := r.Context().Value(verificationKey{}).(verification); ok && known.input == input {
		return known
	}
	principal, err := g.verifier.Verify(input.token, input.base)
	return verification{input, principal, err}
}

// Refuse answers 401 with the challenge invalid_token (RFC 6750 §3.1), as the guard does for an invalid token.
func (g *Guard) Refuse(w http.ResponseWriter, r *http.Request, detail string) {
	g.refuse(w, r, tokenFault{detail: detail, hint: "fetch a new token", code: codeInvalidToken})
}

// refuse answers 400 or 401 with a challenge that explains the fault.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, f tokenFault) {
	if r.URL.Query().Has("access_token") {
		f.hint += "; a token in the URL is not read"
	}
	journal.FromContext(r.Context()).Refuse(journal.Refusal{Code: f.code, Detail: f.detail, Unreadable: f.unreadable})
	w.Header().Set("WWW-Authenticate", challenge(g.places.Realm, f.code, f.detail))
	if f.code == codeInvalidRequest {
		content.BadRequest(f.detail, f.hint).Write(w, r)
		return
	}
	content.Unauthorized(f.detail, f.hint+"; tokens are issued at POST "+g.places.ListedEndpoint().Token).Write(w, r)
}

// Forbid answers an authenticated caller who lacks a privilege: 403 with the challenge insufficient_scope
// (RFC 6750 §3.1), because clients know it, although the missing privilege is a role and not a scope.
func (g *Guard) Forbid(w http.ResponseWriter, r *http.Request, detail, hint string) {
	journal.FromContext(r.Context()).Refuse(journal.Refusal{Code: codeScope, Detail: detail})
	w.Header().Set("WWW-Authenticate", challenge(g.places.Realm, codeScope, detail))
	content.Forbidden(detail, hint).Write(w, r)
}

// tokenFault says why a request has no valid token.
type tokenFault struct {
	// detail says what is wrong, hint how to correct it.
	detail, hint string
	// code is the error code for the challenge; empty when no bearer credential was presented at all
	// (RFC 6750 §3.1).
	code string
	// unreadable reports that the request has an Authorization header that holds no bearer token.
	unreadable bool
}

// The error codes of RFC 6750 §3.1.
const (
	codeInvalidRequest = "invalid_request"
	codeInvalidToken   = "invalid_token"
	codeScope          = "insufficient_scope"
)

const rightForm = "send the header 'Authorization: Bearer <access token>'"

// readBearerToken returns the token in the Authorization headers of a request, or what is wrong with them. The case of the scheme does not matter
// (RFC 9110 §11.1), nor does the number of blanks after it (RFC 6750 §2.1). The texts of a fault never quote the headers, which may hold secrets.
func readBearerToken(fields []string) (string, *tokenFault) {
	if len(fields) == 0 {
		return "", &tokenFault{detail: "the request has no access token", hint: rightForm}
	}
	token, fault := parseBearerToken(fields)
	if fault != nil {
		fault.unreadable = true
	}
	return token, fault
}

// parseBearerToken parses one or more Authorization headers.
func parseBearerToken(fields []string) (string, *tokenFault) {
	if len(fields) > 1 {
		return "", &tokenFault{detail: "the Authorization header is given more than once", hint: rightForm + " once", code: codeInvalidRequest}
	}
	value := strings.Trim(fields[0], " \t")
	scheme, rest, found := strings.Cut(value, " ")
	token := strings.Trim(rest, " \t")
	switch {
	case value == "":
		return "", &tokenFault{detail: "the Authorization header is empty", hint: rightForm}
	case !strings.EqualFold(scheme, "Bearer"):
		return "", schemeFault(scheme, found)
	case token == "":
		return "", &tokenFault{detail: "no access token follows the word Bearer", hint: rightForm, code: codeInvalidRequest}
	case len(token) > len("bearer ") && strings.EqualFold(token[:len("bearer ")], "bearer "):
		return "", &tokenFault{detail: "the word Bearer is there twice", hint: rightForm, code: codeInvalidToken}
	case !isToken68(token):
		return "", &tokenFault{detail: "the access token holds a character that no bearer token has",
			hint: "send the value of access_token as it was received, without quotes, blanks or line ends", code: codeInvalidToken}
	}
	return token, nil
}

// schemeFault explains a value that does not begin with Bearer; more reports that words follow the first one. A single word with the two dots of a
// JWT, or longer than any scheme, counts as a token without its scheme.
func schemeFault(scheme string, more bool) *tokenFault {
	switch {
	case !more && (strings.Count(scheme, ".") == 2 || len(scheme) > 32):
		return &tokenFault{detail: "the Authorization header holds a token without the word Bearer before it", hint: rightForm}
	case strings.EqualFold(scheme, "Basic"):
		return &tokenFault{detail: "client credentials do not open the API",
			hint: "exchange them for an access token at the token endpoint, then " + rightForm}
	}
	return &tokenFault{detail: "the Authorization header uses a scheme other than Bearer", hint: rightForm}
}

// isToken68 reports whether token has the syntax of a bearer token (RFC 6750 §2.1, b64token).
func isToken68(token string) bool {
	body := strings.TrimRight(token, "=")
	for _, c := range []byte(body) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("-._~+/", rune(c)) {
			return false
		}
	}
	return body != ""
}

// challenge formats a Bearer challenge (RFC 6750 §3). Without a code it has the realm only.
func challenge(realm, code, description string) string {
	value := "Bearer realm=" + quote(realm)
	if code != "" {
		value += ", error=" + quote(code) + ", error_description=" + quote(description)
	}
	return value
}
