package main

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	fundingAudience = "urn:danube:funding"
	fundingRole     = "EXTERNAL_API_CLIENT"
	fundingScope    = "funding.read"
	maxFailures     = 10
	lockout         = 60 * time.Second
)

type client struct {
	ID             string
	Secret         string
	ServiceAccount string
	Affiliation    string
	Audience       string
	Roles          []string
}

func productionClients() []client {
	return []client{
		{"uni-linz-dashboard", "tdmFEBIxl+SfFXu9E/Isshh%v54by9W=W3yxIteo", "sa-10017", "AFF-0417", fundingAudience, []string{fundingRole}},
		{"museum-graz-portal", "DZyvjTgBI+nakFwo7/0Ky7u%KRIJhyq=djiDniid", "sa-10044", "AFF-0920", fundingAudience, nil},
		{"orgunit-sync", "IASmHCPZn+pE2Nmzq/ochuJ%iyLnVWJ=YftZvHVv", "sa-10051", "AFF-0417", "urn:danube:orgunit", []string{fundingRole}},
		{"uni-krems-trial", "5oTq7wWrP+Dwn8e7f/IXIav%nykBpxd=IKJ9MlHF", "sa-10063", "AFF-0533", fundingAudience, []string{fundingRole}},
	}
}

func stagingClients() []client {
	return []client{
		{"uni-linz-staging", "Om9bQoWi6+UJ5K9xc/pBuXu%pKozxNO=ErMDxF5j", "sa-90017", "AFF-0417", fundingAudience, []string{fundingRole}},
	}
}

type grant struct {
	client  client
	scope   string
	issued  time.Time
	expires time.Time
}

type failures struct {
	count int
	until time.Time
}

// authServer issues opaque bearer tokens. Tokens are kept as hashes only.
type authServer struct {
	cfg      config
	realm    string
	lifetime time.Duration
	clients  map[string]client

	mu     sync.Mutex
	tokens map[[32]byte]grant
	failed map[string]failures
	latest map[string]string // go-same-token: the current token of a client
}

func newAuthServer(cfg config, realm string, clients []client) *authServer {
	s := &authServer{cfg: cfg, realm: realm, lifetime: 10 * time.Minute, clients: map[string]client{},
		tokens: map[[32]byte]grant{}, failed: map[string]failures{}, latest: map[string]string{}}
	for _, c := range clients {
		s.clients[c.ID] = c
	}
	return s
}

type tokenResponse struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"`
	Scope       string `json:"scope"`
}

type oauthErrorBody struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

func noStore(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
}

func oauthError(w http.ResponseWriter, status int, code, description string) {
	noStore(w)
	writeRaw(w, status, "application/json", oauthErrorBody{code, description})
}

func (s *authServer) token(w http.ResponseWriter, r *http.Request) {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/x-www-form-urlencoded" {
		oauthError(w, http.StatusBadRequest, "invalid_request", "the body must be application/x-www-form-urlencoded")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	if err := r.ParseForm(); err != nil {
		oauthError(w, http.StatusBadRequest, "invalid_request", "the form cannot be read")
		return
	}
	form := r.PostForm
	if s.cfg.name == "go-form-query" {
		form = r.Form
	}
	for _, values := range form {
		if len(values) > 1 {
			oauthError(w, http.StatusBadRequest, "invalid_request", "a parameter is given more than once")
			return
		}
	}

	id, secret, basic, ok := s.credentials(w, r, form)
	if !ok {
		return
	}
	if s.locked(id) {
		w.Header().Set("Retry-After", strconv.Itoa(int(lockout.Seconds())))
		oauthError(w, http.StatusTooManyRequests, "invalid_client", "too many failed attempts, try again later")
		return
	}
	c, ok := s.authenticate(id, secret)
	if !ok {
		s.invalidClient(w, basic)
		return
	}
	switch form.Get("grant_type") {
	case "client_credentials":
	case "":
		oauthError(w, http.StatusBadRequest, "invalid_request", "grant_type is missing")
		return
	default:
		oauthError(w, http.StatusBadRequest, "unsupported_grant_type", "only client_credentials is supported")
		return
	}
	for _, scope := range strings.Fields(form.Get("scope")) {
		if scope != fundingScope {
			oauthError(w, http.StatusBadRequest, "invalid_scope", "the only scope is "+fundingScope)
			return
		}
	}
	token, expires := s.issue(c)
	noStore(w)
	writeRaw(w, http.StatusOK, "application/json", tokenResponse{
		AccessToken: token,
		TokenType:   "Bearer",
		ExpiresIn:   int(time.Until(expires).Round(time.Second).Seconds()),
		Scope:       fundingScope,
	})
}

// credentials reads the client's id and secret from the Authorization header
// (RFC 6749, section 2.3.1: both form-urlencoded) or from the body.
func (s *authServer) credentials(w http.ResponseWriter, r *http.Request, form url.Values) (id, secret string, basic, ok bool) {
	if r.Header.Get("Authorization") == "" {
		return form.Get("client_id"), form.Get("client_secret"), false, true
	}
	id, secret, ok = r.BasicAuth()
	if !ok {
		s.invalidClient(w, true)
		return "", "", true, false
	}
	if form.Get("client_secret") != "" {
		oauthError(w, http.StatusBadRequest, "invalid_request", "use one method of client authentication")
		return "", "", true, false
	}
	if s.cfg.name != "go-basic-raw" {
		var err1, err2 error
		id, err1 = url.QueryUnescape(id)
		secret, err2 = url.QueryUnescape(secret)
		if err1 != nil || err2 != nil {
			s.invalidClient(w, true)
			return "", "", true, false
		}
	}
	if other := form.Get("client_id"); other != "" && other != id {
		oauthError(w, http.StatusBadRequest, "invalid_request", "client_id differs from the authenticated client")
		return "", "", true, false
	}
	return id, secret, true, true
}

func (s *authServer) invalidClient(w http.ResponseWriter, basic bool) {
	w.Header().Set("WWW-Authenticate", `Basic realm="`+s.realm+`", charset="UTF-8"`)
	oauthError(w, http.StatusUnauthorized, "invalid_client", "client authentication failed")
}

func (s *authServer) locked(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.failed[id].until)
}

func (s *authServer) authenticate(id, secret string) (client, bool) {
	c, known := s.clients[id]
	want, got := sha256.Sum256([]byte(c.Secret)), sha256.Sum256([]byte(secret))
	ok := subtle.ConstantTimeCompare(want[:], got[:]) == 1 && known && secret != ""
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok {
		delete(s.failed, id)
		return c, true
	}
	if known {
		f := s.failed[id]
		f.count++
		if f.count >= maxFailures {
			f = failures{until: time.Now().Add(lockout)}
		}
		s.failed[id] = f
	}
	return client{}, false
}

func (s *authServer) issue(c client) (string, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.cfg.name == "go-same-token" {
		// a client keeps its token until 30 seconds before it expires
		if token := s.latest[c.ID]; token != "" {
			if g := s.tokens[sha256.Sum256([]byte(token))]; now.Before(g.expires.Add(-30 * time.Second)) {
				return token, g.expires
			}
		}
	}
	for hash, g := range s.tokens {
		if now.After(g.expires) {
			delete(s.tokens, hash)
		}
	}
	var raw [32]byte
	rand.Read(raw[:])
	token := "dat_" + base64.RawURLEncoding.EncodeToString(raw[:])
	g := grant{client: c, scope: fundingScope, issued: now, expires: now.Add(s.lifetime)}
	s.tokens[sha256.Sum256([]byte(token))] = g
	s.latest[c.ID] = token
	return token, g.expires
}

func (s *authServer) lookup(token string) (grant, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.tokens[sha256.Sum256([]byte(token))]
	if !ok || !time.Now().Before(g.expires) {
		return grant{}, false
	}
	return g, true
}

var b64token = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// bearer authenticates a request to a protected resource (RFC 6750). It
// answers the request itself if there is no valid token for the funding API.
func (s *authServer) bearer(w http.ResponseWriter, r *http.Request) (grant, bool) {
	challenge := `Bearer realm="` + s.realm + `"`
	fields := r.Header.Values("Authorization")
	if len(fields) == 0 {
		w.Header().Set("WWW-Authenticate", challenge)
		problem(w, r, http.StatusUnauthorized, "Authentication required", "Send an access token in the Authorization header.")
		return grant{}, false
	}
	scheme, token, _ := strings.Cut(fields[0], " ")
	token = strings.Trim(token, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		w.Header().Set("WWW-Authenticate", challenge)
		problem(w, r, http.StatusUnauthorized, "Authentication required", "Only bearer tokens are accepted.")
		return grant{}, false
	}
	g, ok := grant{}, false
	if len(fields) == 1 && b64token.MatchString(token) {
		g, ok = s.lookup(token)
	}
	if !ok || g.client.Audience != fundingAudience {
		w.Header().Set("WWW-Authenticate", challenge+`, error="invalid_token", error_description="The access token is unknown, expired or meant for another service"`)
		problem(w, r, http.StatusUnauthorized, "Invalid token", "The access token is unknown, expired or meant for another service.")
		return grant{}, false
	}
	return g, true
}

func (g grant) hasRole(role string) bool { return slices.Contains(g.client.Roles, role) }

func writeRaw(w http.ResponseWriter, status int, contentType string, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}
