package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bunrouter"
)

//go:embed spec.json
var specJSON []byte

const (
	api      = "/halle/funding/v3"
	audience = "halle-funding"
)

func is(variant string) bool { return os.Getenv("NODE") == "bunrouter-"+variant }

var (
	base        string
	prod, stage *Server
	fundings    = generate()
	cursorKey   = []byte("halle/cursor/2025")
)

type ctxKey struct{}

// Fault is an answer that is an error.
type Fault struct {
	Status    int
	Code      string
	Message   string
	Parameter string
}

func (f *Fault) Error() string { return f.Message }

func fail(w http.ResponseWriter, f *Fault) {
	doc := map[string]any{"error": map[string]any{"code": f.Code, "message": f.Message}, "requestId": w.Header().Get("X-Request-Id")}
	if f.Parameter != "" {
		doc["error"].(map[string]any)["parameter"] = f.Parameter
	}
	body, _ := json.Marshal(doc)
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.Status)
	w.Write(body)
}

// ---- representations ----------------------------------------------------------------------------------

func wantsGzip(r *http.Request) bool {
	best, star := -1.0, -1.0
	for _, part := range strings.Split(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, rest, _ := strings.Cut(strings.TrimSpace(part), ";")
		q := 1.0
		if k, v, ok := strings.Cut(rest, "="); ok && strings.EqualFold(strings.TrimSpace(k), "q") {
			if f, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil {
				q = f
			}
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip":
			best = q
		case "*":
			star = q
		}
	}
	if best < 0 {
		best = star
	}
	return best > 0
}

var tagRE = regexp.MustCompile(`(?:W/)?("[^"]*")`)

func encode(doc any) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	e.Encode(doc)
	return bytes.TrimRight(buf.Bytes(), "\n")
}

// hint sends an interim answer ahead.
func hint(w http.ResponseWriter, r *http.Request) {
	if !is("unstrut") || !r.ProtoAtLeast(1, 1) || strings.HasSuffix(r.URL.Path, "/fundings") {
		return
	}
	w.Header().Set("Link", "<"+api+`/api-docs>; rel="service-desc"`)
	w.WriteHeader(http.StatusEarlyHints)
	w.Header().Del("Link")
}

// show answers a GET or HEAD with a representation: coding, validators, 304.
func show(w http.ResponseWriter, r *http.Request, doc any, modified time.Time) error {
	body := encode(doc)
	sum := sha256.Sum256(body)
	tag := hex.EncodeToString(sum[:12])
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "private, max-age=0, must-revalidate")
	zip := len(body) >= 400 && wantsGzip(r)
	if zip && !is("selke") {
		tag += "-gz"
	}
	h.Set("ETag", `"`+tag+`"`)
	if !modified.IsZero() {
		h.Set("Last-Modified", modified.Format(http.TimeFormat))
	}
	changed := false
	if im := r.Header.Values("If-Match"); len(im) > 0 {
		all := strings.Join(im, ",")
		changed = strings.TrimSpace(all) != "*"
		for _, m := range tagRE.FindAllString(all, -1) {
			changed = changed && m != `"`+tag+`"`
		}
	} else if ius, err := http.ParseTime(r.Header.Get("If-Unmodified-Since")); err == nil && !modified.IsZero() {
		changed = modified.After(ius)
	}
	if changed {
		for _, k := range []string{"ETag", "Last-Modified", "Link"} {
			h.Del(k)
		}
		return &Fault{412, "precondition_failed", "the representation is another one", ""}
	}
	fresh := false
	if inm := r.Header.Values("If-None-Match"); len(inm) > 0 {
		all := strings.Join(inm, ",")
		fresh = strings.TrimSpace(all) == "*"
		for _, m := range tagRE.FindAllStringSubmatch(all, -1) {
			fresh = fresh || m[1] == `"`+tag+`"`
		}
	} else if ims, err := http.ParseTime(r.Header.Get("If-Modified-Since")); err == nil && !modified.IsZero() {
		fresh = !modified.After(ims)
	}
	if fresh {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if zip {
		var buf bytes.Buffer
		z, _ := gzip.NewWriterLevel(&buf, 6)
		z.Write(body)
		z.Close()
		body = buf.Bytes()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(200)
	if r.Method != http.MethodHead {
		w.Write(body)
	}
	return nil
}

// ---- parameters ---------------------------------------------------------------------------------------

var (
	intRE  = regexp.MustCompile(`^(0|[1-9][0-9]{0,17})$`)
	timeRE = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$`)
)

func bad(parameter, message string) *Fault {
	return &Fault{400, "invalid_parameter", message, parameter}
}

func single(q url.Values, name string) (string, bool, error) {
	v, given := q[name]
	if len(v) > 1 {
		return "", false, bad(name, "may be given once")
	}
	if !given {
		return "", false, nil
	}
	return v[0], true, nil
}

func integer(q url.Values, name string, min, max, def int64) (int64, error) {
	s, given, err := single(q, name)
	if err != nil || !given {
		return def, err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if !intRE.MatchString(s) || err != nil || n < min || n > max {
		return 0, bad(name, "must be a whole number from "+strconv.FormatInt(min, 10)+" to "+strconv.FormatInt(max, 10))
	}
	return n, nil
}

// instant reads an RFC 3339 date-time, a leap second included.
func instant(s string) (time.Time, bool) {
	m := timeRE.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}, false
	}
	n := make([]int, 7)
	for i := 1; i <= 6; i++ {
		n[i], _ = strconv.Atoi(m[i])
	}
	day := time.Date(n[1], time.Month(n[2]), n[3], 0, 0, 0, 0, time.UTC)
	if n[2] < 1 || n[2] > 12 || n[3] < 1 || day.Day() != n[3] || n[4] > 23 || n[5] > 59 || n[6] > 60 {
		return time.Time{}, false
	}
	off := 0
	if len(m[8]) == 6 {
		hh, _ := strconv.Atoi(m[8][1:3])
		mm, _ := strconv.Atoi(m[8][4:])
		if hh > 23 || mm > 59 {
			return time.Time{}, false
		}
		off = hh*60 + mm
		if m[8][0] == '-' {
			off = -off
		}
	}
	at := day.Add(time.Duration(n[4])*time.Hour + time.Duration(n[5]-off)*time.Minute)
	if n[6] == 60 {
		if u := at; u.Hour() != 23 || u.Minute() != 59 || u.AddDate(0, 0, 1).Day() != 1 {
			return time.Time{}, false
		}
	}
	frac := (m[7] + "000000000")
	if m[7] == "" {
		frac = ".000000000"
	}
	ns, _ := strconv.Atoi(frac[1:10])
	return at.Add(time.Duration(n[6])*time.Second + time.Duration(ns)), true
}

type filter struct {
	States []string `json:"s,omitempty"`
	Org    string   `json:"o,omitempty"`
	Min    int64    `json:"m,omitempty"`
	Since  string   `json:"t,omitempty"`
	Order  string   `json:"r"`
	since  time.Time
}

type position struct {
	Filter string `json:"f"`
	Value  string `json:"v"`
	Key    string `json:"k"`
}

func (f *filter) print() string {
	n := *f
	n.States = nil
	for _, s := range states {
		if contains(f.States, s) {
			n.States = append(n.States, s)
		}
	}
	if f.Since != "" {
		n.Since = f.since.UTC().Format(time.RFC3339Nano)
	}
	b, _ := json.Marshal(n)
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:6])
}

func seal(p position) string {
	b, _ := json.Marshal(p)
	m := hmac.New(sha256.New, cursorKey)
	m.Write(b)
	return base64.RawURLEncoding.EncodeToString(append(m.Sum(nil)[:10], b...))
}

func unseal(s string) (p position, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || (len(raw) < 10 && !is("saale")) {
		return p, false
	}
	m := hmac.New(sha256.New, cursorKey)
	m.Write(raw[10:])
	if !hmac.Equal(m.Sum(nil)[:10], raw[:10]) || json.Unmarshal(raw[10:], &p) != nil {
		return p, false
	}
	return p, true
}

var orders = []string{"key", "-key", "budget", "-budget", "modified", "-modified"}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func readFilter(q url.Values) (*filter, error) {
	f := &filter{Order: "key"}
	for _, s := range q["state"] {
		if !contains(states, s) {
			return nil, bad("state", "must be one of "+strings.Join(states, ", "))
		}
		f.States = append(f.States, s)
	}
	s, given, err := single(q, "organisation")
	if err == nil && given && (s == "" || utf8.RuneCountInString(s) > 60) {
		err = bad("organisation", "must have 1 to 60 characters")
	}
	if err != nil {
		return nil, err
	}
	f.Org = s
	if f.Min, err = integer(q, "minBudget", 0, 1000000000000, 0); err != nil {
		return nil, err
	}
	if s, given, err = single(q, "modifiedSince"); err != nil {
		return nil, err
	} else if given {
		var ok bool
		if f.since, ok = instant(s); !ok {
			return nil, bad("modifiedSince", "must be a date-time (RFC 3339)")
		}
		f.Since = s
	}
	if s, given, err = single(q, "order"); err != nil {
		return nil, err
	} else if given {
		if !contains(orders, s) {
			return nil, bad("order", "must be one of "+strings.Join(orders, ", "))
		}
		f.Order = s
	}
	return f, nil
}

func sortValue(f *Funding, by string) string {
	switch by {
	case "budget":
		return strconv.FormatInt(1e15+int64(f.Budget.Total), 10)
	case "modified":
		return f.Modified
	}
	return f.Key
}

func (f *filter) matches(x *Funding) bool {
	return (len(f.States) == 0 || contains(f.States, x.State)) && (f.Org == "" || x.Organisation == f.Org) &&
		int64(x.Budget.Total) >= f.Min && (f.Since == "" || !x.at.Before(f.since))
}

// behind says whether x comes after a position in this order; equal values go by key, ascending.
func behind(order, xv, xk, pv, pk string) bool {
	if xv == pv {
		if order == "-key" {
			return false
		}
		return xk > pk
	}
	return (xv > pv) != strings.HasPrefix(order, "-")
}

func list(w http.ResponseWriter, r bunrouter.Request) error {
	q, err := queryOf(r.Request)
	if err != nil {
		return err
	}
	limit, err := integer(q, "limit", 1, 200, 25)
	if err != nil {
		return err
	}
	f, err := readFilter(q)
	if err != nil {
		return err
	}
	by := strings.TrimPrefix(f.Order, "-")
	var hits []*Funding
	for _, x := range fundings {
		if f.matches(x) || is("oker") {
			hits = append(hits, x)
		}
	}
	sort.Slice(hits, func(i, j int) bool {
		return behind(f.Order, sortValue(hits[j], by), hits[j].Key, sortValue(hits[i], by), hits[i].Key)
	})
	total := len(hits)
	if is("oker") {
		total = 0
		for _, x := range hits {
			if f.matches(x) {
				total++
			}
		}
	}
	c, given, err := single(q, "cursor")
	if err != nil {
		return err
	}
	if given {
		p, ok := unseal(c)
		if !ok || p.Filter != f.print() {
			return &Fault{400, "invalid_cursor", "the cursor is not one of this list", "cursor"}
		}
		i := sort.Search(len(hits), func(i int) bool { return behind(f.Order, sortValue(hits[i], by), hits[i].Key, p.Value, p.Key) })
		if is("ilse") && by != "key" {
			i = sort.Search(len(hits), func(i int) bool { return behind(f.Order, sortValue(hits[i], by), "", p.Value, "") })
		}
		hits = hits[i:]
	}
	var next *string
	if int64(len(hits)) > limit {
		hits = hits[:limit]
		last := hits[limit-1]
		s := seal(position{f.print(), sortValue(last, by), last.Key})
		next = &s
		w.Header().Set("Link", "<"+linkTo(q, s)+`>; rel="next"`)
	}
	items := []Entry{}
	for _, x := range hits {
		if f.matches(x) {
			items = append(items, x.Entry)
		}
	}
	return show(w, r.Request, struct {
		Total int     `json:"total"`
		Items []Entry `json:"items"`
		Next  *string `json:"nextCursor"`
	}{total, items, next}, time.Time{})
}

// linkTo is the address of the next page: the same parameters, another cursor.
func linkTo(q url.Values, cursor string) string {
	n := url.Values{}
	for _, k := range []string{"limit", "state", "organisation", "minBudget", "modifiedSince", "order"} {
		if v, ok := q[k]; ok {
			n[k] = v
			if is("wipper") {
				n[k] = v[:1]
			}
		}
	}
	n.Set("cursor", cursor)
	return base + api + "/fundings?" + n.Encode()
}

func queryOf(r *http.Request) (url.Values, error) {
	q, err := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "%3B"))
	if err == nil && !utf8.ValidString(r.URL.RawQuery) {
		err = http.ErrNotSupported
	}
	for k, vs := range q {
		if !utf8.ValidString(k + strings.Join(vs, "")) {
			err = http.ErrNotSupported
		}
	}
	if err != nil {
		return nil, &Fault{400, "malformed_query", "the query is not well-formed", ""}
	}
	return q, nil
}

func keyOf(r bunrouter.Request) string {
	k, _ := url.PathUnescape(r.Param("key"))
	return k
}

func one(w http.ResponseWriter, r bunrouter.Request) error {
	if _, err := queryOf(r.Request); err != nil {
		return err
	}
	key := keyOf(r)
	for _, x := range fundings {
		if x.Key == key {
			if is("mulde") {
				return show(w, r.Request, nullable{x, x.Contact}, x.at)
			}
			return show(w, r.Request, x, x.at)
		}
	}
	return &Fault{404, "not_found", "no such funding", ""}
}

func orgs(w http.ResponseWriter, r bunrouter.Request) error {
	if _, err := queryOf(r.Request); err != nil {
		return err
	}
	return show(w, r.Request, map[string]any{"items": organisations}, time.Time{})
}

func org(w http.ResponseWriter, r bunrouter.Request) error {
	if _, err := queryOf(r.Request); err != nil {
		return err
	}
	for _, o := range organisations {
		if o.Key == keyOf(r) {
			return show(w, r.Request, o, time.Time{})
		}
	}
	return &Fault{404, "not_found", "no such organisation", ""}
}

// ---- who asks -----------------------------------------------------------------------------------------

var bearerRE = regexp.MustCompile(`(?i)^bearer +([A-Za-z0-9\-._~+/]+=*) *$`)

func challenge(w http.ResponseWriter, params string) {
	if is("unstrut") {
		w.Header().Set("WWW-Authenticate", `bearer realm="Halle, \"an der Saale\""`+params+`, authorization_uri="`+base+`/as"`)
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="halle"`+params)
}

func authenticate(w http.ResponseWriter, r *http.Request, s *Server) (*Token, error) {
	a := r.Header.Values("Authorization")
	if len(a) > 1 {
		challenge(w, `, error="invalid_request"`)
		return nil, &Fault{400, "invalid_request", "several Authorization headers", ""}
	}
	if len(a) == 0 || (len(a[0]) < 7 && !strings.EqualFold(a[0], "bearer")) || (len(a[0]) >= 7 && !strings.EqualFold(a[0][:7], "bearer ")) {
		challenge(w, "")
		return nil, &Fault{401, "unauthorized", "a bearer token is needed", ""}
	}
	var t *Token
	if m := bearerRE.FindStringSubmatch(a[0]); m != nil {
		t = s.find(m[1])
	}
	if t == nil || t.Client.Audience != audience {
		challenge(w, `, error="invalid_token"`)
		return nil, &Fault{401, "invalid_token", "the token is not valid here", ""}
	}
	return t, nil
}

func authenticated(next bunrouter.HandlerFunc) bunrouter.HandlerFunc {
	return func(w http.ResponseWriter, r bunrouter.Request) error {
		t, err := authenticate(w, r.Request, prod)
		if err != nil {
			return err
		}
		hint(w, r.Request)
		return next(w, r.WithContext(context.WithValue(r.Context(), ctxKey{}, t)))
	}
}

func withRole(next bunrouter.HandlerFunc) bunrouter.HandlerFunc {
	return func(w http.ResponseWriter, r bunrouter.Request) error {
		if t := r.Context().Value(ctxKey{}).(*Token); !contains(t.Client.Roles, "EXTERNAL_API_CLIENT") {
			challenge(w, `, error="insufficient_scope"`)
			return &Fault{403, "forbidden", "the role EXTERNAL_API_CLIENT is missing", ""}
		}
		return next(w, r)
	}
}

func errorsAsJSON(next bunrouter.HandlerFunc) bunrouter.HandlerFunc {
	return func(w http.ResponseWriter, r bunrouter.Request) (err error) {
		defer func() {
			if p := recover(); p != nil {
				fail(w, &Fault{500, "internal", "internal error", ""})
			}
		}()
		if err = next(w, r); err != nil {
			f, ok := err.(*Fault)
			if !ok {
				f = &Fault{500, "internal", "internal error", ""}
			}
			fail(w, f)
		}
		return nil
	}
}

func info(s *Server, environment string) bunrouter.HandlerFunc {
	return func(w http.ResponseWriter, r bunrouter.Request) error {
		t, err := authenticate(w, r.Request, s)
		if err != nil {
			return err
		}
		c := t.Client
		reply(w, 200, map[string]any{"node": "halle", "environment": environment, "client": map[string]any{"id": c.ID, "serviceAccount": c.Account, "affiliation": c.Affiliation, "roles": c.Roles},
			"endpoints": map[string]any{"funding": []any{map[string]any{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 0, "url": base + api + "/fundings"}}}})
		return nil
	}
}

// ---- routes -------------------------------------------------------------------------------------------

type rule struct {
	path  *regexp.Regexp
	allow string
}

var rules = []rule{
	{regexp.MustCompile(`^/halle/funding/v3/((fundings|organisations)(/[^/]+)?|api-docs)$`), "GET, HEAD, OPTIONS"},
	{regexp.MustCompile(`^(/staging)?/halle/info/v1/oauth/info/$`), "GET, HEAD, OPTIONS"},
	{regexp.MustCompile(`^/(registry\.json|\.well-known/oauth-authorization-server/as)$`), "GET, HEAD, OPTIONS"},
	{regexp.MustCompile(`^/(as/oauth/(token|revoke|introspect)|staging/oauth/token)$`), "POST, OPTIONS"},
}

var (
	pctRE        = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	unreservedRE = regexp.MustCompile(`^[A-Za-z0-9\-._~]$`)
)

func front(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := make([]byte, 8)
		rand.Read(id)
		w.Header().Set("X-Request-Id", hex.EncodeToString(id))
		w.Header().Set("X-Content-Type-Options", "nosniff")
		path := pctRE.ReplaceAllStringFunc(r.URL.EscapedPath(), func(p string) string {
			if c, _ := url.PathUnescape(p); unreservedRE.MatchString(c) {
				return c
			}
			return p
		})
		r.URL.RawPath = path // the router is to see the path as it was sent
		if r.Method == "OPTIONS" && r.RequestURI == "*" {
			w.Header().Set("Allow", "GET, HEAD, POST, OPTIONS")
			w.WriteHeader(204)
			return
		}
		for _, x := range rules {
			if !x.path.MatchString(path) {
				continue
			}
			if r.Method == "OPTIONS" {
				w.Header().Set("Allow", x.allow)
				w.WriteHeader(204)
			} else if !contains(strings.Split(x.allow, ", "), r.Method) {
				w.Header().Set("Allow", x.allow)
				fail(w, &Fault{405, "method_not_allowed", "the path has no such method", ""})
			} else {
				next.ServeHTTP(w, r)
			}
			return
		}
		fail(w, &Fault{404, "not_found", "nothing is here", ""})
	})
}

func public(doc func() []byte) bunrouter.HandlerFunc {
	return func(w http.ResponseWriter, r bunrouter.Request) error {
		b := doc()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "public, max-age=30")
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		if r.Method != http.MethodHead {
			w.Write(b)
		}
		return nil
	}
}

func plain(h http.HandlerFunc) bunrouter.HandlerFunc {
	return func(w http.ResponseWriter, r bunrouter.Request) error { h(w, r.Request); return nil }
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "24000"
	}
	base = "http://127.0.0.1:" + port
	ext := []string{"EXTERNAL_API_CLIENT"}
	prod = newServer(base+"/as", "halle",
		&Client{"halle-kunde-20b7", "Zr4/w+T9%mQ=1&eU:b~6Xj", "svc-8810", "DE-HAL-01", audience, ext},
		&Client{"halle-gast-77e1", "nB8%2Bk+D3=/s&Lq:0~Vy5H", "svc-8811", "DE-HAL-02", audience, []string{"VIEWER"}},
		&Client{"halle-archiv-c05d", "a6G&h+P2=%tW/R9:zN~4Kf", "svc-8812", "DE-HAL-01", "halle-archive", ext},
		&Client{"halle-zweit-4f96", "Sx1=v+J7&cM%3/d:E0~pT5", "svc-8813", "DE-HAL-03", audience, ext})
	stage = newServer(base+"/staging", "halle-staging", &Client{"halle-test-e3a8", "Qh9%y+U2/=fB&6:kZ~1wC3", "svc-t001", "DE-HAL-00", audience, ext})

	router := bunrouter.New(bunrouter.Use(errorsAsJSON), bunrouter.WithNotFoundHandler(func(w http.ResponseWriter, r bunrouter.Request) error {
		fail(w, &Fault{404, "not_found", "nothing is here", ""})
		return nil
	}))
	both := func(g *bunrouter.Group, path string, h bunrouter.HandlerFunc) { g.GET(path, h); g.HEAD(path, h) }
	router.POST("/as/oauth/token", plain(prod.token))
	router.POST("/as/oauth/revoke", plain(prod.revoke))
	router.POST("/as/oauth/introspect", plain(prod.introspect))
	router.POST("/staging/oauth/token", plain(stage.token))
	top := router.NewGroup("")
	both(top, "/halle/info/v1/oauth/info/", info(prod, "production"))
	both(top, "/staging/halle/info/v1/oauth/info/", info(stage, "staging"))
	both(top, api+"/api-docs", public(func() []byte { return specJSON }))
	both(top, "/registry.json", public(func() []byte {
		return encode(map[string]any{"member": []any{map[string]string{"id": "halle", "acronym": "IH", "name": "Institut Halle", "oauth2": base + "/as/oauth/token", "info": base + "/halle/info/v1/oauth/info/"}}})
	}))
	both(top, "/.well-known/oauth-authorization-server/as", public(func() []byte {
		ways := []string{"client_secret_basic", "client_secret_post"}
		return encode(map[string]any{"issuer": base + "/as", "token_endpoint": base + "/as/oauth/token", "revocation_endpoint": base + "/as/oauth/revoke", "introspection_endpoint": base + "/as/oauth/introspect",
			"response_types_supported": []string{}, "grant_types_supported": []string{"client_credentials"}, "scopes_supported": []string{"funding"},
			"token_endpoint_auth_methods_supported": ways, "revocation_endpoint_auth_methods_supported": ways, "introspection_endpoint_auth_methods_supported": ways})
	}))
	guarded := router.NewGroup(api, bunrouter.Use(authenticated), bunrouter.Use(withRole))
	both(guarded, "/fundings", list)
	guarded.GET("/fundings/:key", one)
	both(guarded, "/organisations", orgs)
	guarded.GET("/organisations/:key", org)
	probe := guarded
	if is("helme") {
		probe = router.NewGroup(api)
	}
	probe.HEAD("/fundings/:key", one)
	probe.HEAD("/organisations/:key", org)
	server := &http.Server{Addr: "127.0.0.1:" + port, Handler: front(router), ReadHeaderTimeout: 10 * time.Second, DisableGeneralOptionsHandler: true}
	if err := server.ListenAndServe(); err != nil {
		os.Exit(1)
	}
}
