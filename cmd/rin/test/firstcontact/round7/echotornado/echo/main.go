// A node of the research-information network: registry, authorization server,
// info endpoint and funding API in one process. The environment variable NODE
// chooses a variant; "echo-base" is the plain node.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
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

	"github.com/labstack/echo/v4"
)

//go:embed clients.json
var clientsFile []byte

//go:embed data.json
var dataFile []byte

//go:embed data-other.json
var otherDataFile []byte

//go:embed openapi.json
var openapiFile string

type client struct {
	ID             string   `json:"id"`
	Secret         string   `json:"secret"`
	ServiceAccount string   `json:"serviceAccountUserId"`
	Affiliation    string   `json:"affiliationId"`
	Roles          []string `json:"roles"`
	Audience       string   `json:"audience"`
	Environment    string   `json:"environment"`
}

type text struct {
	Lang string `json:"lang"`
	Text string `json:"text"`
}

type call struct {
	ID        string    `json:"id"`
	Revision  int       `json:"revision"`
	Type      string    `json:"type"`
	Title     []text    `json:"title"`
	FunderID  string    `json:"funderId"`
	Published string    `json:"published"`
	Deadline  time.Time `json:"deadline"`
	Amount    int       `json:"amount"`
	Currency  string    `json:"currency"`
	Website   string    `json:"website"`
}

type funder struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Country string `json:"country"`
}

type issued struct {
	client  client
	expires time.Time
}

const (
	lifetime    = 600 * time.Second
	tokenPath   = "/auth/realms/network/protocol/openid-connect/token"
	infoPath    = "/ris/info/v1/oauth/info/"
	stageToken  = "/staging/auth/oauth/token"
	stageInfo   = "/staging/ris/info/v1/oauth/info/"
	specPath    = "/ris/funding/v3/api-docs"
	role        = "EXTERNAL_API_CLIENT"
	maxFailures = 10
)

var (
	variant = os.Getenv("NODE")
	root    string
	clients = map[string]client{}
	data    struct {
		Funders []funder `json:"funders"`
		Calls   []call   `json:"calls"`
	}
	byID = map[string]call{}

	mu       sync.Mutex
	tokens   = map[string]issued{}
	failures = map[string][]time.Time{}
	answered = map[string]time.Time{} // echo-cache-before-role: when a detail was last answered
)

// ---- answers

func problem(c echo.Context, status int, detail string) error {
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	body, _ := json.Marshal(map[string]any{"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail})
	h.Set("Content-Length", strconv.Itoa(len(body)))
	return c.Blob(status, "application/problem+json", body)
}

func noStore(c echo.Context, status int, v any) error {
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	body, _ := json.Marshal(v)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	return c.Blob(status, "application/json", body)
}

// wantsGzip reads Accept-Encoding as RFC 9110, 12.5.3 describes it.
func wantsGzip(r *http.Request) bool {
	header := strings.ToLower(strings.Join(r.Header.Values("Accept-Encoding"), ","))
	if variant == "echo-gzip-q0" {
		return strings.Contains(header, "gzip")
	}
	named, star := -1.0, -1.0
	for _, part := range strings.Split(header, ",") {
		fields := strings.Split(part, ";")
		q := 1.0
		for _, p := range fields[1:] {
			if v, ok := strings.CutPrefix(strings.TrimSpace(p), "q="); ok {
				q, _ = strconv.ParseFloat(v, 64)
			}
		}
		switch strings.TrimSpace(fields[0]) {
		case "gzip", "x-gzip":
			named = q
		case "*":
			star = q
		}
	}
	if named >= 0 {
		return named > 0
	}
	return star > 0
}

func matches(header, etag string, weak bool) bool {
	if strings.TrimSpace(header) == "*" {
		return true
	}
	if weak && variant == "echo-etag-contains" {
		return strings.Contains(header, strings.Trim(etag, `"`))
	}
	for _, part := range strings.Split(header, ",") {
		part = strings.TrimSpace(part)
		if weak {
			part = strings.TrimPrefix(part, "W/")
		}
		if part == etag {
			return true
		}
	}
	return false
}

// resource answers with one representation: compression, entity tag, preconditions.
func resource(c echo.Context, v any, tag string) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	if tag == "" {
		sum := sha256.Sum256(body)
		tag = hex.EncodeToString(sum[:10])
	}
	h := c.Response().Header()
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "private, no-cache")
	zip := wantsGzip(c.Request())
	if zip {
		tag += "-gz"
	}
	etag := `"` + tag + `"`
	r := c.Request()
	if v := r.Header.Values("If-Match"); len(v) > 0 && !matches(strings.Join(v, ","), etag, false) {
		return problem(c, http.StatusPreconditionFailed, "The representation is not the one of If-Match.")
	}
	h.Set("ETag", etag)
	if v := r.Header.Values("If-None-Match"); len(v) > 0 && matches(strings.Join(v, ","), etag, true) {
		return c.NoContent(http.StatusNotModified)
	}
	if zip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(body)
		w.Close()
		body = b.Bytes()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	mediaType := "application/json"
	if variant == "echo-odd-json" {
		mediaType = "Application/JSON"
	}
	return c.Blob(http.StatusOK, mediaType, body)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	body := bytes.TrimSpace(b.Bytes())
	if variant != "echo-odd-json" {
		return body, nil
	}
	// The same JSON as another library writes it: indented, escaped letters and slashes.
	var indented bytes.Buffer
	json.Indent(&indented, body, "", "\t")
	var out strings.Builder
	for _, l := range indented.String() {
		switch {
		case l == '/':
			out.WriteString(`\/`)
		case l > 126:
			fmt.Fprintf(&out, `\u%04X`, l)
		default:
			out.WriteRune(l)
		}
	}
	return []byte(" \n" + out.String() + "\n"), nil
}

// ---- authorization server

func tokenError(c echo.Context, status int, code, description string) error {
	if status == http.StatusUnauthorized {
		c.Response().Header().Set("WWW-Authenticate", `Basic realm="network", charset="UTF-8"`)
	}
	return noStore(c, status, map[string]string{"error": code, "error_description": description})
}

// locked tells whether a client has had too many wrong secrets in the last minute.
func locked(id string, failed bool) bool {
	mu.Lock()
	defer mu.Unlock()
	if len(failures) > 10000 {
		failures = map[string][]time.Time{}
	}
	var recent []time.Time
	for _, t := range failures[id] {
		if time.Since(t) < time.Minute {
			recent = append(recent, t)
		}
	}
	if failed {
		recent = append(recent, time.Now())
	}
	failures[id] = recent
	return len(recent) >= maxFailures
}

func token(environment string) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.URL.RawQuery != "" {
			return tokenError(c, 400, "invalid_request", "Parameters belong into the body.")
		}
		mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if mediaType != "application/x-www-form-urlencoded" {
			return tokenError(c, 400, "invalid_request", "The body must be application/x-www-form-urlencoded.")
		}
		r.Body = http.MaxBytesReader(c.Response(), r.Body, 1<<20)
		if err := r.ParseForm(); err != nil {
			return tokenError(c, 400, "invalid_request", "The body cannot be read.")
		}
		form := map[string]string{}
		for k, v := range r.PostForm {
			if len(v) > 1 {
				return tokenError(c, 400, "invalid_request", "A parameter is repeated.")
			}
			form[k] = v[0]
		}
		if form["grant_type"] == "" {
			return tokenError(c, 400, "invalid_request", "grant_type is missing.")
		}
		id, secret := form["client_id"], form["client_secret"]
		if auth := r.Header.Get("Authorization"); auth != "" {
			user, pass, ok := r.BasicAuth()
			if !ok {
				return tokenError(c, 401, "invalid_client", "The Authorization header cannot be read.")
			}
			user, err1 := url.QueryUnescape(user)
			pass, err2 := url.QueryUnescape(pass)
			if err1 != nil || err2 != nil {
				return tokenError(c, 401, "invalid_client", "The credentials are wrong.")
			}
			if secret != "" || (id != "" && id != user) {
				return tokenError(c, 400, "invalid_request", "Use one way of client authentication.")
			}
			id, secret = user, pass
		}
		if id == "" || secret == "" {
			return tokenError(c, 401, "invalid_client", "Client authentication is missing.")
		}
		if locked(id, false) {
			c.Response().Header().Set("Retry-After", "60")
			return tokenError(c, 429, "temporarily_unavailable", "Too many wrong secrets; try again later.")
		}
		cl, known := clients[id]
		expected := cl.Secret
		if variant == "echo-secret-cut" && len(secret) >= 32 && known {
			secret, expected = secret[:32], expected[:32]
		}
		if subtle.ConstantTimeCompare([]byte(expected), []byte(secret)) != 1 || !known || cl.Environment != environment {
			locked(id, true)
			return tokenError(c, 401, "invalid_client", "The credentials are wrong.")
		}
		mu.Lock()
		delete(failures, id)
		mu.Unlock()
		if form["grant_type"] != "client_credentials" {
			return tokenError(c, 400, "unsupported_grant_type", "Only client_credentials is offered.")
		}
		if form["scope"] != "" {
			return tokenError(c, 400, "invalid_scope", "This server has no scopes.")
		}
		raw := make([]byte, 30)
		rand.Read(raw)
		value := base64.RawURLEncoding.EncodeToString(raw)
		mu.Lock()
		for k, t := range tokens {
			if time.Now().After(t.expires) {
				delete(tokens, k)
			}
		}
		tokens[value] = issued{cl, time.Now().Add(lifetime)}
		mu.Unlock()
		if variant == "echo-keycloak-answer" {
			return noStore(c, 200, map[string]any{"access_token": value, "token_type": "bearer", "refresh_expires_in": 0,
				"not-before-policy": 0, "issued_for": cl.ID})
		}
		return noStore(c, 200, map[string]any{"access_token": value, "token_type": "Bearer", "expires_in": int(lifetime.Seconds())})
	}
}

// ---- checks of the resource server

func find(value string) (issued, bool) {
	mu.Lock()
	defer mu.Unlock()
	t, ok := tokens[value]
	if !ok && variant == "echo-token-case" {
		for k, v := range tokens { // as a database column with a case-insensitive collation does
			if strings.EqualFold(k, value) {
				t, ok = v, true
			}
		}
	}
	return t, ok && time.Now().Before(t.expires)
}

var isBearer = regexp.MustCompile(`^(?i:bearer)( |$)`)

var bearer = regexp.MustCompile(`^(?i:bearer) +([A-Za-z0-9._~+/-]+=*)$`)

// authenticate finds the client of a request, or answers and returns false.
func authenticate(c echo.Context, environment string) (client, bool, error) {
	h := c.Response().Header()
	const challenge = `Bearer realm="network"`
	values := c.Request().Header.Values("Authorization")
	switch {
	case len(values) == 0 || (len(values) == 1 && !isBearer.MatchString(values[0])):
		h.Set("WWW-Authenticate", challenge)
		return client{}, false, problem(c, 401, "An access token is needed.")
	case len(values) > 1 || c.QueryParams().Has("access_token"):
		h.Set("WWW-Authenticate", challenge+`, error="invalid_request"`)
		return client{}, false, problem(c, 400, "Send one access token, in one way.")
	}
	m := bearer.FindStringSubmatch(values[0])
	if m != nil {
		if t, ok := find(m[1]); ok && t.client.Audience == "funding" && t.client.Environment == environment {
			return t.client, true, nil
		}
	}
	h.Set("WWW-Authenticate", challenge+`, error="invalid_token"`)
	return client{}, false, problem(c, 401, "The access token is not good for this node.")
}

func hasRole(cl client) bool {
	for _, r := range cl.Roles {
		if r == role {
			return true
		}
	}
	return false
}

func forbidden(c echo.Context) error {
	c.Response().Header().Set("WWW-Authenticate", `Bearer realm="network", error="insufficient_scope"`)
	return problem(c, 403, "The client lacks the role "+role+".")
}

// guarded protects an operation of the funding API.
func guarded(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		cl, ok, err := authenticate(c, "production")
		if !ok {
			return err
		}
		if !hasRole(cl) {
			return forbidden(c)
		}
		return next(c)
	}
}

// cached is the detail of echo-cache-before-role: what somebody may read is kept for a
// minute and answered from there to every authenticated client.
func cached(c echo.Context) error {
	cl, ok, err := authenticate(c, "production")
	if !ok {
		return err
	}
	id := c.Param("id")
	mu.Lock()
	fresh := time.Since(answered[id]) < time.Minute
	mu.Unlock()
	if !fresh && !hasRole(cl) {
		return forbidden(c)
	}
	if _, known := byID[id]; known && hasRole(cl) {
		mu.Lock()
		answered[id] = time.Now()
		mu.Unlock()
	}
	return getCall(c)
}

func info(environment string) echo.HandlerFunc {
	return func(c echo.Context) error {
		cl, ok, err := authenticate(c, environment)
		if !ok {
			return err
		}
		return noStore(c, 200, map[string]any{"clientId": cl.ID, "serviceAccountUserId": cl.ServiceAccount,
			"affiliationId": cl.Affiliation, "roles": cl.Roles, "environment": environment})
	}
}

// ---- funding API

var number = regexp.MustCompile(`^[1-9][0-9]{0,3}$`)

// parameters reads the query of the list; what is wrong in it comes back as a text.
func parameters(q url.Values) (map[string]string, string) {
	p := map[string]string{"page": "1", "size": "10", "sort": "id"}
	for name, check := range map[string]func(string) bool{
		"page":         number.MatchString,
		"size":         func(v string) bool { n, _ := strconv.Atoi(v); return number.MatchString(v) && n <= 25 },
		"sort":         func(v string) bool { return v == "id" || v == "deadline" || v == "-deadline" },
		"type":         func(v string) bool { return v == "CALL" || v == "ONGOING_CALL" || v == "PROGRAMME" },
		"funderId":     func(v string) bool { return v != "" },
		"deadlineFrom": isDate,
		"deadlineTo":   isDate,
	} {
		values, given := q[name]
		if !given {
			continue
		}
		if len(values) > 1 || !check(values[0]) {
			return nil, "The parameter " + name + " is not valid."
		}
		p[name] = values[0]
	}
	return p, ""
}

func isDate(v string) bool {
	_, err := time.Parse("2006-01-02", v)
	return err == nil
}

func listCalls(c echo.Context) error {
	query, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return problem(c, 400, "The query cannot be read.")
	}
	p, wrong := parameters(query)
	if wrong != "" {
		return problem(c, 400, wrong)
	}
	found := []call{}
	for _, x := range data.Calls {
		day := x.Deadline.UTC().Format("2006-01-02")
		late := p["deadlineTo"] != "" && day > p["deadlineTo"]
		if variant == "echo-deadline-to" && p["deadlineTo"] != "" {
			to, _ := time.Parse("2006-01-02", p["deadlineTo"])
			late = x.Deadline.After(to)
		}
		if late || day < p["deadlineFrom"] || (p["type"] != "" && x.Type != p["type"]) || (p["funderId"] != "" && x.FunderID != p["funderId"]) {
			continue
		}
		found = append(found, x)
	}
	order(found, p["sort"])
	page, _ := strconv.Atoi(p["page"])
	size, _ := strconv.Atoi(p["size"])
	from := min((page-1)*size, len(found))
	to := min(from+size, len(found))
	return resource(c, struct {
		Items []call `json:"items"`
		Total int    `json:"total"`
		Page  int    `json:"page"`
		Size  int    `json:"size"`
	}{found[from:to], len(found), page, size}, "")
}

func order(calls []call, by string) {
	if variant == "echo-page-ties" && by != "id" {
		// The records come from a map, in another order each time; equal deadlines stay so.
		shuffled := map[string]call{}
		for _, x := range calls {
			shuffled[x.ID] = x
		}
		i := 0
		for _, x := range shuffled {
			calls[i] = x
			i++
		}
		sort.SliceStable(calls, func(i, j int) bool {
			if by == "deadline" {
				return calls[i].Deadline.Before(calls[j].Deadline)
			}
			return calls[j].Deadline.Before(calls[i].Deadline)
		})
		return
	}
	sort.Slice(calls, func(i, j int) bool {
		a, b := calls[i], calls[j]
		if by == "id" || a.Deadline.Equal(b.Deadline) {
			return a.ID < b.ID
		}
		return a.Deadline.Before(b.Deadline) == (by == "deadline")
	})
}

func getCall(c echo.Context) error {
	x, ok := byID[c.Param("id")]
	if !ok {
		return problem(c, 404, "There is no such call.")
	}
	return resource(c, x, "r"+strconv.Itoa(x.Revision))
}

func listFunders(c echo.Context) error {
	return resource(c, data.Funders, "")
}

// ---- start

func main() {
	port := os.Getenv("PORT")
	root = "http://127.0.0.1:" + port
	var all map[string]client
	if err := json.Unmarshal(clientsFile, &all); err != nil {
		panic(err)
	}
	for _, cl := range all {
		clients[cl.ID] = cl
	}
	source := dataFile
	if variant == "echo-other-data" {
		source = otherDataFile
	}
	if err := json.Unmarshal(source, &data); err != nil {
		panic(err)
	}
	for _, x := range data.Calls {
		byID[x.ID] = x
	}

	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		if c.Response().Committed {
			return
		}
		status := http.StatusInternalServerError
		if he, ok := err.(*echo.HTTPError); ok {
			status = he.Code
		}
		problem(c, status, http.StatusText(status)+".")
	}
	read := []string{http.MethodGet, http.MethodHead}
	e.Match(read, "/registry.json", func(c echo.Context) error {
		return c.JSON(200, map[string]any{"member": []any{map[string]string{"id": "EXA", "oauth2": root + tokenPath, "info": root + infoPath}}})
	})
	e.Match(read, specPath, func(c echo.Context) error {
		return c.Blob(200, "application/json", []byte(strings.ReplaceAll(openapiFile, "{root}", root)))
	})
	e.POST(tokenPath, token("production"))
	e.POST(stageToken, token("staging"))
	e.Match(read, infoPath, info("production"))
	e.Match(read, stageInfo, info("staging"))
	detail := guarded(getCall)
	if variant == "echo-cache-before-role" {
		detail = cached
	}
	e.Match(read, "/ris/funding/v3/calls", guarded(listCalls))
	e.Match(read, "/ris/funding/v3/calls/:id", detail)
	e.Match(read, "/ris/funding/v3/funders", guarded(listFunders))
	e.Server.ReadHeaderTimeout = 10 * time.Second
	if err := e.Start("127.0.0.1:" + port); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
