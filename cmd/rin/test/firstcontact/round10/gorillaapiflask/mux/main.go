// A node of the research-information network: funding calls of the Danube Science Fund.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gorilla/mux"
)

//go:embed schemas.json
var schemas []byte

var variant = os.Getenv("NODE")

const prefix = "/ris-synergy"

type ctxKey struct{}

type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

func writeProblem(w http.ResponseWriter, status int, detail string) {
	body, _ := json.Marshal(problem{"about:blank", http.StatusText(status), status, detail})
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

// authenticate is the bearer check (RFC 6750).
func authenticate(as *authServer) mux.MiddlewareFunc {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := r.Header.Values("Authorization")
			if len(h) == 0 {
				w.Header().Set("WWW-Authenticate", `Bearer realm="funding"`)
				writeProblem(w, 401, "An access token is needed.")
				return
			}
			scheme, token, _ := strings.Cut(h[0], " ")
			if !strings.EqualFold(scheme, "Bearer") {
				w.Header().Set("WWW-Authenticate", `Bearer realm="funding"`)
				writeProblem(w, 401, "An access token is needed.")
				return
			}
			token = strings.TrimLeft(token, " ")
			acc, err := as.verify(r.Context(), token)
			if err != nil || len(h) > 1 || token == "" {
				w.Header().Set("WWW-Authenticate", `Bearer realm="funding", error="invalid_token", error_description="The access token is expired, revoked or malformed"`)
				writeProblem(w, 401, "The access token is not valid.")
				return
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), ctxKey{}, acc)))
		})
	}
}

func requireRole(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		acc := r.Context().Value(ctxKey{}).(*Account)
		if acc.Role != fundingRole || acc.Affiliation == "" {
			w.Header().Set("WWW-Authenticate", `Bearer realm="funding", error="insufficient_scope", error_description="The service account lacks the role EXTERNAL_API_CLIENT"`)
			writeProblem(w, 403, "The service account lacks the role EXTERNAL_API_CLIENT.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// acceptable tells whether an Accept header takes application/json.
func acceptable(accept string) bool {
	if strings.TrimSpace(accept) == "" {
		return true
	}
	best, quality := 0, 0.0
	for _, part := range strings.Split(accept, ",") {
		fields := strings.Split(part, ";")
		rank := map[string]int{"*/*": 1, "application/*": 2, "application/json": 3}[strings.ToLower(strings.TrimSpace(fields[0]))]
		q := 1.0
		for _, p := range fields[1:] {
			if k, v, _ := strings.Cut(p, "="); strings.EqualFold(strings.TrimSpace(k), "q") {
				if n, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil {
					q = n
				}
			}
		}
		if rank > best || rank == best && rank > 0 && q > quality {
			best, quality = rank, q
		}
	}
	return best > 0 && quality > 0
}

func negotiate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !acceptable(strings.Join(r.Header.Values("Accept"), ",")) {
			writeProblem(w, 406, "This resource is available as application/json.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// responseCache keeps rendered answers for a short time.
type responseCache struct {
	mu      sync.Mutex
	entries map[string]cached
}

type cached struct {
	header http.Header
	body   []byte
	until  time.Time
}

type recorder struct {
	http.ResponseWriter
	status int
	buf    bytes.Buffer
}

func (c *recorder) WriteHeader(s int)           { c.status = s; c.ResponseWriter.WriteHeader(s) }
func (c *recorder) Write(b []byte) (int, error) { c.buf.Write(b); return c.ResponseWriter.Write(b) }

func (c *responseCache) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "" {
			next.ServeHTTP(w, r)
			return
		}
		key := r.Method + " " + r.URL.RequestURI() + " " + strings.Join(r.Header.Values("Accept"), ",")
		c.mu.Lock()
		e, ok := c.entries[key]
		c.mu.Unlock()
		if ok && time.Now().Before(e.until) {
			for k, v := range e.header {
				w.Header()[k] = v
			}
			w.Write(e.body)
			return
		}
		rec := &recorder{ResponseWriter: w, status: 200}
		next.ServeHTTP(rec, r)
		if rec.status == 200 {
			c.mu.Lock()
			if len(c.entries) > 500 {
				c.entries = map[string]cached{}
			}
			c.entries[key] = cached{w.Header().Clone(), rec.buf.Bytes(), time.Now().Add(8 * time.Second)}
			c.mu.Unlock()
		}
	})
}

// bucket limits requests of the variant with a rate limit.
type bucket struct {
	mu     sync.Mutex
	tokens float64
	last   time.Time
}

func (b *bucket) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		now := time.Now()
		b.tokens = min(40, b.tokens+now.Sub(b.last).Seconds()*15)
		b.last = now
		ok := b.tokens >= 1
		if ok {
			b.tokens--
		}
		b.mu.Unlock()
		if !ok {
			w.Header().Set("Retry-After", "1")
			writeProblem(w, 429, "Too many requests; try again in a second.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func etagMatches(header, etag string) bool {
	for _, t := range strings.Split(header, ",") {
		t = strings.TrimPrefix(strings.TrimSpace(t), "W/")
		if t == "*" || t == etag {
			return true
		}
	}
	return false
}

// render writes a JSON answer with its validators.
func render(w http.ResponseWriter, r *http.Request, v interface{}, modified time.Time) {
	body, err := json.Marshal(v)
	if err != nil {
		writeProblem(w, 500, "")
		return
	}
	sum := sha256.Sum256(body)
	etag := `"` + hex.EncodeToString(sum[:12]) + `"`
	h := w.Header()
	h.Set("ETag", etag)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Accept, Authorization")
	notModified := false
	if !modified.IsZero() {
		if variant == "mux-last-modified" {
			h.Set("Last-Modified", modified.UTC().Format(time.RFC1123))
		} else {
			h.Set("Last-Modified", modified.UTC().Format(http.TimeFormat))
		}
	}
	if inm := strings.Join(r.Header.Values("If-None-Match"), ","); inm != "" {
		notModified = etagMatches(inm, etag)
	} else if t, err := http.ParseTime(r.Header.Get("If-Modified-Since")); err == nil && !modified.IsZero() {
		notModified = !modified.Truncate(time.Second).After(t)
	}
	if notModified {
		w.WriteHeader(304)
		return
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

// service is the funding API. Reads go to two replicas in turn.
type service struct {
	base     string
	replicas [2][]*Funding
	turn     atomic.Uint64
}

func (s *service) rows() []*Funding { return s.replicas[s.turn.Add(1)%2] }

func has(list []string, v string) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

func (s *service) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	for name, enum := range map[string][]string{"fundingType": fundingTypes, "targetGroup": targetGroups, "region": regions, "applicantsScope": scopes,
		"runningCalls": {"true", "false"}, "sort": {"id", "-id", "deadline", "-deadline"}} {
		if q.Has(name) && (len(q[name]) > 1 || !has(enum, q.Get(name))) {
			writeProblem(w, 400, "The value of "+name+" is not allowed.")
			return
		}
	}
	page, size := 1, 20
	for name, p := range map[string]*int{"page": &page, "size": &size} {
		if !q.Has(name) {
			continue
		}
		n, err := strconv.Atoi(q.Get(name))
		if err != nil || n < 1 || strings.HasPrefix(q.Get(name), "+") || n > 10000 || name == "size" && n > 50 || len(q[name]) > 1 {
			writeProblem(w, 400, "The value of "+name+" is not allowed.")
			return
		}
		*p = n
	}
	now := time.Now()
	needle := strings.ToLower(q.Get("q"))
	var found []*Funding
	for _, f := range s.rows() {
		if q.Has("fundingType") && f.Type != q.Get("fundingType") ||
			q.Has("targetGroup") && !has(f.TargetGroups, q.Get("targetGroup")) ||
			q.Has("funderId") && f.Funder[0].Funder.ID != q.Get("funderId") ||
			q.Has("region") && (f.CallPart == nil || !has(f.EligibleRegions, q.Get("region"))) ||
			q.Has("applicantsScope") && (f.CallPart == nil || f.EligibleScope != q.Get("applicantsScope")) ||
			q.Get("runningCalls") == "true" && !f.running(now) || q.Get("runningCalls") == "false" && f.running(now) ||
			needle != "" && !strings.Contains(strings.ToLower(f.Name[0].Text), needle) {
			continue
		}
		found = append(found, f)
	}
	order := q.Get("sort")
	sort.SliceStable(found, func(i, j int) bool {
		a, b := found[i], found[j]
		switch order {
		case "-id":
			return a.ID > b.ID
		case "deadline", "-deadline":
			if !a.deadline.Equal(b.deadline) {
				if a.deadline.IsZero() || b.deadline.IsZero() {
					return b.deadline.IsZero()
				}
				return a.deadline.Before(b.deadline) == (order == "deadline")
			}
			if variant == "mux-tie-order" {
				return false
			}
		}
		return a.ID < b.ID
	})
	total := len(found)
	pages := max(1, (total+size-1)/size)
	var items []*Funding
	if variant != "mux-empty-result" {
		items = []*Funding{}
	}
	for i := (page - 1) * size; i < total && i < page*size; i++ {
		items = append(items, found[i])
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(total))
	var links []string
	link := func(rel string, n int) {
		u := url.Values{}
		for k, v := range q {
			u[k] = v
		}
		u.Set("page", strconv.Itoa(n))
		links = append(links, fmt.Sprintf(`<%s/funding/v3/fundings?%s>; rel="%s"`, prefix, u.Encode(), rel))
	}
	link("first", 1)
	if page > 1 {
		link("prev", min(page-1, pages))
	}
	if page < pages {
		link("next", page+1)
	}
	link("last", pages)
	w.Header().Set("Link", strings.Join(links, ", "))
	render(w, r, items, time.Time{})
}

func (s *service) detail(w http.ResponseWriter, r *http.Request) {
	id, err := url.PathUnescape(mux.Vars(r)["id"])
	if err == nil {
		for _, f := range s.rows() {
			if f.ID == id {
				render(w, r, f, f.updated)
				return
			}
		}
	}
	writeProblem(w, 404, "There is no funding with this id.")
}

func (s *service) info(w http.ResponseWriter, r *http.Request) {
	render(w, r, map[string]interface{}{"endpoints": map[string]interface{}{"funding": []interface{}{
		map[string]interface{}{"name": "FUNDINGS", "majorVersion": 3, "minorVersion": 0, "url": s.base + prefix + "/funding/v3/fundings"}}}}, time.Time{})
}

type m = map[string]interface{}

func document(base, tokenURL string) m {
	var comps m
	json.Unmarshal(schemas, &comps)
	ref := func(n string) m { return m{"$ref": "#/components/schemas/" + n} }
	resp := func(text string, headers ...string) m {
		hs := m{}
		for _, h := range headers {
			hs[h] = m{"required": true, "schema": m{"type": "string"}}
		}
		out := m{"description": text, "content": m{"application/problem+json": m{"schema": ref("Problem")}}}
		if len(hs) > 0 {
			out["headers"] = hs
		}
		return out
	}
	errs := m{"401": resp("The access token is missing or not valid.", "WWW-Authenticate"), "403": resp("The service account lacks the role EXTERNAL_API_CLIENT.", "WWW-Authenticate"), "406": resp("The client does not accept application/json.")}
	if variant == "mux-rate-limit" {
		errs["429"] = resp("Too many requests: at most 15 a second, and 40 at once. Wait for as long as Retry-After says.", "Retry-After")
	}
	with := func(more m) m {
		for k, v := range errs {
			more[k] = v
		}
		return more
	}
	query := func(name, text string, schema m) m {
		return m{"name": name, "in": "query", "required": false, "description": text, "schema": schema}
	}
	etag := m{"description": "Validator of this answer.", "required": true, "schema": m{"type": "string"}}
	list := m{"operationId": "listFundings", "summary": "Fundings", "tags": []string{"Fundings"},
		"description": "All calls and programmes that match every filter given. Over the pages of one query every funding occurs exactly once; the order is that of `sort`, and fundings with the same deadline are ordered by id. Pages beyond the last are empty lists.",
		"parameters": []m{
			query("fundingType", "Only fundings of this type.", ref("FundingType")),
			query("targetGroup", "Only fundings for this target group.", ref("TargetGroup")),
			query("runningCalls", "true: only calls whose first stage has begun and is not over; false: everything else.", m{"type": "boolean"}),
			query("region", "Only calls for applicants from this region.", ref("EligibleApplicantsRegion")),
			query("funderId", "Only fundings of this funder.", m{"type": "string"}),
			query("applicantsScope", "Only calls of this scope.", ref("EligibleApplicantsScope")),
			query("q", "Only fundings whose first name contains this text, whatever its case.", m{"type": "string"}),
			query("sort", "Order of the list. Fundings without a deadline come last.", m{"type": "string", "enum": []string{"id", "-id", "deadline", "-deadline"}, "default": "id"}),
			query("page", "Page, from 1.", m{"type": "integer", "minimum": 1, "maximum": 10000, "default": 1}),
			query("size", "Fundings on a page.", m{"type": "integer", "minimum": 1, "maximum": 50, "default": 20})},
		"responses": with(m{"200": m{"description": "One page of fundings.", "headers": m{
			"Link":          m{"description": "RFC 8288: first, prev, next, last. They keep the filters.", "required": true, "schema": m{"type": "string"}},
			"X-Total-Count": m{"description": "Number of all matching fundings.", "required": true, "schema": m{"type": "integer"}}, "ETag": etag},
			"content": m{"application/json": m{"schema": m{"type": "array", "items": ref("FundingEntry")}}}},
			"304": m{"description": "Not modified since the ETag in If-None-Match."}, "400": resp("A parameter has a value that is not allowed.")})}
	detail := m{"operationId": "getFunding", "summary": "One funding", "tags": []string{"Fundings"},
		"parameters": []m{{"name": "id", "in": "path", "required": true, "schema": m{"type": "string"}}},
		"responses": with(m{"200": m{"description": "The funding.", "headers": m{"ETag": etag, "Last-Modified": m{"required": true, "schema": m{"type": "string"}}},
			"content": m{"application/json": m{"schema": ref("FundingEntry")}}}, "304": m{"description": "Not modified."}, "404": resp("There is no such funding.")})}
	return m{"openapi": "3.0.3", "info": m{"title": "Danube Science Fund: Funding API", "version": "3.0.2", "description": "Annotated funding calls for external API clients. Every operation needs an access token of a service account with the role EXTERNAL_API_CLIENT. HEAD is answered wherever GET is."},
		"servers": []m{{"url": base + prefix + "/funding"}}, "tags": []m{{"name": "Fundings"}}, "security": []m{{"clientCredentials": []string{fundingScope}}},
		"paths":      m{"/v3/fundings": m{"get": list}, "/v3/fundings/{id}": m{"get": detail}},
		"components": m{"schemas": comps, "securitySchemes": m{"clientCredentials": m{"type": "oauth2", "flows": m{"clientCredentials": m{"tokenUrl": tokenURL, "scopes": m{fundingScope: "Read fundings"}}}}}}}
}

func static(v interface{}) http.HandlerFunc {
	body, _ := json.Marshal(v)
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	}
}

func main() {
	port := os.Getenv("PORT")
	base := "http://127.0.0.1:" + port
	opaque := variant == "mux-opaque-tokens"
	prod := newAuthServer(base+"/realms/dnw", "dnw-2025-b", prodClients, opaque)
	stag := newAuthServer(base+"/staging", "dnw-stg-1", stagingClients, opaque)
	tokenURL := base + "/realms/dnw/protocol/openid-connect/token"
	infoURL := base + prefix + "/info/v1/oauth/info/"

	svc := &service{base: base}
	svc.replicas[0] = loadFundings(variant == "mux-odd-ids")
	for i := len(svc.replicas[0]) - 1; i >= 0; i-- {
		svc.replicas[1] = append(svc.replicas[1], svc.replicas[0][i])
	}
	cache := &responseCache{entries: map[string]cached{}}

	r := mux.NewRouter().UseEncodedPath()
	get := []string{"GET", "HEAD"}
	r.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "Danube Science Fund") }).Methods(get...)
	r.HandleFunc("/registry.json", static(m{"member": []m{{"id": "dnw", "name": "Danube Science Fund", "acronym": "DNW", "contact": "ris@dnw.example", "oauth2": tokenURL, "info": infoURL}}})).Methods(get...)
	r.HandleFunc("/realms/dnw/protocol/openid-connect/token", prod.token).Methods("POST")
	r.HandleFunc("/staging/oauth/token", stag.token).Methods("POST")
	if !opaque {
		r.HandleFunc("/realms/dnw/protocol/openid-connect/certs", prod.certs).Methods(get...)
		r.HandleFunc("/staging/oauth/certs", stag.certs).Methods(get...)
		r.HandleFunc("/.well-known/oauth-authorization-server/realms/dnw", static(prod.metadata(tokenURL, base+"/realms/dnw/protocol/openid-connect/certs"))).Methods(get...)
		r.HandleFunc("/.well-known/oauth-authorization-server/staging", static(stag.metadata(base+"/staging/oauth/token", base+"/staging/oauth/certs"))).Methods(get...)
	}
	r.HandleFunc(prefix+"/funding/v3/api-docs", static(document(base, tokenURL))).Methods(get...)

	info := r.PathPrefix(prefix + "/info/v1").Subrouter()
	info.Use(authenticate(prod))
	info.HandleFunc("/oauth/info/", svc.info).Methods(get...)
	stagInfo := r.PathPrefix("/staging" + prefix + "/info/v1").Subrouter()
	stagInfo.Use(authenticate(stag))
	stagInfo.HandleFunc("/oauth/info/", svc.info).Methods(get...)

	// No PathPrefix here: its matcher would turn a 405 of the first route into a 404.
	fundingsPath := prefix + "/funding/v3/fundings"
	api := r.NewRoute().Subrouter()
	if variant == "mux-rate-limit" {
		b := &bucket{tokens: 40, last: time.Now()}
		api.Use(b.middleware)
	}
	if variant == "mux-early-cache" {
		api.Use(cache.middleware, authenticate(prod), requireRole, negotiate)
	} else {
		api.Use(authenticate(prod), requireRole, negotiate, cache.middleware)
	}
	api.HandleFunc(fundingsPath, svc.list).Methods(get...)
	api.HandleFunc(fundingsPath+"/{id}", svc.detail).Methods(get...)

	r.NotFoundHandler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, 404, "There is nothing at this address.")
	})
	r.MethodNotAllowedHandler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		allow := []string{}
		for _, method := range []string{"GET", "HEAD", "POST"} {
			probe := q.Clone(q.Context())
			probe.Method = method
			var match mux.RouteMatch
			if r.Match(probe, &match) && match.MatchErr == nil {
				allow = append(allow, method)
			}
		}
		w.Header().Set("Allow", strings.Join(allow, ", "))
		writeProblem(w, 405, "This method is not allowed here.")
	})

	srv := &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	ln, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-stop
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		srv.Shutdown(ctx)
		os.Exit(0)
	}()
	srv.Serve(ln)
	select {}
}
