// A node in Go, net/http only: opaque tokens in the store of its authorization server, keyset paging by Link headers,
// titles in the language that the client asks for, calls as JSON or CSV, errors as application/problem+json.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	node = os.Getenv("NODE")
	port = os.Getenv("PORT")
	base = "http://127.0.0.1:" + port
)

func is(name string) bool { return node == name }

const (
	api       = "/boreal/funding/v3"
	infoPath  = "/boreal/info/v1/oauth/info/"
	tokenPath = "/sso/realms/boreal/protocol/openid-connect/token"
	role      = "EXTERNAL_API_CLIENT"
	lifetime  = 600 * time.Second
)

type middleware func(http.Handler) http.Handler

// chain wraps h so that the first middleware runs first.
func chain(h http.Handler, with ...middleware) http.Handler {
	for _, m := range slices.Backward(with) {
		h = m(h)
	}
	return h
}

// ---- authorization server -----------------------------------------------------------------------------------------

type client struct {
	Secret, Audience, Affiliation string
	Roles                         []string
}

type grant struct {
	ClientID string
	Client   client
	Scopes   []string
	Expires  time.Time
	seen     time.Time
}

type authServer struct {
	realm   string
	clients map[string]client
	mu      sync.Mutex
	grants  map[string]*grant
}

const funding = "urn:boreal:funding"

func newAuthServer(realm string, clients map[string]client) *authServer {
	return &authServer{realm: realm, clients: clients, grants: map[string]*grant{}}
}

var scopes = []string{"info", "fundings"}

var home = newAuthServer("boreal", map[string]client{
	// 80 characters: the secrets of this node come from a password manager
	"boreal-main":   {"q3:N%7+vT/9f=Kd2.WmXr-85hJz_LpYc~a1GsEt6UbQoR4iV0nHyDwZ3xFjBkMe7CgAuS2P8lTq5wOz9", funding, "BOR-AFF-1", []string{role}},
	"boreal:second": {"u8_Second.Rk4~mW2-tZ6", funding, "BOR-AFF-2", []string{role}},
	"boreal-norole": {"e5_NoRole.Yc9~gB1-pL7", funding, "BOR-AFF-3", nil},
	"boreal-other":  {"o2_Other.Hv3~kD8-sX4", "urn:boreal:projects", "BOR-AFF-1", []string{role}},
})

var staging = newAuthServer("boreal-staging", map[string]client{"boreal-staging": {"s9_Staging.Fn6~jQ0-wA3", funding, "BOR-AFF-1", []string{role}}})

type oauthError struct {
	status            int
	Code, Description string
}

func (e *oauthError) Error() string { return e.Code + ": " + e.Description }

func (s *authServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	answer, err := s.token(w, r)
	status := http.StatusOK
	if err != nil {
		status = err.status
		answer = map[string]any{"error": err.Code, "error_description": err.Description}
		if status == http.StatusUnauthorized && !(is("g-challenge-known-clients-only") && err.Description == "unknown client") {
			w.Header().Set("WWW-Authenticate", `Basic realm="`+s.realm+`"`)
		}
	}
	writeJSON(w, status, "application/json", answer)
}

// credentials reads the client's id and secret from the Authorization header (RFC 6749 2.3.1) or from the form.
func credentials(r *http.Request) (id, secret string, err *oauthError) {
	invalid := func(why string) *oauthError { return &oauthError{401, "invalid_client", why} }
	form := r.PostForm
	if r.Header.Get("Authorization") == "" {
		if form.Get("client_id") == "" || form.Get("client_secret") == "" {
			return "", "", invalid("no client authentication")
		}
		return form.Get("client_id"), form.Get("client_secret"), nil
	}
	id, secret, ok := r.BasicAuth()
	if !ok {
		return "", "", invalid("no Basic credentials in the Authorization header")
	}
	if !is("g-basic-not-decoded") {
		var err1, err2 error
		id, err1 = url.QueryUnescape(id)
		secret, err2 = url.QueryUnescape(secret)
		if err1 != nil || err2 != nil {
			return "", "", invalid("the credentials are not form-urlencoded")
		}
	}
	if form.Get("client_secret") != "" || form.Get("client_id") != "" && form.Get("client_id") != id {
		return "", "", &oauthError{400, "invalid_request", "more than one client authentication"}
	}
	return id, secret, nil
}

func sameSecret(given, want string) bool {
	if is("g-bcrypt-72") { // what bcrypt reads of a password
		given, want = given[:min(len(given), 72)], want[:min(len(want), 72)]
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

func (s *authServer) token(w http.ResponseWriter, r *http.Request) (map[string]any, *oauthError) {
	invalid := func(why string) *oauthError { return &oauthError{400, "invalid_request", why} }
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/x-www-form-urlencoded" {
		return nil, invalid("send application/x-www-form-urlencoded")
	}
	r.Body = http.MaxBytesReader(w, r.Body, 1<<14)
	if err := r.ParseForm(); err != nil {
		return nil, invalid("the body cannot be read")
	}
	for name, values := range r.PostForm {
		if len(values) > 1 {
			return nil, invalid("repeated parameter: " + strconv.QuoteToASCII(name)[1:len(strconv.QuoteToASCII(name))-1])
		}
	}
	id, secret, oerr := credentials(r)
	if oerr != nil {
		return nil, oerr
	}
	c, known := s.clients[id]
	if !known && is("g-challenge-known-clients-only") {
		return nil, &oauthError{401, "invalid_client", "unknown client"}
	}
	if !sameSecret(secret, c.Secret) || !known {
		return nil, &oauthError{401, "invalid_client", "unknown client or wrong secret"}
	}
	switch r.PostForm.Get("grant_type") {
	case "client_credentials":
	case "":
		return nil, invalid("grant_type is missing")
	default:
		return nil, &oauthError{400, "unsupported_grant_type", "client_credentials only"}
	}
	granted := scopes
	if asked := r.PostForm.Get("scope"); asked != "" {
		granted = strings.Split(asked, " ")
		for _, scope := range granted {
			if !slices.Contains(scopes, scope) {
				return nil, &oauthError{400, "invalid_scope", "info and fundings only"}
			}
		}
	}
	raw := make([]byte, 30)
	rand.Read(raw)
	token := "bor_" + base64.RawURLEncoding.EncodeToString(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants[token] = &grant{ClientID: id, Client: c, Scopes: granted, Expires: time.Now().Add(lifetime)}
	return map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(lifetime.Seconds()), "scope": strings.Join(granted, " ")}, nil
}

// introspect returns what an active token stands for, or nil.
func (s *authServer) introspect(token string) *grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.grants[token]
	if g == nil || time.Now().After(g.Expires) {
		return nil
	}
	if is("g-forgets-after-8s") { // the janitor of the store counts from the first use
		if g.seen.IsZero() {
			g.seen = time.Now()
		} else if time.Since(g.seen) > 8*time.Second {
			return nil
		}
	}
	return g
}

// ---- middleware ---------------------------------------------------------------------------------------------------

type grantKey struct{}

var bearerForm = regexp.MustCompile(`^(?i:Bearer) +([A-Za-z0-9\-._~+/]+=*)$`)

func authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := r.Header.Get("Authorization")
		if scheme, _, _ := strings.Cut(header, " "); !strings.EqualFold(scheme, "Bearer") {
			challenge(w, 401, "", "an access token is needed")
			return
		}
		m := bearerForm.FindStringSubmatch(header)
		if m == nil || len(r.Header.Values("Authorization")) > 1 {
			challenge(w, 401, `error="invalid_token"`, "not a bearer token")
			return
		}
		g := home.introspect(m[1])
		if g == nil || g.Client.Audience != funding {
			challenge(w, 401, `error="invalid_token", error_description="unknown, expired or meant for another service"`, "the token is not good here")
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), grantKey{}, g)))
	})
}

func granted(scope string, needRole bool) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			g := r.Context().Value(grantKey{}).(*grant)
			switch {
			case !slices.Contains(g.Scopes, scope):
				challenge(w, 403, `error="insufficient_scope", scope="`+scope+`"`, "the token lacks the scope "+scope)
			case needRole && !slices.Contains(g.Client.Roles, role):
				challenge(w, 403, `error="insufficient_scope", error_description="the role `+role+` is needed"`, "the service account lacks the role "+role)
			default:
				next.ServeHTTP(w, r)
			}
		})
	}
}

func recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if err := recover(); err != nil {
				log.Printf("recovered: %v", err)
				if !is("g-recover-writes-nothing") {
					problem(w, 500, "an internal error")
				}
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// csvFirst answers those who prefer text/csv.
func csvFirst(export http.Handler) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if wantsCSV(r.Header.Get("Accept")) {
				export.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// wantsCSV says whether text/csv is named and JSON is not.
func wantsCSV(accept string) bool {
	accept = strings.ToLower(accept)
	return strings.Contains(accept, "text/csv") && !strings.Contains(accept, "json") && !strings.Contains(accept, "*/*") && !strings.Contains(accept, "text/csv;q=0,") && !strings.HasSuffix(accept, "text/csv;q=0")
}

func mustExist(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if find(r.PathValue("id")) == nil {
			problem(w, 404, "there is no such funding")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ---- answers ------------------------------------------------------------------------------------------------------

func writeJSON(w http.ResponseWriter, status int, mediaType string, v any) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	enc.Encode(v)
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	w.Write(body.Bytes())
}

func problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, status, "application/problem+json", map[string]any{"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail})
}

func challenge(w http.ResponseWriter, status int, params, detail string) {
	w.Header().Set("WWW-Authenticate", strings.TrimSuffix(`Bearer realm="boreal", `+params, ", "))
	problem(w, status, detail)
}

// serve answers 200 with a body that may be revalidated; key is what the validator is made of, besides the body.
func serve(w http.ResponseWriter, r *http.Request, mediaType string, body []byte, key ...string) {
	h := w.Header()
	material := string(body)
	if is("g-etag-without-language") && len(key) > 0 {
		material = key[0]
	}
	sum := sha256.Sum256([]byte(material))
	etag := `"` + hex.EncodeToString(sum[:12]) + `"`
	if is("rg-chunked-weak-gzip") {
		etag = "W/" + etag
		h.Add("Vary", "accept-encoding")
	}
	h.Set("ETag", etag)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	for _, known := range strings.Split(r.Header.Get("If-None-Match"), ",") {
		known = strings.TrimSpace(known)
		if known == "*" || strings.TrimPrefix(known, "W/") == strings.TrimPrefix(etag, "W/") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Content-Type", mediaType)
	if is("rg-chunked-weak-gzip") {
		h.Set("Content-Type", strings.Replace(mediaType, "application/json", `Application/JSON ; charset="UTF-8"`, 1))
		var out io.Writer = w
		if accepted := r.Header.Get("Accept-Encoding"); strings.Contains(accepted, "gzip") && !strings.Contains(accepted, "gzip;q=0") {
			h.Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			defer zip.Close()
			out = zip
		}
		if r.Method == http.MethodHead {
			return
		}
		for part := range slices.Chunk(body, 700) {
			out.Write(part)
			w.(http.Flusher).Flush()
		}
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

func marshal(v any) []byte {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if is("rg-chunked-weak-gzip") {
		enc.SetIndent("", "\t")
		enc.SetEscapeHTML(true)
	}
	enc.Encode(v)
	return body.Bytes()
}

func main() {
	log.SetFlags(0)
	mux := http.NewServeMux()
	get := func(path string, h http.Handler) {
		mux.Handle("GET "+path, h)
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", "GET, HEAD, OPTIONS")
			if r.Method == http.MethodOptions {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			problem(w, http.StatusMethodNotAllowed, "the API is read-only")
		})
	}
	reader := []middleware{authenticated, granted("fundings", true)}

	list, detail, export := http.HandlerFunc(listFundings), http.HandlerFunc(getFunding), http.HandlerFunc(exportFundings)
	if is("g-csv-before-role") {
		get(api+"/fundings", chain(list, authenticated, csvFirst(export), granted("fundings", true)))
	} else {
		get(api+"/fundings", chain(list, append(reader, csvFirst(export))...))
	}
	if is("g-lookup-before-token") {
		get(api+"/fundings/{id}", chain(detail, append([]middleware{mustExist}, reader...)...))
	} else {
		get(api+"/fundings/{id}", chain(detail, append(reader, mustExist)...))
	}
	get(infoPath+"{$}", chain(http.HandlerFunc(info), authenticated, granted("info", false)))
	get(api+"/api-docs", http.HandlerFunc(document))
	if is("rg-public-operation") {
		get(api+"/statistics", http.HandlerFunc(statistics))
	}
	get("/members.json", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, 200, "application/json", map[string]any{"member": []any{map[string]any{"id": "BOREAL", "acronym": "BOR", "name": "Nordisches Forschungsamt", "contact": "ris@boreal.example", "oauth2": base + tokenPath, "info": base + infoPath}}})
	}))
	for path, s := range map[string]*authServer{tokenPath: home, "/staging/oauth/token": staging} {
		mux.Handle("POST "+path, s)
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", "POST")
			writeJSON(w, http.StatusMethodNotAllowed, "application/json", map[string]any{"error": "invalid_request", "error_description": "use POST"})
		})
	}
	mux.Handle("/", chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { problem(w, 404, "no such resource") })))
	server := http.Server{Addr: "127.0.0.1:" + port, Handler: chain(mux, recovered), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// ---- fundings -----------------------------------------------------------------------------------------------------

type money struct {
	Currency string `json:"currency"`
	Amount   int64  `json:"amount"`
}

type fund struct {
	ID         string            `json:"id"`
	Type       string            `json:"type"`
	Title      string            `json:"title"`
	Titles     map[string]string `json:"-"`
	Regions    []string          `json:"regions"`
	OpensOn    string            `json:"opensOn"`
	ClosesOn   string            `json:"closesOn"`
	Volume     money             `json:"volume"`
	PartOf     string            `json:"partOf,omitempty"`
	LastChange time.Time         `json:"lastChange"`
}

var (
	types   = []string{"CALL", "PROGRAMME", "AWARD"}
	regions = []string{"NORTH", "EAST", "SOUTH", "WEST", "CAPITAL"}
	words   = [][2]string{{"Wälder im Frost", "Forests in Frost"}, {"Licht, Ton & Bühne", "Light, Sound & Stage"}, {"Gesunde Städte", "Healthy Cities"}, {"Meere <offen>", "Seas <open>"}, {"Rechnen ohne Strom", "Computing without Power"}, {"Fähren", "Ferries"}}
	funds   = generate(60)
	started = time.Now()
)

func generate(n int) []*fund {
	var all []*fund
	day := time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC)
	for i := range n {
		f := &fund{ID: fmt.Sprintf("BF-%04d", 37+i*13), Type: types[(i*i/3)%3], OpensOn: day.AddDate(0, 0, i*5%140).Format(time.DateOnly), Volume: money{"EUR", int64(40000 + i*i*i%911*5000)}, LastChange: day.Add(time.Duration(i*i) * time.Hour)}
		f.ClosesOn = day.AddDate(0, 0, 150+(i*11%17)*14).Format(time.DateOnly) // several calls close on the same day
		w := words[i*7%len(words)]
		f.Titles = map[string]string{"de": fmt.Sprintf("%s, Runde %d", w[0], 1+i%4), "en": fmt.Sprintf("%s, round %d", w[1], 1+i%4)}
		for k, region := range regions {
			if (i+k*k)%4 != 1 {
				f.Regions = append(f.Regions, region)
			}
		}
		if i > 0 && i%5 == 0 {
			f.PartOf = all[i/2].ID
		}
		if is("rg-big-unicode-ids") {
			f.ID = fmt.Sprintf("Förder/%d é+%d", 9007199254740993+int64(i)*1000003, i)
			f.Volume.Amount = 9007199254740993 + int64(i)
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *fund) int { return strings.Compare(sortKey(a), sortKey(b)) })
	return all
}

func sortKey(f *fund) string { return f.ClosesOn + "|" + f.ID }

// current is what the node holds now.
func current() []*fund {
	if !is("rg-growing-list") {
		return funds
	}
	all := slices.Clone(funds)
	for i := range int(time.Since(started) / (10 * time.Second)) { // an editor publishes a call every ten seconds
		all = append(all, &fund{ID: fmt.Sprintf("BF-%04d", 2000+i), Type: "CALL", Titles: map[string]string{"de": fmt.Sprintf("Neu %d", i), "en": fmt.Sprintf("New %d", i)}, Regions: []string{"NORTH"}, OpensOn: "2026-11-01", ClosesOn: "2027-12-31", Volume: money{"EUR", 1000}, LastChange: started.Add(time.Duration(i) * 10 * time.Second).UTC().Truncate(time.Second)})
	}
	return all
}

func find(id string) *fund {
	all := current()
	if i := slices.IndexFunc(all, func(f *fund) bool { return f.ID == id }); i >= 0 {
		return all[i]
	}
	return nil
}

// in returns f with the title in the language.
func (f fund) in(lang string) fund {
	f.Title = f.Titles[lang]
	return f
}

// language picks de or en by Accept-Language; German is the default.
func language(w http.ResponseWriter, r *http.Request) string {
	best, bestQ := "de", 0.0
	for _, item := range strings.Split(strings.Join(r.Header.Values("Accept-Language"), ","), ",") {
		tag, params, _ := strings.Cut(item, ";")
		tag, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
		q := 1.0
		if v, ok := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q="); ok {
			q, _ = strconv.ParseFloat(v, 64)
		}
		if (tag == "de" || tag == "en") && q > bestQ {
			best, bestQ = tag, q
		}
	}
	w.Header().Set("Content-Language", best)
	w.Header().Set("Vary", "Authorization, Accept, Accept-Language")
	return best
}

type badParameter struct{ name, why string }

type query struct {
	typ, region, openOn, after string
	limit                      int
}

func parseQuery(values url.Values) (q query, bad *badParameter) {
	known := []string{"type", "region", "openOn", "limit", "after"}
	for name, v := range values {
		if !slices.Contains(known, name) {
			if is("rg-strict-parameters") {
				return q, &badParameter{strconv.QuoteToASCII(name), "is not a parameter of this operation"}
			}
			continue
		}
		if len(v) > 1 {
			return q, &badParameter{name, "is given more than once"}
		}
	}
	q = query{typ: values.Get("type"), region: values.Get("region"), openOn: values.Get("openOn"), limit: 15}
	if values.Has("type") && !slices.Contains(types, q.typ) {
		return q, &badParameter{"type", "must be one of " + strings.Join(types, ", ")}
	}
	if values.Has("region") && !slices.Contains(regions, q.region) {
		return q, &badParameter{"region", "must be one of " + strings.Join(regions, ", ")}
	}
	if values.Has("openOn") {
		if _, err := time.Parse(time.DateOnly, q.openOn); err != nil {
			if is("g-recover-writes-nothing") {
				panic(err)
			}
			return q, &badParameter{"openOn", "must be a date such as 2026-04-30"}
		}
	}
	if values.Has("limit") {
		n, err := strconv.Atoi(values.Get("limit"))
		if err != nil || n < 1 || n > 100 || strconv.Itoa(n) != values.Get("limit") {
			return q, &badParameter{"limit", "must be a whole number from 1 to 100"}
		}
		q.limit = n
	}
	if values.Has("after") {
		raw, err := base64.RawURLEncoding.DecodeString(values.Get("after"))
		day, _, ok := strings.Cut(string(raw), "|")
		if err != nil || !ok || len(day) != 10 {
			if is("g-recover-writes-nothing") {
				panic("cursor")
			}
			return q, &badParameter{"after", "is not a cursor of this list; follow the link with rel next"}
		}
		q.after = string(raw)
	}
	return q, nil
}

func (q query) matches(f *fund) bool {
	return (q.typ == "" || f.Type == q.typ) && (q.region == "" || slices.Contains(f.Regions, q.region)) && (q.openOn == "" || f.OpensOn <= q.openOn && q.openOn <= f.ClosesOn)
}

// page answers the page that the request asks for, and sets Link and X-Total-Count; nil means that it has been refused.
func page(w http.ResponseWriter, r *http.Request) []*fund {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		problem(w, 400, "the query cannot be read")
		return nil
	}
	q, bad := parseQuery(values)
	if bad != nil {
		problem(w, 400, bad.name+" "+bad.why)
		return nil
	}
	found, total := []*fund{}, 0
	more := false
	for _, f := range current() {
		if !q.matches(f) {
			continue
		}
		total++
		past := sortKey(f) > q.after
		if is("g-keyset-loses-ties") && q.after != "" {
			past = f.ClosesOn > q.after[:10]
		}
		if past && len(found) < q.limit {
			found = append(found, f)
		} else if past {
			more = true
		}
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(total))
	if more {
		next := url.Values{"limit": {strconv.Itoa(q.limit)}, "after": {base64.RawURLEncoding.EncodeToString([]byte(sortKey(found[len(found)-1])))}}
		for name, value := range map[string]string{"type": q.typ, "region": q.region, "openOn": q.openOn} {
			if value != "" && !(is("g-next-forgets-openon") && name == "openOn") {
				next.Set(name, value)
			}
		}
		w.Header().Set("Link", "<"+api+"/fundings?"+next.Encode()+`>; rel="next"`)
	}
	return found
}

func listFundings(w http.ResponseWriter, r *http.Request) {
	found := page(w, r)
	if found == nil {
		return
	}
	lang := language(w, r)
	items, ids := []fund{}, "list"
	for _, f := range found {
		items = append(items, f.in(lang))
		ids += f.ID + f.LastChange.String()
	}
	serve(w, r, "application/json", marshal(items), ids)
}

func exportFundings(w http.ResponseWriter, r *http.Request) {
	found := page(w, r)
	if found == nil {
		return
	}
	lang := language(w, r)
	var body bytes.Buffer
	out := csv.NewWriter(&body)
	out.UseCRLF = true
	out.Write([]string{"id", "type", "title", "closesOn"})
	for _, f := range found {
		out.Write([]string{f.ID, f.Type, f.Titles[lang], f.ClosesOn})
	}
	out.Flush()
	serve(w, r, "text/csv; charset=utf-8; header=present", body.Bytes())
}

func getFunding(w http.ResponseWriter, r *http.Request) {
	f := find(r.PathValue("id"))
	serve(w, r, "application/json", marshal(f.in(language(w, r))), f.ID+f.LastChange.String())
}

func info(w http.ResponseWriter, r *http.Request) {
	g := r.Context().Value(grantKey{}).(*grant)
	w.Header().Set("Vary", "Authorization")
	entry := func(name, path string) any {
		return map[string]any{"name": name, "majorVersion": 3, "minorVersion": 1, "url": base + api + path}
	}
	serve(w, r, "application/json", marshal(map[string]any{"endpoints": map[string]any{"funding": []any{entry("FUNDINGS", "/fundings"), entry("FUNDING", "/fundings/{id}")}}, "clientId": g.ClientID, "affiliationId": g.Client.Affiliation}))
}

func statistics(w http.ResponseWriter, r *http.Request) {
	count := map[string]int{}
	for _, f := range current() {
		count[f.Type]++
	}
	writeJSON(w, 200, "application/json", map[string]any{"fundings": len(current()), "byType": count})
}

// ---- the document -------------------------------------------------------------------------------------------------

type obj = map[string]any

func document(w http.ResponseWriter, r *http.Request) {
	text := func(s string) obj { return obj{"type": "string", "description": s} }
	enum := func(values []string) obj { return obj{"type": "string", "enum": values} }
	schemaRef := func(name string) obj { return obj{"$ref": "#/components/schemas/" + name} }
	header := func(description, typ string, required bool) obj {
		return obj{"description": description, "required": required, "schema": obj{"type": typ}}
	}
	ref := func(kind, name string) obj { return obj{"$ref": "#/components/" + kind + "/" + name} }
	answers := func(more obj) obj {
		more["401"], more["403"], more["405"] = ref("responses", "NoToken"), ref("responses", "NotAllowed"), ref("responses", "ReadOnly")
		return more
	}
	prob := func(description string, headers obj) obj {
		return obj{"description": description, "headers": headers, "content": obj{"application/problem+json": obj{"schema": schemaRef("Problem")}}}
	}
	param := func(name, description string, schema obj) obj {
		return obj{"name": name, "in": "query", "description": description, "schema": schema}
	}
	lang := obj{"name": "Accept-Language", "in": "header", "description": "The language of the titles, de or en; de when absent.", "schema": obj{"type": "string", "example": "en"}}
	security := func(scope string) []any { return []any{obj{"boreal": []string{scope}}} }
	unknown := "An unknown parameter is ignored."
	if is("rg-strict-parameters") {
		unknown = "An unknown parameter is answered 400."
	}
	paths := obj{
		"/funding/v3/fundings": obj{"get": obj{
			"operationId": "fundings", "security": security("fundings"),
			"description": "Fundings in the order of closesOn, then id. Filters hold together. A value that is not valid, or a parameter given twice, is answered 400. " + unknown + " The next page is the link with rel next; the last page has none.",
			"parameters":  []any{param("type", "Fundings of this type.", schemaRef("Type")), param("region", "Fundings that name this region.", schemaRef("Region")), param("openOn", "Fundings that are open on this day: opensOn and closesOn are inclusive.", obj{"type": "string", "format": "date", "example": "2026-06-01"}), param("limit", "The largest number of fundings in an answer.", obj{"type": "integer", "minimum": 1, "maximum": 100, "default": 15}), param("after", "A cursor, from the link with rel next.", obj{"type": "string"}), lang},
			"responses": answers(obj{"200": obj{"description": "A page of fundings.", "headers": obj{"Link": header("The next page, rel next.", "string", false), "X-Total-Count": header("The number of fundings that match, on all pages.", "integer", true), "Content-Language": header("de or en", "string", true)},
				"content": obj{"application/json": obj{"schema": obj{"type": "array", "items": schemaRef("Funding")}}, "text/csv": obj{"schema": text("One line for each funding, with the columns id, type, title, closesOn.")}}}, "400": ref("responses", "BadParameter")}),
		}},
		"/funding/v3/fundings/{id}": obj{"get": obj{
			"operationId": "funding", "security": security("fundings"),
			"parameters": []any{obj{"name": "id", "in": "path", "required": true, "schema": obj{"type": "string"}}, lang},
			"responses":  answers(obj{"200": obj{"description": "The funding, as in the list.", "headers": obj{"Content-Language": header("de or en", "string", true)}, "content": obj{"application/json": obj{"schema": schemaRef("Funding")}}}, "404": ref("responses", "NotFound")}),
		}},
		"/info/v1/oauth/info/": obj{"get": obj{"operationId": "info", "security": security("info"), "responses": answers(obj{"200": obj{"description": "Where the API is, and who asks.", "content": obj{"application/json": obj{"schema": schemaRef("Info")}}}})}},
	}
	if is("rg-public-operation") {
		count := obj{"type": "integer", "minimum": 0}
		paths["/funding/v3/statistics"] = obj{"get": obj{"operationId": "statistics", "security": []any{}, "description": "Public: no token is needed.", "responses": obj{"200": obj{"description": "How many fundings there are.", "content": obj{"application/json": obj{"schema": obj{"type": "object", "required": []string{"fundings", "byType"}, "properties": obj{"fundings": count, "byType": obj{"type": "object", "additionalProperties": count}}}}}}, "405": ref("responses", "ReadOnly")}}}
	}
	doc := obj{
		"openapi": "3.1.0", "info": obj{"title": "Boreal fundings", "version": "3.1.7"}, "servers": []any{obj{"url": base + "/boreal"}}, "paths": paths,
		"components": obj{
			"securitySchemes": obj{"boreal": obj{"type": "oauth2", "flows": obj{"clientCredentials": obj{"tokenUrl": base + tokenPath, "scopes": obj{"info": "read the info", "fundings": "read fundings; the service account needs the role " + role}}}}},
			"responses": obj{
				"NoToken": prob("No token, or one that is not good.", obj{"WWW-Authenticate": header("The challenge.", "string", true)}), "NotAllowed": prob("The scope or the role is missing.", obj{"WWW-Authenticate": header("The challenge.", "string", true)}),
				"ReadOnly": prob("Another method.", obj{"Allow": header("The methods.", "string", true)}), "BadParameter": prob("A parameter is not valid.", obj{}), "NotFound": prob("There is no such funding.", obj{}),
			},
			"schemas": obj{
				"Type": enum(types), "Region": enum(regions),
				"Funding": obj{"type": "object", "unevaluatedProperties": false, "required": []string{"id", "type", "title", "regions", "opensOn", "closesOn", "volume", "lastChange"}, "properties": obj{
					"id": obj{"type": "string", "minLength": 1}, "type": schemaRef("Type"), "title": text("In the language of Content-Language."), "regions": obj{"type": "array", "items": schemaRef("Region"), "uniqueItems": true}, "opensOn": obj{"type": "string", "format": "date"}, "closesOn": obj{"type": "string", "format": "date"},
					"volume": obj{"type": "object", "required": []string{"currency", "amount"}, "properties": obj{"currency": obj{"const": "EUR"}, "amount": obj{"type": "integer", "minimum": 0}}}, "partOf": text("Id of the funding that this one belongs to."), "lastChange": obj{"type": "string", "format": "date-time"}}},
				"Info":    obj{"type": "object", "required": []string{"endpoints"}, "properties": obj{"endpoints": obj{"type": "object", "additionalProperties": obj{"type": "array", "items": obj{"type": "object", "required": []string{"name", "majorVersion", "minorVersion", "url"}}}}, "clientId": text("The client."), "affiliationId": text("Its affiliation.")}},
				"Problem": obj{"type": "object", "required": []string{"title", "status"}, "properties": obj{"type": obj{"type": "string"}, "title": obj{"type": "string"}, "status": obj{"type": "integer"}, "detail": obj{"type": "string"}}},
			},
		},
	}
	w.Header().Set("Cache-Control", "public, max-age=60")
	writeJSON(w, 200, "application/json", doc)
}
