package main

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

const life = 70 * time.Second

type Client struct {
	ID, Secret, Account, Affiliation, Audience string
	Roles                                      []string
}

type Token struct {
	Client *Client
	Issued time.Time
	Ends   time.Time
}

// Server is one authorization server; production and staging share nothing.
type Server struct {
	issuer, realm string
	clients       map[string]*Client
	mu            sync.Mutex
	tokens        map[string]*Token
	wrong         map[string][]time.Time
	until         map[string]time.Time
}

func newServer(issuer, realm string, clients ...*Client) *Server {
	s := &Server{issuer: issuer, realm: realm, clients: map[string]*Client{}, tokens: map[string]*Token{}, wrong: map[string][]time.Time{}, until: map[string]time.Time{}}
	for _, c := range clients {
		s.clients[c.ID] = c
	}
	return s
}

func reply(w http.ResponseWriter, status int, doc any) {
	body, _ := json.Marshal(doc)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

func refuse(w http.ResponseWriter, status int, code, text string) {
	reply(w, status, map[string]string{"error": code, "error_description": text})
}

func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// form reads the parameters and authenticates the client; it has answered if ok is false.
func (s *Server) form(w http.ResponseWriter, r *http.Request) (p map[string]string, c *Client, ok bool) {
	unauth := func() {
		w.Header().Set("WWW-Authenticate", `Basic realm="`+s.realm+`", charset="UTF-8"`)
		refuse(w, 401, "invalid_client", "client authentication failed")
	}
	auths := r.Header.Values("Authorization")
	if len(auths) > 1 {
		refuse(w, 400, "invalid_request", "several Authorization headers")
		return
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/x-www-form-urlencoded" {
		refuse(w, 400, "invalid_request", "send application/x-www-form-urlencoded")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 32<<10))
	if err != nil {
		refuse(w, 413, "invalid_request", "the body is too large")
		return
	}
	values, err := url.ParseQuery(strings.ReplaceAll(string(body), ";", "%3B"))
	if err != nil {
		refuse(w, 400, "invalid_request", "the body is not well-formed")
		return
	}
	p = map[string]string{}
	for _, name := range []string{"grant_type", "client_id", "client_secret", "scope", "token", "token_type_hint"} {
		for _, v := range values[name] {
			if v == "" {
				continue
			}
			if _, twice := p[name]; twice {
				refuse(w, 400, "invalid_request", name+" is repeated")
				return
			}
			p[name] = v
		}
	}
	id, secret := p["client_id"], p["client_secret"]
	if len(auths) == 1 {
		scheme, rest, _ := strings.Cut(auths[0], " ")
		raw, err := base64.StdEncoding.DecodeString(strings.Trim(rest, " "))
		user, pass, colon := strings.Cut(string(raw), ":")
		user, err1 := url.QueryUnescape(user)
		pass, err2 := url.QueryUnescape(pass)
		if !strings.EqualFold(scheme, "Basic") || err != nil || !colon || err1 != nil || err2 != nil {
			unauth()
			return
		}
		if secret != "" || (id != "" && id != user) {
			refuse(w, 400, "invalid_request", "two ways of client authentication")
			return
		}
		id, secret = user, pass
	}
	if id == "" || secret == "" {
		unauth()
		return
	}
	c = s.clients[id]
	if c == nil {
		equal(secret, "nobody")
		unauth()
		return
	}
	s.mu.Lock()
	wait := time.Until(s.until[id])
	right := wait <= 0 && equal(secret, c.Secret)
	if right {
		delete(s.wrong, id)
	} else if wait <= 0 {
		now := time.Now()
		recent := []time.Time{now}
		for _, t := range s.wrong[id] {
			if now.Sub(t) < time.Minute {
				recent = append(recent, t)
			}
		}
		s.wrong[id] = recent
		if len(recent) >= 15 {
			s.until[id] = now.Add(time.Minute)
			delete(s.wrong, id)
		}
	}
	s.mu.Unlock()
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Seconds())+1))
		refuse(w, 429, "invalid_client", "too many wrong secrets")
		return
	}
	if !right {
		unauth()
		return
	}
	return p, c, true
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	p, c, ok := s.form(w, r)
	if !ok {
		return
	}
	switch g := p["grant_type"]; {
	case g == "":
		refuse(w, 400, "invalid_request", "grant_type is missing")
		return
	case g != "client_credentials":
		refuse(w, 400, "unsupported_grant_type", "only client_credentials")
		return
	case p["scope"] != "" && p["scope"] != "funding":
		refuse(w, 400, "invalid_scope", "the only scope is funding")
		return
	}
	now := time.Now()
	t := &Token{c, now, now.Add(life)}
	access := newToken()
	s.mu.Lock()
	for k, old := range s.tokens {
		if now.After(old.Ends) {
			delete(s.tokens, k)
		}
	}
	s.tokens[access] = t
	s.mu.Unlock()
	reply(w, 200, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": int(life.Seconds()), "scope": "funding"})
}

func newToken() string {
	b := make([]byte, 33)
	rand.Read(b)
	if is("elbe") {
		return "hl.~+/" + base64.StdEncoding.EncodeToString(b[:31])
	}
	return "hl_" + base64.RawURLEncoding.EncodeToString(b)
}

func (s *Server) find(access string) *Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tokens[access]
	if t == nil || !time.Now().Before(t.Ends) {
		return nil
	}
	return t
}

// revoke is RFC 7009.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	p, c, ok := s.form(w, r)
	if !ok {
		return
	}
	if p["token"] == "" {
		refuse(w, 400, "invalid_request", "token is missing")
		return
	}
	t := s.find(p["token"])
	if t != nil && t.Client != c {
		refuse(w, 400, "unauthorized_client", "the token is another client's")
		return
	}
	if hint := p["token_type_hint"]; !is("bode") || hint == "" || hint == "access_token" {
		s.mu.Lock()
		delete(s.tokens, p["token"])
		s.mu.Unlock()
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(200)
}

// introspect is RFC 7662; a client sees its own tokens only.
func (s *Server) introspect(w http.ResponseWriter, r *http.Request) {
	p, c, ok := s.form(w, r)
	if !ok {
		return
	}
	if p["token"] == "" {
		refuse(w, 400, "invalid_request", "token is missing")
		return
	}
	t := s.find(p["token"])
	if t == nil || t.Client != c {
		reply(w, 200, map[string]any{"active": false})
		return
	}
	reply(w, 200, map[string]any{"active": true, "client_id": c.ID, "sub": c.Account, "aud": c.Audience, "iss": s.issuer, "scope": "funding",
		"token_type": "Bearer", "iat": t.Issued.Unix(), "exp": t.Ends.Unix()})
}
