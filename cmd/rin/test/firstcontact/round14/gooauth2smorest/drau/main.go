// Node of the Technische Hochschule Kärnten (THK) in the research-information network.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"mime"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

var (
	node   = os.Getenv("NODE") // the variant of this node; empty: the base
	port   = os.Getenv("PORT")
	origin = "http://127.0.0.1:" + port
)

const (
	infoPath    = "/thk/info/v1/oauth/info/"
	stagingInfo = "/thk-staging/info/v1/oauth/info/"
	fundingPath = "/thk/funding"
)

//go:embed openapi.json
var openapi string

//go:embed reference.html
var reference string

// methods answers the methods of one resource; HEAD follows GET, everything else gets a 405.
type methods map[string]http.HandlerFunc

func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead && m[http.MethodGet] != nil {
		method = http.MethodGet
	}
	if h := m[method]; h != nil {
		h(w, r)
		return
	}
	allow := "GET, HEAD, OPTIONS"
	if m[http.MethodGet] == nil {
		allow = "POST, OPTIONS"
	}
	w.Header().Set("Allow", allow)
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	fail(w, http.StatusMethodNotAllowed, "This resource answers "+allow+".", "")
}

// problem is an error of the API in the form of RFC 9457.
type problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Parameter string `json:"parameter,omitempty"`
}

func fail(w http.ResponseWriter, status int, detail, parameter string) {
	body, _ := json.Marshal(problem{"about:blank", http.StatusText(status), status, detail, parameter})
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

// reply sends a representation: JSON, with its validator, compressed where the client wants it.
func reply(w http.ResponseWriter, r *http.Request, v any) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		log.Print(err)
		fail(w, http.StatusInternalServerError, "The answer could not be written.", "")
		return
	}
	body := buf.Bytes()
	if node == "gooauth2-wulfen" { // right: another spelling of the same JSON text
		body = respell(body)
	}
	send(w, r, "application/json", body)
}

func send(w http.ResponseWriter, r *http.Request, contentType string, body []byte) {
	sum := sha256.Sum256(body)
	tag := base64.RawURLEncoding.EncodeToString(sum[:12])
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Add("Vary", "Accept-Encoding")
	if acceptsGzip(r.Header.Values("Accept-Encoding")) && len(body) > 512 {
		var buf bytes.Buffer
		zw := gzip.NewWriter(&buf)
		zw.Write(body)
		zw.Close()
		body = buf.Bytes()
		tag += "-gz"
		h.Set("Content-Encoding", "gzip")
	}
	tag = `"` + tag + `"`
	h.Set("ETag", tag)
	if match := r.Header.Values("If-Match"); len(match) > 0 && !matches(match, tag, false) {
		h.Del("Content-Encoding")
		h.Del("ETag")
		fail(w, http.StatusPreconditionFailed, "The representation has another entity tag.", "")
		return
	}
	if none := r.Header.Values("If-None-Match"); len(none) > 0 && matches(none, tag, true) {
		h.Del("Content-Type")
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if node == "gooauth2-wulfen" {
		w.WriteHeader(http.StatusOK)
		for half := len(body) / 2; r.Method != http.MethodHead && len(body) > 0; half = len(body) {
			w.Write(body[:half])
			http.NewResponseController(w).Flush()
			body = body[half:]
		}
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	w.Write(body)
}

// matches compares a list of entity tags with the current one (RFC 9110, section 8.8.3.2).
func matches(fields []string, tag string, weak bool) bool {
	rest := strings.TrimSpace(strings.Join(fields, ","))
	if rest == "*" {
		return true
	}
	for rest != "" {
		rest = strings.TrimLeft(rest, " \t,")
		isWeak := strings.HasPrefix(rest, "W/")
		rest = strings.TrimPrefix(rest, "W/")
		if !strings.HasPrefix(rest, `"`) {
			return false
		}
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 {
			return false
		}
		if rest[:end+2] == tag && (weak || !isWeak) {
			return true
		}
		rest = rest[end+2:]
	}
	return false
}

// acceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3).
func acceptsGzip(fields []string) bool {
	best := map[string]float64{}
	for _, item := range strings.Split(strings.ToLower(strings.Join(fields, ",")), ",") {
		coding, params, err := mime.ParseMediaType(strings.TrimSpace(item))
		if err != nil {
			continue
		}
		q := 1.0
		if s, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(s, 64); err != nil {
				q = 0
			}
		}
		best[coding] = q
	}
	for _, coding := range []string{"gzip", "x-gzip", "*"} {
		if q, ok := best[coding]; ok {
			return q > 0
		}
	}
	return false
}

// respell writes JSON text in ASCII, with tabs and CR LF between the tokens (RFC 8259 allows all of it).
func respell(body []byte) []byte {
	var nice, out bytes.Buffer
	json.Indent(&nice, body, "\t", "\t")
	for _, c := range nice.String() {
		switch {
		case c == '\n':
			out.WriteString("\r\n")
		case c == '/':
			out.WriteString(`\/`)
		case c > 126:
			for _, u := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&out, `\u%04x`, u)
			}
		default:
			out.WriteRune(c)
		}
	}
	return out.Bytes()
}

func registry(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	reply(w, r, map[string]any{"member": []any{
		map[string]string{"id": "THK", "acronym": "THK", "name": "Technische Hochschule Kärnten", "contact": "ris@thk.example",
			"oauth2": origin + production.tokenPath, "info": origin + infoPath},
	}})
}

func main() {
	production.open()
	staging.open()
	real := &service{records: loadCalls(calls), guarded: true}
	samples := &service{records: loadCalls(sampleCalls), base: "/try-out"}

	mux := http.NewServeMux()
	get := func(pattern string, h http.HandlerFunc) { mux.Handle(pattern, methods{http.MethodGet: h}) }
	get("/register/ris.json", registry)
	for _, env := range []*environment{production, staging} {
		mux.Handle(env.tokenPath, methods{http.MethodPost: env.token})
		mux.Handle(env.revokePath, methods{http.MethodPost: env.revoke})
	}
	get("/.well-known/oauth-authorization-server/realms/ris", production.metadata)
	get(infoPath+"{$}", production.info)
	get(stagingInfo+"{$}", staging.info)

	document := strings.ReplaceAll(openapi, "{origin}", origin)
	get(fundingPath+"/v3/api-docs", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		send(w, r, "application/json", []byte(document))
	})
	get(fundingPath+"/reference", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		send(w, r, "text/html; charset=utf-8", []byte(reference))
	})
	for _, s := range []*service{real, samples} {
		at := fundingPath + s.base + "/v3"
		get(at+"/calls", s.auth(s.list))
		get(at+"/calls/{callId}", s.auth(s.detail))
		get(at+"/funders", s.auth(s.funders))
		get(at+"/funders/{funderId}", s.auth(s.funder))
		get(at+"/deadlines", s.auth(s.deadlines))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, "There is no such resource.", "")
	})

	server := &http.Server{
		Addr: "127.0.0.1:" + port,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Content-Type-Options", "nosniff")
			// ServeMux would redirect a path that is not clean; here it is simply unknown.
			if clean := path.Clean("/" + r.URL.Path); clean != strings.TrimSuffix(r.URL.Path, "/") && r.URL.Path != "/" {
				fail(w, http.StatusNotFound, "There is no such resource.", "")
				return
			}
			mux.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       20 * time.Second,
		IdleTimeout:       60 * time.Second,
	}
	log.Fatal(server.ListenAndServe())
}
