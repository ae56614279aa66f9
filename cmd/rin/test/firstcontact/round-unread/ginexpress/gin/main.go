// Universidade do Mondego: funding node (gin). The environment variable NODE chooses the variant, PORT the port.
package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"mime"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
)

var variant = os.Getenv("NODE")
var port = os.Getenv("PORT")
var origin string

func is(n string) bool { return variant == n }

const api = "/mondego/funding/v3"
const lifetime = 300

// ---------------------------------------------------------------- authorization servers

type client struct {
	id, secret, aud, affiliation string
	roles, scopes                []string
}

type authServer struct {
	issuer  string
	kid     string
	key     *ecdsa.PrivateKey
	clients map[string]*client
	mu      sync.Mutex
	fails   map[string][]time.Time
	locked  map[string]time.Time
	cache   map[string]cachedToken
}

type cachedToken struct {
	token string
	until time.Time
}

func newServer(issuer, kid string, cs ...*client) *authServer {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	s := &authServer{issuer: issuer, kid: kid, key: k, clients: map[string]*client{}, fails: map[string][]time.Time{}, locked: map[string]time.Time{}, cache: map[string]cachedToken{}}
	for _, c := range cs {
		s.clients[c.id] = c
	}
	return s
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func random(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return b64(b)
}

func (s *authServer) sign(claims map[string]any) string {
	typ := "at+jwt"
	if is("gin-token-shape") {
		typ = "application/at+jwt"
	}
	h, _ := json.Marshal(map[string]string{"alg": "ES256", "typ": typ, "kid": s.kid})
	p, _ := json.Marshal(claims)
	in := b64(h) + "." + b64(p)
	d := sha256.Sum256([]byte(in))
	r, t, err := ecdsa.Sign(rand.Reader, s.key, d[:])
	if err != nil {
		panic(err)
	}
	sig := make([]byte, 64)
	r.FillBytes(sig[:32])
	t.FillBytes(sig[32:])
	return in + "." + b64(sig)
}

type claims struct {
	Iss      string   `json:"iss"`
	Sub      string   `json:"sub"`
	Aud      any      `json:"aud"`
	Exp      int64    `json:"exp"`
	Iat      int64    `json:"iat"`
	ClientID string   `json:"client_id"`
	Scope    string   `json:"scope"`
	Roles    []string `json:"roles"`
	Affil    string   `json:"affiliation"`
}

func (s *authServer) parse(tok string) (*claims, *struct{ Kid string }, bool) {
	parts := strings.Split(tok, ".")
	if len(parts) != 3 {
		return nil, nil, false
	}
	strict := base64.RawURLEncoding.Strict()
	hb, e1 := strict.DecodeString(parts[0])
	pb, e2 := strict.DecodeString(parts[1])
	sig, e3 := strict.DecodeString(parts[2])
	if e1 != nil || e2 != nil || e3 != nil || len(sig) != 64 {
		return nil, nil, false
	}
	var h struct{ Alg, Typ, Kid string }
	if json.Unmarshal(hb, &h) != nil || h.Alg != "ES256" || h.Kid != s.kid {
		return nil, nil, false
	}
	if t := strings.TrimPrefix(strings.ToLower(h.Typ), "application/"); t != "at+jwt" {
		return nil, nil, false
	}
	d := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(&s.key.PublicKey, d[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])) {
		return nil, nil, false
	}
	var c claims
	if json.Unmarshal(pb, &c) != nil || c.Iss != s.issuer || c.Exp <= time.Now().Unix() {
		return nil, nil, false
	}
	return &c, nil, true
}

func (c *claims) has(aud string) bool {
	switch a := c.Aud.(type) {
	case string:
		return a == aud
	case []any:
		for _, x := range a {
			if x == aud {
				return true
			}
		}
	}
	return false
}

func (s *authServer) jwks() gin.HandlerFunc {
	return func(c *gin.Context) {
		x, y := make([]byte, 32), make([]byte, 32)
		s.key.PublicKey.X.FillBytes(x)
		s.key.PublicKey.Y.FillBytes(y)
		c.Header("Cache-Control", "public, max-age=300")
		c.JSON(200, gin.H{"keys": []gin.H{{"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": s.kid, "x": b64(x), "y": b64(y)}}})
	}
}

func oauthError(c *gin.Context, status int, code, desc string) {
	c.Header("Cache-Control", "no-store")
	c.Header("Pragma", "no-cache")
	if status == 401 {
		c.Header("WWW-Authenticate", `Basic realm="Universidade do Mondego", charset="UTF-8"`)
	}
	b, _ := json.Marshal(map[string]string{"error": code, "error_description": desc})
	c.Data(status, "application/json", b)
	c.Abort()
}

func (s *authServer) token(c *gin.Context) {
	mt, _, err := mime.ParseMediaType(c.GetHeader("Content-Type"))
	if err != nil || mt != "application/x-www-form-urlencoded" {
		oauthError(c, 400, "invalid_request", "the body must be application/x-www-form-urlencoded")
		return
	}
	if enc := c.GetHeader("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		oauthError(c, 400, "invalid_request", "no content codings here")
		return
	}
	body, err := io.ReadAll(io.LimitReader(c.Request.Body, 16385))
	if err != nil || len(body) > 16384 || !utf8.Valid(body) {
		oauthError(c, 400, "invalid_request", "body too large or not UTF-8")
		return
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		oauthError(c, 400, "invalid_request", "malformed body")
		return
	}
	for _, v := range form {
		if len(v) > 1 {
			oauthError(c, 400, "invalid_request", "a parameter was sent more than once")
			return
		}
	}
	for _, k := range []string{"grant_type", "client_id", "client_secret", "scope"} {
		if c.Request.URL.Query().Has(k) {
			oauthError(c, 400, "invalid_request", "parameters belong into the body")
			return
		}
	}
	id, secret := form.Get("client_id"), form.Get("client_secret")
	hs := c.Request.Header.Values("Authorization")
	if len(hs) > 1 {
		oauthError(c, 400, "invalid_request", "more than one Authorization header")
		return
	}
	if len(hs) == 1 {
		if form.Has("client_secret") {
			oauthError(c, 400, "invalid_request", "more than one way of client authentication")
			return
		}
		u, p, ok := c.Request.BasicAuth()
		du, e1 := url.QueryUnescape(u)
		dp, e2 := url.QueryUnescape(p)
		if !ok || e1 != nil || e2 != nil {
			oauthError(c, 401, "invalid_client", "client authentication failed")
			return
		}
		if form.Has("client_id") && id != du {
			oauthError(c, 400, "invalid_request", "client_id differs from the Authorization header")
			return
		}
		id, secret = du, dp
	}
	if !form.Has("grant_type") || form.Get("grant_type") == "" {
		oauthError(c, 400, "invalid_request", "grant_type is missing")
		return
	}
	if id == "" || secret == "" {
		oauthError(c, 401, "invalid_client", "client authentication failed")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if until, ok := s.locked[id]; ok && now.Before(until) {
		c.Header("Retry-After", strconv.Itoa(int(until.Sub(now).Seconds())+1))
		oauthError(c, 429, "invalid_request", "too many wrong secrets; try again later")
		return
	}
	cl := s.clients[id]
	want := sha256.Sum256([]byte("?"))
	if cl != nil {
		want = sha256.Sum256([]byte(cl.secret))
	}
	got := sha256.Sum256([]byte(secret))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 || cl == nil {
		keep := []time.Time{now}
		for _, t := range s.fails[id] {
			if now.Sub(t) < 30*time.Second {
				keep = append(keep, t)
			}
		}
		s.fails[id] = keep
		if len(keep) >= 100 {
			s.locked[id] = now.Add(30 * time.Second)
			s.fails[id] = nil
		}
		oauthError(c, 401, "invalid_client", "client authentication failed")
		return
	}
	if form.Get("grant_type") != "client_credentials" {
		oauthError(c, 400, "unsupported_grant_type", "only client_credentials is offered")
		return
	}
	granted := cl.scopes
	if sc := form.Get("scope"); sc != "" {
		granted = nil
		for _, w := range strings.Split(sc, " ") {
			found := false
			for _, a := range cl.scopes {
				found = found || a == w
			}
			if !found {
				oauthError(c, 400, "invalid_scope", "the client may not have this scope")
				return
			}
			dup := false
			for _, g := range granted {
				dup = dup || g == w
			}
			if !dup {
				granted = append(granted, w)
			}
		}
	}
	scope := strings.Join(granted, " ")
	key := id + "\n" + scope
	var tok string
	if ct, ok := s.cache[key]; ok && is("gin-token-reuse") && now.Before(ct.until) {
		tok = ct.token
	} else {
		m := map[string]any{"iss": s.issuer, "sub": "service-account-" + cl.id, "aud": cl.aud, "iat": now.Unix(), "exp": now.Unix() + lifetime,
			"jti": random(12), "client_id": cl.id, "scope": scope, "roles": cl.roles, "affiliation": cl.affiliation}
		if is("gin-token-shape") {
			m["aud"] = []string{"https://auditoria.mondego.example", cl.aud}
			m["nbf"] = now.Unix() - 5
		}
		tok = s.sign(m)
		s.cache[key] = cachedToken{tok, now.Add(240 * time.Second)}
	}
	out := gin.H{"access_token": tok, "token_type": "Bearer", "expires_in": lifetime, "scope": scope}
	if is("gin-token-shape") {
		out["token_type"] = "bearer"
		out["issued_by"] = "balcão único"
		if form.Get("scope") == scope {
			delete(out, "scope") // identical to what was asked
		}
	}
	c.Header("Cache-Control", "no-store")
	c.Header("Pragma", "no-cache")
	b, _ := json.Marshal(out)
	c.Data(200, "application/json", b)
}

// ---------------------------------------------------------------- languages, errors, representations

func quality(header, want string, lang bool) float64 {
	best, spec := -1.0, -1
	for _, part := range strings.Split(header, ",") {
		f := strings.Split(part, ";")
		name := strings.ToLower(strings.TrimSpace(f[0]))
		s := -1
		switch {
		case name == want:
			s = 2
		case lang && strings.HasPrefix(name, want+"-"):
			s = 2
		case !lang && name == strings.Split(want, "/")[0]+"/*":
			s = 1
		case name == "*" && lang, name == "*/*" && !lang:
			s = 0
		}
		if s < 0 {
			continue
		}
		q := 1.0
		for _, p := range f[1:] {
			p = strings.ToLower(strings.TrimSpace(p))
			if strings.HasPrefix(p, "q=") {
				if v, err := strconv.ParseFloat(p[2:], 64); err == nil {
					q = v
				}
			}
		}
		if s > spec || (s == spec && q > best) {
			best, spec = q, s
		}
	}
	return best
}

func language(c *gin.Context) string {
	h := strings.Join(c.Request.Header.Values("Accept-Language"), ",")
	if h == "" {
		return "pt"
	}
	if quality(h, "en", true) > quality(h, "pt", true) {
		return "en"
	}
	return "pt"
}

type word struct{ pt, en string }

func (w word) in(l string) string {
	if l == "en" {
		return w.en
	}
	return w.pt
}

var titles = map[int]word{
	400: {"Pedido inválido", "Bad request"}, 401: {"Autenticação necessária", "Authentication required"}, 403: {"Sem autorização", "Forbidden"},
	404: {"Não encontrado", "Not found"}, 405: {"Método não permitido", "Method not allowed"}, 406: {"Não aceitável", "Not acceptable"},
	412: {"Condição não satisfeita", "Precondition failed"}, 422: {"Parâmetros inválidos", "Invalid parameters"}, 500: {"Erro interno", "Internal error"},
}

func problem(c *gin.Context, status int, slug string, detail word) {
	l := language(c)
	c.Header("Vary", "Accept, Accept-Language")
	c.Header("Content-Language", l)
	c.Header("Cache-Control", "no-store")
	b, _ := json.Marshal(gin.H{"type": "https://mondego.example/problemas/" + slug, "title": titles[status].in(l), "status": status, "detail": detail.in(l), "instance": "urn:pedido:" + random(9)})
	c.Data(status, "application/problem+json", b)
	c.Abort()
}

func opaqueTag(s string) string { return strings.TrimPrefix(strings.TrimSpace(s), "W/") }

func listed(header, tag string, weak bool) bool {
	for _, p := range strings.Split(header, ",") {
		p = strings.TrimSpace(p)
		if p == "*" || p == tag || (weak && opaqueTag(p) == opaqueTag(tag)) {
			return true
		}
	}
	return false
}

func send(c *gin.Context, v any, modified time.Time) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		problem(c, 500, "interno", word{"erro", "error"})
		return
	}
	body := buf.Bytes()
	h := c.Request.Header
	c.Header("Vary", "Accept, Accept-Language")
	c.Header("Cache-Control", "private, no-cache")
	if acc := strings.Join(h.Values("Accept"), ","); acc != "" && quality(acc, "application/json", false) <= 0 {
		problem(c, 406, "nao-aceitavel", word{"só application/json", "only application/json"})
		return
	}
	{
		sum := sha256.Sum256(body)
		tag := `"` + hex.EncodeToString(sum[:12]) + `"`
		if is("gin-no-validators") {
			tag = "\x00" // no entity tag: only * matches
		}
		modified = modified.UTC().Truncate(time.Second)
		since := func(name string) (time.Time, bool) {
			t, err := http.ParseTime(h.Get(name))
			return t, err == nil && !is("gin-no-validators")
		}
		if im := h.Values("If-Match"); len(im) > 0 {
			if !listed(strings.Join(im, ","), tag, false) {
				problem(c, 412, "condicao", word{"a representação mudou", "the representation has changed"})
				return
			}
		} else if t, ok := since("If-Unmodified-Since"); ok && modified.After(t) {
			problem(c, 412, "condicao", word{"a representação mudou", "the representation has changed"})
			return
		}
		if !is("gin-no-validators") {
			c.Header("ETag", tag)
			c.Header("Last-Modified", modified.Format(http.TimeFormat))
		}
		notModified := false
		t, ok := since("If-Modified-Since")
		ims := ok && !modified.After(t)
		if inm := h.Values("If-None-Match"); len(inm) > 0 {
			notModified = listed(strings.Join(inm, ","), tag, true)
			if is("gin-either-condition") {
				notModified = notModified || ims
			}
		} else {
			notModified = ims
		}
		if notModified {
			c.Status(304)
			c.Writer.WriteHeaderNow()
			c.Abort()
			return
		}
	}
	c.Header("Content-Language", language(c))
	c.Header("Content-Length", strconv.Itoa(len(body)))
	c.Data(200, "application/json", body)
}

// ---------------------------------------------------------------- bearer checks

var production, staging *authServer

const audFunding, audProjects, audStaging = "https://mondego.example/funding", "https://mondego.example/projects", "https://ensaio.mondego.example/funding"

func challenge(c *gin.Context, status int, code string, detail word, extra string) {
	v := `Bearer realm="mondego"`
	if code != "" {
		v += `, error="` + code + `"` + extra
	}
	c.Header("WWW-Authenticate", v)
	slug := map[int]string{400: "pedido", 401: "autenticacao", 403: "autorizacao"}[status]
	problem(c, status, slug, detail)
}

var bearer = regexp.MustCompile(`^(?i:bearer) +([A-Za-z0-9\-._~+/]+=*)$`)

// authenticate takes the servers whose tokens count; the audience belongs to the server.
func authenticate(trusted map[*authServer]string) gin.HandlerFunc {
	return func(c *gin.Context) {
		hs := c.Request.Header.Values("Authorization")
		if len(hs) > 1 {
			challenge(c, 400, "invalid_request", word{"mais do que um cabeçalho Authorization", "more than one Authorization header"}, "")
			return
		}
		if len(hs) == 0 || !strings.EqualFold(strings.SplitN(hs[0], " ", 2)[0], "bearer") {
			challenge(c, 401, "", word{"falta o token", "a token is needed"}, "")
			return
		}
		m := bearer.FindStringSubmatch(hs[0])
		if m == nil {
			challenge(c, 401, "invalid_token", word{"token malformado", "malformed token"}, "")
			return
		}
		for s, aud := range trusted {
			if cl, _, ok := s.parse(m[1]); ok && cl.has(aud) {
				c.Set("claims", cl)
				return
			}
		}
		challenge(c, 401, "invalid_token", word{"token inválido ou expirado", "the token is invalid or expired"}, "")
	}
}

func requireRole(c *gin.Context) {
	for _, r := range c.MustGet("claims").(*claims).Roles {
		if r == "EXTERNAL_API_CLIENT" {
			return
		}
	}
	challenge(c, 403, "insufficient_scope", word{"falta o papel EXTERNAL_API_CLIENT", "the role EXTERNAL_API_CLIENT is missing"}, "")
}

func requireScope(scope string) gin.HandlerFunc {
	return func(c *gin.Context) {
		have := c.MustGet("claims").(*claims).Scope
		if is("gin-scope-contains") {
			if strings.Contains(have, scope) {
				return
			}
		} else {
			for _, s := range strings.Fields(have) {
				if s == scope {
					return
				}
			}
		}
		challenge(c, 403, "insufficient_scope", word{"o token não tem o âmbito " + scope, "the token lacks the scope " + scope}, `, scope="`+scope+`"`)
	}
}

// ---------------------------------------------------------------- data

type call struct {
	id, area, estado, funder string
	title, text              word
	open, deadline, updated  time.Time
	amount                   int
	full                     bool
	keywords                 []string
	docs                     int
}

type funder struct {
	ID      string `json:"id"`
	Nome    string `json:"nome"`
	Pais    string `json:"pais"`
	Website string `json:"website"`
}

var areas = []string{"SAUDE", "MAR", "ENERGIA", "HUMANIDADES", "COMPUTACAO"}
var estados = []string{"PLANEADO", "ABERTO", "ENCERRADO"}
var funders = []funder{
	{"FIN-FCM", "Fundação para a Ciência do Mondego", "PT", "https://fcm.example"},
	{"FIN-AGI", "Agência Ibérica de Inovação", "ES", "https://agi.example"},
	{"FIN-CEI", "Conselho Europeu de Inovação Aberta", "BE", "https://cei.example"},
	{"FIN-CGM", "Câmara Geral dos Municípios", "PT", "https://cgm.example"},
	{"FIN-ATL", "Fundo do Atlântico", "PT", "https://atl.example"},
}
var calls []*call
var byID = map[string]*call{}
var lastChange time.Time
var lisbon *time.Location

func makeData() {
	lisbon, _ = time.LoadLocation("Europe/Lisbon")
	topics := []word{{"Envelhecimento ativo", "Active ageing"}, {"Correntes costeiras", "Coastal currents"}, {"Hidrogénio verde", "Green hydrogen"},
		{"Arquivos coloniais", "Colonial archives"}, {"Redes neuronais verificáveis", "Verifiable neural networks"}, {"Águas subterrâneas", "Groundwater"}, {"Línguas minoritárias", "Minority languages"}}
	kinds := []word{{"bolsas", "fellowships"}, {"projetos exploratórios", "exploratory projects"}, {"infraestruturas", "infrastructure"}, {"mobilidade", "mobility"}}
	for i := 0; i < 57; i++ {
		c := &call{area: areas[(i*3+i/7)%5], funder: funders[(i*2+i/9)%5].ID, full: i%3 == 0, docs: i % 4}
		c.id = fmt.Sprintf("UM-2026-%03d", (i*37)%57+1)
		if i%8 == 5 {
			c.id = fmt.Sprintf("UM+FCM-%03d", (i*37)%57+1)
		}
		t, k := topics[i%7], kinds[(i/7)%4]
		c.title = word{fmt.Sprintf("%s: %s, %d.ª edição", t.pt, k.pt, i%5+1), fmt.Sprintf("%s: %s, edition %d", t.en, k.en, i%5+1)}
		c.text = word{"Concurso para " + k.pt + " no domínio «" + t.pt + "».", "A call for " + k.en + " in the field of " + strings.ToLower(t.en) + "."}
		c.deadline = time.Date(2026, time.Month((i*5)%12+1), 15, 17, 0, 0, 0, lisbon)
		if i%6 == 1 {
			c.deadline = time.Date(2026, time.Month((i*5)%12+1), 28, 23, 59, 59, 0, lisbon)
		}
		c.open = c.deadline.AddDate(0, -2, -i%9)
		c.updated = time.Date(2026, 3, 1+i%28, 8+i%9, i, 0, 0, time.UTC)
		c.estado = estados[(i*7+i/5)%3]
		c.amount = []int{50000, 75000, 120000, 120000, 250000, 1000000, 9000}[(i*4)%7]
		c.keywords = []string{strings.ToLower(c.area), "concurso"}[:i%3%2+1]
		if i%10 == 4 {
			c.keywords = []string{}
		}
		calls = append(calls, c)
		byID[c.id] = c
		if c.updated.After(lastChange) {
			lastChange = c.updated
		}
	}
	sort.Slice(calls, func(a, b int) bool { return calls[a].id < calls[b].id })
}

func instant(t time.Time) string { return t.In(lisbon).Format(time.RFC3339) }

type summary struct {
	ID          string `json:"id"`
	Titulo      string `json:"titulo"`
	Area        string `json:"area"`
	Estado      string `json:"estado"`
	Financiador string `json:"financiador"`
	Prazo       string `json:"prazo"`
	Dotacao     int    `json:"dotacao"`
	Moeda       string `json:"moeda"`
}

type full struct {
	summary
	Descricao            string   `json:"descricao"`
	Abertura             string   `json:"abertura"`
	TotalmenteFinanciado bool     `json:"totalmenteFinanciado"`
	PalavrasChave        []string `json:"palavrasChave"`
	AtualizadoEm         string   `json:"atualizadoEm"`
}

func (c *call) summary(l string) summary {
	return summary{c.id, c.title.in(l), c.area, c.estado, c.funder, instant(c.deadline), c.amount, "EUR"}
}

// ---------------------------------------------------------------- operations

var orders = map[string]func(a, b *call) int{
	"prazo":    func(a, b *call) int { return a.deadline.Compare(b.deadline) },
	"-prazo":   func(a, b *call) int { return b.deadline.Compare(a.deadline) },
	"dotacao":  func(a, b *call) int { return a.amount - b.amount },
	"-dotacao": func(a, b *call) int { return b.amount - a.amount },
}

func in(list []string, v string) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

var number = regexp.MustCompile(`^[0-9]{1,9}$`)

func listCalls(c *gin.Context) {
	bad := func(name string) {
		problem(c, 400, "parametro", word{"parâmetro inválido: " + name, "invalid parameter: " + name})
	}
	if is("gin-bind-status") {
		var q struct {
			Limit  int `form:"limit"`
			Offset int `form:"offset"`
		}
		c.Header("Content-Type", "application/problem+json")
		c.Header("Vary", "Accept, Accept-Language")
		c.Header("Content-Language", language(c))
		c.Header("Cache-Control", "no-store")
		if err := c.BindQuery(&q); err != nil {
			problem(c, 422, "parametro", word{"parâmetro inválido", "invalid parameter"})
			return
		}
		for _, n := range []string{"Content-Type", "Vary", "Content-Language", "Cache-Control"} {
			c.Writer.Header().Del(n)
		}
	}
	q, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		bad("?")
		return
	}
	for _, n := range []string{"limit", "offset", "area", "estado", "financiador", "prazoAte", "q", "ordem"} {
		if len(q[n]) > 1 || (q.Has(n) && (q.Get(n) == "" || !utf8.ValidString(q.Get(n)))) {
			bad(n)
			return
		}
	}
	limit, offset := 10, 0
	if q.Has("limit") {
		limit, _ = strconv.Atoi(q.Get("limit"))
		if !number.MatchString(q.Get("limit")) || limit < 1 || limit > 50 {
			bad("limit")
			return
		}
	}
	if q.Has("offset") {
		if !number.MatchString(q.Get("offset")) {
			bad("offset")
			return
		}
		offset, _ = strconv.Atoi(q.Get("offset"))
	}
	if q.Has("area") && !in(areas, q.Get("area")) {
		bad("area")
		return
	}
	if q.Has("estado") && !in(estados, q.Get("estado")) {
		bad("estado")
		return
	}
	if len(q.Get("q")) > 100 {
		bad("q")
		return
	}
	var until time.Time
	if q.Has("prazoAte") {
		if until, err = time.Parse(time.RFC3339, q.Get("prazoAte")); err != nil {
			bad("prazoAte")
			return
		}
	}
	cmp := orders[q.Get("ordem")]
	if q.Has("ordem") && cmp == nil {
		bad("ordem")
		return
	}
	l := language(c)
	found := []*call{}
	take := func(x *call) {
		if (q.Has("area") && x.area != q.Get("area")) || (q.Has("estado") && x.estado != q.Get("estado")) ||
			(q.Has("financiador") && x.funder != q.Get("financiador")) || (q.Has("prazoAte") && x.deadline.After(until)) ||
			(q.Has("q") && !strings.Contains(strings.ToLower(x.title.in(l)), strings.ToLower(q.Get("q")))) {
			return
		}
		found = append(found, x)
	}
	if is("gin-map-order") && cmp != nil {
		for _, x := range byID {
			take(x)
		}
		sort.SliceStable(found, func(a, b int) bool { return cmp(found[a], found[b]) < 0 })
	} else {
		for _, x := range calls {
			take(x)
		}
		if cmp != nil {
			sort.SliceStable(found, func(a, b int) bool { return cmp(found[a], found[b]) < 0 })
		}
	}
	total := len(found)
	page := []summary{}
	for i := offset; i < total && i < offset+limit; i++ {
		page = append(page, found[i].summary(l))
	}
	link := func(off int) string {
		p := url.Values{}
		for k, v := range q {
			p[k] = v
		}
		p.Set("limit", strconv.Itoa(limit))
		p.Set("offset", strconv.Itoa(off))
		if is("gin-relative-links") {
			return "<?" + p.Encode() + ">"
		}
		return "<" + origin + api + "/concursos?" + p.Encode() + ">"
	}
	last := 0
	if total > 0 {
		last = (total - 1) / limit * limit
	}
	rels := [][2]string{{"first", link(0)}}
	if offset > 0 {
		prev := offset - limit
		if offset > last+limit {
			prev = last
		}
		if prev < 0 {
			prev = 0
		}
		rels = append(rels, [2]string{"prev", link(prev)})
	}
	if offset+limit < total {
		rels = append(rels, [2]string{"next", link(offset + limit)})
	}
	rels = append(rels, [2]string{"last", link(last)})
	if is("gin-relative-links") {
		for _, r := range rels {
			c.Writer.Header().Add("Link", r[1]+"; title*=UTF-8''P%C3%A1gina; title=\"p, ver; rel=next\"; REL="+r[0]+" ;type=\"application/json\"")
		}
	} else {
		var parts []string
		for _, r := range rels {
			parts = append(parts, r[1]+`; rel="`+r[0]+`"`)
		}
		c.Header("Link", strings.Join(parts, ", "))
	}
	c.Header("X-Total-Count", strconv.Itoa(total))
	send(c, page, lastChange)
}

func findCall(c *gin.Context) *call {
	x := byID[c.Param("id")]
	if x == nil {
		problem(c, 404, "nao-encontrado", word{"não há tal concurso", "there is no such call"})
	}
	return x
}

func getCall(c *gin.Context) {
	x := findCall(c)
	if x == nil {
		return
	}
	l := language(c)
	f := full{x.summary(l), x.text.in(l), instant(x.open), x.full, x.keywords, instant(x.updated)}
	if is("gin-literal-z") {
		const layout = "2006-01-02T15:04:05Z"
		f.Prazo = x.deadline.Format(layout)
		f.Abertura = x.open.Format(layout)
	}
	send(c, f, x.updated)
}

func listDocuments(c *gin.Context) {
	x := findCall(c)
	if x == nil {
		return
	}
	out := []gin.H{}
	for i := 0; i < x.docs; i++ {
		out = append(out, gin.H{"id": fmt.Sprintf("DOC-%d", i+1), "nome": []string{"Aviso de abertura", "Regulamento", "Formulário"}[i], "tipoMime": "application/pdf", "bytes": 20480*(i+1) + len(x.id)})
	}
	send(c, out, x.updated)
}

func listFunders(c *gin.Context) { send(c, funders, lastChange) }

// pageCache keeps whole responses for a while (variant gin-page-cache).
type kept struct {
	status int
	header http.Header
	body   []byte
	until  time.Time
}

type recorder struct {
	gin.ResponseWriter
	buf bytes.Buffer
}

func (r *recorder) Write(b []byte) (int, error) { r.buf.Write(b); return r.ResponseWriter.Write(b) }

func pageCache() gin.HandlerFunc {
	var mu sync.Mutex
	store := map[string]kept{}
	return func(c *gin.Context) {
		h := c.Request.Header
		if h.Get("If-None-Match") != "" || h.Get("If-Modified-Since") != "" || h.Get("If-Match") != "" || h.Get("If-Unmodified-Since") != "" {
			return
		}
		key := c.Request.Method + " " + c.Request.URL.RequestURI() + "\n" + h.Get("Accept") + "\n" + language(c)
		mu.Lock()
		k, ok := store[key]
		mu.Unlock()
		if ok && time.Now().Before(k.until) {
			for n, v := range k.header {
				c.Writer.Header()[n] = v
			}
			c.Status(k.status)
			c.Writer.Write(k.body)
			c.Abort()
			return
		}
		r := &recorder{ResponseWriter: c.Writer}
		c.Writer = r
		c.Next()
		if r.Status() == 200 {
			mu.Lock()
			store[key] = kept{200, r.Header().Clone(), r.buf.Bytes(), time.Now().Add(20 * time.Second)}
			mu.Unlock()
		}
	}
}

func info(env string, s *authServer, base string) gin.HandlerFunc {
	return func(c *gin.Context) {
		cl := c.MustGet("claims").(*claims)
		roles := cl.Roles
		if roles == nil {
			roles = []string{}
		}
		send(c, gin.H{"node": "MONDEGO", "environment": env, "clientId": cl.ClientID, "roles": roles, "affiliationId": cl.Affil,
			"endpoints": gin.H{"FUNDING": []gin.H{{"name": "FUNDING", "majorVersion": 3, "minorVersion": 2, "url": base + "/funding/v3/api-docs"}}}}, lastChange)
	}
}

// ---------------------------------------------------------------- wiring

func main() {
	if port == "" {
		port = "8080"
	}
	origin = "http://127.0.0.1:" + port
	makeData()
	all := []string{"funding:read", "funding:read:documents"}
	ext := []string{"EXTERNAL_API_CLIENT"}
	production = newServer(origin+"/oauth", "mondego-2026-a",
		&client{"mondego-portal", "Rio+acima/33%_Choupal~e.a-Lapa:dos Esteios", audFunding, "ror:03m0ndeg0", ext, all},
		&client{"mondego-biblioteca", "vB7nK2qXw9LrT4mZp6HsYc1JdG8fEa3U", audFunding, "ror:0b1b1i0tc", ext, all},
		&client{"mondego-visitante", "kQ5wR8tY2uI7oP1aS4dF6gH9jK3lZ0xC", audFunding, "ror:0v1s1tant", []string{"READER"}, all},
		&client{"mondego-projetos", "nM3bV6cX9zL2kJ5hG8fD1sA4pO7iU0yT", audProjects, "ror:0pr0jet0s", ext, []string{"projects:read"}},
		&client{"mondego-reserva", "eW4rT7yU1iO3pA6sD9fG2hJ5kL8zX0cV", audFunding, "ror:0reserva0", ext, all})
	staging = newServer(origin+"/ensaio/oauth", "mondego-ensaio-a",
		&client{"ensaio-portal", "tR6yU9iO2pA5sD8fG1hJ4kL7zX3cV0bN", audStaging, "ror:03m0ndeg0", ext, all})

	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.RedirectTrailingSlash = false
	r.HandleMethodNotAllowed = true
	r.Use(gin.CustomRecoveryWithWriter(io.Discard, func(c *gin.Context, _ any) {
		problem(c, 500, "interno", word{"erro interno", "internal error"})
	}))
	auth := authenticate(map[*authServer]string{production: audFunding})
	stagingAuth := authenticate(map[*authServer]string{staging: audStaging})
	hidden := func(c *gin.Context) bool {
		if is("gin-auth-first") && strings.HasPrefix(c.Request.URL.Path, "/mondego/") {
			allow := c.Writer.Header().Get("Allow")
			c.Writer.Header().Del("Allow")
			auth(c)
			if allow != "" && !c.IsAborted() {
				c.Header("Allow", allow)
			}
		}
		return c.IsAborted()
	}
	r.NoRoute(func(c *gin.Context) {
		if !hidden(c) {
			problem(c, 404, "nao-encontrado", word{"não há tal recurso", "there is no such resource"})
		}
	})
	r.NoMethod(func(c *gin.Context) {
		if hidden(c) {
			return
		}
		if c.Request.Method == "OPTIONS" {
			c.Status(204)
			return
		}
		problem(c, 405, "metodo", word{"método não permitido", "method not allowed"})
	})

	r.POST("/oauth/token", production.token)
	r.GET("/oauth/jwks.json", production.jwks())
	r.GET("/.well-known/oauth-authorization-server/oauth", func(c *gin.Context) {
		c.JSON(200, gin.H{"issuer": production.issuer, "token_endpoint": origin + "/oauth/token", "jwks_uri": origin + "/oauth/jwks.json", "response_types_supported": []string{},
			"grant_types_supported": []string{"client_credentials"}, "token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"}, "scopes_supported": all})
	})
	r.POST("/ensaio/oauth/token", staging.token)
	r.GET("/ensaio/oauth/jwks.json", staging.jwks())
	r.GET("/registo.json", func(c *gin.Context) {
		c.JSON(200, gin.H{"member": []gin.H{{"id": "MONDEGO", "name": "Universidade do Mondego", "acronym": "UMo", "contact": "ris@mondego.example", "oauth2": origin + "/oauth/token", "info": origin + "/mondego/info/v1/oauth/info/"}}})
	})
	both := func(g gin.IRoutes, path string, hs ...gin.HandlerFunc) { g.GET(path, hs...); g.HEAD(path, hs...) }
	both(r, "/mondego/info/v1/oauth/info/", auth, info("production", production, origin+"/mondego"))
	both(r, "/ensaio/mondego/info/v1/oauth/info/", stagingAuth, info("staging", staging, origin+"/mondego"))
	both(r, api+"/api-docs", func(c *gin.Context) {
		b, _ := json.Marshal(document())
		c.Header("Cache-Control", "public, max-age=60")
		c.Header("Content-Length", strconv.Itoa(len(b)))
		c.Data(200, "application/json", b)
	})

	read, docs := requireScope("funding:read"), requireScope("funding:read:documents")
	g := r.Group(api)
	g.Use(auth)
	g.GET("/concursos", requireRole, read, listCalls)
	g.GET("/concursos/:id", requireRole, read, getCall)
	if is("gin-page-cache") {
		g.GET("/financiadores", pageCache(), requireRole, read, listFunders)
	} else {
		g.GET("/financiadores", requireRole, read, listFunders)
	}
	g.HEAD("/concursos", requireRole, read, listCalls)
	g.HEAD("/concursos/:id", requireRole, read, getCall)
	g.HEAD("/financiadores", requireRole, read, listFunders)
	dg := r.Group(api)
	if is("gin-shared-keys") {
		dg.Use(authenticate(map[*authServer]string{production: audFunding, staging: audStaging}))
	} else {
		dg.Use(auth)
	}
	dg.GET("/concursos/:id/documentos", requireRole, docs, listDocuments)
	if is("gin-head-outside") {
		r.HEAD(api+"/concursos/:id/documentos", listDocuments) // download managers ask for the size first
	} else {
		dg.HEAD("/concursos/:id/documentos", requireRole, docs, listDocuments)
	}

	srv := &http.Server{Addr: "127.0.0.1:" + port, Handler: r, ReadHeaderTimeout: 10 * time.Second}
	if err := srv.ListenAndServe(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ---------------------------------------------------------------- the OpenAPI document

func document() gin.H {
	str := gin.H{"type": "string"}
	dt := gin.H{"type": "string", "format": "date-time"}
	ref := func(n string) gin.H { return gin.H{"$ref": "#/components/schemas/" + n} }
	prob := func(d string) gin.H {
		return gin.H{"description": d, "content": gin.H{"application/problem+json": gin.H{"schema": ref("Problema")}}}
	}
	ok := func(d string, s gin.H) gin.H {
		return gin.H{"description": d, "content": gin.H{"application/json": gin.H{"schema": s}}}
	}
	lang := gin.H{"name": "Accept-Language", "in": "header", "required": false, "description": "pt (por omissão) ou en", "schema": str}
	sec := func(s string) []gin.H { return []gin.H{{"oauth": []string{s}}} }
	id := gin.H{"name": "id", "in": "path", "required": true, "description": "Identificador do concurso (pode conter «+»)", "schema": str}
	resp := func(okr gin.H, more ...string) gin.H {
		m := gin.H{"200": okr, "401": prob("Token em falta ou inválido"), "403": prob("Falta o papel EXTERNAL_API_CLIENT ou o âmbito"), "406": prob("Só application/json")}
		m["304"] = gin.H{"description": "Não modificado"}
		m["412"] = prob("Condição não satisfeita")
		for _, x := range more {
			m[x] = prob(map[string]string{"400": "Parâmetro inválido", "404": "Não encontrado"}[x])
		}
		return m
	}
	p := func(name, desc string, schema gin.H) gin.H {
		return gin.H{"name": name, "in": "query", "required": false, "description": desc, "schema": schema}
	}
	list := ok("Uma página de concursos", gin.H{"type": "array", "items": ref("ConcursoResumo")})
	list["headers"] = gin.H{
		"X-Total-Count": gin.H{"description": "Número de concursos que satisfazem os filtros, em todas as páginas", "schema": gin.H{"type": "integer"}},
		"Link":          gin.H{"description": "RFC 8288: first, prev (não na primeira página), next (não na última página), last; conserva filtros e ordem", "schema": str},
	}
	sum := gin.H{"id": str, "titulo": gin.H{"type": "string", "description": "na língua pedida"}, "area": gin.H{"type": "string", "enum": areas}, "estado": gin.H{"type": "string", "enum": estados},
		"financiador": gin.H{"type": "string", "description": "id do financiador"}, "prazo": dt, "dotacao": gin.H{"type": "integer", "minimum": 0}, "moeda": gin.H{"type": "string", "enum": []string{"EUR"}}}
	req := []string{"id", "titulo", "area", "estado", "financiador", "prazo", "dotacao", "moeda"}
	det := gin.H{"descricao": str, "abertura": dt, "totalmenteFinanciado": gin.H{"type": "boolean"}, "palavrasChave": gin.H{"type": "array", "items": str}, "atualizadoEm": dt}
	for k, v := range sum {
		det[k] = v
	}
	listParams := []gin.H{
		p("limit", "Concursos por página; fora de 1 a 50: 400", gin.H{"type": "integer", "minimum": 1, "maximum": 50, "default": 10}),
		p("offset", "Quantos concursos saltar; para além do fim: lista vazia", gin.H{"type": "integer", "minimum": 0, "default": 0}),
		p("area", "Só concursos desta área", gin.H{"type": "string", "enum": areas}),
		p("estado", "Só concursos neste estado", gin.H{"type": "string", "enum": estados}),
		p("financiador", "Só concursos deste financiador (id)", str),
		p("prazoAte", "Só concursos cujo prazo não é posterior a este instante (RFC 3339 com fuso)", dt),
		p("q", "Texto contido no título (na língua pedida), sem distinguir maiúsculas de minúsculas", gin.H{"type": "string", "minLength": 1, "maxLength": 100}),
		p("ordem", "Ordenação; com «-» descendente; empates, e a lista sem este parâmetro, por id ascendente", gin.H{"type": "string", "enum": []string{"prazo", "-prazo", "dotacao", "-dotacao"}}),
		lang,
	}
	return gin.H{
		"openapi": "3.0.3",
		"info": gin.H{"title": "Concursos de financiamento da Universidade do Mondego", "version": "3.2.0",
			"description": "Todas as operações pedem um token (client credentials) e o papel EXTERNAL_API_CLIENT. Erros das operações: application/problem+json (RFC 9457). Parâmetros repetidos ou vazios: 400; parâmetros desconhecidos são ignorados. Os dados de um concurso são os mesmos na lista e no detalhe."},
		"servers": []gin.H{{"url": origin + api}},
		"paths": gin.H{
			"/concursos": gin.H{"get": gin.H{"operationId": "listarConcursos", "summary": "Lista de concursos (funding calls)", "security": sec("funding:read"), "parameters": listParams,
				"responses": resp(list, "400")}},
			"/concursos/{id}": gin.H{"get": gin.H{"operationId": "obterConcurso", "summary": "Um concurso (funding call)", "security": sec("funding:read"), "parameters": []gin.H{id, lang},
				"responses": resp(ok("O concurso", ref("Concurso")), "404")}},
			"/concursos/{id}/documentos": gin.H{"get": gin.H{"operationId": "listarDocumentos", "summary": "Documentos de um concurso", "security": sec("funding:read:documents"), "parameters": []gin.H{id, lang},
				"responses": resp(ok("Os documentos", gin.H{"type": "array", "items": ref("Documento")}), "404")}},
			"/financiadores": gin.H{"get": gin.H{"operationId": "listarFinanciadores", "summary": "Todos os financiadores", "security": sec("funding:read"), "parameters": []gin.H{lang},
				"responses": resp(ok("Os financiadores", gin.H{"type": "array", "items": ref("Financiador")}))}},
		},
		"components": gin.H{
			"securitySchemes": gin.H{"oauth": gin.H{"type": "oauth2", "flows": gin.H{"clientCredentials": gin.H{"tokenUrl": origin + "/oauth/token",
				"scopes": gin.H{"funding:read": "concursos e financiadores", "funding:read:documents": "documentos dos concursos"}}}}},
			"schemas": gin.H{
				"ConcursoResumo": gin.H{"type": "object", "required": req, "properties": sum},
				"Concurso":       gin.H{"type": "object", "required": append(append([]string{}, req...), "descricao", "abertura", "totalmenteFinanciado", "palavrasChave", "atualizadoEm"), "properties": det},
				"Documento":      gin.H{"type": "object", "required": []string{"id", "nome", "tipoMime", "bytes"}, "properties": gin.H{"id": str, "nome": str, "tipoMime": str, "bytes": gin.H{"type": "integer"}}},
				"Financiador":    gin.H{"type": "object", "required": []string{"id", "nome", "pais", "website"}, "properties": gin.H{"id": str, "nome": str, "pais": gin.H{"type": "string", "pattern": "^[A-Z]{2}$"}, "website": gin.H{"type": "string", "format": "uri"}}},
				"Problema":       gin.H{"type": "object", "required": []string{"type", "title", "status"}, "properties": gin.H{"type": gin.H{"type": "string", "format": "uri"}, "title": str, "status": gin.H{"type": "integer"}, "detail": str, "instance": gin.H{"type": "string", "format": "uri"}}},
			},
		},
	}
}
