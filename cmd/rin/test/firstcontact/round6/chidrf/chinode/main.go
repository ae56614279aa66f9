// Node "NORD" of the research-information network: an authorization server for
// client credentials, the info resource and the funding API, version 3.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	scopeInfo = "info.read"
	scopeCall = "funding.read"
	role      = "EXTERNAL_API_CLIENT"
	lifetime  = 10 * time.Minute
)

var variant = "chi" // NODE

func is(name string) bool { return variant == name }

// ---------------------------------------------------------------- clients

type client struct {
	ID, Secret, Account, Affiliation, Audience string
	Scopes                                     []string
}

func (c client) roles() []string {
	if slices.Contains(c.Scopes, scopeCall) {
		return []string{role}
	}
	return []string{}
}

// ---------------------------------------------------------------- authorization server

type authServer struct {
	issuer  string // also the address below which its endpoints live
	clients map[string]client
	keys    []jose.JSONWebKey // private; the first signs
	guard   guard

	mu     sync.Mutex
	issued map[string]issuedToken
}

type issuedToken struct {
	raw     string
	expires time.Time
}

func newAuthServer(issuer string, clients ...client) *authServer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	id := make([]byte, 8)
	_, _ = rand.Read(id)
	s := &authServer{issuer: issuer, clients: map[string]client{}, issued: map[string]issuedToken{},
		keys: []jose.JSONWebKey{{Key: key, KeyID: hex.EncodeToString(id), Algorithm: string(jose.ES256), Use: "sig"}}}
	for _, c := range clients {
		s.clients[c.ID] = c
	}
	s.guard.failures = map[string][]time.Time{}
	return s
}

func (s *authServer) tokenURL() string { return s.issuer + "/protocol/openid-connect/token" }

func (s *authServer) routes(r chi.Router) {
	r.Post("/protocol/openid-connect/token", s.token)
	r.Get("/protocol/openid-connect/certs", s.jwks)
}

func (s *authServer) jwks(w http.ResponseWriter, _ *http.Request) {
	set := jose.JSONWebKeySet{}
	for _, k := range s.keys {
		set.Keys = append(set.Keys, k.Public())
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_ = json.NewEncoder(w).Encode(set)
}

func (s *authServer) metadata(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"issuer":                                s.issuer,
		"token_endpoint":                        s.tokenURL(),
		"jwks_uri":                              s.issuer + "/protocol/openid-connect/certs",
		"response_types_supported":              []string{},
		"grant_types_supported":                 []string{"client_credentials"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_post", "client_secret_basic"},
		"scopes_supported":                      []string{scopeInfo, scopeCall},
	})
}

// guard refuses a client for a minute after twenty wrong secrets within a minute.
type guard struct {
	sync.Mutex
	failures map[string][]time.Time
}

func (g *guard) wait(id string) time.Duration {
	g.Lock()
	defer g.Unlock()
	now := time.Now()
	g.failures[id] = slices.DeleteFunc(g.failures[id], func(t time.Time) bool { return now.Sub(t) > time.Minute })
	f := g.failures[id]
	if len(f) == 0 {
		delete(g.failures, id)
	}
	if len(f) < 20 {
		return 0
	}
	return time.Minute - now.Sub(f[len(f)-1])
}

func (g *guard) fail(id string) {
	g.Lock()
	g.failures[id] = append(g.failures[id], time.Now())
	g.Unlock()
}

func oauthError(w http.ResponseWriter, status int, code, description string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="NORD token endpoint", charset="UTF-8"`)
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": description})
}

func (s *authServer) token(w http.ResponseWriter, r *http.Request) {
	if mt, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || mt != "application/x-www-form-urlencoded" {
		oauthError(w, 400, "invalid_request", "the body must be application/x-www-form-urlencoded")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 32<<10))
	if err != nil {
		oauthError(w, 400, "invalid_request", "the body could not be read")
		return
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		oauthError(w, 400, "invalid_request", "the body is not well formed")
		return
	}
	for name, v := range form {
		if len(v) > 1 {
			oauthError(w, 400, "invalid_request", "a parameter is repeated")
			return
		}
		if v[0] == "" { // RFC 6749, 3.2: treated as omitted
			delete(form, name)
		}
	}
	if q := r.URL.Query(); q.Has("client_secret") || q.Has("client_id") || q.Has("grant_type") || q.Has("scope") {
		oauthError(w, 400, "invalid_request", "parameters belong into the body")
		return
	}

	id, secret := form.Get("client_id"), form.Get("client_secret")
	if len(r.Header.Values("Authorization")) > 0 {
		if form.Has("client_secret") {
			oauthError(w, 400, "invalid_request", "more than one way of client authentication")
			return
		}
		u, p, ok := r.BasicAuth()
		if !ok {
			oauthError(w, 401, "invalid_client", "client authentication failed")
			return
		}
		u, err1 := url.QueryUnescape(u)
		p, err2 := url.QueryUnescape(p)
		if err1 != nil || err2 != nil {
			oauthError(w, 401, "invalid_client", "client authentication failed")
			return
		}
		if id != "" && id != u {
			oauthError(w, 400, "invalid_request", "client_id differs from the authenticated client")
			return
		}
		id, secret = u, p
	}
	if !form.Has("grant_type") {
		oauthError(w, 400, "invalid_request", "grant_type is missing")
		return
	}
	if d := s.guard.wait(id); d > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(d.Seconds()))))
		oauthError(w, 429, "invalid_client", "too many failed attempts; try again later")
		return
	}
	c, known := s.clients[id]
	have, want := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(c.Secret))
	if same := subtle.ConstantTimeCompare(have[:], want[:]) == 1; !known || !same {
		if known {
			s.guard.fail(id)
		}
		oauthError(w, 401, "invalid_client", "client authentication failed")
		return
	}
	if form.Get("grant_type") != "client_credentials" {
		oauthError(w, 400, "unsupported_grant_type", "only client_credentials is supported")
		return
	}

	scopes := c.Scopes
	if form.Has("scope") {
		scopes = strings.Fields(form.Get("scope"))
		if len(scopes) == 0 {
			oauthError(w, 400, "invalid_scope", "the scope is empty")
			return
		}
		allowed := c.Scopes
		if is("chi-scope-escalation") {
			allowed = []string{scopeInfo, scopeCall}
		}
		for _, sc := range scopes {
			if !slices.Contains(allowed, sc) {
				oauthError(w, 400, "invalid_scope", "the scope is unknown or not granted to this client")
				return
			}
		}
		slices.Sort(scopes)
		scopes = slices.Compact(scopes)
	}

	t, err := s.issue(c, scopes)
	if err != nil {
		log.Print(err)
		oauthError(w, 500, "server_error", "no token could be issued")
		return
	}
	expiresIn := int64(time.Until(t.expires) / time.Second)
	if is("chi-expires-in-ms") {
		expiresIn = int64(lifetime / time.Millisecond)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"access_token": t.raw, "token_type": "Bearer", "expires_in": expiresIn, "scope": strings.Join(scopes, " "),
	})
}

func (s *authServer) issue(c client, scopes []string) (issuedToken, error) {
	cacheKey := c.ID + " " + strings.Join(scopes, " ")
	if is("chi-token-reused") {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t, ok := s.issued[cacheKey]; ok && time.Until(t.expires) > time.Minute {
			return t, nil
		}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: s.keys[0]}, (&jose.SignerOptions{}).WithType("at+jwt"))
	if err != nil {
		return issuedToken{}, err
	}
	now := time.Now().Truncate(time.Second)
	jti := make([]byte, 16)
	_, _ = rand.Read(jti)
	raw, err := jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: s.issuer, Subject: c.Account, Audience: jwt.Audience{c.Audience},
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(lifetime)),
		ID: base64.RawURLEncoding.EncodeToString(jti),
	}).Claims(map[string]any{
		"client_id": c.ID, "scope": strings.Join(scopes, " "), "roles": c.roles(), "affiliation_id": c.Affiliation,
	}).Serialize()
	// The lifetime in the response is rounded down; start it at the claim's second.
	t := issuedToken{raw, now.Add(lifetime)}
	if is("chi-token-reused") {
		s.issued[cacheKey] = t
	}
	return t, err
}

// ---------------------------------------------------------------- resource server

type accessToken struct {
	jwt.Claims
	ClientID    string   `json:"client_id"`
	Scope       string   `json:"scope"`
	Roles       []string `json:"roles"`
	Affiliation string   `json:"affiliation_id"`
}

// trust is one authorization server with the audience its tokens must name.
type trust struct {
	server   *authServer
	audience string
}

var errToken = errors.New("the access token is not valid")

func (t trust) verify(raw string) (*accessToken, error) {
	parsed, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || len(parsed.Headers) != 1 {
		return nil, errToken
	}
	h := parsed.Headers[0]
	typ, _ := h.ExtraHeaders[jose.HeaderType].(string)
	if typ = strings.TrimPrefix(strings.ToLower(typ), "application/"); typ != "at+jwt" {
		return nil, errToken
	}
	var key any
	for _, k := range t.server.keys {
		if k.KeyID == h.KeyID {
			key = k.Public()
		}
	}
	if is("chi-embedded-jwk") && h.JSONWebKey != nil && h.JSONWebKey.Valid() {
		key = h.JSONWebKey
	}
	if key == nil {
		return nil, errToken
	}
	var tok accessToken
	if err := parsed.Claims(key, &tok); err != nil {
		return nil, errToken
	}
	if tok.Expiry == nil || tok.ClientID == "" || tok.Subject == "" {
		return nil, errToken
	}
	if err := tok.ValidateWithLeeway(jwt.Expected{Issuer: t.server.issuer, AnyAudience: jwt.Audience{t.audience}, Time: time.Now()}, 0); err != nil {
		return nil, errToken
	}
	return &tok, nil
}

type ctxKey struct{}

func challenge(w http.ResponseWriter, status int, code, description, scope string) {
	v := `Bearer realm="NORD"`
	if is("chi-challenge-spelling") {
		v = `bearer  realm="The \"NORD\" node, funding API"`
	}
	if code != "" {
		if is("chi-challenge-spelling") {
			v += ` ,error_description="` + description + `" , error=` + code
		} else {
			v += fmt.Sprintf(`, error="%s", error_description="%s"`, code, description)
		}
	}
	if scope != "" {
		v += fmt.Sprintf(`, scope="%s"`, scope)
	}
	w.Header().Set("WWW-Authenticate", v)
	w.Header().Set("Cache-Control", "no-store")
	if description == "" {
		description = "An access token is required."
	}
	writeProblem(w, status, description)
}

// authenticate accepts the bearer tokens of the given authorization servers.
func authenticate(trusted ...trust) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			values := r.Header.Values("Authorization")
			if len(values) == 0 {
				challenge(w, 401, "", "", "")
				return
			}
			scheme, raw, _ := strings.Cut(values[0], " ")
			if len(values) > 1 {
				challenge(w, 400, "invalid_request", "more than one Authorization header", "")
				return
			}
			if !strings.EqualFold(scheme, "Bearer") {
				challenge(w, 401, "", "", "")
				return
			}
			if raw = strings.Trim(raw, " "); raw == "" || strings.ContainsAny(raw, " \t,") {
				challenge(w, 400, "invalid_request", "the Authorization header is malformed", "")
				return
			}
			for _, t := range trusted {
				if tok, err := t.verify(raw); err == nil {
					next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), ctxKey{}, tok)))
					return
				}
			}
			challenge(w, 401, "invalid_token", "the access token is not valid", "")
		})
	}
}

// requireScope answers 403 to tokens without the scope.
func requireScope(scope string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tok := r.Context().Value(ctxKey{}).(*accessToken)
			if !slices.Contains(strings.Fields(tok.Scope), scope) {
				challenge(w, 403, "insufficient_scope", "the token lacks the scope "+scope, scope)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// bucket is the limit of requests of one node: twenty at once, ten a second on average.
type bucket struct {
	sync.Mutex
	tokens float64
	last   time.Time
}

func (b *bucket) limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.Lock()
		now := time.Now()
		b.tokens = min(20, b.tokens+10*now.Sub(b.last).Seconds())
		b.last = now
		ok := b.tokens >= 1
		if ok {
			b.tokens--
		}
		b.Unlock()
		if !ok {
			w.Header().Set("Retry-After", "1")
			w.Header().Set("Cache-Control", "no-store")
			writeProblem(w, http.StatusTooManyRequests, "More than ten requests a second; wait a second and repeat the request.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ---------------------------------------------------------------- representations

type parameterError struct {
	Parameter string `json:"parameter"`
	Reason    string `json:"reason"`
}

type problem struct {
	Type   string           `json:"type"`
	Title  string           `json:"title"`
	Status int              `json:"status"`
	Detail string           `json:"detail,omitempty"`
	Errors []parameterError `json:"errors,omitempty"`
}

func writeProblem(w http.ResponseWriter, status int, detail string, errs ...parameterError) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Del("Content-Length")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(problem{"about:blank", http.StatusText(status), status, detail, errs})
}

// acceptsGzip tells whether Accept-Encoding names gzip (or *) with a weight above zero.
func acceptsGzip(r *http.Request) bool {
	star := false
	for _, e := range strings.Split(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, params, _ := strings.Cut(e, ";")
		q := 1.0
		if k, v, ok := strings.Cut(params, "="); ok && strings.EqualFold(strings.TrimSpace(k), "q") {
			if f, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil {
				q = f
			}
		}
		switch name = strings.ToLower(strings.TrimSpace(name)); name {
		case "gzip", "x-gzip":
			return q > 0
		case "*":
			star = q > 0
		}
	}
	return star
}

func matches(header []string, etag string) bool {
	for _, t := range strings.Split(strings.Join(header, ","), ",") {
		t = strings.TrimSpace(t)
		if t == "*" || strings.TrimPrefix(t, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}

// writeJSON sends a representation with a validator, compressed where the client takes it.
func writeJSON(w http.ResponseWriter, r *http.Request, v any) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		log.Print(err)
		writeProblem(w, 500, "The answer could not be written.")
		return
	}
	body := buf.Bytes()
	if is("chi-json-spelling") {
		body = respell(body)
	}
	sum := sha256.Sum256(body)
	etag := `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	h := w.Header()
	h.Set("ETag", etag)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Accept-Encoding")
	if inm := r.Header.Values("If-None-Match"); len(inm) > 0 && matches(inm, etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	if len(body) > 1400 && acceptsGzip(r) {
		var z bytes.Buffer
		zw := gzip.NewWriter(&z)
		_, _ = zw.Write(body)
		_ = zw.Close()
		body = z.Bytes()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// respell writes the same JSON value in another spelling: indented, every character
// outside ASCII escaped, and whole numbers with an exponent.
func respell(in []byte) []byte {
	var out bytes.Buffer
	str, esc := false, false
	for i := 0; i < len(in); {
		c := in[i]
		if str {
			switch {
			case esc:
				esc = false
			case c == '\\':
				esc = true
			case c == '"':
				str = false
			case c == '/':
				out.WriteByte('\\')
			case c >= 0x80:
				rs := []rune(string(in[i:min(len(in), i+4)]))
				r := rs[0]
				if r > 0xffff {
					r -= 0x10000
					fmt.Fprintf(&out, `\u%04X\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
				} else {
					fmt.Fprintf(&out, `\u%04X`, r)
				}
				i += len(string(rs[0]))
				continue
			}
			out.WriteByte(c)
			i++
			continue
		}
		if c == '"' {
			str = true
		}
		if c >= '0' && c <= '9' {
			j := i
			for j < len(in) && in[j] >= '0' && in[j] <= '9' {
				j++
			}
			digits := string(in[i:j])
			out.WriteString(digits[:1])
			out.WriteString("." + strings.TrimRight(digits[1:]+"0", "0"))
			if b := out.Bytes(); b[len(b)-1] == '.' {
				out.WriteByte('0')
			}
			fmt.Fprintf(&out, "E+%d", len(digits)-1)
			i = j
			continue
		}
		out.WriteByte(c)
		if c == ',' || c == ':' || c == '{' || c == '[' {
			out.WriteString("\r\n\t")
		}
		i++
	}
	return out.Bytes()
}

// ---------------------------------------------------------------- funding API

//go:embed openapi.json
var openapiTemplate string

func (n *node) apiDocs(w http.ResponseWriter, r *http.Request) {
	doc := strings.ReplaceAll(openapiTemplate, "{{origin}}", n.origin)
	doc = strings.ReplaceAll(doc, "{{limits}}", limitsText())
	doc = strings.ReplaceAll(doc, "{{tokens}}", tokensText())
	doc = strings.ReplaceAll(doc, "{{numbers}}", numbersText())
	doc = strings.ReplaceAll(doc, "{{challenges}}", challengesText())
	var v map[string]any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		log.Print(err)
		writeProblem(w, 500, "The document could not be written.")
		return
	}
	if is("chi-rate-limited") {
		addTooManyRequests(v)
	}
	out, _ := json.Marshal(v)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=60")
	_, _ = w.Write(out)
}

func limitsText() string {
	if is("chi-rate-limited") {
		return "The operations of this API together answer ten requests a second on average and up to twenty at once; what is beyond is answered 429 with Retry-After, before anything else about the request is looked at, and may be repeated after that time."
	}
	return "No rate limit applies to the operations of this API."
}

func tokensText() string {
	if is("chi-token-reused") {
		return "Each token is valid for ten minutes from its first issue. While a client's token has more than a minute left, the same token is returned again and expires_in tells the seconds that remain."
	}
	return "A token is valid for ten minutes; each request to the token endpoint issues a new one."
}

func addTooManyRequests(doc map[string]any) {
	for _, item := range doc["paths"].(map[string]any) {
		op := item.(map[string]any)["get"].(map[string]any)
		op["responses"].(map[string]any)["429"] = map[string]any{"$ref": "#/components/responses/TooManyRequests"}
	}
	doc["components"].(map[string]any)["responses"].(map[string]any)["TooManyRequests"] = map[string]any{
		"description": "Too many requests at this moment",
		"headers":     map[string]any{"Retry-After": map[string]any{"description": "Seconds to wait", "schema": map[string]any{"type": "integer"}}},
		"content":     map[string]any{"application/problem+json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/Problem"}}},
	}
}

type links struct {
	Self  string `json:"self"`
	First string `json:"first"`
	Prev  string `json:"prev,omitempty"`
	Next  string `json:"next,omitempty"`
	Last  string `json:"last"`
}

type page struct {
	Items      []call `json:"items"`
	Page       int    `json:"page"`
	PageSize   int    `json:"pageSize"`
	TotalItems int    `json:"totalItems"`
	TotalPages int    `json:"totalPages"`
	Links      links  `json:"links"`
}

var sorts = []string{"deadline", "-deadline", "title", "-title", "budget", "-budget", "updatedAt", "-updatedAt"}

// query reads the query string and collects what is wrong with it.
type query struct {
	url.Values
	errs []parameterError
}

func (q *query) bad(name, reason string) {
	q.errs = append(q.errs, parameterError{name, reason})
}

func (q *query) one(name string) (string, bool) {
	v, ok := q.Values[name]
	if !ok {
		return "", false
	}
	if len(v) > 1 {
		q.bad(name, "must be given once")
		return "", false
	}
	return v[0], true
}

func (q *query) integer(name string, def, lo, hi int) int {
	s, ok := q.one(name)
	if !ok {
		return def
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < lo || n > hi || strings.HasPrefix(s, "+") {
		q.bad(name, fmt.Sprintf("must be an integer from %d to %d", lo, hi))
		return def
	}
	return n
}

func (q *query) enum(name string, values []string) (string, bool) {
	s, ok := q.one(name)
	if ok && !slices.Contains(values, s) {
		q.bad(name, "must be one of "+strings.Join(values, ", "))
		return "", false
	}
	return s, ok
}

func (q *query) date(name string) (time.Time, bool) {
	s, ok := q.one(name)
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		if !is("chi-invalid-date-ignored") {
			q.bad(name, "must be a date such as 2026-03-31")
		}
		return time.Time{}, false
	}
	return t, true
}

func (n *node) listCalls(w http.ResponseWriter, r *http.Request) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		writeProblem(w, 400, "The query string is not well formed.")
		return
	}
	q := &query{Values: values}
	pageNo := q.integer("page", 1, 1, 1_000_000)
	size := q.integer("pageSize", 20, 1, 100)
	status, byStatus := q.enum("status", []string{"UPCOMING", "OPEN", "CLOSED"})
	instrument, byInstrument := q.enum("instrument", instruments)
	funder, byFunder := q.one("funderId")
	from, byFrom := q.date("deadlineFrom")
	to, byTo := q.date("deadlineTo")
	text, byText := q.one("q")
	if byText && (text == "" || len([]rune(text)) > 100) {
		q.bad("q", "must have 1 to 100 characters")
	}
	order, ok := q.enum("sort", sorts)
	if !ok {
		order = "deadline"
	}
	if len(q.errs) > 0 {
		writeProblem(w, 400, "Some parameters are not valid.", q.errs...)
		return
	}

	now := time.Now()
	found := []call{}
	for _, c := range n.calls {
		c.Status = c.statusAt(now)
		switch {
		case byStatus && c.Status != status,
			byInstrument && c.Instrument != instrument,
			byFunder && c.Funder.ID != funder,
			byFrom && (c.Deadline == nil || c.Deadline.Before(from)),
			byTo && (c.Deadline == nil || !c.Deadline.Before(to.AddDate(0, 0, 1))),
			byText && !c.contains(text):
			continue
		}
		found = append(found, c)
	}
	sortCalls(found, order)

	total := len(found)
	pages := max(1, (total+size-1)/size)
	lo := min((pageNo-1)*size, total)
	hi := min(lo+size, total)
	link := func(p int) string {
		v := url.Values{}
		for k, x := range values {
			v[k] = x
		}
		if is("chi-next-loses-filter") && p != pageNo {
			v = url.Values{}
		}
		v.Set("page", strconv.Itoa(p))
		v.Set("pageSize", strconv.Itoa(size))
		return n.api + "/calls?" + v.Encode()
	}
	out := page{Items: found[lo:hi], Page: pageNo, PageSize: size, TotalItems: total, TotalPages: pages,
		Links: links{Self: link(pageNo), First: link(1), Last: link(pages)}}
	if pageNo > 1 && pageNo <= pages {
		out.Links.Prev = link(pageNo - 1)
	}
	if pageNo < pages {
		out.Links.Next = link(pageNo + 1)
	}
	writeJSON(w, r, out)
}

func (n *node) find(w http.ResponseWriter, r *http.Request) (call, bool) {
	id, err := url.PathUnescape(chi.URLParam(r, "callId"))
	if err == nil {
		for _, c := range n.calls {
			if c.ID == id {
				c.Status = c.statusAt(time.Now())
				return c, true
			}
		}
	}
	writeProblem(w, 404, "There is no call with this id.")
	return call{}, false
}

func (n *node) getCall(w http.ResponseWriter, r *http.Request) {
	if c, ok := n.find(w, r); ok {
		writeJSON(w, r, c)
	}
}

func (n *node) listDocuments(w http.ResponseWriter, r *http.Request) {
	if c, ok := n.find(w, r); ok {
		writeJSON(w, r, map[string]any{"items": c.documents()})
	}
}

func (n *node) listFunders(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, r, map[string]any{"items": funders})
}

func (n *node) statistics(w http.ResponseWriter, r *http.Request) {
	byStatus, byInstrument := map[string]int{"UPCOMING": 0, "OPEN": 0, "CLOSED": 0}, map[string]int{}
	for _, i := range instruments {
		byInstrument[i] = 0
	}
	for _, c := range n.calls {
		byStatus[c.statusAt(time.Now())]++
		byInstrument[c.Instrument]++
	}
	writeJSON(w, r, map[string]any{"total": len(n.calls), "byStatus": byStatus, "byInstrument": byInstrument})
}

// ---------------------------------------------------------------- info and registry

func (n *node) info(environment string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tok := r.Context().Value(ctxKey{}).(*accessToken)
		writeJSON(w, r, map[string]any{
			"node": "NORD", "environment": environment,
			"client": map[string]any{"clientId": tok.ClientID, "serviceAccountUserId": tok.Subject,
				"affiliationId": tok.Affiliation, "roles": tok.Roles, "scope": tok.Scope},
			"endpoints": map[string]any{"funding": []map[string]any{{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 2,
				"url": n.api + "/calls"}}},
		})
	}
}

func (n *node) registry(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=60")
	_ = json.NewEncoder(w).Encode(map[string]any{"member": []map[string]string{{
		"id": "NORD", "acronym": "NORD", "name": "Research information node North", "contact": "api@nord.example",
		"oauth2": n.prod.tokenURL(), "info": n.origin + "/nord/info/v1/oauth/info/",
	}}})
}

// ---------------------------------------------------------------- wiring

type node struct {
	origin, api   string
	prod, staging *authServer
	calls         []call
}

func allowed(r *http.Request) []string {
	var out []string
	routes := chi.RouteContext(r.Context()).Routes
	for _, m := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		look := m
		if m == "HEAD" {
			look = "GET"
		}
		if routes.Match(chi.NewRouteContext(), look, r.URL.Path) {
			out = append(out, m)
		}
	}
	return out
}

func (n *node) handler() http.Handler {
	r := chi.NewRouter()
	r.Use(middleware.RequestID, middleware.Recoverer, middleware.SetHeader("X-Content-Type-Options", "nosniff"), middleware.GetHead)
	r.NotFound(func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, 404, "There is nothing at this address.")
	})
	r.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", strings.Join(allowed(r), ", "))
		writeProblem(w, 405, "This method is not supported here.")
	})

	r.Get("/registry.json", n.registry)
	r.Route("/auth/realms/ris", n.prod.routes)
	r.Route("/staging/auth/realms/ris", n.staging.routes)
	r.Get("/.well-known/oauth-authorization-server/auth/realms/ris", n.prod.metadata)
	r.Get("/.well-known/oauth-authorization-server/staging/auth/realms/ris", n.staging.metadata)

	production := trust{n.prod, n.origin + "/nord"}
	test := trust{n.staging, n.origin + "/staging/nord"}

	infoTrust := []trust{production}
	if is("chi-info-accepts-staging") {
		infoTrust = append(infoTrust, test)
	}
	r.With(authenticate(infoTrust...)).Get("/nord/info/v1/oauth/info/", n.info("production"))
	r.With(authenticate(test)).Get("/staging/nord/info/v1/oauth/info/", n.info("staging"))

	r.Get("/nord/funding/v3/api-docs", n.apiDocs)
	r.Group(func(r chi.Router) {
		if is("chi-rate-limited") {
			b := &bucket{tokens: 20, last: time.Now()}
			r.Use(b.limit)
		}
		r.Use(authenticate(production), requireScope(scopeCall))
		r.Get("/nord/funding/v3/calls", n.listCalls)
		r.Get("/nord/funding/v3/calls/{callId}", n.getCall)
		r.Get("/nord/funding/v3/calls/{callId}/documents", n.listDocuments)
		r.Get("/nord/funding/v3/funders", n.listFunders)
		r.Get("/nord/funding/v3/statistics", n.statistics)
	})
	return r
}

func main() {
	if v := os.Getenv("NODE"); v != "" {
		variant = v
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	origin := "http://127.0.0.1:" + port
	aud, both := origin+"/nord", []string{scopeCall, scopeInfo}
	n := &node{origin: origin, api: origin + "/nord/funding/v3", calls: seed(time.Now().UTC())}
	n.prod = newAuthServer(origin+"/auth/realms/ris",
		client{"uni-hafen", "p4pS7cP1ybqN52bqYPheb48D52Jk66r071YP37Us", "sa-7f0c41", "AFF-0042", aud, both},
		client{"uni-deich", "zIZVQ6gy4Btq4Ww1rvh1rYCZBZncuAUT4qJvAlZY", "sa-19be02", "AFF-0057", aud, []string{scopeInfo}},
		client{"library-sync", "DNgeUerLxsZzGYzInxIaQSacdnwApsvfMuKuh9CA", "sa-c33d90", "AFF-0042", origin + "/library", both},
		client{"uni-priel", "2osR5Jh2lRyFjrnLDkMpHtjS3Exe6Lmk6nTurkw1", "sa-5510aa", "AFF-0061", aud, both},
	)
	n.staging = newAuthServer(origin+"/staging/auth/realms/ris",
		client{"uni-hafen-test", "WNfxajra46WG0bvBXyghYteFN5R3XaykjrPsN8sB", "sa-test-1", "AFF-0042", origin + "/staging/nord", both},
	)
	srv := &http.Server{Addr: "127.0.0.1:" + port, Handler: n.handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 60 * time.Second}
	log.Printf("%s listens on %s", variant, srv.Addr)
	log.Fatal(srv.ListenAndServe())
}

func numbersText() string {
	if is("chi-json-spelling") {
		return " Numbers and strings are written in any of the forms that RFC 8259 allows: an integer such as 24 may appear as 2.4E+1 (an integer by its value, as JSON Schema 2020-12 defines the type), and characters may be escaped."
	}
	return ""
}

func challengesText() string {
	if is("chi-challenge-spelling") {
		return " Challenges use the freedom of RFC 9110, 11.2 and 5.6: the case of the scheme, the order of the parameters, the blanks around the commas between them, and the token or quoted form of a value are not fixed, and quoted strings may hold quoted pairs."
	}
	return ""
}
