package main

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

// client is an API client with its service account.
type client struct {
	id, secret  string
	account     string
	affiliation string
	roles       []string
	scopes      []string
	audience    string
}

type grant struct {
	c       *client
	scopes  []string
	expires time.Time
	dropped time.Time
}

type failures struct {
	n     int
	until time.Time
}

type authServer struct {
	issuer, tokenURL string
	mu               sync.Mutex
	clients          map[string]*client
	grants           map[string]grant
	failed           map[string]*failures
}

const (
	lifetime    = 720 * time.Second
	maxFailures = 12
	lockTime    = 45 * time.Second
)

func productionClients() []*client {
	both := []string{"funding:read", "info:read"}
	return []*client{
		{"cl-6f1d0b7e2a9c4e53b8d1-a07cc39be4f2415d", "wQ7+pK2v/Zr9sT4uXb1nYc8mHd5gJf3eLa6oRi0kVqU2tBzW", "service-account-7712", "AFF-0417",
			[]string{"EXTERNAL_API_CLIENT"}, both, "funding"},
		{"cl-93e85ac1d4f74b0c9e62-5b1fd8a3c7e94602", "N3xLh8sVt0aPqEe5kRzY7uWmCj2DfGb4oTi9S6vKp1yAcHrM", "service-account-7713", "AFF-0052",
			nil, []string{"info:read"}, "funding"},
		{"cl-2c40b9f7e81d4a65a3f0-e6d7129bc85f4a38", "Bz5RkTq1mUe8HyWc4XoJn7vGsL0dPi3fAaS9gZt6NbEu2rKp", "service-account-7720", "AFF-0417",
			[]string{"EXTERNAL_API_CLIENT"}, both, "projects"},
		{"cl-b7a2659d03ec4f18826b-94f0ce1ad3b74e57", "tG9cJ4wYx2ZeVh6NqKd0sPmF7uRb1LaTi5oXk8Q3yMfEzHgU", "service-account-7731", "AFF-0300",
			[]string{"EXTERNAL_API_CLIENT"}, both, "funding"},
	}
}

func stagingClients() []*client {
	return []*client{
		{"st-58ce07ab91f34d2eb6a4-0d3f7e9c12b84a6f", "Ym4HtE9rXsK0wLq7ZvDa2NcPu6oJgB1iTf8eRk5VbWx3nSzC", "service-account-0009", "AFF-0001",
			[]string{"EXTERNAL_API_CLIENT"}, []string{"info:read"}, "funding"},
	}
}

func newAuthServer(issuer, tokenURL string, list []*client) *authServer {
	a := &authServer{issuer: issuer, tokenURL: tokenURL, clients: map[string]*client{}, grants: map[string]grant{}, failed: map[string]*failures{}}
	for _, c := range list {
		a.clients[c.id] = c
	}
	return a
}

func (a *authServer) metadata(c *gin.Context) {
	c.Header("Cache-Control", "public, max-age=300")
	sendJSON(c, gin.H{
		"issuer":                                a.issuer,
		"token_endpoint":                        a.tokenURL,
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"},
		"grant_types_supported":                 []string{"client_credentials"},
		"response_types_supported":              []string{},
		"scopes_supported":                      []string{"funding:read", "info:read"},
		"service_documentation":                 origin + apiBase + "/api-docs",
	})
}

func oauthError(c *gin.Context, status int, code, text string) {
	c.Header("Cache-Control", "no-store")
	c.Header("Pragma", "no-cache")
	c.AbortWithStatusJSON(status, gin.H{"error": code, "error_description": text})
}

func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// basic reads the credentials of HTTP Basic; both values are form-encoded (RFC 6749, 2.3.1).
func basic(header string) (id string, secrets []string, ok bool) {
	scheme, rest, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "basic") {
		return "", nil, false
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest))
	if err != nil {
		return "", nil, true
	}
	u, p, found := strings.Cut(string(raw), ":")
	if !found {
		return "", nil, true
	}
	if id, err = url.QueryUnescape(u); err != nil {
		id = u
	}
	if d, err := url.QueryUnescape(p); err == nil {
		secrets = append(secrets, d)
	}
	return id, append(secrets, p), true // clients that forget the encoding are let in too
}

// token is the token endpoint.
func (a *authServer) token(c *gin.Context) {
	media, _, err := mime.ParseMediaType(c.GetHeader("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		oauthError(c, 400, "invalid_request", "The body must be application/x-www-form-urlencoded.")
		return
	}
	body, err := io.ReadAll(io.LimitReader(c.Request.Body, 16<<10+1))
	if err != nil || len(body) > 16<<10 {
		oauthError(c, 400, "invalid_request", "The body cannot be read.")
		return
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		oauthError(c, 400, "invalid_request", "The body is malformed.")
		return
	}
	for _, v := range form {
		if len(v) > 1 {
			oauthError(c, 400, "invalid_request", "A parameter was sent more than once.")
			return
		}
	}
	if opt.mergedForm {
		for k, v := range c.Request.URL.Query() {
			if form.Get(k) == "" {
				form[k] = v
			}
		}
	}

	id, secrets := form.Get("client_id"), []string{}
	if s := form.Get("client_secret"); s != "" {
		secrets = append(secrets, s)
	}
	challenge := false
	if h := c.GetHeader("Authorization"); h != "" {
		challenge = true
		if len(secrets) > 0 {
			oauthError(c, 400, "invalid_request", "Only one way of client authentication may be used.")
			return
		}
		bid, bs, ok := basic(h)
		if ok && id != "" && bid != id {
			oauthError(c, 400, "invalid_request", "Two different client identifiers were sent.")
			return
		}
		id, secrets = bid, bs
	}

	refuse := func() {
		c.Header("WWW-Authenticate", `Basic realm="token endpoint", charset="UTF-8"`)
		oauthError(c, 401, "invalid_client", "Client authentication failed.")
	}
	_ = challenge
	if id == "" || len(secrets) == 0 {
		refuse()
		return
	}
	a.mu.Lock()
	f := a.failed[id]
	if f == nil && len(a.failed) < 5000 {
		f = &failures{}
		a.failed[id] = f
	}
	locked := time.Duration(0)
	if f != nil {
		locked = time.Until(f.until)
	}
	a.mu.Unlock()
	if locked > 0 {
		c.Header("Retry-After", strconv.Itoa(int(locked.Seconds())+1))
		oauthError(c, 429, "invalid_client", "Too many failed attempts. Try again later.")
		return
	}
	known, good := a.clients[id], false
	if known != nil {
		for _, s := range secrets {
			good = good || equal(s, known.secret)
		}
	}
	a.mu.Lock()
	if f != nil {
		if good {
			delete(a.failed, id)
		} else if f.n++; f.n >= maxFailures {
			f.n, f.until = 0, time.Now().Add(lockTime)
		}
	}
	a.mu.Unlock()
	if !good {
		refuse()
		return
	}

	switch form.Get("grant_type") {
	case "client_credentials":
	case "":
		oauthError(c, 400, "invalid_request", "grant_type is missing.")
		return
	default:
		oauthError(c, 400, "unsupported_grant_type", "Only client_credentials is supported.")
		return
	}
	scopes := known.scopes
	if s := form.Get("scope"); s != "" {
		scopes = nil
		for _, want := range strings.Fields(s) {
			if !contains(known.scopes, want) {
				oauthError(c, 400, "invalid_scope", "The scope is unknown or not granted to this client.")
				return
			}
			if !contains(scopes, want) {
				scopes = append(scopes, want)
			}
		}
	}
	value := randomText(32)
	now := time.Now()
	g := grant{known, scopes, now.Add(lifetime), now.Add(lifetime)}
	if opt.shortStore {
		g.dropped = now.Add(lifetime / 6)
	}
	a.mu.Lock()
	for k, old := range a.grants {
		if now.After(old.expires) {
			delete(a.grants, k)
		}
	}
	a.grants[value] = g
	a.mu.Unlock()
	c.Header("Cache-Control", "no-store")
	c.Header("Pragma", "no-cache")
	c.JSON(http.StatusOK, gin.H{"access_token": value, "token_type": "Bearer", "expires_in": int(lifetime.Seconds()), "scope": strings.Join(scopes, " ")})
}

func randomText(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// guard lets requests with a good bearer token pass (RFC 6750).
func (a *authServer) guard(scope, role string) gin.HandlerFunc {
	const realm = `Bearer realm="research"`
	deny := func(c *gin.Context, status int, attrs, code, text string) {
		c.Header("WWW-Authenticate", realm+attrs)
		fail(c, status, code, text)
	}
	return func(c *gin.Context) {
		c.Header("Vary", "Authorization")
		values := c.Request.Header.Values("Authorization")
		if len(values) == 0 {
			deny(c, 401, "", "unauthorized", "An access token is needed.")
			return
		}
		_, inQuery := c.Request.URL.Query()["access_token"]
		if len(values) > 1 || inQuery {
			deny(c, 400, `, error="invalid_request", error_description="More than one access token"`, "invalid_request", "Send one access token, in one header.")
			return
		}
		scheme, value, _ := strings.Cut(values[0], " ")
		if !strings.EqualFold(scheme, "bearer") {
			deny(c, 401, "", "unauthorized", "An access token is needed.")
			return
		}
		a.mu.Lock()
		g, ok := a.grants[strings.TrimSpace(value)]
		a.mu.Unlock()
		now := time.Now()
		if !ok || now.After(g.expires) || now.After(g.dropped) || g.c.audience != "funding" {
			deny(c, 401, `, error="invalid_token", error_description="The access token is unknown, expired or meant for another API"`, "invalid_token", "The access token is not valid here.")
			return
		}
		if !contains(g.scopes, scope) || role != "" && !contains(g.c.roles, role) {
			deny(c, 403, `, error="insufficient_scope", scope="`+scope+`"`, "forbidden", "The service account lacks the permission.")
			return
		}
		c.Set("grant", g)
		c.Next()
	}
}

func (a *authServer) info(c *gin.Context) {
	g := c.MustGet("grant").(grant)
	roles := g.c.roles
	if roles == nil {
		roles = []string{}
	}
	c.Header("Cache-Control", "private, no-cache")
	sendJSON(c, gin.H{
		"node":           "Forschungsknoten Süd",
		"issuer":         a.issuer,
		"clientId":       g.c.id,
		"serviceAccount": g.c.account,
		"affiliationId":  g.c.affiliation,
		"roles":          roles,
		"scopes":         g.scopes,
		"services":       []gin.H{{"name": "FUNDING", "majorVersion": 3, "minorVersion": 1, "url": origin + prefix + "/funding"}},
	})
}
