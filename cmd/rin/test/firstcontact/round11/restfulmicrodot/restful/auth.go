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

	restful "github.com/emicklei/go-restful/v3"
)

const lifetime = 70

type client struct {
	id, secret, audience, affiliation, account string
	roles                                      []string
}

type grant struct {
	c   *client
	exp time.Time
}

type failure struct {
	n     int
	until time.Time
}

type authServer struct {
	mu      sync.Mutex
	realm   string
	clients map[string]*client
	grants  map[string]grant
	held    map[string]string
	seen    map[string]grant
	fails   map[string]*failure
}

func newServer(realm string, cs ...*client) *authServer {
	s := &authServer{realm: realm, clients: map[string]*client{}, grants: map[string]grant{},
		held: map[string]string{}, seen: map[string]grant{}, fails: map[string]*failure{}}
	for _, c := range cs {
		s.clients[c.id] = c
	}
	return s
}

var prod = newServer("nordlys",
	&client{"nordlys-portal-4d81", "mK4w-Zt9v_Rb27xQpL0dHs6nYc3aFg8e", "funding", "AFF-0417", "sa-10021", []string{"EXTERNAL_API_CLIENT"}},
	&client{"nordlys-reading-room-a70c", "Vx2+fT8/kM=5qB%wN1&zJ7:rD4~sG", "funding", "AFF-0533", "sa-10044", []string{"READER"}},
	&client{"nordlys-archive-19be", "p6Ys=Kd3%2Bv+Hn0/Lc9?tW5;eR8@uA", "archive", "AFF-0417", "sa-10078", []string{"EXTERNAL_API_CLIENT"}},
	&client{"nordlys-reserve-e52f", "bQ9/xU1+gJ6%iO=2&mS7:yC4!kP3_V", "funding", "AFF-0602", "sa-10093", []string{"EXTERNAL_API_CLIENT"}},
)

var staging = newServer("nordlys-staging",
	&client{"nordlys-trial-03d7", "hE5/zR8+cN2%aT=4&lX9:oF1~wI6_B", "funding", "AFF-TEST", "sa-90001", []string{"EXTERNAL_API_CLIENT"}},
)

func oauthError(w http.ResponseWriter, status int, code, text string) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": text})
}

func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// authenticate reads the form and the client's credentials.
func (s *authServer) authenticate(w http.ResponseWriter, r *http.Request) (*client, url.Values) {
	mt, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mt != "application/x-www-form-urlencoded" {
		oauthError(w, 400, "invalid_request", "the body must be application/x-www-form-urlencoded")
		return nil, nil
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16<<10))
	if err != nil {
		oauthError(w, 413, "invalid_request", "the body is too large")
		return nil, nil
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil {
		oauthError(w, 400, "invalid_request", "the body cannot be decoded")
		return nil, nil
	}
	for _, v := range form {
		if len(v) > 1 {
			oauthError(w, 400, "invalid_request", "a parameter is repeated")
			return nil, nil
		}
	}
	q := r.URL.Query()
	if q.Has("client_secret") || q.Has("client_id") || q.Has("grant_type") {
		oauthError(w, 400, "invalid_request", "parameters belong in the body")
		return nil, nil
	}
	id, secret := form.Get("client_id"), form.Get("client_secret")
	basic := false
	auths := r.Header.Values("Authorization")
	if len(auths) > 1 {
		oauthError(w, 400, "invalid_request", "more than one Authorization field")
		return nil, nil
	}
	if len(auths) == 1 {
		if form.Has("client_secret") {
			oauthError(w, 400, "invalid_request", "more than one way of client authentication")
			return nil, nil
		}
		basic = true
		bu, bp, ok := r.BasicAuth()
		u, e1 := url.QueryUnescape(bu)
		p, e2 := url.QueryUnescape(bp)
		if !ok || e1 != nil || e2 != nil {
			u, p = "", ""
		}
		if form.Has("client_id") && id != u {
			oauthError(w, 400, "invalid_request", "two different client identifiers")
			return nil, nil
		}
		id, secret = u, p
	}
	c := s.clients[id]
	s.mu.Lock()
	f := s.fails[id]
	now := time.Now()
	if c != nil && f != nil && now.Before(f.until) {
		wait := int(time.Until(f.until).Seconds()) + 1
		s.mu.Unlock()
		w.Header().Set("Retry-After", strconv.Itoa(wait))
		oauthError(w, 429, "invalid_client", "too many failed attempts")
		return nil, nil
	}
	if c == nil || !same(c.secret, secret) {
		if c != nil {
			if f == nil {
				f = &failure{}
				s.fails[id] = f
			}
			if f.n++; f.n >= 10 {
				f.n, f.until = 0, now.Add(20*time.Second)
			}
		}
		s.mu.Unlock()
		_ = basic
		w.Header().Set("WWW-Authenticate", `Basic realm="`+s.realm+`", charset="UTF-8"`)
		oauthError(w, 401, "invalid_client", "the client could not be authenticated")
		return nil, nil
	}
	delete(s.fails, id)
	s.mu.Unlock()
	return c, form
}

func (s *authServer) token(rq *restful.Request, rs *restful.Response) {
	w, r := rs.ResponseWriter, rq.Request
	c, form := s.authenticate(w, r)
	if c == nil {
		return
	}
	switch {
	case form.Get("grant_type") == "":
		oauthError(w, 400, "invalid_request", "grant_type is missing")
		return
	case form.Get("grant_type") != "client_credentials":
		oauthError(w, 400, "unsupported_grant_type", "only client_credentials is offered")
		return
	case form.Get("scope") != "" && form.Get("scope") != "funding.read":
		oauthError(w, 400, "invalid_scope", "the only scope is funding.read")
		return
	}
	tok := s.issue(c)
	body := map[string]any{"access_token": tok, "token_type": "Bearer", "expires_in": lifetime, "scope": "funding.read"}
	if variant("birch") {
		delete(body, "expires_in")
		body["token_type"] = "bearer"
		body["issued_by"] = "nordlys"
		body["not-before-policy"] = 0
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	json.NewEncoder(w).Encode(body)
}

func (s *authServer) issue(c *client) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if variant("cedar") && s == prod {
		if t, ok := s.held[c.id]; ok && s.grants[t].exp.After(now.Add(3*time.Second)) {
			return t
		}
	}
	n := 32
	if variant("birch") {
		n = 600
	}
	b := make([]byte, n)
	rand.Read(b)
	t := base64.RawURLEncoding.EncodeToString(b)
	for k, g := range s.grants {
		if now.After(g.exp.Add(time.Minute)) {
			delete(s.grants, k)
		}
	}
	s.grants[t] = grant{c, now.Add(lifetime * time.Second)}
	s.held[c.id] = t
	return t
}

func (s *authServer) revoke(rq *restful.Request, rs *restful.Response) {
	w, r := rs.ResponseWriter, rq.Request
	c, form := s.authenticate(w, r)
	if c == nil {
		return
	}
	t := form.Get("token")
	if t == "" {
		oauthError(w, 400, "invalid_request", "token is missing")
		return
	}
	s.mu.Lock()
	g, ok := s.grants[t]
	if ok && g.c == c {
		delete(s.grants, t)
	}
	s.mu.Unlock()
	if ok && g.c != c {
		oauthError(w, 400, "unauthorized_client", "the token was issued to another client")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(200)
}

func (s *authServer) lookup(t string) (grant, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if variant("dahlia") {
		if g, ok := s.seen[t]; ok && now.Before(g.exp) {
			return g, true
		}
	}
	g, ok := s.grants[t]
	if !ok || !now.Before(g.exp) {
		return grant{}, false
	}
	if variant("dahlia") {
		s.seen[t] = g
	}
	return g, true
}

func (s *authServer) challenge(w http.ResponseWriter, status int, code, text string) {
	v := `Bearer realm="` + s.realm + `"`
	if code != "" {
		v += `, error="` + code + `", error_description="` + text + `"`
	}
	if code == "insufficient_scope" {
		v += `, scope="funding.read"`
	}
	w.Header().Set("WWW-Authenticate", v)
	w.Header().Set("Cache-Control", "no-store")
	problem(w, status, http.StatusText(status), text)
}

func (s *authServer) guard(role string) restful.FilterFunction {
	return func(rq *restful.Request, rs *restful.Response, chain *restful.FilterChain) {
		w, r := rs.ResponseWriter, rq.Request
		auths := r.Header.Values("Authorization")
		if len(auths) == 0 {
			s.challenge(w, 401, "", "a bearer token is needed")
			return
		}
		if len(auths) > 1 {
			s.challenge(w, 400, "invalid_request", "more than one Authorization field")
			return
		}
		scheme, tok, _ := strings.Cut(auths[0], " ")
		if !strings.EqualFold(scheme, "Bearer") {
			s.challenge(w, 401, "", "a bearer token is needed")
			return
		}
		tok = strings.Trim(tok, " ")
		if tok == "" || strings.ContainsAny(tok, " ,\t") {
			s.challenge(w, 400, "invalid_request", "the Authorization field is malformed")
			return
		}
		g, ok := s.lookup(tok)
		if !ok || g.c.audience != "funding" {
			s.challenge(w, 401, "invalid_token", "the token is unknown, expired, revoked or meant for another service")
			return
		}
		if role != "" && !contains(g.c.roles, role) {
			s.challenge(w, 403, "insufficient_scope", "the role "+role+" is needed")
			return
		}
		rq.SetAttribute("grant", g)
		chain.ProcessFilter(rq, rs)
	}
}

func contains(l []string, x string) bool {
	for _, v := range l {
		if v == x {
			return true
		}
	}
	return false
}

type kept struct {
	at     time.Time
	header http.Header
	body   []byte
}

var (
	shelfMu sync.Mutex
	shelved = map[string]kept{}
)

type tee struct {
	http.ResponseWriter
	status int
	buf    []byte
}

func (t *tee) WriteHeader(c int) { t.status = c; t.ResponseWriter.WriteHeader(c) }
func (t *tee) Write(b []byte) (int, error) {
	t.buf = append(t.buf, b...)
	return t.ResponseWriter.Write(b)
}

// shelf keeps the answers of costly reports for a few seconds.
func shelf(rq *restful.Request, rs *restful.Response, chain *restful.FilterChain) {
	r := rq.Request
	if r.Method != "GET" || !strings.HasSuffix(r.URL.Path, "/statistics") || r.Header.Get("If-None-Match") != "" {
		chain.ProcessFilter(rq, rs)
		return
	}
	key := r.URL.RequestURI() + "|" + r.Header.Get("Accept")
	shelfMu.Lock()
	k, ok := shelved[key]
	shelfMu.Unlock()
	if ok && time.Since(k.at) < 15*time.Second {
		for n, v := range k.header {
			rs.Header()[n] = v
		}
		rs.ResponseWriter.Write(k.body)
		return
	}
	t := &tee{ResponseWriter: rs.ResponseWriter, status: 200}
	rs.ResponseWriter = t
	chain.ProcessFilter(rq, rs)
	if t.status == 200 {
		shelfMu.Lock()
		shelved[key] = kept{time.Now(), rs.Header().Clone(), t.buf}
		shelfMu.Unlock()
	}
}
