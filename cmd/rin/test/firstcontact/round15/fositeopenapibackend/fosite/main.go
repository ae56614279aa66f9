package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

//go:embed openapi.json
var openapiText string

var (
	node = os.Getenv("NODE")
	base string
)

type fieldError struct {
	Parameter string `json:"parameter"`
	Message   string `json:"message"`
}

// problem answers with problem details (RFC 9457).
func problem(w http.ResponseWriter, status int, detail string, errs []fieldError) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	m := map[string]any{"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail}
	if errs != nil {
		m["errors"] = errs
	}
	b := encode(m)
	h.Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	w.Write(b)
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if node == "fosite-ybbs" {
		e.SetIndent("", "\t")
		must(e.Encode(v))
		return ascii(b.String())
	}
	must(e.Encode(v))
	return b.Bytes()
}

// ascii writes every other character as an escape of JSON.
func ascii(s string) []byte {
	var b bytes.Buffer
	for _, r := range s {
		switch {
		case r == '/':
			b.WriteString("\\/")
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, "\\u%04X", r)
		default:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, "\\u%04X\\u%04x", hi, lo)
		}
	}
	return b.Bytes()
}

func quality(field []string, name string) (q float64, ok bool) {
	star, haveStar := 0.0, false
	for _, part := range strings.Split(strings.Join(field, ","), ",") {
		c, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		v := 1.0
		for _, p := range strings.Split(params, ";") {
			k, val, _ := strings.Cut(strings.TrimSpace(p), "=")
			if strings.EqualFold(k, "q") {
				if f, err := strconv.ParseFloat(val, 64); err == nil {
					v = f
				}
			}
		}
		c = strings.TrimSpace(c)
		if strings.EqualFold(c, name) {
			return v, true
		}
		if c == "*" {
			star, haveStar = v, true
		}
	}
	return star, haveStar
}

func etagMatch(field []string, tag string, weak bool) bool {
	s := strings.Join(field, ",")
	if strings.TrimSpace(s) == "*" {
		return true
	}
	for s != "" {
		s = strings.TrimLeft(s, " \t,")
		w := strings.HasPrefix(s, "W/")
		if w {
			s = s[2:]
		}
		if !strings.HasPrefix(s, `"`) {
			return false
		}
		end := strings.IndexByte(s[1:], '"')
		if end < 0 {
			return false
		}
		if s[:end+2] == tag && (weak || !w) {
			return true
		}
		s = s[end+2:]
	}
	return false
}

// send answers a GET or HEAD with one representation and evaluates the preconditions.
func send(w http.ResponseWriter, r *http.Request, body []byte, cache string, modified time.Time) {
	h := w.Header()
	sum := sha256.Sum256(body)
	tag := hex.EncodeToString(sum[:10])
	if node == "fosite-thaya" {
		tag = "v=3,W/'" + tag[:8] + "',*," + tag[8:]
	}
	coding := ""
	if q, ok := quality(r.Header.Values("Accept-Encoding"), "gzip"); ok && q > 0 {
		iq, iok := quality(r.Header.Values("Accept-Encoding"), "identity")
		if !iok || iq <= q {
			coding = "gzip"
		}
	}
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", cache)
	if coding != "" {
		tag += "-gz"
	}
	tag = `"` + tag + `"`
	h.Set("ETag", tag)
	if !modified.IsZero() {
		h.Set("Last-Modified", modified.UTC().Format(http.TimeFormat))
	}
	since := func(name string) (time.Time, bool) {
		if modified.IsZero() || len(r.Header.Values(name)) != 1 {
			return time.Time{}, false
		}
		t, err := http.ParseTime(r.Header.Get(name))
		return t, err == nil
	}
	failed := false
	if v := r.Header.Values("If-Match"); len(v) > 0 {
		failed = !etagMatch(v, tag, false)
	} else if t, ok := since("If-Unmodified-Since"); ok {
		failed = modified.Truncate(time.Second).After(t)
	}
	if failed {
		h.Del("ETag")
		h.Del("Last-Modified")
		problem(w, 412, "The precondition does not hold for the current representation.", nil)
		return
	}
	same := false
	if v := r.Header.Values("If-None-Match"); len(v) > 0 {
		same = etagMatch(v, tag, true)
	} else if t, ok := since("If-Modified-Since"); ok {
		same = !modified.Truncate(time.Second).After(t)
	}
	if same {
		w.WriteHeader(304)
		return
	}
	h.Set("Content-Type", "application/json")
	if coding != "" {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(body)
		z.Close()
		body = b.Bytes()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(200)
	if r.Method != "HEAD" {
		w.Write(body)
	}
}

// read wraps the handler of a resource that can be read only.
func read(f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case "GET", "HEAD":
			f(w, r)
		case "OPTIONS":
			w.Header().Set("Allow", "GET, HEAD, OPTIONS")
			w.WriteHeader(204)
		default:
			w.Header().Set("Allow", "GET, HEAD, OPTIONS")
			problem(w, 405, "This resource can be read only.", nil)
		}
	}
}

func main() {
	port := os.Getenv("PORT")
	base = "http://127.0.0.1:" + port
	loadData()
	if node == "fosite-drau" {
		closingDay = "closes_day"
	}
	prod := newAuthServer("ris", "k3-7Qz!vTn0pXr5wLd8sHb2yMf6uGc1e",
		&account{"ufl-import", "@9+k=Z%2F/t&w:~Lm!7x Te", "sa-7f1c2", "ROR-03prydq77", "ris-funding", []string{"EXTERNAL_API_CLIENT"}},
		&account{"ufl-gast", "G&st!n:41~pV%/hY+0=sRq", "sa-5b9e0", "ROR-04d836q62", "ris-funding", []string{}},
		&account{"ufl-projekte", "Pr0j~=kt%E/5:f!Zu+&oN8", "sa-1d4aa", "ROR-01faaaf77", "ris-project", []string{"EXTERNAL_API_CLIENT"}},
		&account{"ufl-reserve", "R3s:e!rve~%41=Jb/&+cX2", "sa-88e31", "ROR-03prydq77", "ris-funding", []string{"EXTERNAL_API_CLIENT"}})
	staging := newAuthServer("ris-staging", "s9-Lw4!jRt8bVq1nXc6zKp3hGd7yMa5u",
		&account{"ufl-probe", "Pr+be%3A~7/=q&L!w:9vBk", "sa-t0001", "ROR-03prydq77", "ris-funding", []string{"EXTERNAL_API_CLIENT"}})
	api := &fundingAPI{auth: prod}

	mux := http.NewServeMux()
	mux.HandleFunc("/registry/nodes.json", read(func(w http.ResponseWriter, r *http.Request) {
		send(w, r, encode(map[string]any{"member": []any{map[string]string{"id": "UFL", "name": "Universität für Förderlehre",
			"oauth2": base + "/realms/ris/protocol/openid-connect/token", "info": base + "/ufl/info/v1/oauth/info/"}}}), "public, no-cache", time.Time{})
	}))
	mux.HandleFunc("/realms/ris/protocol/openid-connect/token", prod.token)
	mux.HandleFunc("/ufl-staging/oauth/token", staging.token)
	mux.HandleFunc("/ufl/info/v1/oauth/info/{$}", read(info(prod, "/ufl")))
	mux.HandleFunc("/ufl-staging/info/v1/oauth/info/{$}", read(info(staging, "/ufl-staging")))
	doc := []byte(strings.ReplaceAll(openapiText, "{{BASE}}", base))
	mux.HandleFunc("/ufl/funding/v3/api-docs", read(func(w http.ResponseWriter, r *http.Request) { send(w, r, doc, "public, no-cache", time.Time{}) }))
	api.routes(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { problem(w, 404, "There is no such resource.", nil) })

	srv := &http.Server{Addr: net.JoinHostPort("127.0.0.1", port), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// no redirects to cleaned paths
			if p := path.Clean(r.URL.Path); r.Method != "CONNECT" && p != r.URL.Path && p+"/" != r.URL.Path {
				problem(w, 404, "There is no such resource.", nil)
				return
			}
			mux.ServeHTTP(w, r)
		})}
	must(srv.ListenAndServe())
}

func info(a *authServer, prefix string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		acc := a.bearer(w, r, "ris-funding")
		if acc == nil {
			return
		}
		m := map[string]any{"clientId": acc.ID, "serviceAccountUserId": acc.ServiceAccount, "affiliationId": acc.Affiliation, "roles": acc.Roles,
			"endpoints": map[string]any{"UFL": []any{map[string]any{"name": "FUNDING", "majorVersion": 3, "minorVersion": 0, "url": base + "/ufl/funding/v3/calls"}}}}
		send(w, r, encode(m), "private, no-cache", time.Time{})
	}
}
