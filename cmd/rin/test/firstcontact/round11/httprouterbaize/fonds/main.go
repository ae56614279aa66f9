// Node "fonds": token endpoint, info endpoint and funding API on one port of 127.0.0.1.
package main

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	mrand "math/rand"
	"mime"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/julienschmidt/httprouter"
)

//go:embed openapi.json
var specText string

type M = map[string]any

const lifetime = 70

var (
	node   = strings.TrimPrefix(os.Getenv("NODE"), "httprouter-")
	origin = "http://127.0.0.1:" + os.Getenv("PORT")
)

// ---- clients and authorization servers

type client struct {
	secret, account, affiliation, audience string
	roles                                  []string
	failed                                 int
	locked                                 time.Time
}

type authServer struct {
	issuer  string
	mu      sync.Mutex
	clients map[string]*client
	rsaKey  *rsa.PrivateKey
	ecKey   *ecdsa.PrivateKey
	kid     string
	count   int
	held    map[string]heldToken
	known   map[string]bool
	audApi  string
}

type heldToken struct {
	token string
	until time.Time
}

func newServer(issuer, kid, aud string, clients map[string]*client) *authServer {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	e, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return &authServer{issuer: issuer, kid: kid, audApi: aud, rsaKey: k, ecKey: e, clients: clients, held: map[string]heldToken{}, known: map[string]bool{}}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (a *authServer) jwks() M {
	keys := []M{{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": a.kid, "n": b64(a.rsaKey.N.Bytes()), "e": b64(big.NewInt(int64(a.rsaKey.E)).Bytes())}}
	if node == "inn" {
		var x, y [32]byte
		a.ecKey.X.FillBytes(x[:])
		a.ecKey.Y.FillBytes(y[:])
		okp := sha256.Sum256([]byte("fonds-enc"))
		keys = append([]M{{"kty": "OKP", "use": "enc", "crv": "X25519", "kid": "enc-1", "x": b64(okp[:])}}, keys...)
		keys = append(keys, M{"kty": "EC", "use": "sig", "alg": "ES256", "crv": "P-256", "kid": a.kid + "-ec", "x": b64(x[:]), "y": b64(y[:])})
	}
	return M{"keys": keys}
}

func (a *authServer) sign(claims M) string {
	h := M{"alg": "RS256", "typ": "at+jwt", "kid": a.kid}
	a.count++
	ec := node == "inn" && a.count%2 == 0
	if node == "inn" {
		h["typ"] = "application/at+jwt"
	}
	if ec {
		h["alg"], h["kid"] = "ES256", a.kid+"-ec"
	}
	hb, _ := json.Marshal(h)
	cb, _ := json.Marshal(claims)
	in := b64(hb) + "." + b64(cb)
	sum := sha256.Sum256([]byte(in))
	if ec {
		r, s, _ := ecdsa.Sign(rand.Reader, a.ecKey, sum[:])
		var out [64]byte
		r.FillBytes(out[:32])
		s.FillBytes(out[32:])
		return in + "." + b64(out[:])
	}
	sig, _ := rsa.SignPKCS1v15(rand.Reader, a.rsaKey, crypto.SHA256, sum[:])
	return in + "." + b64(sig)
}

func (a *authServer) issue(id string, c *client) (string, int) {
	now := time.Now()
	if node == "drau" || node == "isar" {
		if h, ok := a.held[id]; ok && h.until.Sub(now) > 15*time.Second {
			left := int(h.until.Sub(now).Seconds())
			if node == "drau" {
				left = lifetime
			}
			return h.token, left
		}
	}
	jti := make([]byte, 12)
	rand.Read(jti)
	var aud any = c.audience
	if node == "inn" {
		aud = []string{origin + "/fonds/reporting", c.audience}
	}
	until := now.Unix() + lifetime
	t := a.sign(M{"iss": a.issuer, "sub": c.account, "aud": aud, "client_id": id, "iat": now.Unix(), "exp": until, "jti": hex.EncodeToString(jti), "roles": c.roles, "affiliation_id": c.affiliation})
	a.held[id] = heldToken{t, time.Unix(until, 0)}
	return t, lifetime
}

func decodePart(s string, into any) bool {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && json.Unmarshal(b, into) == nil
}

type claims struct {
	Iss         string   `json:"iss"`
	Sub         string   `json:"sub"`
	Aud         any      `json:"aud"`
	ClientID    string   `json:"client_id"`
	Exp         int64    `json:"exp"`
	Iat         int64    `json:"iat"`
	Jti         string   `json:"jti"`
	Roles       []string `json:"roles"`
	Affiliation string   `json:"affiliation_id"`
}

func (c *claims) isFor(aud string) bool {
	switch v := c.Aud.(type) {
	case string:
		return v == aud
	case []any:
		for _, x := range v {
			if x == aud {
				return true
			}
		}
	}
	return false
}

func (a *authServer) signed(alg, kid, in string, sig []byte) bool {
	sum := sha256.Sum256([]byte(in))
	switch {
	case alg == "RS256" && kid == a.kid:
		return rsa.VerifyPKCS1v15(&a.rsaKey.PublicKey, crypto.SHA256, sum[:], sig) == nil
	case node == "inn" && alg == "ES256" && kid == a.kid+"-ec" && len(sig) == 64:
		return ecdsa.Verify(&a.ecKey.PublicKey, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:]))
	}
	return false
}

func (a *authServer) verify(token string) *claims {
	p := strings.Split(token, ".")
	var h struct{ Alg, Kid, Typ string }
	var c claims
	if len(p) != 3 || !decodePart(p[0], &h) || !decodePart(p[1], &c) {
		return nil
	}
	if h.Typ != "at+jwt" && h.Typ != "application/at+jwt" {
		return nil
	}
	sig, err := base64.RawURLEncoding.Strict().DecodeString(p[2])
	if err != nil {
		return nil
	}
	a.mu.Lock()
	checked := node == "mur" && a.known[c.Jti]
	a.mu.Unlock()
	if !checked && !a.signed(h.Alg, h.Kid, p[0]+"."+p[1], sig) {
		return nil
	}
	if c.Iss != a.issuer || !c.isFor(a.audApi) || time.Now().Unix() >= c.Exp || c.Jti == "" {
		return nil
	}
	if node == "mur" {
		a.mu.Lock()
		a.known[c.Jti] = true
		a.mu.Unlock()
	}
	return &c
}

// ---- token endpoint

func writeJSON(w http.ResponseWriter, status int, ctype string, v any) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	e.Encode(v)
	w.Header().Set("Content-Type", ctype)
	w.Header().Set("Content-Length", strconv.Itoa(buf.Len()))
	w.WriteHeader(status)
	w.Write(buf.Bytes())
}

func (a *authServer) token(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	fail := func(status int, code, text string) {
		if status == 401 {
			w.Header().Set("WWW-Authenticate", `Basic realm="fonds", charset="UTF-8"`)
		}
		writeJSON(w, status, "application/json", M{"error": code, "error_description": text})
	}
	mt, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mt != "application/x-www-form-urlencoded" {
		fail(400, "invalid_request", "the body must be application/x-www-form-urlencoded")
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 65537))
	if err != nil || len(body) > 65536 {
		fail(400, "invalid_request", "the body is too long")
		return
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		fail(400, "invalid_request", "the body cannot be read")
		return
	}
	if node == "enns" {
		more, _ := url.ParseQuery(r.URL.RawQuery)
		for k, v := range more {
			if len(form[k]) == 0 {
				form[k] = v
			}
		}
	}
	for _, k := range []string{"grant_type", "client_id", "client_secret", "scope"} {
		if len(form[k]) > 1 {
			fail(400, "invalid_request", "a parameter is given more than once")
			return
		}
	}
	id, secret := form.Get("client_id"), form.Get("client_secret")
	if auths := r.Header.Values("Authorization"); len(auths) > 0 {
		user, pass, ok := r.BasicAuth()
		if !ok || len(auths) > 1 {
			fail(401, "invalid_client", "the Authorization header cannot be read")
			return
		}
		u, e1 := url.QueryUnescape(user)
		p, e2 := url.QueryUnescape(pass)
		if e1 != nil || e2 != nil {
			fail(401, "invalid_client", "the client is unknown or its secret is wrong")
			return
		}
		if secret != "" || (id != "" && id != u) {
			fail(400, "invalid_request", "more than one way of client authentication is used")
			return
		}
		id, secret = u, p
	}
	if id == "" {
		fail(401, "invalid_client", "the client does not authenticate")
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.clients[id]
	if c != nil && time.Now().Before(c.locked) {
		w.Header().Set("Retry-After", strconv.Itoa(int(time.Until(c.locked).Seconds())+1))
		fail(429, "invalid_client", "too many wrong secrets, try later")
		return
	}
	want := "none"
	if c != nil {
		want = c.secret
	}
	x, y := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(want))
	if subtle.ConstantTimeCompare(x[:], y[:]) != 1 || c == nil {
		if c != nil {
			if c.failed++; c.failed >= 10 {
				c.failed, c.locked = 0, time.Now().Add(30*time.Second)
			}
		}
		fail(401, "invalid_client", "the client is unknown or its secret is wrong")
		return
	}
	c.failed = 0
	switch form.Get("grant_type") {
	case "client_credentials":
	case "":
		fail(400, "invalid_request", "grant_type is missing")
		return
	default:
		fail(400, "unsupported_grant_type", "only client_credentials is supported")
		return
	}
	if form.Get("scope") != "" {
		fail(400, "invalid_scope", "no scope is offered")
		return
	}
	t, left := a.issue(id, c)
	out := M{"access_token": t, "token_type": "Bearer", "expires_in": left}
	if node == "isar" {
		out["token_type"] = "bearer"
	}
	writeJSON(w, 200, "application/json", out)
}

// ---- answers of the API

func problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, status, "application/problem+json", M{"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail})
}

var etagRe = regexp.MustCompile(`(?:W/)?"[^"]*"`)

func answer(w http.ResponseWriter, r *http.Request, v any) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	e.Encode(v)
	sum := sha256.Sum256(buf.Bytes())
	tag := `"` + hex.EncodeToString(sum[:10]) + `"`
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Authorization")
	if inm := strings.Join(r.Header.Values("If-None-Match"), ","); inm != "" {
		hit := strings.TrimSpace(inm) == "*"
		for _, t := range etagRe.FindAllString(inm, -1) {
			hit = hit || strings.TrimPrefix(t, "W/") == tag
		}
		if hit {
			w.WriteHeader(304)
			return
		}
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	w.Write(buf.Bytes())
}

type handler func(w http.ResponseWriter, r *http.Request, p httprouter.Params, c *claims)

var bearerRe = regexp.MustCompile(`^(?i:bearer) +([A-Za-z0-9\-._~+/]+=*)$`)

func guard(a *authServer, role string, next handler) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		auths := r.Header.Values("Authorization")
		if len(auths) == 0 || (len(auths) == 1 && !strings.EqualFold(strings.SplitN(auths[0], " ", 2)[0], "bearer")) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="fonds"`)
			problem(w, 401, "A bearer token is needed.")
			return
		}
		var c *claims
		if m := bearerRe.FindStringSubmatch(auths[0]); m != nil && len(auths) == 1 {
			c = a.verify(m[1])
		}
		if c == nil {
			w.Header().Set("WWW-Authenticate", `Bearer realm="fonds", error="invalid_token", error_description="The access token is not valid here"`)
			problem(w, 401, "The access token is not valid here.")
			return
		}
		if role != "" {
			ok := false
			for _, x := range c.Roles {
				ok = ok || x == role
			}
			if !ok {
				w.Header().Set("WWW-Authenticate", `Bearer realm="fonds", error="insufficient_scope", error_description="The role EXTERNAL_API_CLIENT is missing"`)
				problem(w, 403, "The role EXTERNAL_API_CLIENT is missing.")
				return
			}
		}
		next(w, r, p, c)
	}
}

func open(next handler) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, p httprouter.Params) { next(w, r, p, nil) }
}

func info(environment string) handler {
	return func(w http.ResponseWriter, r *http.Request, _ httprouter.Params, c *claims) {
		w.Header().Set("Cache-Control", "no-store")
		writeJSON(w, 200, "application/json", M{"environment": environment, "clientId": c.ClientID, "serviceAccount": c.Sub, "affiliationId": c.Affiliation, "roles": c.Roles, "tokenExpiresAt": time.Unix(c.Exp, 0).UTC().Format(time.RFC3339)})
	}
}

// ---- funding calls

type call struct {
	ID, Title, Acronym, Status, FunderID, Abstract, Website string
	OpensAt, Deadline                                       time.Time
	Budget                                                  float64
	Currency                                                string
	Months                                                  int
	Groups                                                  []string
}

var calls []*call
var funders = []M{
	{"id": "awf", "name": "Alpiner Wissenschaftsfonds", "country": "AT"},
	{"id": "dsf", "name": "Donauraum-Stiftung für Forschung", "country": "AT"},
	{"id": "rkf", "name": "Rhein-Kolleg Förderung", "country": "DE"},
	{"id": "zfi", "name": "Zürcher Fonds für Innovation", "country": "CH"},
}

func generate() {
	g := mrand.New(mrand.NewSource(20260311))
	a := []string{"Early career grants", "Bilateral projects", "Doctoral networks", "Equipment", "Open science", "Citizen science", "Proof of concept", "Mobility"}
	b := []string{"climate adaptation", "quantum materials", "medieval studies", "digital health", "alpine ecology", "trustworthy AI", "mobility & logistics", "Österreichische Literatur"}
	groups := []string{"UNIVERSITY", "COMPANY", "NGO", "INDIVIDUAL"}
	for i := 1; i <= 67; i++ {
		id := fmt.Sprintf("FF-%d-%03d", 2024+i%3, i)
		if i%9 == 4 {
			id = fmt.Sprintf("FF/%d/%03d", 2024+i%3, i)
		}
		c := &call{ID: id, Title: a[g.Intn(8)] + " in " + b[g.Intn(8)], Status: []string{"OPEN", "CLOSED", "PLANNED", "CLOSED", "OPEN"}[g.Intn(5)],
			FunderID: funders[g.Intn(4)]["id"].(string), Months: 12 * (1 + g.Intn(5)), Currency: "EUR"}
		c.Deadline = time.Date(2026, time.Month(1+g.Intn(12)), []int{1, 15, 28}[g.Intn(3)], []int{11, 16, 22}[g.Intn(3)], 0, 0, 0, time.UTC)
		c.OpensAt = c.Deadline.AddDate(0, -3, 0)
		if g.Intn(3) == 0 {
			c.Acronym = fmt.Sprintf("%c%c%d", 'A'+g.Intn(26), 'A'+g.Intn(26), i)
		}
		c.Abstract = "The call " + id + " supports " + strings.ToLower(c.Title[:1]) + c.Title[1:] + "."
		if c.FunderID == "zfi" {
			c.Currency = "CHF"
		}
		c.Budget = float64(40000 + 12500*g.Intn(60))
		if i%11 == 7 {
			c.Budget = float64(24500000 + 250000*g.Intn(9))
		}
		if g.Intn(2) == 0 {
			c.Website = "https://fonds.invalid/calls/" + url.PathEscape(id)
		}
		n := 1 + g.Intn(3)
		for _, k := range g.Perm(4)[:n] {
			c.Groups = append(c.Groups, groups[k])
		}
		calls = append(calls, c)
	}
	sort.Slice(calls, func(i, j int) bool { return calls[i].ID < calls[j].ID })
}

func stamp(t time.Time) string {
	if node == "salzach" {
		return t.Format("2006-01-02t15:04:05.000z")
	}
	return t.Format(time.RFC3339)
}

func (c *call) summary() M {
	m := M{"id": c.ID, "title": c.Title, "status": c.Status, "funderId": c.FunderID, "opensAt": stamp(c.OpensAt), "deadline": stamp(c.Deadline)}
	if c.Acronym != "" {
		m["acronym"] = c.Acronym
	} else if node == "salzach" {
		m["acronym"] = nil
	}
	return m
}

func money(v float64) string {
	if node == "traun" {
		s := fmt.Sprint(v)
		if !strings.ContainsAny(s, ".e") {
			s += ".00"
		}
		return s
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func (c *call) detail() M {
	m := c.summary()
	m["abstract"], m["targetGroups"], m["maxDurationMonths"] = c.Abstract, c.Groups, c.Months
	m["budget"] = M{"value": money(c.Budget), "currency": c.Currency}
	if c.Website != "" {
		m["website"] = c.Website
	} else if node == "salzach" {
		m["website"] = nil
	}
	if node == "salzach" {
		m["maxDurationMonths"] = json.RawMessage(fmt.Sprintf("%d.0", c.Months))
	}
	return m
}

func one(q url.Values, name, def string) (string, bool) {
	v, ok := q[name]
	if !ok {
		return def, true
	}
	return v[0], len(v) == 1 && v[0] != ""
}

func listCalls(w http.ResponseWriter, r *http.Request, _ httprouter.Params, _ *claims) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		problem(w, 400, "The query string cannot be read.")
		return
	}
	bad := ""
	get := func(name, def string) string {
		v, ok := one(q, name, def)
		if !ok && bad == "" {
			bad = name
		}
		return v
	}
	number := func(name, def string, max int64) int64 {
		s := get(name, def)
		n, err := strconv.ParseInt(s, 10, 64)
		if (err != nil || n < 1 || n > max || s[0] == '+') && bad == "" {
			bad = name
		}
		return n
	}
	page, size := number("page", "1", 1<<63-1), number("size", "20", 50)
	funder, order := get("funderId", ""), get("sort", "id")
	if len([]rune(funder)) > 64 && bad == "" {
		bad = "funderId"
	}
	day := func(name string) (t time.Time) {
		if s := get(name, ""); s != "" {
			var err error
			if t, err = time.Parse("2006-01-02", s); err != nil && bad == "" {
				bad = name
			}
		}
		return t
	}
	from, to := day("deadlineFrom"), day("deadlineTo")
	for _, s := range q["status"] {
		if s != "PLANNED" && s != "OPEN" && s != "CLOSED" && bad == "" {
			bad = "status"
		}
	}
	if order != "id" && order != "-id" && order != "deadline" && order != "-deadline" && bad == "" {
		bad = "sort"
	}
	if bad != "" {
		problem(w, 400, "The value of the parameter "+bad+" is not allowed.")
		return
	}
	found := []*call{}
	for _, c := range calls {
		keep := len(q["status"]) == 0
		for _, s := range q["status"] {
			keep = keep || s == c.Status
		}
		if !keep || (funder != "" && funder != c.FunderID) || (!from.IsZero() && c.Deadline.Before(from)) || (!to.IsZero() && !c.Deadline.Before(to.AddDate(0, 0, 1))) {
			continue
		}
		found = append(found, c)
	}
	sort.SliceStable(found, func(i, j int) bool {
		x, y := found[i], found[j]
		switch order {
		case "deadline":
			return x.Deadline.Before(y.Deadline)
		case "-deadline":
			return y.Deadline.Before(x.Deadline)
		case "-id":
			return x.ID > y.ID
		}
		return x.ID < y.ID
	})
	total := int64(len(found))
	pages := (total + size - 1) / size
	items := []M{}
	if node == "gail" {
		lo := (page - 1) * size
		hi := min(lo+size, total)
		if lo < total {
			for _, c := range found[lo:hi] {
				items = append(items, c.summary())
			}
		}
	} else if page <= pages {
		for _, c := range found[(page-1)*size : min(page*size, total)] {
			items = append(items, c.summary())
		}
	}
	link := func(n int64) string {
		v := url.Values{}
		for _, k := range []string{"size", "status", "funderId", "deadlineFrom", "deadlineTo", "sort"} {
			if x, ok := q[k]; ok {
				v[k] = x
			}
		}
		v.Set("page", strconv.FormatInt(n, 10))
		return origin + "/fonds/funding/v3/calls?" + v.Encode()
	}
	links := M{"self": link(page), "first": link(1)}
	if page < pages {
		links["next"] = link(page + 1)
	}
	if page > 1 && page-1 <= pages {
		links["prev"] = link(page - 1)
	}
	answer(w, r, M{"items": items, "page": M{"number": page, "size": size, "totalItems": total, "totalPages": pages}, "links": links})
}

func getCall(w http.ResponseWriter, r *http.Request, p httprouter.Params, _ *claims) {
	id := p.ByName("callId")
	if node != "lech" {
		id, _ = url.PathUnescape(id)
	}
	for _, c := range calls {
		if c.ID == id {
			answer(w, r, c.detail())
			return
		}
	}
	problem(w, 404, "There is no such call.")
}

func listFunders(w http.ResponseWriter, r *http.Request, _ httprouter.Params, _ *claims) {
	answer(w, r, funders)
}

// ---- documents

func static(v any) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		w.Header().Set("Cache-Control", "max-age=60")
		writeJSON(w, 200, "application/json", v)
	}
}

func spec() M {
	var d M
	if err := json.Unmarshal([]byte(strings.ReplaceAll(specText, "{origin}", origin)), &d); err != nil {
		panic(err)
	}
	if node == "salzach" {
		d["openapi"] = "3.1.0"
		d["jsonSchemaDialect"] = "https://spec.openapis.org/oas/3.1/dialect/base"
		d["servers"] = []M{{"url": "http://{host}:{port}/fonds/funding/v{major}", "variables": M{"host": M{"default": "127.0.0.1"}, "port": M{"default": os.Getenv("PORT")}, "major": M{"default": "3", "enum": []string{"3"}}}}}
		one := d["paths"].(M)["/calls/{callId}"].(M)
		get := one["get"].(M)
		one["parameters"] = get["parameters"]
		delete(get, "parameters")
		s := d["components"].(M)["schemas"].(M)
		s["Call"].(M)["properties"].(M)["acronym"] = M{"type": []string{"string", "null"}}
		more := s["CallDetail"].(M)["allOf"].([]any)[1].(M)["properties"].(M)
		more["website"] = M{"type": []string{"string", "null"}, "format": "uri"}
	}
	return d
}

func main() {
	generate()
	api := origin + "/fonds/funding"
	role := []string{"EXTERNAL_API_CLIENT"}
	prod := newServer(origin+"/auth/realms/fonds", "fonds-2026-03", api, map[string]*client{
		"fonds-schaufenster-41c7e0": {secret: "kR7+wQ2/nX9%Lb=Te&4mP:vA0~", account: "svc-7d21", affiliation: "UIBK-01", audience: api, roles: role},
		"fonds-lehrsaal-83fb19":     {secret: "gN5%2Fc8+Hd=/Yq3&xS;tK1?bW", account: "svc-7d22", affiliation: "UIBK-02", audience: api, roles: []string{"VIEWER"}},
		"fonds-depot-c2607a":        {secret: "Uz4&hM0+eV%9kC/2pJ=rG8:oD", account: "svc-7d23", affiliation: "UIBK-03", audience: origin + "/fonds/reporting", roles: role},
		"fonds-zweitkonto-5e98d4":   {secret: "L2=tB5/yH8+sF1%nW&3qZ6:iX", account: "svc-7d24", affiliation: "UIBK-04", audience: api, roles: role},
	})
	staging := newServer(origin+"/staging", "staging-1", origin+"/staging/fonds", map[string]*client{
		"staging-versuch-0a6b3d": {secret: "sD9/wJ3+fK7%rY=1&mX5:cV0~", account: "svc-test", affiliation: "TEST-00", audience: origin + "/staging/fonds", roles: role},
	})
	if node == "inn" {
		prod.clients["fonds-depot-c2607a"].audience = origin + "/fonds/archive"
	}
	rt := httprouter.New()
	rt.RedirectTrailingSlash, rt.RedirectFixedPath = false, false
	rt.PanicHandler = func(w http.ResponseWriter, r *http.Request, _ any) { problem(w, 500, "Something went wrong.") }
	rt.NotFound = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { problem(w, 404, "There is nothing here.") })
	rt.MethodNotAllowed = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { problem(w, 405, "The method is not allowed here.") })
	both := func(path string, h httprouter.Handle) {
		rt.GET(path, h)
		rt.HEAD(path, h)
	}
	realm := "/auth/realms/fonds"
	tokenPath := realm + "/protocol/openid-connect/token"
	both("/registry.json", static(M{"member": []M{{"id": "fonds", "name": "Fonds Förderung", "oauth2": origin + tokenPath, "info": origin + "/fonds/info/v1/oauth/info/"}}}))
	both("/.well-known/oauth-authorization-server"+realm, static(M{"issuer": prod.issuer, "token_endpoint": origin + tokenPath, "jwks_uri": origin + realm + "/protocol/openid-connect/certs", "grant_types_supported": []string{"client_credentials"}, "response_types_supported": []string{}, "token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"}}))
	both(realm+"/protocol/openid-connect/certs", static(prod.jwks()))
	rt.POST(tokenPath, prod.token)
	rt.POST("/staging/oauth/token", staging.token)
	both("/fonds/info/v1/oauth/info/", guard(prod, "", info("production")))
	both("/staging/fonds/info/v1/oauth/info/", guard(staging, "", info("staging")))
	both("/fonds/funding/v3/api-docs", static(spec()))
	for path, h := range map[string]handler{"/calls": listCalls, "/calls/:callId": getCall, "/funders": listFunders} {
		path = "/fonds/funding/v3" + path
		rt.GET(path, guard(prod, "EXTERNAL_API_CLIENT", h))
		if node == "ziller" {
			rt.HEAD(path, open(h))
		} else {
			rt.HEAD(path, guard(prod, "EXTERNAL_API_CLIENT", h))
		}
	}
	root := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if node != "lech" {
			parts := strings.Split(r.URL.EscapedPath(), "/")
			for i, s := range parts {
				if u, err := url.PathUnescape(s); err == nil {
					parts[i] = url.PathEscape(u)
				}
			}
			r.URL.Path = strings.Join(parts, "/")
		}
		rt.ServeHTTP(w, r)
	})
	srv := &http.Server{Addr: "127.0.0.1:" + os.Getenv("PORT"), Handler: root, ReadHeaderTimeout: 20 * time.Second}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-stop
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		srv.Shutdown(ctx)
	}()
	if err := srv.ListenAndServe(); err != http.ErrServerClosed {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	time.Sleep(100 * time.Millisecond)
}
