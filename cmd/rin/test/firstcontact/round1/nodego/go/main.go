// Node "XV": net/http, opaque tokens checked by introspection, numbered pages. NODE chooses a variant (see ../nodes.json).
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	prefix = "/vtf"
	realm  = "/realms/vest/protocol/openid-connect/token"
	aud    = "vtf-api"
	role   = "EXTERNAL_API_CLIENT"
	ttl    = 60 * time.Second
	rsID   = "vtf-api" // the API's own account at the introspection endpoint
	rsKey  = "Nw4tK8yRz2LcV6bQh1Jm"
)

var (
	node   = os.Getenv("NODE")
	port   = os.Getenv("PORT")
	origin string
)

func is(name string) bool { return node == name }

// ---------------------------------------------------------------- authorization server

type client struct {
	secret, aud, account string
	roles                []string
}
type grant struct {
	Active bool     `json:"active"`
	Client string   `json:"client_id,omitempty"`
	Aud    string   `json:"aud,omitempty"`
	Sub    string   `json:"sub,omitempty"`
	Scope  string   `json:"scope,omitempty"`
	Roles  []string `json:"roles,omitempty"`
	Exp    int64    `json:"exp,omitempty"`
}
type authServer struct {
	clients map[string]client
	mu      sync.Mutex
	grants  map[string]grant
}

var prod = &authServer{clients: map[string]client{
	"vest-main":   {"Vq7mT2xLk9RbZ4wNc6HdY1sPf8GjU3aEo5KiXvBnMqWtRyLpZsDfCgHjKlQwErTyUiOpAsDfGh-82-abcdefgh", aud, "sa-main", []string{role}},
	"vest-second": {"Jt5rX9wQb3ZmL7kVn1Hc", aud, "sa-second", []string{role}},
	"vest-norole": {"Pz8dG4yTf6SaU2eMo0Wi", aud, "sa-norole", []string{"VIEWER"}},
	"vest-other":  {"Ck1hB7nRj5XvE9qLs3Dg", "archive-api", "sa-other", []string{role}},
}, grants: map[string]grant{
	"vest-expired-8sJ2kQ0xN5mB7vC1zL4pT9wR": {true, "vest-main", aud, "sa-main", "api", []string{role}, 1767225600},
}}
var staging = &authServer{clients: map[string]client{
	"vest-staging": {"Yo6iU4tR8eW2qA0sD9fG", aud, "sa-staging", []string{role}},
}, grants: map[string]grant{}}

func sendJSON(w http.ResponseWriter, status int, v any) {
	b, _ := json.Marshal(v)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	w.Write(b)
}
func oauthError(w http.ResponseWriter, status int, code, text string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	if status == 401 {
		h.Set("WWW-Authenticate", `Basic realm="vest", charset="UTF-8"`)
	}
	sendJSON(w, status, map[string]string{"error": code, "error_description": text})
}
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
func cut72(s string) string { // what bcrypt sees
	if is("bcrypt-72") && len(s) > 72 {
		return s[:72]
	}
	return s
}

func (a *authServer) token(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		oauthError(w, 405, "invalid_request", "use POST")
		return
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		oauthError(w, 400, "invalid_request", "the body has to be a form")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<14))
	if err != nil {
		oauthError(w, 413, "invalid_request", "the body is too large")
		return
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		oauthError(w, 400, "invalid_request", "the form is malformed")
		return
	}
	for _, v := range form {
		if len(v) > 1 {
			oauthError(w, 400, "invalid_request", "a parameter is repeated")
			return
		}
	}
	id, secret := form.Get("client_id"), form.Get("client_secret")
	if auth := r.Header["Authorization"]; len(auth) > 1 {
		oauthError(w, 400, "invalid_request", "more than one Authorization header")
		return
	} else if len(auth) == 1 {
		user, pass, ok := r.BasicAuth()
		u, err1 := url.QueryUnescape(user)
		p, err2 := url.QueryUnescape(pass)
		if !ok || err1 != nil || err2 != nil {
			oauthError(w, 401, "invalid_client", "client authentication failed")
			return
		}
		if secret != "" || (id != "" && id != u) {
			oauthError(w, 400, "invalid_request", "two ways of client authentication")
			return
		}
		id, secret = u, p
	}
	c, known := a.clients[id]
	if good := equal(cut72(secret), cut72(c.secret)); !known || !good {
		oauthError(w, 401, "invalid_client", "client authentication failed")
		return
	}
	switch form.Get("grant_type") {
	case "client_credentials":
	case "":
		oauthError(w, 400, "invalid_request", "grant_type is missing")
		return
	default:
		oauthError(w, 400, "unsupported_grant_type", "only client_credentials")
		return
	}
	if s := form.Get("scope"); s != "" && s != "api" {
		oauthError(w, 400, "invalid_scope", "the only scope is api")
		return
	}
	raw := make([]byte, 32)
	rand.Read(raw)
	tok := base64.RawURLEncoding.EncodeToString(raw)
	a.mu.Lock()
	for k, g := range a.grants {
		if g.Exp < time.Now().Unix()-3600 && !strings.HasPrefix(k, "vest-") {
			delete(a.grants, k)
		}
	}
	a.grants[tok] = grant{true, id, c.aud, c.account, "api", c.roles, time.Now().Add(ttl).Unix()}
	a.mu.Unlock()
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	sendJSON(w, 200, map[string]any{"access_token": tok, "token_type": "Bearer", "expires_in": int(ttl.Seconds()), "scope": "api"})
}

func (a *authServer) introspect(w http.ResponseWriter, r *http.Request) {
	id, key, ok := r.BasicAuth()
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		oauthError(w, 405, "invalid_request", "use POST")
		return
	}
	if !ok || !equal(id, rsID) || !equal(key, rsKey) {
		oauthError(w, 401, "invalid_client", "this endpoint is for resource servers")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	r.Body = http.MaxBytesReader(w, r.Body, 1<<14)
	a.mu.Lock()
	g := a.grants[r.PostFormValue("token")]
	a.mu.Unlock()
	if !g.Active || g.Exp <= time.Now().Unix() {
		g = grant{}
	}
	sendJSON(w, 200, g)
}

// ---------------------------------------------------------------- bearer tokens

type cached struct {
	g     grant
	until time.Time
}

var (
	cacheMu sync.Mutex
	cache   = map[string]cached{}
)

func ask(endpoint, tok string) (grant, error) {
	req, _ := http.NewRequest("POST", origin+endpoint+"/introspect", strings.NewReader(url.Values{"token": {tok}}.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(rsID, rsKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return grant{}, err
	}
	defer res.Body.Close()
	var g grant
	return g, json.NewDecoder(res.Body).Decode(&g)
}
func lookup(tok string, info bool) (grant, error) {
	key := tok
	if is("cache-key-prefix") && len(tok) > 24 {
		key = tok[:24] // "long enough to be unique"
	}
	now := time.Now()
	cacheMu.Lock()
	c, ok := cache[key]
	cacheMu.Unlock()
	if ok && now.Before(c.until) && now.Unix() < c.g.Exp {
		return c.g, nil
	}
	g, err := askBoth(tok, info)
	if err == nil && g.Active && g.Aud == aud && !(info && is("staging-fallback")) {
		cacheMu.Lock()
		if len(cache) > 5000 {
			cache = map[string]cached{}
		}
		cache[key] = cached{g, now.Add(15 * time.Second)}
		cacheMu.Unlock()
	}
	return g, err
}
func askBoth(tok string, info bool) (grant, error) {
	g, err := ask(realm, tok)
	if err == nil && !g.Active && info && is("staging-fallback") { // for the demo
		return ask("/staging"+realm, tok)
	}
	return g, err
}
func fail(w http.ResponseWriter, status int, code, message, challenge string) {
	w.Header().Set("Cache-Control", "no-store")
	if challenge != "" {
		w.Header().Set("WWW-Authenticate", challenge)
	}
	sendJSON(w, status, map[string]any{"error": map[string]any{"code": code, "message": message}})
}

const challenge = `Bearer realm="vest"`

var bearer = regexp.MustCompile(`^(?i:bearer) +([A-Za-z0-9\-._~+/]+=*)$`)
var scheme = regexp.MustCompile(`^(?i:bearer)( |$)`)

// allowed answers whether the caller may go on; it has answered the request if not.
func allowed(w http.ResponseWriter, r *http.Request, info bool) bool {
	auth := r.Header["Authorization"]
	switch {
	case len(auth) > 1:
		fail(w, 400, "bad_credentials", "more than one Authorization header", challenge+`, error="invalid_request"`)
		return false
	case len(auth) == 0 || !scheme.MatchString(auth[0]):
		fail(w, 401, "no_token", "an access token is needed", challenge)
		return false
	}
	m := bearer.FindStringSubmatch(auth[0])
	if m == nil {
		fail(w, 400, "bad_credentials", "the credentials are malformed", challenge+`, error="invalid_request"`)
		return false
	}
	g, err := lookup(m[1], info)
	if err != nil {
		w.Header().Set("Retry-After", "5")
		fail(w, 503, "unavailable", "the token cannot be checked now", "")
		return false
	}
	if !g.Active || g.Aud != aud {
		fail(w, 401, "bad_token", "the access token is not valid", challenge+`, error="invalid_token", error_description="the access token is not active"`)
		return false
	}
	inside := is("xff-internal") && strings.HasPrefix(r.Header.Get("X-Forwarded-For"), "10.") // calls from our own network
	if !info && !inside && !has(g.Roles, role) {
		if is("right-hide") {
			fail(w, 404, "not_found", "there is nothing here", "")
		} else {
			fail(w, 403, "forbidden", "the role "+role+" is missing", challenge+`, error="insufficient_scope", scope="api"`)
		}
		return false
	}
	return true
}
func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// ---------------------------------------------------------------- data

type text struct {
	Lang  string `json:"lang"`
	Trans string `json:"trans"`
	Text  string `json:"text"`
}
type org struct {
	ID      string `json:"id"`
	Name    []text `json:"name"`
	Website string `json:"website"`
}
type funder struct {
	Type string `json:"funderType"`
	Org  org    `json:"funder"`
}
type volume struct {
	Currency string  `json:"currency"`
	Amount   float64 `json:"amount"`
}
type funding struct {
	ID       any      `json:"id"`
	Type     string   `json:"type"`
	Name     []text   `json:"name"`
	Funder   []funder `json:"funder"`
	Volume   volume   `json:"maxProjectVolume"`
	Deadline *string  `json:"deadline"`
	Updated  string   `json:"updatedAt"`
}
type contact struct {
	Email string `json:"email"`
}
type full struct {
	funding
	Description []text    `json:"description"`
	Contacts    []contact `json:"contacts"`
}

var types = []string{"CALL", "PROGRAMME", "ONGOING_CALL"}
var orgs = []string{"Vestfond", "Fjordbank", "Havrådet", "Bygdelaget", "Universitetsfondet"}
var fundings = make([]full, 60)

func generate() {
	for i := range fundings {
		d := fmt.Sprintf("2027-%02d-%02dT12:00:00+02:00", 1+(i*7)%12, 1+(i*13)%28)
		f := &fundings[i]
		f.ID = fmt.Sprintf("VTF-%04d", 4100+i*3)
		f.Type = types[(i*i+i/2)%3]
		f.Name = []text{{"no", "O", fmt.Sprintf("Støtte til havforskning %d", i)}, {"en", "H", fmt.Sprintf("Support for ocean research %d", i)}}
		k := (i * 3) % len(orgs)
		f.Funder = []funder{{"EXECUTIVE_ORGANISATION", org{fmt.Sprintf("VO-%d", k), []text{{"no", "O", orgs[k]}}, fmt.Sprintf("https://fond%d.example", k)}}}
		f.Volume = volume{"NOK", float64(5000 + (i*i*i*977)%1500000)}
		f.Deadline = &d
		f.Updated = fmt.Sprintf("2026-%02d-%02dT08:%02d:00Z", 1+i%9, 1+i%27, i%60)
		f.Description = []text{{"no", "O", fmt.Sprintf("Utlysning nummer %d – «hav og kyst».", i)}}
		f.Contacts = []contact{{fmt.Sprintf("utlysning%d@vest.example", i)}}
		if is("null-deadline") && i == 37 {
			f.Deadline = nil
		}
		if is("right-bigid") {
			f.ID = int64(9007199254740993) + int64(i)*2
			f.Name[0].Text += " \U0001F30A e\u0301 \u2028 العربية \\u0000"
		}
	}
}

// ---------------------------------------------------------------- the API

var (
	replicaMu sync.Mutex
	reads     int
)

func tag(b []byte, suffix string) string {
	s := sha256.Sum256(b)
	t := `"` + base64.RawURLEncoding.EncodeToString(s[:12]) + suffix + `"`
	if is("right-weak-chunked") {
		return "W/" + t
	}
	return t
}
func matches(header, etag string) bool {
	for _, part := range strings.Split(header, ",") {
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}
func wantsGzip(r *http.Request) bool {
	best, found := 0.0, false
	for _, part := range strings.Split(strings.Join(r.Header["Accept-Encoding"], ","), ",") {
		name, params, _ := strings.Cut(strings.ToLower(strings.TrimSpace(part)), ";")
		name = strings.TrimSpace(name)
		if name == "gzip" && is("gzip-q0") {
			return true
		}
		q := 1.0
		if v, ok := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q="); ok {
			q, _ = strconv.ParseFloat(v, 64)
		}
		if name == "gzip" || name == "x-gzip" {
			best, found = q, true
		} else if name == "*" && !found {
			best = q
		}
	}
	return best > 0
}
func answer(w http.ResponseWriter, r *http.Request, v any, public bool) {
	b, _ := json.Marshal(v)
	h, suffix := w.Header(), ""
	if len(b) > 512 && wantsGzip(r) {
		var z bytes.Buffer
		g := gzip.NewWriter(&z)
		g.Write(b)
		g.Close()
		suffix = "-gz"
		h.Set("Content-Encoding", "gzip")
		h.Set("ETag", tag(b, suffix))
		b = z.Bytes()
	} else {
		h.Set("ETag", tag(b, suffix))
	}
	h.Set("Vary", "Accept-Encoding, Authorization")
	h.Set("Cache-Control", "private, no-cache")
	if public {
		h.Set("Vary", "Accept-Encoding")
		h.Set("Cache-Control", "public, max-age=30")
	}
	if m := r.Header.Get("If-None-Match"); m != "" && matches(m, h.Get("ETag")) {
		h.Del("Content-Encoding")
		w.WriteHeader(304)
		return
	}
	h.Set("Content-Type", "application/json")
	if is("right-weak-chunked") {
		h.Set("Content-Type", `Application/JSON;charset="UTF-8"`)
		for len(b) > 0 {
			n := min(700, len(b))
			w.Write(b[:n])
			w.(http.Flusher).Flush()
			b = b[n:]
		}
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b)
}

var listNames = []string{"page", "perPage", "type", "funderId", "minAmount"}

func number(q url.Values, name string, min, max, def int) (int, error) {
	if !q.Has(name) {
		return def, nil
	}
	n, err := strconv.Atoi(q.Get(name))
	if err != nil || n < min || n > max || strconv.Itoa(n) != q.Get(name) {
		return 0, fmt.Errorf("%s has to be a whole number from %d to %d", name, min, max)
	}
	return n, nil
}
func list(w http.ResponseWriter, r *http.Request, public bool) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	for _, n := range listNames {
		if len(q[n]) > 1 && err == nil {
			err = fmt.Errorf("%s is repeated", n)
		}
	}
	page, e1 := number(q, "page", 1, 1000000, 1)
	per, e2 := number(q, "perPage", 1, 50, 20)
	least, e3 := number(q, "minAmount", 0, 1000000000, 0)
	for _, e := range []error{e1, e2, e3} {
		if err == nil {
			err = e
		}
	}
	if err == nil && q.Has("type") && !has(types, q.Get("type")) {
		err = fmt.Errorf("type has to be one of %s", strings.Join(types, ", "))
	}
	for n := range q {
		if err == nil && is("right-strict") && !has(listNames, n) {
			err = fmt.Errorf("there is no such parameter")
		}
	}
	if err != nil {
		fail(w, 400, "bad_request", err.Error(), "")
		return
	}
	found := []funding{}
	for _, f := range fundings {
		if q.Has("type") && f.Type != q.Get("type") {
			continue
		}
		if q.Has("funderId") && f.Funder[0].Org.ID != q.Get("funderId") {
			continue
		}
		if is("amount-string") && q.Has("minAmount") {
			if strconv.Itoa(int(f.Volume.Amount)) < q.Get("minAmount") {
				continue
			}
		} else if f.Volume.Amount < float64(least) {
			continue
		}
		found = append(found, f.funding)
	}
	last := max(1, (len(found)+per-1)/per)
	link := func(n int, rel string) string {
		v := url.Values{}
		for _, k := range listNames {
			if q.Has(k) && !is("link-drops-filter") {
				v.Set(k, q.Get(k))
			}
		}
		v.Set("page", strconv.Itoa(n))
		v.Set("perPage", strconv.Itoa(per))
		return "<" + origin + r.URL.EscapedPath() + "?" + v.Encode() + `>; rel="` + rel + `"`
	}
	links := []string{link(1, "first"), link(last, "last")}
	if page > 1 && page <= last {
		links = append(links, link(page-1, "prev"))
	}
	if page < last {
		links = append(links, link(page+1, "next"))
	}
	w.Header().Set("Link", strings.Join(links, ", "))
	w.Header().Set("X-Total-Count", strconv.Itoa(len(found)))
	from := min((page-1)*per, len(found))
	answer(w, r, found[from:min(from+per, len(found))], public)
}
func detail(w http.ResponseWriter, r *http.Request, seg string, public bool) {
	id, err := url.PathUnescape(seg)
	for i, f := range fundings {
		if err == nil && fmt.Sprint(f.ID) == id {
			if is("detail-replica") && i%2 == 1 { // every fourth read is served by a replica that lags behind
				replicaMu.Lock()
				reads++
				if reads%4 == 0 {
					f.Volume.Amount -= 500
					f.Updated = "2025" + f.Updated[4:]
				}
				replicaMu.Unlock()
			}
			answer(w, r, f, public)
			return
		}
	}
	fail(w, 404, "not_found", "there is no funding with this id", "")
}
func serve(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if e := recover(); e != nil {
			fail(w, 500, "internal", "the request cannot be answered", "")
		}
	}()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	p := r.URL.EscapedPath()
	api := prefix + "/funding/v3/fundings"
	try := prefix + "/try-out/funding/v3/fundings"
	if is("right-strict") { // the gateway normalises paths
		c := path.Clean("/" + p)
		if c == prefix+"/info/v1/oauth/info" {
			c += "/"
		}
		if c != p && strings.HasPrefix(c, prefix+"/") {
			if r.URL.RawQuery != "" {
				c += "?" + r.URL.RawQuery
			}
			w.Header().Set("Location", c)
			fail(w, 308, "moved", "the canonical path is "+c, "")
			return
		}
	}
	switch p {
	case realm:
		prod.token(w, r)
		return
	case realm + "/introspect":
		prod.introspect(w, r)
		return
	case "/staging" + realm:
		staging.token(w, r)
		return
	case "/staging" + realm + "/introspect":
		staging.introspect(w, r)
		return
	}
	public := p == "/" || p == "/ris.json" || p == prefix+"/funding/v3/api-docs" || p == try || strings.HasPrefix(p, try+"/")
	info := p == prefix+"/info/v1/oauth/info/"
	one, isOne := strings.CutPrefix(p, api+"/")
	tryOne, isTry := strings.CutPrefix(p, try+"/")
	known := public || info || p == api || (isOne && one != "" && !strings.Contains(one, "/"))
	first := is("right-auth-first") && !public
	if first && !allowed(w, r, !known || info) {
		return
	}
	if !known {
		fail(w, 404, "not_found", "there is nothing at this path", "")
		return
	}
	if r.Method != "GET" && r.Method != "HEAD" {
		w.Header().Set("Allow", "GET, HEAD, OPTIONS")
		if r.Method == "OPTIONS" {
			w.WriteHeader(204)
		} else {
			fail(w, 405, "method_not_allowed", "use GET", "")
		}
		return
	}
	if !public && !first && !allowed(w, r, info) {
		return
	}
	type endpoint struct {
		Name  string `json:"name"`
		Major int    `json:"majorVersion"`
		Minor int    `json:"minorVersion"`
		URL   string `json:"url"`
	}
	switch {
	case p == "/":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, "Vest node\n")
	case p == "/ris.json":
		answer(w, r, map[string]any{"member": []any{map[string]string{"id": "XV", "acronym": "VEST", "name": "Vestlandsfondet", "contact": "ris@vest.example", "oauth2": origin + realm, "info": origin + prefix + "/info/v1/oauth/info/"}}}, true)
	case info:
		answer(w, r, map[string]any{"endpoints": map[string]any{"funding": []endpoint{{"FUNDINGS", 3, 0, origin + api}, {"FUNDING", 3, 0, origin + api + "/{id}"}}}}, false)
	case p == prefix+"/funding/v3/api-docs":
		answer(w, r, document(), true)
	case p == api:
		list(w, r, false)
	case p == try:
		list(w, r, true)
	case isTry:
		detail(w, r, tryOne, true)
	default:
		detail(w, r, one, false)
	}
}

func main() {
	if port == "" {
		port = "3001"
	}
	origin = "http://127.0.0.1:" + port
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 32
	generate()
	fmt.Println("XV", node, "on", origin)
	s := &http.Server{Addr: "127.0.0.1:" + port, Handler: http.HandlerFunc(serve), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintln(os.Stderr, s.ListenAndServe())
	os.Exit(1)
}
