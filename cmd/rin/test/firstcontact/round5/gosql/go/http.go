package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// methods dispatches on the request method; GET implies HEAD.
type methods map[string]http.HandlerFunc

func (m methods) allow() string {
	names := slices.Collect(maps.Keys(m))
	if m[http.MethodGet] != nil {
		names = append(names, http.MethodHead)
	}
	names = append(names, http.MethodOptions)
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if h := m[method]; h != nil {
		h(w, r)
		return
	}
	w.Header().Set("Allow", m.allow())
	if method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	problem(w, r, http.StatusMethodNotAllowed, "Method not allowed", "Allowed here: "+m.allow()+".")
}

// Problem is an RFC 9457 problem document.
type Problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail,omitempty"`
	Instance string `json:"instance,omitempty"`
}

func problem(w http.ResponseWriter, r *http.Request, status int, title, detail string) {
	w.Header().Set("Cache-Control", "no-store")
	writeRaw(w, status, "application/problem+json", Problem{
		Type: "about:blank", Title: title, Status: status, Detail: detail, Instance: r.URL.EscapedPath(),
	})
}

func securityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

// weighted is one member of an Accept-like field.
type weighted struct {
	value string
	q     float64
}

func parseWeighted(fields []string) []weighted {
	var out []weighted
	for _, part := range strings.Split(strings.Join(fields, ","), ",") {
		params := strings.Split(part, ";")
		value := strings.ToLower(strings.TrimSpace(params[0]))
		if value == "" {
			continue
		}
		q := 1.0
		for _, p := range params[1:] {
			name, v, _ := strings.Cut(strings.TrimSpace(p), "=")
			if strings.EqualFold(strings.TrimSpace(name), "q") {
				if f, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil && f >= 0 && f <= 1 {
					q = f
				}
			}
		}
		out = append(out, weighted{value, q})
	}
	return out
}

// acceptsJSON reports whether the Accept field admits application/json.
func acceptsJSON(r *http.Request) bool {
	ranges := parseWeighted(r.Header.Values("Accept"))
	if len(ranges) == 0 {
		return true
	}
	best, q := 0, 0.0
	for _, a := range ranges {
		specificity := map[string]int{"*/*": 1, "application/*": 2, "application/json": 3}[a.value]
		if specificity > best {
			best, q = specificity, a.q
		} else if specificity == best && specificity > 0 {
			q = max(q, a.q)
		}
	}
	return q > 0
}

// language selects the language of titles and summaries: en or de.
func language(r *http.Request) string {
	q := map[string]float64{"en": -1, "de": -1}
	wild := -1.0
	for _, a := range parseWeighted(r.Header.Values("Accept-Language")) {
		primary, _, _ := strings.Cut(a.value, "-")
		if a.value == "*" {
			wild = a.q
		} else if old, ok := q[primary]; ok {
			q[primary] = max(old, a.q)
		}
	}
	for lang := range q {
		if q[lang] < 0 {
			q[lang] = max(wild, 0)
		}
	}
	if q["de"] > q["en"] {
		return "de"
	}
	return "en"
}

func acceptsGzip(cfg config, r *http.Request) bool {
	if cfg.name == "go-gzip-refused" {
		return strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
	}
	wild, gz := 0.0, -1.0
	for _, a := range parseWeighted(r.Header.Values("Accept-Encoding")) {
		switch a.value {
		case "gzip", "x-gzip":
			gz = max(gz, a.q)
		case "*":
			wild = a.q
		}
	}
	if gz < 0 {
		gz = wild
	}
	return gz > 0
}

// matches evaluates If-None-Match by weak comparison (RFC 9110, 13.1.2).
func matches(fields []string, etag string) bool {
	opaque := strings.TrimPrefix(etag, "W/")
	for _, part := range strings.Split(strings.Join(fields, ","), ",") {
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == opaque {
			return true
		}
	}
	return false
}

// send answers a GET with a JSON representation: validator, conditional
// request, content coding.
func (a *api) send(w http.ResponseWriter, r *http.Request, cacheControl string, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		problem(w, r, http.StatusInternalServerError, "Internal error", "")
		return
	}
	sum := sha256.Sum256(body)
	etag := `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	h := w.Header()
	h.Set("ETag", etag)
	h.Set("Cache-Control", cacheControl)
	h.Add("Vary", "Accept-Encoding")
	if fields := r.Header.Values("If-None-Match"); len(fields) > 0 && matches(fields, etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	if len(body) > 1024 && acceptsGzip(a.cfg, r) {
		var buf bytes.Buffer
		zw := gzip.NewWriter(&buf)
		zw.Write(body)
		zw.Close()
		body = buf.Bytes()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	w.Write(body)
}

// cached keeps successful responses of a handler that is expensive to compute.
func cached(ttl time.Duration, next http.HandlerFunc) http.HandlerFunc {
	type entry struct {
		header http.Header
		body   []byte
		stored time.Time
	}
	var mu sync.Mutex
	entries := map[string]entry{}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			next(w, r)
			return
		}
		key := strings.Join([]string{r.Method, r.URL.RequestURI(), r.Header.Get("Accept"), r.Header.Get("Accept-Encoding")}, "\n")
		mu.Lock()
		e, ok := entries[key]
		mu.Unlock()
		if !ok || time.Since(e.stored) > ttl {
			rec := httptest.NewRecorder()
			next(rec, r)
			if rec.Code != http.StatusOK {
				maps.Copy(w.Header(), rec.Header())
				w.WriteHeader(rec.Code)
				w.Write(rec.Body.Bytes())
				return
			}
			e = entry{rec.Header().Clone(), rec.Body.Bytes(), time.Now()}
			mu.Lock()
			entries[key] = e
			mu.Unlock()
		}
		maps.Copy(w.Header(), e.header)
		w.WriteHeader(http.StatusOK)
		w.Write(e.body)
	}
}
