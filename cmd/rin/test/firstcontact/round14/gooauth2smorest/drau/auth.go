package main

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-oauth2/oauth2/v4"
	"github.com/go-oauth2/oauth2/v4/errors"
	"github.com/go-oauth2/oauth2/v4/manage"
	"github.com/go-oauth2/oauth2/v4/models"
	"github.com/go-oauth2/oauth2/v4/server"
	"github.com/go-oauth2/oauth2/v4/store"
)

const (
	tokenLife   = 70 * time.Second
	scopeRead   = "fundings.read"
	role        = "EXTERNAL_API_CLIENT"
	maxFailures = 20 // wrong secrets of one client within failWindow …
	failWindow  = time.Minute
	lockTime    = 30 * time.Second // … close its account for this time
)

// account is an API client together with its service account.
type account struct {
	id, secret  string
	userID      string
	audience    string // the API its tokens are for
	affiliation string
	roles       []string
	hash        []byte
}

// environment is one authorization server: production and staging share nothing.
type environment struct {
	name, tokenPath, revokePath string
	accounts                    []*account
	byUser, byClient            map[string]*account
	srv                         *server.Server
	manager                     *manage.Manager

	mu      sync.Mutex
	failed  map[string][]time.Time
	locked  map[string]time.Time
	current *account                    // the client of the current token request
	seen    map[string]seenToken        // tokens that were found good
	issued  map[string]oauth2.TokenInfo // the last token of each client
}

type seenToken struct {
	who   *account
	ti    oauth2.TokenInfo
	until time.Time
}

var production = &environment{
	name:       "production",
	tokenPath:  "/realms/ris/protocol/openid-connect/token",
	revokePath: "/realms/ris/protocol/openid-connect/revoke",
	accounts: []*account{
		{id: "thk-import", secret: `Dr4u+Z=9/kQ%2B&w:~Lm!7xTe`, userID: "sa-1001", audience: "funding", affiliation: "AFF-0017", roles: []string{role}},
		{id: "thk-gast", secret: `G&st!n:41~pV%/hY+0=sRq`, userID: "sa-1002", audience: "funding", affiliation: "AFF-0017"},
		{id: "thk-projekte", secret: `Pr0j~=kt%E/5:f!Zu+&oN8`, userID: "sa-1003", audience: "projects", affiliation: "AFF-0020", roles: []string{role}},
		{id: "thk-reserve", secret: `R3s:e!rve~%41=Jb/&+cX2`, userID: "sa-1004", audience: "funding", affiliation: "AFF-0031", roles: []string{role}},
	},
}

var staging = &environment{
	name:       "staging",
	tokenPath:  "/thk-staging/oauth/token",
	revokePath: "/thk-staging/oauth/revoke",
	accounts: []*account{
		{id: "thk-probe", secret: `Pr+be%3A~7/=q&L!w:9vBk`, userID: "st-0001", audience: "funding", affiliation: "AFF-TEST", roles: []string{role}},
	},
}

var pepper = []byte(rand.Text())

func hashSecret(secret string) []byte {
	// HMAC fills its key up with zeros, so that a secret with NULs at the end would be the same: hence the digest
	digest := sha256.Sum256([]byte(secret))
	h, err := pbkdf2.Key(sha256.New, string(digest[:]), pepper, 12000, 32)
	if err != nil {
		log.Fatal(err)
	}
	return h
}

// opaque makes access tokens: 256 random bits.
type opaque struct{}

func (opaque) Token(context.Context, *oauth2.GenerateBasic, bool) (string, string, error) {
	b := make([]byte, 32)
	rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b), "", nil
}

func (e *environment) open() {
	e.failed, e.locked = map[string][]time.Time{}, map[string]time.Time{}
	e.byUser, e.byClient = map[string]*account{}, map[string]*account{}
	e.seen, e.issued = map[string]seenToken{}, map[string]oauth2.TokenInfo{}
	clients := store.NewClientStore()
	for _, a := range e.accounts {
		a.hash = hashSecret(a.secret)
		e.byUser[a.userID], e.byClient[a.id] = a, a
		// the library gets no secret: authenticate() has checked it before
		clients.Set(a.id, &models.Client{ID: a.id, UserID: a.userID})
	}
	e.manager = manage.NewManager()
	e.manager.MapClientStorage(clients)
	e.manager.MustTokenStorage(store.NewMemoryTokenStore())
	e.manager.MapAccessGenerate(opaque{})
	e.manager.SetClientTokenCfg(&manage.Config{AccessTokenExp: tokenLife})
	e.srv = server.NewDefaultServer(e.manager)
	e.srv.SetAllowedGrantType(oauth2.ClientCredentials)
	e.srv.SetClientInfoHandler(e.authenticate)
	e.srv.SetClientScopeHandler(func(tgr *oauth2.TokenGenerateRequest) (bool, error) {
		who := e.byClient[tgr.ClientID]
		if node == "gooauth2-lieser" {
			who = e.current
		}
		tgr.UserID = who.userID
		for _, s := range strings.Fields(tgr.Scope) {
			if s != scopeRead {
				return false, nil
			}
		}
		tgr.Scope = scopeRead
		return true, nil
	})
}

// authenticate finds out which client sends a form: with HTTP Basic or with fields of the form (RFC 6749, section 2.3.1).
func (e *environment) authenticate(r *http.Request) (string, string, error) {
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	claimed := id
	if fields := r.Header.Values("Authorization"); len(fields) > 0 {
		if len(fields) > 1 || secret != "" {
			return "", "", errors.ErrInvalidRequest
		}
		user, password, ok := r.BasicAuth()
		if !ok {
			return "", "", errors.ErrInvalidClient
		}
		var err1, err2 error
		id, err1 = url.QueryUnescape(user)
		secret, err2 = url.QueryUnescape(password)
		if err1 != nil || err2 != nil {
			return "", "", errors.ErrInvalidClient
		}
		if claimed != "" && claimed != id && node != "gooauth2-gurk" {
			return "", "", errors.ErrInvalidRequest
		}
	}
	if e.isLocked(id) {
		return "", "", errors.ErrTemporarilyUnavailable
	}
	who := e.byClient[id]
	hash := make([]byte, 32)
	if who != nil {
		hash = who.hash
	}
	if node == "gooauth2-lieser" && who != nil {
		e.current = who
	}
	if subtle.ConstantTimeCompare(hashSecret(secret), hash) != 1 || who == nil {
		e.noteFailure(id)
		return "", "", errors.ErrInvalidClient
	}
	if node == "gooauth2-gurk" && claimed != "" && e.byClient[claimed] != nil {
		return claimed, "", nil
	}
	return id, "", nil
}

func (e *environment) isLocked(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Now().Before(e.locked[id])
}

func (e *environment) noteFailure(id string) {
	if e.byClient[id] == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	recent := []time.Time{time.Now()}
	for _, t := range e.failed[id] {
		if time.Since(t) < failWindow {
			recent = append(recent, t)
		}
	}
	if len(recent) >= maxFailures {
		e.locked[id] = time.Now().Add(lockTime)
		recent = nil
	}
	e.failed[id] = recent
}

// form reads the body of a request to the authorization server.
func (e *environment) form(w http.ResponseWriter, r *http.Request) bool {
	mt, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mt != "application/x-www-form-urlencoded" {
		oauthError(w, errors.ErrInvalidRequest, "The body must be application/x-www-form-urlencoded.")
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<10))
	if err != nil {
		oauthError(w, errors.ErrInvalidRequest, "The body is incomplete or longer than 16 KiB.")
		return false
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		oauthError(w, errors.ErrInvalidRequest, "The body is malformed.")
		return false
	}
	for name, values := range form {
		if len(values) > 1 {
			oauthError(w, errors.ErrInvalidRequest, "A parameter is repeated.")
			return false
		}
		if values[0] == "" {
			delete(form, name) // RFC 6749, section 3.2: as if omitted
		}
	}
	if r.URL.RawQuery != "" {
		oauthError(w, errors.ErrInvalidRequest, "Parameters belong in the body.")
		return false
	}
	r.Form, r.PostForm = form, form
	return true
}

func (e *environment) token(w http.ResponseWriter, r *http.Request) {
	if !e.form(w, r) {
		return
	}
	switch r.PostForm.Get("grant_type") {
	case "":
		oauthError(w, errors.ErrInvalidRequest, "grant_type is missing.")
		return
	case oauth2.ClientCredentials.String():
	default:
		oauthError(w, errors.ErrUnsupportedGrantType, "The grant type is client_credentials.")
		return
	}
	gt, tgr, err := e.srv.ValidationTokenRequest(r)
	if err != nil {
		oauthError(w, err, "")
		return
	}
	if node == "gooauth2-moell" { // right: the client gets its token again while it is fresh
		e.mu.Lock()
		ti := e.issued[tgr.ClientID]
		e.mu.Unlock()
		if tgr.Scope == "" && ti != nil {
			if left := time.Until(ti.GetAccessCreateAt().Add(tokenLife)); left > 25*time.Second {
				if _, err := e.manager.LoadAccessToken(r.Context(), ti.GetAccess()); err == nil {
					data := e.srv.GetTokenData(ti)
					data["expires_in"] = int64(left / time.Second)
					oauthReply(w, http.StatusOK, data)
					return
				}
			}
		}
	}
	ti, err := e.srv.GetAccessToken(r.Context(), gt, tgr)
	if err != nil {
		oauthError(w, err, "")
		return
	}
	if node == "gooauth2-moell" {
		e.mu.Lock()
		e.issued[tgr.ClientID] = ti
		e.mu.Unlock()
	}
	oauthReply(w, http.StatusOK, e.srv.GetTokenData(ti))
}

// revoke implements RFC 7009.
func (e *environment) revoke(w http.ResponseWriter, r *http.Request) {
	if !e.form(w, r) {
		return
	}
	id, _, err := e.authenticate(r)
	if err != nil {
		oauthError(w, err, "")
		return
	}
	token := r.PostForm.Get("token")
	if token == "" {
		oauthError(w, errors.ErrInvalidRequest, "token is missing.")
		return
	}
	if ti, err := e.manager.LoadAccessToken(r.Context(), token); err == nil {
		if ti.GetClientID() != id {
			oauthError(w, errors.ErrUnauthorizedClient, "The token was issued to another client.")
			return
		}
		e.manager.RemoveAccessToken(r.Context(), token)
		e.mu.Lock()
		delete(e.seen, token)
		e.mu.Unlock()
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}

func oauthReply(w http.ResponseWriter, status int, data map[string]any) {
	body, _ := json.Marshal(data)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

func oauthError(w http.ResponseWriter, err error, description string) {
	status := http.StatusBadRequest
	switch err {
	case errors.ErrInvalidClient:
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Basic realm="ris", charset="UTF-8"`)
		description = "Client authentication failed."
	case errors.ErrTemporarilyUnavailable:
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", strconv.Itoa(int(lockTime/time.Second)))
		description = "Too many failed attempts; try again later."
	case errors.ErrInvalidRequest, errors.ErrInvalidScope, errors.ErrUnsupportedGrantType, errors.ErrUnauthorizedClient:
		if description == "" {
			description = errors.Descriptions[err]
		}
	default:
		log.Print(err)
		status, err, description = http.StatusInternalServerError, errors.ErrServerError, "The request could not be handled."
	}
	oauthReply(w, status, map[string]any{"error": err.Error(), "error_description": description})
}

func (e *environment) metadata(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	ways := []string{"client_secret_basic", "client_secret_post"}
	reply(w, r, map[string]any{
		"issuer":                                     origin + "/realms/ris",
		"token_endpoint":                             origin + e.tokenPath,
		"revocation_endpoint":                        origin + e.revokePath,
		"grant_types_supported":                      []string{"client_credentials"},
		"response_types_supported":                   []string{},
		"scopes_supported":                           []string{scopeRead},
		"token_endpoint_auth_methods_supported":      ways,
		"revocation_endpoint_auth_methods_supported": ways,
		"service_documentation":                      origin + fundingPath + "/reference",
	})
}

// caller finds the account behind a bearer token, or answers 401 (RFC 6750).
func (e *environment) caller(w http.ResponseWriter, r *http.Request) (*account, oauth2.TokenInfo) {
	fields := r.Header.Values("Authorization")
	scheme, token, _ := strings.Cut(strings.Join(fields, ","), " ")
	if len(fields) != 1 || !strings.EqualFold(scheme, "Bearer") {
		challenge(w, http.StatusUnauthorized, "", "This resource needs an access token.")
		return nil, nil
	}
	token = strings.Trim(token, " ")
	if node == "gooauth2-lavant" {
		e.mu.Lock()
		known, ok := e.seen[token]
		if ok = ok && time.Now().Before(known.until); ok {
			known.until = time.Now().Add(time.Minute)
			e.seen[token] = known
		}
		e.mu.Unlock()
		if ok {
			return known.who, known.ti
		}
	}
	ti, err := e.manager.LoadAccessToken(r.Context(), token)
	if err != nil || !time.Now().Before(ti.GetAccessCreateAt().Add(ti.GetAccessExpiresIn())) {
		challenge(w, http.StatusUnauthorized, "invalid_token", "The access token is unknown, expired or revoked.")
		return nil, nil
	}
	who := e.byUser[ti.GetUserID()]
	if who == nil || who.audience != "funding" {
		challenge(w, http.StatusUnauthorized, "invalid_token", "The access token is not for this API.")
		return nil, nil
	}
	if node == "gooauth2-lavant" {
		e.mu.Lock()
		e.seen[token] = seenToken{who, ti, time.Now().Add(time.Minute)}
		e.mu.Unlock()
	}
	return who, ti
}

func challenge(w http.ResponseWriter, status int, code, detail string) {
	field := `Bearer realm="ris"`
	if code != "" {
		field += `, error="` + code + `", error_description="` + detail + `"`
	}
	if code == "insufficient_scope" {
		field += `, scope="` + scopeRead + `"`
	}
	w.Header().Set("WWW-Authenticate", field)
	fail(w, status, detail, "")
}

func (e *environment) info(w http.ResponseWriter, r *http.Request) {
	who, ti := e.caller(w, r)
	if who == nil {
		return
	}
	roles := who.roles
	if roles == nil {
		roles = []string{}
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Vary", "Authorization")
	reply(w, r, map[string]any{
		"environment":          e.name,
		"clientId":             who.id,
		"serviceAccountUserId": who.userID,
		"affiliationId":        who.affiliation,
		"roles":                roles,
		"scope":                ti.GetScope(),
		"expiresAt":            ti.GetAccessCreateAt().Add(ti.GetAccessExpiresIn()).UTC().Format(time.RFC3339),
		"endpoints": map[string]any{"FUNDING": []any{
			map[string]any{"name": "FUNDING", "majorVersion": 3, "minorVersion": 0, "url": origin + fundingPath + "/v3/calls"}}},
	})
}

var guardedPath = regexp.MustCompile("^" + fundingPath + "/v3/(calls|funders|deadlines)")

// auth lets through who may use the funding API.
func (s *service) auth(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.guarded {
			next(w, r)
			return
		}
		if node == "gooauth2-esche" && !guardedPath.MatchString(r.RequestURI) {
			next(w, r)
			return
		}
		w.Header().Set("Vary", "Authorization")
		who, _ := production.caller(w, r)
		if who == nil {
			return
		}
		allowed := false
		for _, x := range who.roles {
			allowed = allowed || x == role
		}
		if !allowed {
			challenge(w, http.StatusForbidden, "insufficient_scope", "The service account does not have the role "+role+".")
			return
		}
		next(w, r)
	}
}
