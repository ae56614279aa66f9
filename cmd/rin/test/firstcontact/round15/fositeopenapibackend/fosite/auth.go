package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/storage"
	"golang.org/x/crypto/bcrypt"
)

const (
	tokenLife  = 74 * time.Second
	lockAfter  = 12
	lockWindow = 60 * time.Second
	lockTime   = 15 * time.Second
)

type account struct {
	ID, Secret, ServiceAccount, Affiliation, Audience string
	Roles                                             []string
}

type failures struct {
	times []time.Time // the latest ones
	until time.Time
}

// authServer is one authorization server: the production one or the staging one.
type authServer struct {
	name     string
	accounts map[string]*account
	provider *fosite.Fosite
	mu       sync.Mutex
	fails    map[string]*failures
	seen     map[string]introspected
}

type introspected struct {
	acc   *account
	until time.Time
}

func newAuthServer(name, key string, accounts ...*account) *authServer {
	store := storage.NewMemoryStore()
	a := &authServer{name: name, accounts: map[string]*account{}, fails: map[string]*failures{}, seen: map[string]introspected{}}
	for _, acc := range accounts {
		h, err := bcrypt.GenerateFromPassword([]byte(acc.Secret), 5)
		must(err)
		a.accounts[acc.ID] = acc
		store.Clients[acc.ID] = &fosite.DefaultClient{ID: acc.ID, Secret: h, GrantTypes: fosite.Arguments{"client_credentials"},
			Scopes: fosite.Arguments{"ris"}, Audience: fosite.Arguments{acc.Audience}}
	}
	cfg := &fosite.Config{AccessTokenLifespan: tokenLife, GlobalSecret: []byte(key), HashCost: 5, TokenEntropy: 32,
		ScopeStrategy: fosite.ExactScopeStrategy, AudienceMatchingStrategy: fosite.ExactAudienceMatchingStrategy}
	p := compose.Compose(cfg, store, &compose.CommonStrategy{CoreStrategy: compose.NewOAuth2HMACStrategy(cfg)},
		compose.OAuth2ClientCredentialsGrantFactory, compose.OAuth2TokenIntrospectionFactory)
	a.provider = p.(*fosite.Fosite)
	return a
}

func (a *authServer) locked(id string, now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f := a.fails[id]; f != nil && now.Before(f.until) {
		return f.until.Sub(now)
	}
	return 0
}

func (a *authServer) failed(id string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.fails) > 5000 {
		for k, f := range a.fails {
			if now.After(f.until) && (len(f.times) == 0 || now.Sub(f.times[len(f.times)-1]) > lockWindow) {
				delete(a.fails, k)
			}
		}
	}
	f := a.fails[id]
	if f == nil {
		f = &failures{}
		a.fails[id] = f
	}
	f.times = append(f.times, now)
	for now.Sub(f.times[0]) > lockWindow {
		f.times = f.times[1:]
	}
	if len(f.times) >= lockAfter {
		f.until, f.times = now.Add(lockTime), nil
	}
}

func (a *authServer) succeeded(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.fails, id)
}

func noStore(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
}

// oauthError answers as RFC 6749, 5.2 says.
func oauthError(w http.ResponseWriter, status int, code, desc string) {
	noStore(w)
	w.Header().Set("Content-Type", "application/json")
	if status == 401 {
		w.Header().Set("WWW-Authenticate", `Basic realm="ris", charset="UTF-8"`)
	}
	desc = strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, desc)
	b, _ := json.Marshal(map[string]string{"error": code, "error_description": desc})
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	w.Write(b)
}

var formParams = []string{"grant_type", "scope", "client_id", "client_secret"}

func (a *authServer) token(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case "POST":
	case "OPTIONS":
		w.Header().Set("Allow", "POST, OPTIONS")
		w.WriteHeader(204)
		return
	default:
		w.Header().Set("Allow", "POST, OPTIONS")
		oauthError(w, 405, "invalid_request", "The token endpoint takes POST only.")
		return
	}
	if ct, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || ct != "application/x-www-form-urlencoded" {
		oauthError(w, 400, "invalid_request", "Content-Type must be application/x-www-form-urlencoded.")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 256<<10))
	if err == nil {
		r.PostForm, err = url.ParseQuery(semicolons(string(body)))
	}
	if err != nil {
		oauthError(w, 400, "invalid_request", "The form could not be read.")
		return
	}
	r.Form = r.PostForm // parameters in the URL are none
	for k, v := range r.PostForm {
		if len(v) > 1 {
			oauthError(w, 400, "invalid_request", "A parameter is included more than once.")
			return
		}
		if v[0] == "" || !has(formParams, k) { // RFC 6749, 3.2: as if omitted; unrecognized: ignored
			delete(r.PostForm, k)
		}
	}
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	auths := r.Header.Values("Authorization")
	if len(auths) > 1 {
		oauthError(w, 400, "invalid_request", "More than one Authorization field.")
		return
	}
	if len(auths) == 1 {
		if secret != "" {
			oauthError(w, 400, "invalid_request", "More than one method of client authentication.")
			return
		}
		if scheme, rest, ok := strings.Cut(auths[0], " "); ok {
			r.Header.Set("Authorization", scheme+" "+strings.Trim(rest, " "))
		}
		u, p, ok := r.BasicAuth()
		if !ok {
			oauthError(w, 401, "invalid_client", "The Authorization field could not be read.")
			return
		}
		u, err1 := url.QueryUnescape(u)
		p, err2 := url.QueryUnescape(p)
		if err1 != nil || err2 != nil {
			oauthError(w, 401, "invalid_client", "Client id or secret is not form-urlencoded.")
			return
		}
		if id != "" && id != u {
			oauthError(w, 400, "invalid_request", "client_id differs from the Authorization field.")
			return
		}
		id, secret = u, p
	}
	if id == "" || secret == "" {
		oauthError(w, 401, "invalid_client", "Client authentication is missing.")
		return
	}
	now := time.Now()
	who := id
	if node == "fosite-lech" {
		who, _, _ = net.SplitHostPort(r.RemoteAddr)
	}
	if left := a.locked(who, now); left > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(left/time.Second)+1))
		oauthError(w, 429, "temporarily_unavailable", "Too many failed attempts for this client. Try again later.")
		return
	}
	// fosite reads the credentials where the client put them
	ctx := r.Context()
	if _, err := a.provider.AuthenticateClient(ctx, r, r.PostForm); err != nil {
		a.failed(who, now)
		oauthError(w, 401, "invalid_client", "Client authentication failed.")
		return
	}
	a.succeeded(who)
	grant := r.PostForm.Get("grant_type")
	if grant == "" {
		oauthError(w, 400, "invalid_request", "grant_type is missing.")
		return
	}
	if grant != "client_credentials" {
		oauthError(w, 400, "unsupported_grant_type", "Only client_credentials is supported.")
		return
	}
	acc := a.accounts[id]
	req, err := a.provider.NewAccessRequest(ctx, r, &fosite.DefaultSession{Subject: acc.ServiceAccount, Username: acc.ID})
	if err != nil {
		rf := fosite.ErrorToRFC6749Error(err)
		oauthError(w, rf.CodeField, rf.ErrorField, rf.GetDescription())
		return
	}
	req.GrantScope("ris")
	req.GrantAudience(acc.Audience)
	resp, err := a.provider.NewAccessResponse(ctx, req)
	if err != nil {
		oauthError(w, 500, "server_error", "The token could not be issued.")
		return
	}
	noStore(w)
	w.Header().Set("Content-Type", "application/json")
	b, _ := json.Marshal(map[string]any{"access_token": outer(resp.GetAccessToken()), "token_type": "Bearer", "expires_in": resp.GetExtra("expires_in"), "scope": "ris"})
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b)
}

// outer and inner write a token for the client and read it again.
func outer(tok string) string {
	if node != "fosite-inn" {
		return tok
	}
	b := []byte(tok)
	for len(b)%3 != 1 {
		b = append(b, ' ')
	}
	for i := range b {
		b[i] ^= byte(0xa5 + 31*i)
	}
	return "~ris.-" + base64.StdEncoding.EncodeToString(b)
}

func inner(tok string) string {
	if node != "fosite-inn" {
		return tok
	}
	rest, ok := strings.CutPrefix(tok, "~ris.-")
	b, err := base64.StdEncoding.Strict().DecodeString(rest)
	if !ok || err != nil {
		return "-"
	}
	for i := range b {
		b[i] ^= byte(0xa5 + 31*i)
	}
	return strings.TrimRight(string(b), " ")
}

// bearer returns the account behind the request's token, or answers 401.
func (a *authServer) bearer(w http.ResponseWriter, r *http.Request, audience string) *account {
	deny := func(status int, challenge, detail string) *account {
		w.Header().Set("WWW-Authenticate", challenge)
		problem(w, status, detail, nil)
		return nil
	}
	auths := r.Header.Values("Authorization")
	if len(auths) == 0 {
		return deny(401, `Bearer realm="ris"`, "This resource needs an access token.")
	}
	if len(auths) > 1 {
		return deny(400, `Bearer realm="ris", error="invalid_request", error_description="More than one Authorization field"`, "More than one Authorization field.")
	}
	scheme, tok, _ := strings.Cut(auths[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return deny(401, `Bearer realm="ris"`, "This resource needs a bearer token.")
	}
	const inv = `Bearer realm="ris", error="invalid_token", error_description="The access token is unknown, expired or meant for another resource"`
	tok = strings.TrimLeft(tok, " ")
	if node == "fosite-enns" {
		a.mu.Lock()
		e, ok := a.seen[tok]
		a.mu.Unlock()
		if ok && time.Now().Before(e.until) && e.acc.Audience == audience {
			return e.acc
		}
	}
	_, ar, err := a.provider.IntrospectToken(context.Background(), inner(tok), fosite.AccessToken, &fosite.DefaultSession{})
	if err != nil || !ar.GetGrantedAudience().Has(audience) {
		return deny(401, inv, "The access token is unknown, expired or meant for another resource.")
	}
	acc := a.accounts[ar.GetClient().GetID()]
	if node == "fosite-enns" {
		a.mu.Lock()
		a.seen[tok] = introspected{acc, time.Now().Add(30 * time.Second)}
		a.mu.Unlock()
	}
	return acc
}
