package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"
)

const (
	fundingAudience = "alp-funding"
	projectAudience = "alp-projects"
	stagingAudience = "alp-staging"
	role            = "EXTERNAL_API_CLIENT"
	tokenLifetime   = 75 * time.Second
	maxFailures     = 12
	failureWindow   = time.Minute
)

type client struct {
	ID, Secret, Account, Affiliation, Audience string
	Roles                                      []string
}

func (c *client) scope() string {
	if c.Audience == projectAudience {
		return "projects"
	}
	return "funding"
}

// realm is an authorization server: production or staging.
type realm struct {
	name, issuer string
	key          *ecdsa.PrivateKey
	kid          string
	clients      map[string]*client
	mu           sync.Mutex
	failures     map[string][]time.Time
}

func newRealm(name, issuer string, clients ...*client) *realm {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	r := &realm{name: name, issuer: issuer, key: key, kid: randomHex(6), clients: map[string]*client{}, failures: map[string][]time.Time{}}
	for _, c := range clients {
		r.clients[c.ID] = c
	}
	return r
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, err := rand.Read(b)
	must(err)
	return hex.EncodeToString(b)
}

type claims struct {
	jwt.RegisteredClaims
	ClientID    string              `json:"client_id"`
	Scope       string              `json:"scope"`
	Affiliation string              `json:"affiliation_id,omitempty"`
	RealmAccess map[string][]string `json:"realm_access"`
}

func (r *realm) issue(c *client, now time.Time) string {
	audience := jwt.ClaimStrings{c.Audience}
	typ := "at+jwt"
	if node == "gozero-oder" {
		jwt.TimePrecision = time.Millisecond
		audience, typ = jwt.ClaimStrings{"urn:example:statistik", c.Audience}, "application/at+jwt"
	}
	expires := now.Add(tokenLifetime)
	if node != "gozero-oder" { // whole seconds: iat rounded down, exp rounded up
		now = now.Truncate(time.Second)
		expires = expires.Add(time.Second - time.Nanosecond).Truncate(time.Second)
	}
	t := jwt.NewWithClaims(jwt.SigningMethodES256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    r.issuer,
			Subject:   c.Account,
			Audience:  audience,
			IssuedAt:  jwt.NewNumericDate(now),
			ExpiresAt: jwt.NewNumericDate(expires),
			ID:        randomHex(16),
		},
		ClientID:    c.ID,
		Scope:       c.scope(),
		Affiliation: c.Affiliation,
		RealmAccess: map[string][]string{"roles": c.Roles},
	})
	t.Header["typ"] = typ
	t.Header["kid"] = r.kid
	s, err := t.SignedString(r.key)
	must(err)
	return s
}

func (r *realm) verify(token, audience string) (*claims, error) {
	cl := &claims{}
	t, err := jwt.NewParser(
		jwt.WithValidMethods([]string{"ES256"}),
		jwt.WithIssuer(r.issuer),
		jwt.WithAudience(audience),
		jwt.WithExpirationRequired(),
		jwt.WithStrictDecoding(),
	).ParseWithClaims(token, cl, func(t *jwt.Token) (any, error) {
		if t.Header["kid"] != r.kid || (t.Header["typ"] != "at+jwt" && t.Header["typ"] != "application/at+jwt") {
			return nil, errors.New("unknown key or type")
		}
		return &r.key.PublicKey, nil
	})
	if err != nil || !t.Valid {
		return nil, fmt.Errorf("token: %w", err)
	}
	return cl, nil
}

// locked says for how long no more attempts are accepted for a client.
func (r *realm) locked(id string, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	recent := r.failures[id][:0]
	for _, t := range r.failures[id] {
		if now.Sub(t) < failureWindow {
			recent = append(recent, t)
		}
	}
	if len(recent) == 0 {
		delete(r.failures, id)
		return 0
	}
	r.failures[id] = recent
	if len(recent) < maxFailures {
		return 0
	}
	return failureWindow - now.Sub(recent[len(recent)-maxFailures])
}

func (r *realm) failed(id string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failures[id]) < maxFailures {
		r.failures[id] = append(r.failures[id], now)
	}
}

func (r *realm) succeeded(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.failures, id)
}

type oauthError struct {
	status      int
	code, descr string
	retryAfter  time.Duration
}

func badRequest(code, descr string) *oauthError {
	return &oauthError{status: http.StatusBadRequest, code: code, descr: descr}
}

func invalidClient(descr string) *oauthError {
	return &oauthError{status: http.StatusUnauthorized, code: "invalid_client", descr: descr}
}

func single(form url.Values, name string) (string, *oauthError) {
	switch v := form[name]; len(v) {
	case 0:
		return "", nil
	case 1:
		return v[0], nil
	}
	return "", badRequest("invalid_request", "A parameter is included more than once.")
}

// credentials returns what the client says who it is: RFC 6749, 2.3.1.
func credentials(req *http.Request, form url.Values) (string, string, *oauthError) {
	id, secret := form.Get("client_id"), form.Get("client_secret")
	headers := req.Header.Values("Authorization")
	if len(headers) == 0 {
		if id == "" || secret == "" {
			return "", "", invalidClient("Client authentication is missing.")
		}
		return id, secret, nil
	}
	if len(headers) > 1 {
		return "", "", badRequest("invalid_request", "More than one Authorization header.")
	}
	scheme, value, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", invalidClient("The authentication scheme is not supported.")
	}
	if secret != "" {
		return "", "", badRequest("invalid_request", "The client uses more than one method of authentication.")
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(value))
	if err != nil {
		return "", "", invalidClient("The Basic credentials are malformed.")
	}
	user, password, found := strings.Cut(string(raw), ":")
	user, err1 := url.QueryUnescape(user)
	password, err2 := url.QueryUnescape(password)
	if !found || err1 != nil || err2 != nil {
		return "", "", invalidClient("The Basic credentials are malformed.")
	}
	if id != "" && id != user {
		return "", "", badRequest("invalid_request", "client_id differs from the Basic credentials.")
	}
	return user, password, nil
}

func (r *realm) grant(w http.ResponseWriter, req *http.Request) (*client, *oauthError) {
	mt, params, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if err != nil || mt != "application/x-www-form-urlencoded" {
		return nil, badRequest("invalid_request", "The Content-Type must be application/x-www-form-urlencoded.")
	}
	if cs, ok := params["charset"]; ok && !strings.EqualFold(cs, "utf-8") {
		return nil, badRequest("invalid_request", "The charset must be UTF-8.")
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, badRequest("invalid_request", "The body cannot be read.")
	}
	form, err := parseForm(string(body))
	if err != nil {
		return nil, badRequest("invalid_request", "The body is malformed.")
	}
	for name, values := range form {
		for _, v := range append([]string{name}, values...) {
			if !utf8.ValidString(v) {
				return nil, badRequest("invalid_request", "The body is not UTF-8.")
			}
		}
	}
	for name := range form {
		if _, e := single(form, name); e != nil {
			return nil, e
		}
	}
	id, secret, e := credentials(req, form)
	if e != nil {
		return nil, e
	}
	now := time.Now()
	account := id
	if c := r.clients[id]; node == "gozero-traun" && c != nil {
		account = c.Affiliation
	}
	if wait := r.locked(account, now); wait > 0 {
		return nil, &oauthError{status: http.StatusTooManyRequests, code: "invalid_client", descr: "Too many wrong secrets for this client.", retryAfter: wait}
	}
	c := r.clients[id]
	if c == nil || subtle.ConstantTimeCompare([]byte(c.Secret), []byte(secret)) != 1 {
		if c != nil {
			r.failed(account, now)
		}
		return nil, invalidClient("Client id or secret is wrong.")
	}
	r.succeeded(account)
	switch form.Get("grant_type") {
	case "":
		return nil, badRequest("invalid_request", "grant_type is missing.")
	case "client_credentials":
	default:
		return nil, badRequest("unsupported_grant_type", "Only client_credentials is supported.")
	}
	for _, s := range strings.Split(form.Get("scope"), " ") {
		if s != "" && s != c.scope() {
			return nil, badRequest("invalid_scope", "The scope of this client is "+c.scope()+".")
		}
	}
	return c, nil
}

func (r *realm) tokenHandler(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	c, e := r.grant(w, req)
	if e != nil {
		if e.status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="`+r.name+`", charset="UTF-8"`)
		}
		if e.retryAfter > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(int(e.retryAfter/time.Second)+1))
		}
		writeJSON(w, e.status, "application/json", map[string]any{"error": e.code, "error_description": e.descr})
		return
	}
	token, left := r.issue(c, time.Now()), int(tokenLifetime/time.Second)
	if node == "gozero-mosel" {
		token, left = r.reuse(c, token)
	}
	writeJSON(w, http.StatusOK, "application/json", map[string]any{
		"access_token": token,
		"token_type":   "Bearer",
		"expires_in":   left,
		"scope":        c.scope(),
	})
}
