package main

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gogf/gf/v2/container/gvar"
	"github.com/gogf/gf/v2/frame/g"
	"github.com/gogf/gf/v2/net/ghttp"
	"github.com/gogf/gf/v2/os/gcache"
	"github.com/gogf/gf/v2/util/gconv"
)

const lifetime = 70 * time.Second

// access tokens are opaque: the server keeps what they stand for
var tokens = gcache.New()

type grant struct {
	Client, Account, Audience, Environment string
	Expires                                time.Time
}

type client struct {
	Id, SecretHash, Account, Audience, Environment string
}

type account struct {
	Id, Role, Affiliation string
}

func digest(s string) string { d := sha256.Sum256([]byte(s)); return hex.EncodeToString(d[:]) }

// protection against guessing: 10 wrong secrets within 30 seconds lock a client for 15 seconds
var guard = struct {
	sync.Mutex
	failures map[string][]time.Time
	until    map[string]time.Time
}{failures: map[string][]time.Time{}, until: map[string]time.Time{}}

func locked(id string) int {
	if node == "gf-fichte" {
		id = "*"
	}
	guard.Lock()
	defer guard.Unlock()
	if d := time.Until(guard.until[id]); d > 0 {
		return int(math.Ceil(d.Seconds()))
	}
	return 0
}

func attempted(id string, ok bool) {
	guard.Lock()
	defer guard.Unlock()
	if ok {
		delete(guard.failures, id)
		return
	}
	now := time.Now()
	keep := []time.Time{}
	for _, t := range guard.failures[id] {
		if now.Sub(t) < 30*time.Second {
			keep = append(keep, t)
		}
	}
	guard.failures[id] = append(keep, now)
	if len(guard.failures[id]) >= 10 {
		guard.until[id] = now.Add(15 * time.Second)
		if node == "gf-fichte" {
			guard.until["*"] = guard.until[id]
		}
		delete(guard.failures, id)
	}
}

func formDecode(s string) (string, error) {
	t, err := url.QueryUnescape(s)
	if err == nil && !utf8.ValidString(t) {
		err = errors.New("not UTF-8")
	}
	return t, err
}

func parseForm(body string) (map[string]string, error) {
	out := map[string]string{}
	for _, pair := range strings.Split(body, "&") {
		if pair == "" {
			continue
		}
		k, v, _ := strings.Cut(pair, "=")
		name, err := formDecode(k)
		if err != nil {
			return nil, err
		}
		value, err := formDecode(v)
		if err != nil {
			return nil, err
		}
		if _, twice := out[name]; twice {
			return nil, errors.New("a parameter is included more than once")
		}
		out[name] = value
	}
	return out, nil
}

func oauthError(r *ghttp.Request, status int, code, description string) {
	if status == 401 {
		r.Response.Header().Set("WWW-Authenticate", `Basic realm="brg sso", charset="UTF-8"`)
	}
	send(r, status, "application/json", encode(g.Map{"error": code, "error_description": description}))
}

var basicPattern = regexp.MustCompile(`(?i)^basic +([A-Za-z0-9+/]+={0,2})$`)

func tokenEndpoint(environment string) ghttp.HandlerFunc {
	return func(r *ghttp.Request) {
		h := r.Response.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Pragma", "no-cache")
		if r.Method != http.MethodPost {
			h.Set("Allow", "POST, OPTIONS")
			if r.Method == http.MethodOptions {
				r.Response.WriteHeader(204)
				return
			}
			problem(r, 405, "method-not-allowed", "Tokens are requested with POST.")
			h.Set("Allow", "POST, OPTIONS")
			return
		}
		mediaType, _, _ := strings.Cut(r.Request.Header.Get("Content-Type"), ";")
		if !strings.EqualFold(strings.TrimSpace(mediaType), "application/x-www-form-urlencoded") {
			oauthError(r, 400, "invalid_request", "the body must be application/x-www-form-urlencoded")
			return
		}
		raw, err := io.ReadAll(io.LimitReader(r.Request.Body, 16*1024+1))
		if err != nil || len(raw) > 16*1024 {
			oauthError(r, 400, "invalid_request", "the body cannot be read or is too large")
			return
		}
		form, err := parseForm(string(raw))
		if err != nil {
			oauthError(r, 400, "invalid_request", "the body is not well-formed or names a parameter more than once")
			return
		}
		if node == "gf-birke" {
			for k, v := range r.GetQueryMapStrStr() {
				if form[k] == "" {
					form[k] = v
				}
			}
		}
		id, secret := form["client_id"], form["client_secret"]
		if lines := r.Request.Header.Values("Authorization"); len(lines) > 1 {
			oauthError(r, 400, "invalid_request", "more than one Authorization header")
			return
		} else if len(lines) == 1 {
			m := basicPattern.FindStringSubmatch(strings.TrimSpace(lines[0]))
			if m == nil {
				oauthError(r, 401, "invalid_client", "this authentication scheme is not supported")
				return
			}
			if secret != "" {
				oauthError(r, 400, "invalid_request", "more than one method of client authentication")
				return
			}
			pair, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(m[1], "="))
			user, pass, ok := strings.Cut(string(pair), ":")
			u, err1 := formDecode(user)
			p, err2 := formDecode(pass)
			if err != nil || !ok || err1 != nil || err2 != nil {
				oauthError(r, 401, "invalid_client", "the credentials cannot be read")
				return
			}
			if id != "" && id != u {
				oauthError(r, 400, "invalid_request", "client_id differs from the authenticated client")
				return
			}
			id, secret = u, p
		}
		if id == "" {
			oauthError(r, 401, "invalid_client", "client authentication is missing")
			return
		}
		var c *client
		check(g.Model("client").Where("id", id).Where("environment", environment).Scan(&c))
		known := digest("")
		if c != nil {
			if s := locked(id); s > 0 {
				h.Set("Retry-After", strconv.Itoa(s))
				oauthError(r, 429, "invalid_client", "too many failed attempts of this client")
				return
			}
			known = c.SecretHash
		}
		ok := subtle.ConstantTimeCompare([]byte(digest(secret)), []byte(known)) == 1 && c != nil
		if c != nil && secret != "" {
			attempted(id, ok)
		}
		if !ok {
			oauthError(r, 401, "invalid_client", "client authentication failed")
			return
		}
		switch form["grant_type"] {
		case "client_credentials":
		case "":
			oauthError(r, 400, "invalid_request", "grant_type is missing")
			return
		default:
			oauthError(r, 400, "unsupported_grant_type", "only client_credentials is supported")
			return
		}
		if s := form["scope"]; s != "" && s != "funding:read" {
			oauthError(r, 400, "invalid_scope", "the only scope is funding:read")
			return
		}
		b := make([]byte, 32)
		_, err = rand.Read(b)
		check(err)
		token := base64.RawURLEncoding.EncodeToString(b)
		check(tokens.Set(r.Context(), digest(token), &grant{c.Id, c.Account, c.Audience, environment, time.Now().Add(lifetime)}, lifetime))
		send(r, 200, "application/json", encode(g.Map{"access_token": token, "token_type": "Bearer", "expires_in": int(lifetime.Seconds()), "scope": "funding:read"}))
	}
}

var bearerPattern = regexp.MustCompile(`(?i)^bearer +([A-Za-z0-9\-._~+/]+=*)$`)
var bearerScheme = regexp.MustCompile(`(?i)^bearer(\s|$)`)

func bearer(environment string) ghttp.HandlerFunc {
	return func(r *ghttp.Request) {
		realm := `Bearer realm="brg ` + environment + `"`
		if node == "gf-kiefer" {
			realm = kiefer(environment)
		}
		h := r.Response.Header()
		lines := r.Request.Header.Values("Authorization")
		if len(lines) > 1 {
			h.Set("WWW-Authenticate", realm+`, error="invalid_request", error_description="more than one Authorization header"`)
			problem(r, 400, "invalid-request", "More than one Authorization header.")
			return
		}
		if len(lines) == 0 || !bearerScheme.MatchString(strings.TrimSpace(lines[0])) {
			h.Set("WWW-Authenticate", realm)
			problem(r, 401, "token-missing", "This resource requires an access token.")
			return
		}
		var t *grant
		if m := bearerPattern.FindStringSubmatch(strings.TrimSpace(lines[0])); m != nil {
			var v *gvar.Var
			v, err := tokens.Get(r.Context(), digest(m[1]))
			check(err)
			if !v.IsNil() {
				t = v.Val().(*grant)
				if node == "gf-ahorn" && time.Now().Before(t.Expires) {
					renewed := *t
					renewed.Expires = time.Now().Add(lifetime)
					t = &renewed
					check(tokens.Set(r.Context(), digest(m[1]), t, lifetime))
				}
			}
		}
		if t == nil || !time.Now().Before(t.Expires) || t.Environment != environment || t.Audience != "funding" {
			h.Set("WWW-Authenticate", realm+`, error="invalid_token", error_description="the access token is unknown, expired or not meant for this API"`)
			if node == "gf-kiefer" {
				h.Set("WWW-Authenticate", `bearer error_description="unknown token, or error=expired", `+strings.TrimPrefix(realm, "bearer ")+`, error=invalid_token`)
			}
			problem(r, 401, "token-invalid", "The access token is unknown, expired or not meant for this API.")
			return
		}
		var a *account
		check(g.Model("account").Where("id", t.Account).Scan(&a))
		r.SetCtxVar("grant", t)
		r.SetCtxVar("account", a)
		r.Middleware.Next()
	}
}

func hasRole(r *ghttp.Request) {
	realm := `Bearer realm="brg production"`
	if node == "gf-kiefer" {
		realm = kiefer("production")
	}
	a := r.GetCtxVar("account").Val().(*account)
	if a == nil || a.Role != "EXTERNAL_API_CLIENT" || a.Affiliation == "" {
		r.Response.Header().Set("WWW-Authenticate", realm+`, error="insufficient_scope", error_description="the role EXTERNAL_API_CLIENT is required"`)
		problem(r, 403, "role-missing", "The service account lacks the role EXTERNAL_API_CLIENT.")
		return
	}
	r.Middleware.Next()
}

func kiefer(environment string) string {
	return `bearer realm="BRG, ` + environment + ` (\"SSO\", scope=none)"`
}

func showInfo(r *ghttp.Request) {
	t := r.GetCtxVar("grant").Val().(*grant)
	a := r.GetCtxVar("account").Val().(*account)
	roles := []string{}
	if a.Role != "" {
		roles = append(roles, a.Role)
	}
	endpoints := g.Map{}
	if t.Environment == "production" {
		endpoints["funding"] = []g.Map{{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 4, "url": base + "/brg/funding/v3/calls"}}
	}
	entity(r, g.Map{"endpoints": endpoints, "client_id": t.Client, "service_account_user_id": a.Id, "affiliation_id": gconv.String(a.Affiliation), "roles": roles, "environment": t.Environment}, entityOptions{cache: "private, no-store"})
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
