package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v3"
	"github.com/go-jose/go-jose/v3/jwt"
	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/storage"
	"golang.org/x/crypto/bcrypt"
)

const (
	fundingAudience = "urn:dnw:funding"
	projectAudience = "urn:dnw:project"
	fundingRole     = "EXTERNAL_API_CLIENT"
	fundingScope    = "funding.read"
	lifespan        = 90 * time.Second
)

// Account is a service account as the funding service knows it.
type Account struct {
	UserID      string
	Affiliation string
	Role        string
	ClientID    string
	Audience    string
}

type registered struct {
	id, secret string
	account    *Account
}

var prodClients = []registered{
	{"dnw-ext/9f41c7d2-5b", "RRNSMKQk0eN189HFFX&Hjwcm1q1ihjn=avzi6VyOOMzWMeRxPVr0N+aSR848aViej9LMSxoKpjjJ1a%7nSXul/wHVg", &Account{"svc-7c1de0a2", "AFF-0113", fundingRole, "", fundingAudience}},
	{"dnw-ext/1b80aa6e-2d", "ueQCt3pG1SHv6mHoL%IX0NzBjP0WByF+s8byNZv8qOyhaCoa9TTJK8ySJ0=6Cp0vteC4uGdxJWqCo:hfPaLJ3y93Mh", &Account{"svc-02b9f6c4", "AFF-0113", "", "", fundingAudience}},
	{"dnw-ext/e3076f15-c9", "i+2XPxluk5ZsFr6DtrIQmHHSAZhU8r1Zb16/Wc9J3x8C5OoC2LxeFxqXp&xH7hus9YQdC0An4xZ=swKcf72ngoRwef", &Account{"svc-55e81d90", "AFF-0207", fundingRole, "", projectAudience}},
	{"dnw-ext/47d2c08b-f6", "0kjhTISikS0GbMlZGkBeLcsLYuaWJRcuA6de0gPhsTmn8UVvn7YscRm09ZyHneoequKYPsJsIEdr1Iw%x+mSdRrgCcg", &Account{"svc-a90c3377", "AFF-0341", fundingRole, "", fundingAudience}},
}

var stagingClients = []registered{
	{"dnw-staging/6a55", "ZFSK9pnSoEpsRv70Xs3sa51Iyp2dkVIcVO63vevH&AKeNlgvybaipCQfVaxtJnVsw=pzycNoJEnlTLPt+6OsjjX9zS", &Account{"svc-stg-0001", "AFF-0113", fundingRole, "", fundingAudience}},
}

// secretHasher keeps client secrets. bcrypt reads 72 bytes at most, so the secret is digested before.
type secretHasher struct{ cost int }

func (h secretHasher) prepare(data []byte) []byte {
	if variant == "mux-long-secret" {
		if len(data) > 72 {
			data = data[:72]
		}
		return data
	}
	d := sha256.Sum256(data)
	return []byte(base64.StdEncoding.EncodeToString(d[:]))
}

func (h secretHasher) Compare(_ context.Context, hash, data []byte) error {
	return bcrypt.CompareHashAndPassword(hash, h.prepare(data))
}

func (h secretHasher) Hash(_ context.Context, data []byte) ([]byte, error) {
	return bcrypt.GenerateFromPassword(h.prepare(data), h.cost)
}

// jwtStrategy issues access tokens after RFC 9068.
type jwtStrategy struct {
	oauth2.CoreStrategy
	signer jose.Signer
	issuer string
}

type accessClaims struct {
	jwt.Claims
	ClientID    string `json:"client_id"`
	Scope       string `json:"scope"`
	Affiliation string `json:"affiliation_id"`
}

func (s *jwtStrategy) AccessTokenSignature(_ context.Context, token string) string {
	return token[strings.LastIndexByte(token, '.')+1:]
}

func (s *jwtStrategy) GenerateAccessToken(_ context.Context, r fosite.Requester) (string, string, error) {
	sess := r.GetSession().(*fosite.DefaultSession)
	now := time.Now()
	jti := make([]byte, 16)
	rand.Read(jti)
	c := accessClaims{Claims: jwt.Claims{Issuer: s.issuer, Subject: sess.Subject, Audience: jwt.Audience(r.GetGrantedAudience()),
		Expiry: jwt.NewNumericDate(sess.GetExpiresAt(fosite.AccessToken)), IssuedAt: jwt.NewNumericDate(now), ID: base64.RawURLEncoding.EncodeToString(jti)},
		ClientID: sess.Username, Scope: strings.Join(r.GetGrantedScopes(), " ")}
	c.Affiliation, _ = sess.Extra["affiliation_id"].(string)
	token, err := jwt.Signed(s.signer).Claims(c).CompactSerialize()
	return token, s.AccessTokenSignature(nil, token), err
}

func (s *jwtStrategy) ValidateAccessToken(_ context.Context, _ fosite.Requester, _ string) error {
	return nil
}

// authServer is one authorization server of the node.
type authServer struct {
	issuer   string
	provider fosite.OAuth2Provider
	key      *rsa.PrivateKey
	kid      string
	opaque   bool
	accounts map[string]*Account // by user id
	clients  map[string]*Account // by client id

	current *Account // only used by one variant

	mu     sync.Mutex
	issued map[string]issuedToken
}

type issuedToken struct {
	resp map[string]interface{}
	at   time.Time
}

func newAuthServer(issuer, kid string, clients []registered, opaque bool) *authServer {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	hasher := secretHasher{cost: 8}
	cfg := &fosite.Config{AccessTokenLifespan: lifespan, GlobalSecret: secret, ClientSecretsHasher: hasher, ScopeStrategy: fosite.ExactScopeStrategy}
	store := storage.NewMemoryStore()
	a := &authServer{issuer: issuer, key: key, kid: kid, opaque: opaque, accounts: map[string]*Account{}, clients: map[string]*Account{}, issued: map[string]issuedToken{}}
	for _, c := range clients {
		h, err := hasher.Hash(context.Background(), []byte(c.secret))
		if err != nil {
			panic(err)
		}
		c.account.ClientID = c.id
		a.accounts[c.account.UserID] = c.account
		a.clients[c.id] = c.account
		store.Clients[c.id] = &fosite.DefaultClient{ID: c.id, Secret: h, GrantTypes: []string{"client_credentials"}, Scopes: []string{fundingScope}, Audience: []string{c.account.Audience}}
	}
	hmac := compose.NewOAuth2HMACStrategy(cfg)
	var core oauth2.CoreStrategy = hmac
	if !opaque {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, (&jose.SignerOptions{}).WithType("at+jwt"))
		if err != nil {
			panic(err)
		}
		core = &jwtStrategy{CoreStrategy: hmac, signer: signer, issuer: issuer}
	}
	a.provider = compose.Compose(cfg, store, &compose.CommonStrategy{CoreStrategy: core}, compose.OAuth2ClientCredentialsGrantFactory, compose.OAuth2TokenIntrospectionFactory)
	return a
}

func tokenError(w http.ResponseWriter, status int, code, text string) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="token", charset="UTF-8"`)
	}
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": text})
}

func (a *authServer) token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if mt, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || mt != "application/x-www-form-urlencoded" {
		tokenError(w, 400, "invalid_request", "The body must be application/x-www-form-urlencoded.")
		return
	}
	if err := r.ParseForm(); err != nil {
		tokenError(w, 400, "invalid_request", "The body could not be read.")
		return
	}
	for _, v := range r.PostForm {
		if len(v) > 1 {
			tokenError(w, 400, "invalid_request", "A parameter is given more than once.")
			return
		}
	}
	if r.Header.Get("Authorization") != "" && r.PostForm.Get("client_secret") != "" {
		tokenError(w, 400, "invalid_request", "More than one way of client authentication is used.")
		return
	}
	if user, pass, ok := r.BasicAuth(); ok {
		_, err1 := url.QueryUnescape(user)
		_, err2 := url.QueryUnescape(pass)
		if err1 != nil || err2 != nil {
			tokenError(w, 401, "invalid_client", "The client credentials are not encoded as RFC 6749 says.")
			return
		}
	}
	switch r.PostForm.Get("grant_type") {
	case "":
		tokenError(w, 400, "invalid_request", "grant_type is missing.")
		return
	case "client_credentials":
	default:
		tokenError(w, 400, "unsupported_grant_type", "Only client_credentials is supported here.")
		return
	}
	if r.Header.Get("Authorization") == "" && r.PostForm.Get("client_id") == "" {
		tokenError(w, 401, "invalid_client", "Client authentication is missing.")
		return
	}
	ctx := r.Context()
	clientID := r.PostForm.Get("client_id")
	if user, _, ok := r.BasicAuth(); ok {
		clientID, _ = url.QueryUnescape(user)
	}
	if acc, ok := a.clients[clientID]; ok {
		a.current = acc
	}
	session := &fosite.DefaultSession{}
	ar, err := a.provider.NewAccessRequest(ctx, r, session)
	if err != nil {
		rfc := fosite.ErrorToRFC6749Error(err)
		status := rfc.CodeField
		if rfc.ErrorField == "invalid_client" {
			status = http.StatusUnauthorized
		}
		tokenError(w, status, rfc.ErrorField, rfc.GetDescription())
		return
	}
	acc := a.clients[ar.GetClient().GetID()]
	if variant == "mux-shared-account" {
		acc = a.current
	}
	if variant == "mux-renewed-token" {
		a.mu.Lock()
		old, ok := a.issued[acc.ClientID]
		a.mu.Unlock()
		if ok && time.Since(old.at) < lifespan*2/3 {
			writeToken(w, old.resp)
			return
		}
	}
	session.Subject, session.Username = acc.UserID, acc.ClientID
	session.Extra = map[string]interface{}{"affiliation_id": acc.Affiliation}
	session.SetExpiresAt(fosite.AccessToken, time.Now().UTC().Truncate(time.Second).Add(lifespan+time.Second))
	ar.GrantScope(fundingScope)
	ar.GrantAudience(acc.Audience)
	resp, err := a.provider.NewAccessResponse(ctx, ar)
	if err != nil {
		tokenError(w, 500, "server_error", "The token could not be issued.")
		return
	}
	out := resp.ToMap()
	out["expires_in"] = int64(lifespan / time.Second)
	a.mu.Lock()
	a.issued[acc.ClientID] = issuedToken{out, time.Now()}
	a.mu.Unlock()
	writeToken(w, out)
}

func writeToken(w http.ResponseWriter, out map[string]interface{}) {
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	json.NewEncoder(w).Encode(out)
}

func (a *authServer) certs(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: a.key.Public(), KeyID: a.kid, Algorithm: "RS256", Use: "sig"}}})
}

// metadata is the document of RFC 8414.
func (a *authServer) metadata(tokenURL, jwksURL string) map[string]interface{} {
	return map[string]interface{}{"issuer": a.issuer, "token_endpoint": tokenURL, "jwks_uri": jwksURL, "grant_types_supported": []string{"client_credentials"},
		"response_types_supported": []string{}, "scopes_supported": []string{fundingScope}, "token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"}}
}

var errToken = errors.New("the token is not valid here")

// verify answers the service account of an access token.
func (a *authServer) verify(ctx context.Context, token string) (*Account, error) {
	if a.opaque {
		_, ar, err := a.provider.IntrospectToken(ctx, token, fosite.AccessToken, &fosite.DefaultSession{})
		if err != nil || !ar.GetGrantedAudience().Has(fundingAudience) {
			return nil, errToken
		}
		if acc, ok := a.accounts[ar.GetSession().GetSubject()]; ok {
			return acc, nil
		}
		return nil, errToken
	}
	t, err := jwt.ParseSigned(token)
	if err != nil || len(t.Headers) != 1 || t.Headers[0].Algorithm != "RS256" || t.Headers[0].KeyID != a.kid {
		return nil, errToken
	}
	if typ, _ := t.Headers[0].ExtraHeaders[jose.HeaderType].(string); !strings.EqualFold(typ, "at+jwt") {
		return nil, errToken
	}
	var c accessClaims
	if err := t.Claims(a.key.Public(), &c); err != nil {
		return nil, errToken
	}
	if c.Expiry == nil || c.ValidateWithLeeway(jwt.Expected{Issuer: a.issuer, Audience: jwt.Audience{fundingAudience}, Time: time.Now()}, 0) != nil {
		return nil, errToken
	}
	if acc, ok := a.accounts[c.Subject]; ok {
		return acc, nil
	}
	return nil, errToken
}
