package main

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	bolt "go.etcd.io/bbolt"
)

const (
	roleExternal  = "EXTERNAL_API_CLIENT"
	scopeInfo     = "info.read"
	scopeFunding  = "funding.read"
	audFunding    = "funding"
	audProjects   = "projects"
	tokenLifetime = 780 * time.Second
	maxFailures   = 10
	lockTime      = 60 * time.Second
)

// Account is an API client with its service account.
type Account struct {
	ID, User, Affiliation, Audience string
	secret                          [32]byte
	Roles, Scopes                   []string

	mu       sync.Mutex
	failures int
	locked   time.Time
}

func account(id, secret, user, aff, aud string, roles, scopes []string) *Account {
	return &Account{ID: id, User: user, Affiliation: aff, Audience: aud, secret: sha256.Sum256([]byte(secret)), Roles: roles, Scopes: scopes}
}

// Grant is what the store keeps of an issued token.
type Grant struct {
	Client, User, Affiliation, Audience string
	Roles, Scopes                       []string
	Issued, Expires                     time.Time
}

func (g *Grant) has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// AuthServer issues opaque tokens and remembers their hashes.
type AuthServer struct {
	name     string
	issuer   string
	tokenURL string
	accounts map[string]*Account
	store    *Store
	realm    string
}

func newAuthServer(name, issuer, tokenURL string, store *Store, accounts ...*Account) *AuthServer {
	a := &AuthServer{name: name, issuer: issuer, tokenURL: tokenURL, store: store, accounts: map[string]*Account{}, realm: name}
	for _, x := range accounts {
		a.accounts[x.ID] = x
	}
	return a
}

func (a *AuthServer) key(token string) []byte {
	h := sha256.Sum256([]byte(a.name + "\x00" + token))
	return h[:]
}

func (a *AuthServer) issue(acc *Account, scopes []string) (string, error) {
	raw := make([]byte, 33)
	if _, err := rand.Read(raw); err != nil {
		return "", err
	}
	token := base64.RawURLEncoding.EncodeToString(raw)
	now := time.Now()
	life := tokenLifetime
	if opt.shortStore {
		life = 150 * time.Second
	}
	g := Grant{acc.ID, acc.User, acc.Affiliation, acc.Audience, acc.Roles, scopes, now, now.Add(life)}
	err := a.store.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketTokens)
		c := b.Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() { // throw expired ones away
			var old Grant
			if json.Unmarshal(v, &old) == nil && now.After(old.Expires) {
				if err := c.Delete(); err != nil {
					return err
				}
			}
		}
		return putJSON(b, a.key(token), g)
	})
	return token, err
}

func (a *AuthServer) lookup(token string) *Grant {
	var g Grant
	ok := false
	a.store.db.View(func(tx *bolt.Tx) error {
		if raw := tx.Bucket(bucketTokens).Get(a.key(token)); raw != nil {
			ok = json.Unmarshal(raw, &g) == nil && time.Now().Before(g.Expires)
		}
		return nil
	})
	if !ok {
		return nil
	}
	return &g
}

func (a *AuthServer) fail(c *fiber.Ctx, status int, code, text string) error {
	c.Set("Cache-Control", "no-store")
	c.Set("Pragma", "no-cache")
	if status == 401 {
		c.Set("WWW-Authenticate", `Basic realm="`+a.realm+`", charset="UTF-8"`)
	}
	return writeJSON(c.Status(status), fiber.Map{"error": code, "error_description": text})
}

// token is the token endpoint (RFC 6749, section 4.4).
func (a *AuthServer) token(c *fiber.Ctx) error {
	mt, _, _ := strings.Cut(c.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(mt), "application/x-www-form-urlencoded") {
		return a.fail(c, 400, "invalid_request", "the body has to be application/x-www-form-urlencoded")
	}
	form, err := url.ParseQuery(string(c.Body()))
	if err != nil {
		return a.fail(c, 400, "invalid_request", "the body is not well-formed")
	}
	for _, v := range form {
		if len(v) > 1 {
			return a.fail(c, 400, "invalid_request", "a parameter is given more than once")
		}
	}
	get := func(name string) string {
		if opt.formValue {
			return string([]byte(c.FormValue(name)))
		}
		return form.Get(name)
	}
	id, secret := get("client_id"), get("client_secret")
	headers := c.Request().Header.PeekAll("Authorization")
	if len(headers) > 1 {
		return a.fail(c, 400, "invalid_request", "more than one Authorization header")
	}
	if len(headers) == 1 {
		if secret != "" {
			return a.fail(c, 400, "invalid_request", "more than one way of client authentication")
		}
		user, pass, ok := parseBasic(string(headers[0]))
		if !ok {
			return a.fail(c, 401, "invalid_client", "client authentication failed")
		}
		if id != "" && id != user {
			return a.fail(c, 400, "invalid_request", "client_id differs from the authenticated client")
		}
		id, secret = user, pass
	}
	acc := a.accounts[id]
	sum := sha256.Sum256([]byte(secret))
	if acc == nil {
		return a.fail(c, 401, "invalid_client", "client authentication failed")
	}
	acc.mu.Lock()
	wait := time.Until(acc.locked)
	good := wait <= 0 && subtle.ConstantTimeCompare(sum[:], acc.secret[:]) == 1
	if good {
		acc.failures = 0
	} else if wait <= 0 {
		acc.failures++
		if acc.failures >= maxFailures {
			acc.failures, acc.locked = 0, time.Now().Add(lockTime)
		}
	}
	acc.mu.Unlock()
	if wait > 0 {
		c.Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
		return a.fail(c, 429, "invalid_client", "too many failed attempts")
	}
	if !good {
		return a.fail(c, 401, "invalid_client", "client authentication failed")
	}
	switch get("grant_type") {
	case "":
		return a.fail(c, 400, "invalid_request", "grant_type is missing")
	case "client_credentials":
	default:
		return a.fail(c, 400, "unsupported_grant_type", "only client_credentials is supported")
	}
	scopes := acc.Scopes
	if s := get("scope"); s != "" {
		scopes = []string{}
		for _, x := range strings.Split(s, " ") {
			allowed := false
			for _, y := range acc.Scopes {
				allowed = allowed || x == y
			}
			if !allowed {
				return a.fail(c, 400, "invalid_scope", "the scope is unknown or not allowed for this client")
			}
			scopes = append(scopes, x)
		}
	}
	token, err := a.issue(acc, scopes)
	if err != nil {
		return err
	}
	c.Set("Cache-Control", "no-store")
	c.Set("Pragma", "no-cache")
	kind := "Bearer"
	out := fiber.Map{"access_token": token, "expires_in": int(tokenLifetime.Seconds()), "scope": strings.Join(scopes, " ")}
	if opt.sparse {
		kind = "bearer"
		out["affiliation"] = acc.Affiliation
		out["not_before_policy"] = 0
	}
	out["token_type"] = kind
	return writeJSON(c, out)
}

// parseBasic reads the Basic scheme; id and secret are form-encoded (RFC 6749, section 2.3.1).
func parseBasic(h string) (string, string, bool) {
	scheme, rest, _ := strings.Cut(h, " ")
	if !strings.EqualFold(scheme, "basic") {
		return "", "", false
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest))
	if err != nil {
		return "", "", false
	}
	u, p, ok := strings.Cut(string(raw), ":")
	if !ok {
		return "", "", false
	}
	user, err1 := url.QueryUnescape(u)
	pass, err2 := url.QueryUnescape(p)
	return user, pass, err1 == nil && err2 == nil
}

// metadata is RFC 8414.
func (a *AuthServer) metadata(c *fiber.Ctx) error {
	return writeJSON(c, fiber.Map{
		"issuer":                                a.issuer,
		"token_endpoint":                        a.tokenURL,
		"response_types_supported":              []string{},
		"grant_types_supported":                 []string{"client_credentials"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"},
		"scopes_supported":                      []string{scopeInfo, scopeFunding},
	})
}

// bearer is the guard of the API (RFC 6750).
func (a *AuthServer) bearer(c *fiber.Ctx) error {
	if c.Method() == fiber.MethodOptions {
		return c.Next()
	}
	challenge := `Bearer realm="` + a.realm + `"`
	headers := c.Request().Header.PeekAll("Authorization")
	if len(headers) > 1 {
		c.Set("WWW-Authenticate", challenge+`, error="invalid_request"`)
		return apiError(c, 400, "invalid_request", "More than one Authorization header.")
	}
	scheme, token := "", ""
	if len(headers) == 1 {
		scheme, token, _ = strings.Cut(string(headers[0]), " ")
	}
	if !strings.EqualFold(scheme, "bearer") {
		c.Set("WWW-Authenticate", challenge)
		return apiError(c, 401, "unauthorized", "An access token is needed.")
	}
	if c.Context().QueryArgs().Has("access_token") {
		c.Set("WWW-Authenticate", challenge+`, error="invalid_request"`)
		return apiError(c, 400, "invalid_request", "The access token is given in more than one way.")
	}
	g := a.lookup(strings.TrimLeft(token, " "))
	if g == nil || g.Audience != audFunding {
		c.Set("WWW-Authenticate", challenge+`, error="invalid_token", error_description="The access token is not valid here"`)
		return apiError(c, 401, "invalid_token", "The access token is not valid here.")
	}
	c.Locals("grant", g)
	return c.Next()
}

// allow asks for a scope and, if given, a role.
func (a *AuthServer) allow(scope, role string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		g, _ := c.Locals("grant").(*Grant)
		if c.Method() == fiber.MethodOptions {
			return c.Next()
		}
		if g == nil || !g.has(g.Scopes, scope) || role != "" && !g.has(g.Roles, role) {
			c.Set("WWW-Authenticate", `Bearer realm="`+a.realm+`", error="insufficient_scope", scope="`+scope+`"`)
			return apiError(c, 403, "forbidden", "The service account may not use this API.")
		}
		return c.Next()
	}
}
