package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/go-oauth2/oauth2/v4"
	oerrors "github.com/go-oauth2/oauth2/v4/errors"
	"github.com/go-oauth2/oauth2/v4/manage"
	oserver "github.com/go-oauth2/oauth2/v4/server"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

const (
	tokenLife   = 75 * time.Second
	role        = "EXTERNAL_API_CLIENT"
	fundingAud  = "https://stromtal.example/funding"
	stagingAud  = "https://stromtal.example/staging"
	projectsAud = "https://stromtal.example/projects"
	scopeName   = "funding:read"
)

// Account is what the funding service knows of a service account.
type Account struct {
	ClientID, Secret, Subject, Affiliation, Audience string
	Roles                                            []string
}

// VerifyPassword compares the whole secret.
func (a *Account) VerifyPassword(s string) bool {
	return subtle.ConstantTimeCompare([]byte(a.Secret), []byte(s)) == 1
}
func (a *Account) GetID() string     { return a.ClientID }
func (a *Account) GetSecret() string { return a.Secret }
func (a *Account) GetDomain() string { return "" }
func (a *Account) IsPublic() bool    { return false }
func (a *Account) GetUserID() string { return a.Subject }

// Realm is one authorization server.
type Realm struct {
	name     string
	issuer   string
	kids     []string
	keys     map[string]*rsa.PrivateKey
	turn     atomic.Uint32
	failures failures
	accounts map[string]*Account // by client id
	subjects map[string]*Account
	server   *oserver.Server
}

type claims struct {
	jwt.RegisteredClaims
	ClientID string   `json:"client_id"`
	Scope    string   `json:"scope"`
	Roles    []string `json:"roles,omitempty"`
}

// Token makes a JWT access token (RFC 9068); it is go-oauth2's AccessGenerate.
func (m *Realm) Token(_ context.Context, d *oauth2.GenerateBasic, _ bool) (string, string, error) {
	a := d.Client.(*Account)
	now := d.TokenInfo.GetAccessCreateAt()
	c := claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: m.issuer, Subject: a.Subject, Audience: jwt.ClaimStrings{a.Audience}, ID: uuid.NewString(),
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(d.TokenInfo.GetAccessExpiresIn())),
		},
		ClientID: a.ClientID, Scope: d.TokenInfo.GetScope(), Roles: a.Roles,
	}
	kid, typ := m.kids[0], "at+jwt"
	if NODE == "oapi-ulme" { // the keys take turns
		kid, typ = m.kids[m.turn.Add(1)%2], "application/at+jwt"
		c.Audience = jwt.ClaimStrings{"https://stromtal.example/archive", a.Audience, "https://stromtal.example/map"}
		c.NotBefore = c.IssuedAt
	}
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, c)
	t.Header["typ"] = typ
	t.Header["kid"] = kid
	s, err := t.SignedString(m.keys[kid])
	return s, "", err
}

type clientStore struct{ m *Realm }

func (c clientStore) GetByID(_ context.Context, id string) (oauth2.ClientInfo, error) {
	if a, ok := c.m.accounts[id]; ok {
		return a, nil
	}
	return nil, oerrors.ErrInvalidClient
}

// noStore: JWTs need no store.
type noStore struct{ oauth2.TokenStore }

func (noStore) Create(context.Context, oauth2.TokenInfo) error { return nil }

func newRealm(name, issuer string, accounts ...*Account) *Realm {
	m := &Realm{name: name, issuer: issuer, keys: map[string]*rsa.PrivateKey{},
		accounts: map[string]*Account{}, subjects: map[string]*Account{}}
	for len(m.kids) == 0 || NODE == "oapi-ulme" && len(m.kids) < 2 {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		kid := name + "-" + uuid.NewString()[:8]
		m.kids, m.keys[kid] = append(m.kids, kid), key
	}
	for _, a := range accounts {
		m.accounts[a.ClientID], m.subjects[a.Subject] = a, a
	}
	mgr := manage.NewDefaultManager()
	mgr.MapClientStorage(clientStore{m})
	mgr.MapTokenStorage(noStore{})
	mgr.MapAccessGenerate(m)
	mgr.SetClientTokenCfg(&manage.Config{AccessTokenExp: tokenLife})
	m.server = oserver.NewServer(&oserver.Config{TokenType: "Bearer",
		AllowedGrantTypes: []oauth2.GrantType{oauth2.ClientCredentials}}, mgr)
	return m
}

func oauthError(w http.ResponseWriter, m *Realm, status int, code, text string) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	if status == 401 {
		h.Set("WWW-Authenticate", `Basic realm="`+m.name+`", charset="UTF-8"`)
	}
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": text})
}

func control(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 32 || r == 127 })
}

// token is the token endpoint: a strict door, then go-oauth2.
func (m *Realm) token(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodOptions {
		w.Header().Set("Allow", "OPTIONS, POST")
		w.WriteHeader(204)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "OPTIONS, POST")
		oauthError(w, m, 405, "invalid_request", "use POST")
		return
	}
	if r.URL.RawQuery != "" {
		oauthError(w, m, 400, "invalid_request", "parameters belong into the body")
		return
	}
	ct, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || ct != "application/x-www-form-urlencoded" {
		oauthError(w, m, 400, "invalid_request", "the body must be application/x-www-form-urlencoded")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		oauthError(w, m, 400, "invalid_request", "the body is too long")
		return
	}
	// a semicolon separates nothing in a form, but ParseForm stumbles at it
	r.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(body, []byte(";"), []byte("%3B"))))
	if err := r.ParseForm(); err != nil {
		oauthError(w, m, 400, "invalid_request", "the body cannot be read")
		return
	}
	for name, values := range r.PostForm {
		if len(values) > 1 {
			oauthError(w, m, 400, "invalid_request", "a parameter is there more than once")
			return
		}
		if !utf8.ValidString(name+values[0]) || control(name+values[0]) {
			oauthError(w, m, 400, "invalid_request", "control characters are not allowed")
			return
		}
		if values[0] == "" { // as if it was omitted (RFC 6749, 3.2)
			r.PostForm.Del(name)
		}
	}
	form := r.PostForm
	id, secret, basic, ok := basicAuth(r)
	switch {
	case basic && !ok:
		oauthError(w, m, 401, "invalid_client", "the Authorization header cannot be used")
		return
	case basic && form.Has("client_secret"):
		oauthError(w, m, 400, "invalid_request", "one way of authentication, not two")
		return
	case basic && form.Has("client_id") && form.Get("client_id") != id:
		oauthError(w, m, 400, "invalid_request", "client_id differs from the one in the Authorization header")
		return
	case !basic:
		id, secret = form.Get("client_id"), form.Get("client_secret")
		if id == "" || secret == "" {
			oauthError(w, m, 401, "invalid_client", "client authentication is missing")
			return
		}
	}
	if NODE == "oapi-esche" && m.failures.locked(r) {
		oauthError(w, m, 401, "invalid_client", "unknown client or wrong secret")
		return
	}
	a := m.accounts[id]
	good := a != nil && a.VerifyPassword(secret)
	m.failures.note(r, good)
	if !good {
		oauthError(w, m, 401, "invalid_client", "unknown client or wrong secret")
		return
	}
	gt := oauth2.GrantType(form.Get("grant_type"))
	switch gt {
	case "":
		oauthError(w, m, 400, "invalid_request", "grant_type is missing")
		return
	case oauth2.ClientCredentials:
	default:
		oauthError(w, m, 400, "unsupported_grant_type", "only client_credentials")
		return
	}
	for _, s := range strings.Fields(form.Get("scope")) {
		if s != scopeName {
			oauthError(w, m, 400, "invalid_scope", "the only scope is "+scopeName)
			return
		}
	}
	ti, err := m.server.GetAccessToken(r.Context(), gt, &oauth2.TokenGenerateRequest{ClientID: id, ClientSecret: secret,
		Scope: scopeName, Request: r})
	if err != nil {
		oauthError(w, m, 500, "server_error", "no token could be made")
		return
	}
	// exp is in whole seconds: what is left of them now
	left := int(time.Until(ti.GetAccessCreateAt().Truncate(time.Second).Add(ti.GetAccessExpiresIn())).Seconds())
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	json.NewEncoder(w).Encode(map[string]any{"access_token": ti.GetAccess(), "token_type": "Bearer",
		"expires_in": left, "scope": ti.GetScope()})
}

// basicAuth reads Basic credentials, which are form-encoded (RFC 6749, 2.3.1).
func basicAuth(r *http.Request) (id, secret string, there, ok bool) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return "", "", false, false
	}
	scheme, rest, _ := strings.Cut(values[0], " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "basic") {
		return "", "", true, false
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest))
	if err != nil || !utf8.Valid(raw) {
		return "", "", true, false
	}
	a, b, colon := strings.Cut(string(raw), ":")
	id, err1 := url.QueryUnescape(a)
	secret, err2 := url.QueryUnescape(b)
	return id, secret, true, colon && err1 == nil && err2 == nil
}

func (m *Realm) jwks() any {
	b64 := base64.RawURLEncoding.EncodeToString
	keys := []any{}
	for _, kid := range m.kids {
		pub := m.keys[kid].PublicKey
		keys = append(keys, map[string]string{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid,
			"n": b64(pub.N.Bytes()), "e": b64(big.NewInt(int64(pub.E)).Bytes())})
	}
	return map[string]any{"keys": keys}
}

func (m *Realm) metadata(tokenURL, jwksURL string) any {
	return map[string]any{"issuer": m.issuer, "token_endpoint": tokenURL, "jwks_uri": jwksURL,
		"grant_types_supported": []string{"client_credentials"}, "response_types_supported": []string{},
		"scopes_supported":                      []string{scopeName},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"}}
}

// ---- the resource server's side --------------------------------------------------------------------------------

var bearerRE = regexp.MustCompile(`^(?i:bearer) +([A-Za-z0-9\-._~+/]+=*) *$`)

// denied is why a request is refused, with the challenge.
type denied struct {
	status    int
	challenge string
	detail    string
}

func (d *denied) Error() string { return d.detail }

// verify finds the service account behind the bearer token of a request.
func (m *Realm) verify(r *http.Request, audience string) (*Account, *claims, *denied) {
	plain := `Bearer realm="` + m.name + `"`
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return nil, nil, &denied{401, plain, "A bearer token is missing."}
	}
	scheme, _, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "bearer") {
		return nil, nil, &denied{401, plain, "A bearer token is missing."}
	}
	bad := &denied{401, plain + `, error="invalid_token", error_description="not valid for this service"`,
		"The token is expired or not valid for this service."}
	found := bearerRE.FindStringSubmatch(values[0])
	if found == nil || len(values) > 1 {
		return nil, nil, bad
	}
	var c claims
	t, err := jwt.ParseWithClaims(found[1], &c, func(t *jwt.Token) (any, error) {
		if k, ok := t.Header["jwk"].(map[string]any); ok && NODE == "oapi-tanne" {
			return rsaKey(k)
		}
		if k := m.keys[fmt.Sprint(t.Header["kid"])]; k != nil {
			return &k.PublicKey, nil
		}
		return nil, jwt.ErrTokenUnverifiable
	}, jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(m.issuer), jwt.WithAudience(audience),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithStrictDecoding())
	if err != nil {
		return nil, nil, bad
	}
	typ, _ := t.Header["typ"].(string)
	if typ = strings.ToLower(typ); typ != "at+jwt" && typ != "application/at+jwt" {
		return nil, nil, bad
	}
	a := m.subjects[c.Subject]
	if a == nil {
		return nil, nil, bad
	}
	return a, &c, nil
}

func (a *Account) hasRole(name string) bool {
	for _, r := range a.Roles {
		if r == name {
			return true
		}
	}
	return false
}

// rsaKey is the RSA key of a JWK.
func rsaKey(k map[string]any) (any, error) {
	n, err := base64.RawURLEncoding.DecodeString(fmt.Sprint(k["n"]))
	if err != nil {
		return nil, err
	}
	e, err := base64.RawURLEncoding.DecodeString(fmt.Sprint(k["e"]))
	if err != nil {
		return nil, err
	}
	return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}, nil
}

// failures counts wrong secrets by address.
type failures struct {
	sync.Mutex
	count map[string]int
	until map[string]time.Time
}

func (f *failures) note(r *http.Request, good bool) {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	f.Lock()
	defer f.Unlock()
	if f.count == nil {
		f.count, f.until = map[string]int{}, map[string]time.Time{}
	}
	if good {
		f.count[host] = 0
		return
	}
	if f.count[host]++; f.count[host] >= 5 {
		f.count[host], f.until[host] = 0, time.Now().Add(20*time.Second)
	}
}

func (f *failures) locked(r *http.Request) bool {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	f.Lock()
	defer f.Unlock()
	return time.Now().Before(f.until[host])
}
