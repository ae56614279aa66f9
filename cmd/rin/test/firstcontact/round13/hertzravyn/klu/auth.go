package main

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/cloudwego/hertz/pkg/app"
)

const (
	tokenLife   = 70 * time.Second
	roleName    = "EXTERNAL_API_CLIENT"
	fundingAud  = "urn:klu:ris:funding"
	scopeRead   = "funding.read"
	maxFailures = 10
	failWindow  = 30 * time.Second
)

// account is an API client together with its service account.
type account struct {
	ID, Secret, User, Affiliation, Audience string
	Roles, Scopes                           []string
}

// realm is one authorization server: production and staging each have their own.
type realm struct {
	issuer  string
	kid     string
	key     *rsa.PrivateKey
	clients map[string]account

	mu       sync.Mutex
	failures map[string][]time.Time
	verified map[string]bool        // only for rowan
	issued   map[string]issuedToken // only for juniper
}

type issuedToken struct {
	token   string
	expires time.Time
}

type claims struct {
	Iss         string   `json:"iss"`
	Sub         string   `json:"sub"`
	Aud         string   `json:"aud"`
	ClientID    string   `json:"client_id"`
	Exp         int64    `json:"exp"`
	Iat         int64    `json:"iat"`
	Jti         string   `json:"jti"`
	Scope       string   `json:"scope,omitempty"`
	Roles       []string `json:"roles"`
	Affiliation string   `json:"affiliation"`
}

func newRealm(issuer, kid string, accounts ...account) *realm {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	r := &realm{issuer: issuer, kid: kid, key: key, clients: map[string]account{},
		failures: map[string][]time.Time{}, verified: map[string]bool{}, issued: map[string]issuedToken{}}
	for _, a := range accounts {
		r.clients[a.ID] = a
	}
	return r
}

var b64 = base64.RawURLEncoding.Strict()

func (r *realm) sign(c claims) string {
	head, _ := json.Marshal(map[string]string{"alg": "RS256", "typ": "at+jwt", "kid": r.kid})
	body, _ := json.Marshal(c)
	input := b64.EncodeToString(head) + "." + b64.EncodeToString(body)
	sum := sha256.Sum256([]byte(input))
	sig, err := rsa.SignPKCS1v15(rand.Reader, r.key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return input + "." + b64.EncodeToString(sig)
}

// verify checks a token as RFC 9068, section 4 asks. The answer is nil if anything is wrong with it.
func (r *realm) verify(token, audience string) *claims {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	rawHead, err1 := b64.DecodeString(parts[0])
	rawBody, err2 := b64.DecodeString(parts[1])
	sig, err3 := b64.DecodeString(parts[2])
	if err1 != nil || err2 != nil || err3 != nil {
		return nil
	}
	var head map[string]any
	if json.Unmarshal(rawHead, &head) != nil || head["alg"] != "RS256" || head["kid"] != r.kid {
		return nil
	}
	if typ, _ := head["typ"].(string); !strings.EqualFold(typ, "at+jwt") && !strings.EqualFold(typ, "application/at+jwt") {
		return nil
	}
	if _, critical := head["crit"]; critical {
		return nil
	}
	if !r.signatureKnown(parts[2]) {
		sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
		if rsa.VerifyPKCS1v15(&r.key.PublicKey, crypto.SHA256, sum[:], sig) != nil {
			return nil
		}
		r.rememberSignature(parts[2])
	}
	var c claims
	if json.Unmarshal(rawBody, &c) != nil || c.Iss != r.issuer || c.Aud != audience {
		return nil
	}
	if now := time.Now(); now.Unix() >= c.Exp || c.Iat > now.Unix()+5 {
		return nil
	}
	if _, active := r.clients[c.ClientID]; !active {
		return nil
	}
	return &c
}

func (r *realm) signatureKnown(sig string) bool {
	if node == "rowan" { // RSA is slow: what was verified once is not verified again
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.verified[sig]
	}
	return false
}

func (r *realm) rememberSignature(sig string) {
	if node == "rowan" {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.verified[sig] = true
	}
}

// locked says how long a client has to wait after too many wrong secrets.
func (r *realm) locked(id string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	recent := slices.DeleteFunc(r.failures[id], func(t time.Time) bool { return time.Since(t) > failWindow })
	if len(recent) == 0 {
		delete(r.failures, id)
		return 0
	}
	r.failures[id] = recent
	if len(recent) < maxFailures {
		return 0
	}
	return failWindow - time.Since(recent[len(recent)-maxFailures])
}

func (r *realm) failed(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failures) > 10000 {
		clear(r.failures)
	}
	r.failures[id] = append(r.failures[id], time.Now())
}

// oauthError is the error answer of RFC 6749, section 5.2.
func oauthError(c *app.RequestContext, status int, code, text string) {
	if status == 401 {
		c.Header("WWW-Authenticate", `Basic realm="klu-clients", charset="UTF-8"`)
	}
	writeJSON(c, status, "application/json", map[string]string{"error": code, "error_description": text})
}

func (r *realm) tokenEndpoint(_ context.Context, c *app.RequestContext) {
	c.Header("Cache-Control", "no-store")
	c.Header("Pragma", "no-cache")
	media, _, err := mime.ParseMediaType(string(c.GetHeader("Content-Type")))
	if err != nil || media != "application/x-www-form-urlencoded" {
		oauthError(c, 400, "invalid_request", "the request body must be application/x-www-form-urlencoded")
		return
	}
	form, err := url.ParseQuery(string(c.Request.Body()))
	if err != nil {
		oauthError(c, 400, "invalid_request", "the request body is not well-formed")
		return
	}
	for name, values := range form {
		if len(values) > 1 {
			oauthError(c, 400, "invalid_request", "a parameter is repeated")
			return
		}
		if !utf8.ValidString(name) || !utf8.ValidString(values[0]) {
			oauthError(c, 400, "invalid_request", "the request body is not UTF-8")
			return
		}
	}
	// a parameter without a value counts as omitted: Get gives "" for both
	grant, id, secret := form.Get("grant_type"), form.Get("client_id"), form.Get("client_secret")
	if grant == "" {
		oauthError(c, 400, "invalid_request", "grant_type is missing")
		return
	}
	bodyID := id
	headers := c.Request.Header.GetAll("Authorization")
	if len(headers) > 1 {
		oauthError(c, 400, "invalid_request", "more than one Authorization header")
		return
	}
	if len(headers) == 1 {
		if secret != "" {
			oauthError(c, 400, "invalid_request", "more than one way of client authentication")
			return
		}
		basicID, basicSecret, ok := parseBasic(headers[0])
		if !ok {
			oauthError(c, 401, "invalid_client", "client authentication failed")
			return
		}
		if id != "" && id != basicID && node != "alder" {
			oauthError(c, 400, "invalid_request", "client_id differs from the Authorization header")
			return
		}
		id, secret = basicID, basicSecret
	}
	if id == "" || secret == "" {
		oauthError(c, 401, "invalid_client", "client authentication failed")
		return
	}
	if wait := r.locked(id); wait > 0 {
		c.Header("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		oauthError(c, 429, "invalid_client", "too many failed attempts")
		return
	}
	client, known := r.clients[id]
	want, got := sha256.Sum256([]byte(client.Secret)), sha256.Sum256([]byte(secret))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 || !known {
		r.failed(id)
		oauthError(c, 401, "invalid_client", "client authentication failed")
		return
	}
	if grant != "client_credentials" {
		oauthError(c, 400, "unsupported_grant_type", "only client_credentials is supported")
		return
	}
	if other, ok := r.clients[bodyID]; ok && node == "alder" { // the form says whose token is wanted
		client = other
	}
	scopes := client.Scopes
	roles := client.Roles
	if asked := form.Get("scope"); asked != "" {
		scopes = strings.Split(asked, " ")
		for _, s := range scopes {
			if node == "sorb" && s == scopeRead { // the scope that was asked for brings its role along
				roles = []string{roleName}
				continue
			}
			if !slices.Contains(client.Scopes, s) {
				oauthError(c, 400, "invalid_scope", "the client may not have this scope")
				return
			}
		}
	}
	now := time.Now()
	life, token := tokenLife, ""
	if node == "juniper" { // one token a client and scope; it is handed out again until half its life is over
		r.mu.Lock()
		defer r.mu.Unlock()
		if t := r.issued[client.ID+" "+strings.Join(scopes, " ")]; time.Until(t.expires) > tokenLife/2 {
			token, life = t.token, t.expires.Sub(now)
		}
	}
	if token == "" {
		jti := make([]byte, 18)
		rand.Read(jti)
		token = r.sign(claims{Iss: r.issuer, Sub: client.User, Aud: client.Audience, ClientID: client.ID,
			Iat: now.Unix(), Exp: now.Add(tokenLife).Unix(), Jti: b64.EncodeToString(jti),
			Scope: strings.Join(scopes, " "), Roles: roles, Affiliation: client.Affiliation})
		if node == "juniper" {
			r.issued[client.ID+" "+strings.Join(scopes, " ")] = issuedToken{token, time.Unix(now.Unix(), 0).Add(tokenLife)}
		}
	}
	answer := map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(life / time.Second)}
	if len(scopes) > 0 {
		answer["scope"] = strings.Join(scopes, " ")
	}
	writeJSON(c, 200, "application/json", answer)
}

// parseBasic reads HTTP Basic; id and secret are form-encoded before (RFC 6749, section 2.3.1).
func parseBasic(header string) (id, secret string, ok bool) {
	scheme, rest, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimLeft(rest, " "))
	if err != nil {
		return "", "", false
	}
	u, p, found := strings.Cut(string(raw), ":")
	id, err1 := url.QueryUnescape(u)
	secret, err2 := url.QueryUnescape(p)
	return id, secret, found && err1 == nil && err2 == nil && utf8.ValidString(id)
}

func (r *realm) jwks(_ context.Context, c *app.RequestContext) {
	c.Header("Cache-Control", "public, max-age=60")
	pub := r.key.PublicKey
	writeJSON(c, 200, "application/json", map[string]any{"keys": []any{map[string]string{"kty": "RSA", "use": "sig", "alg": "RS256",
		"kid": r.kid, "n": b64.EncodeToString(pub.N.Bytes()), "e": b64.EncodeToString(big.NewInt(int64(pub.E)).Bytes())}}})
}

// authenticate is the middleware of everything that wants a token of this realm.
func (r *realm) authenticate(audience string) app.HandlerFunc {
	return func(ctx context.Context, c *app.RequestContext) {
		headers := c.Request.Header.GetAll("Authorization")
		if len(headers) > 1 {
			c.Header("WWW-Authenticate", `Bearer realm="klu-ris", error="invalid_request", error_description="more than one Authorization header"`)
			problem(c, 400, "invalid-request", "The request has more than one Authorization header.")
			return
		}
		if len(headers) == 0 {
			c.Header("WWW-Authenticate", `Bearer realm="klu-ris"`)
			problem(c, 401, "no-token", "An access token is needed.")
			return
		}
		scheme, token, _ := strings.Cut(headers[0], " ")
		if !strings.EqualFold(scheme, "Bearer") {
			c.Header("WWW-Authenticate", `Bearer realm="klu-ris"`)
			problem(c, 401, "no-token", "An access token is needed.")
			return
		}
		who := r.verify(strings.Trim(token, " "), audience)
		if who == nil {
			c.Header("WWW-Authenticate", `Bearer realm="klu-ris", error="invalid_token", error_description="the token is expired, malformed or not meant for this service"`)
			problem(c, 401, "invalid-token", "The access token is expired, malformed or not meant for this service.")
			return
		}
		c.Set("who", who)
		c.Next(ctx)
	}
}

// requireRole lets only tokens with the scope through, of service accounts that have the role in the funding service.
func requireRole(ctx context.Context, c *app.RequestContext) {
	who := c.MustGet("who").(*claims)
	if node == "hazel" && strings.Contains(string(c.GetHeader("Accept")), "text/csv") { // the export has its own button, and only staff see it
		c.Next(ctx)
		return
	}
	if !slices.Contains(who.Roles, roleName) {
		if node == "yew" {
			problem(c, 404, "not-found", "There is nothing under this address.")
			return
		}
		c.Header("WWW-Authenticate", `Bearer realm="klu-ris", error="insufficient_scope", error_description="the role EXTERNAL_API_CLIENT is missing"`)
		problem(c, 403, "role-missing", "The service account does not have the role EXTERNAL_API_CLIENT.")
		return
	}
	if !slices.Contains(strings.Split(who.Scope, " "), scopeRead) {
		c.Header("WWW-Authenticate", `Bearer realm="klu-ris", error="insufficient_scope", scope="funding.read"`)
		problem(c, 403, "scope-missing", "The access token does not have the scope funding.read.")
		return
	}
	c.Next(ctx)
}
