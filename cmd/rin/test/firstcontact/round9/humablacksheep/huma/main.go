// A node of the research-information network: authorization server, info and
// funding API (German data model) on one port.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// knoten is the deployment's profile, chosen by the environment.
var knoten = strings.TrimPrefix(os.Getenv("NODE"), "huma-")

var (
	ursprung  string // scheme and authority of this node
	gestartet = time.Now()
)

const (
	fundingPfad = "/forschung/funding/v3"
	infoPfad    = "/forschung/info/v1/oauth/info/"
	stagingInfo = "/staging/forschung/info/v1/oauth/info/"
)

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	ursprung = "http://127.0.0.1:" + port
	ladeDaten()

	prod := neuerAussteller("/auth/realms/forschung", "/auth/realms/forschung/protocol/openid-connect/token",
		"/auth/realms/forschung/protocol/openid-connect/certs", ursprung+"/forschung", produktivKlienten())
	stag := neuerAussteller("/staging/auth", "/staging/auth/oauth/token",
		"/staging/auth/keys", ursprung+"/staging/forschung", stagingKlienten())

	mux := http.NewServeMux()
	prod.routen(mux)
	stag.routen(mux)
	mux.HandleFunc("GET /registry.json", registrierung)
	mux.HandleFunc("GET "+infoPfad+"{$}", infoSeite(prod, fundingPfad))
	mux.HandleFunc("GET "+stagingInfo+"{$}", infoSeite(stag, fundingPfad))
	fundingAPI(mux, prod)

	var h http.Handler = abschluss(fehlseiten(mux))
	switch knoten {
	case "cache":
		h = kurzspeicher(h)
	case "ec":
		h = traege(h)
	}
	srv := &http.Server{
		Addr:              "127.0.0.1:" + port,
		Handler:           auffangen(h),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    64 << 10,
	}
	log.Fatal(srv.ListenAndServe())
}

func schreibeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = 500, []byte(`{"title":"Internal Server Error","status":500}`)
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	w.Write(b)
}

// problem writes an RFC 9457 answer.
func problem(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/problem+json")
	schreibeJSON(w, status, map[string]any{"title": http.StatusText(status), "status": status, "detail": text})
}

func registrierung(w http.ResponseWriter, r *http.Request) {
	schreibeJSON(w, 200, map[string]any{"member": []any{map[string]any{
		"id": "HUM", "acronym": "HUM", "name": "Hochschule für Umwelt und Meereskunde",
		"contact": "forschungsservice@hum.example",
		"oauth2":  ursprung + "/auth/realms/forschung/protocol/openid-connect/token",
		"info":    ursprung + infoPfad,
	}}})
}

func infoSeite(a *aussteller, api string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, f := a.pruefe(r); f != nil {
			if f.challenge != "" {
				w.Header().Set("WWW-Authenticate", f.challenge)
			}
			problem(w, f.status, f.text)
			return
		}
		w.Header().Set("Cache-Control", "private, no-cache")
		schreibeJSON(w, 200, map[string]any{"endpoints": map[string]any{"funding": []any{map[string]any{
			"name": "FUNDING", "majorVersion": 3, "minorVersion": 2, "url": ursprung + api + "/ausschreibungen",
		}}}})
	}
}

// ---- middleware -----------------------------------------------------------

// puffer keeps an answer until it is complete.
type puffer struct {
	kopf   http.Header
	status int
	inhalt bytes.Buffer
}

func (p *puffer) Header() http.Header { return p.kopf }
func (p *puffer) WriteHeader(s int) {
	if p.status == 0 {
		p.status = s
	}
}
func (p *puffer) Write(b []byte) (int, error) {
	if p.status == 0 {
		p.status = 200
	}
	return p.inhalt.Write(b)
}

func auffangen(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if e := recover(); e != nil {
				log.Printf("panic: %v", e)
				problem(w, 500, "Interner Fehler.")
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// fehlseiten answers unknown paths and methods with a problem document.
func fehlseiten(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, muster := mux.Handler(r); muster != "" {
			mux.ServeHTTP(w, r)
			return
		}
		p := &puffer{kopf: http.Header{}}
		mux.ServeHTTP(p, r)
		if p.status == 405 {
			w.Header().Set("Allow", p.kopf.Get("Allow"))
			problem(w, 405, "Diese Methode wird hier nicht unterstützt.")
			return
		}
		problem(w, 404, "Unter dieser Adresse gibt es nichts.")
	})
}

func nimmtGzip(r *http.Request) bool {
	ja := false
	for _, teil := range strings.Split(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, param, _ := strings.Cut(strings.TrimSpace(teil), ";")
		q := 1.0
		if k, v, ok := strings.Cut(strings.TrimSpace(param), "="); ok && strings.EqualFold(strings.TrimSpace(k), "q") {
			q, _ = strconv.ParseFloat(strings.TrimSpace(v), 64)
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip":
			return q > 0
		case "*":
			ja = q > 0
		}
	}
	return ja
}

func passt(r *http.Request, marken ...string) bool {
	for _, t := range strings.Split(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		t = strings.TrimPrefix(strings.TrimSpace(t), "W/")
		if t == "*" {
			return true
		}
		for _, m := range marken {
			if t == m {
				return true
			}
		}
	}
	return false
}

// abschluss adds validators, compression and lengths to read answers.
func abschluss(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lesend := r.Method == "GET" || r.Method == "HEAD"
		if !lesend || !strings.Contains(r.URL.Path, "/forschung/") || strings.Contains(r.URL.Path, "/auth/realms/") {
			next.ServeHTTP(w, r)
			return
		}
		p := &puffer{kopf: http.Header{}}
		next.ServeHTTP(p, r)
		for k, v := range p.kopf {
			w.Header()[k] = v
		}
		h := w.Header()
		inhalt := p.inhalt.Bytes()
		if p.status == 0 {
			p.status = 200
		}
		if p.status != 200 {
			h.Set("Content-Length", strconv.Itoa(len(inhalt)))
			w.WriteHeader(p.status)
			w.Write(inhalt)
			return
		}
		summe := sha256.Sum256(inhalt)
		if knoten == "etag" {
			if a := finde(strings.TrimPrefix(r.URL.Path, fundingPfad+"/ausschreibungen/")); a != nil {
				summe = sha256.Sum256([]byte(a.Kennung + a.geaendert.String()))
			}
		}
		kern := hex.EncodeToString(summe[:12])
		glatt, gepackt := `"`+kern+`"`, `"`+kern+`-gz"`
		gz := len(inhalt) > 600 && nimmtGzip(r)
		h.Set("Vary", "Accept-Encoding, Authorization")
		if gz {
			h.Set("ETag", gepackt)
		} else {
			h.Set("ETag", glatt)
		}
		if passt(r, glatt, gepackt) {
			h.Del("Content-Type")
			h.Del("Content-Length")
			w.WriteHeader(304)
			return
		}
		if gz {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write(inhalt)
			z.Close()
			inhalt = b.Bytes()
			h.Set("Content-Encoding", "gzip")
		}
		h.Set("Content-Length", strconv.Itoa(len(inhalt)))
		w.WriteHeader(200)
		w.Write(inhalt)
	})
}

// kurzspeicher keeps the answers of single calls for a few seconds, to spare
// the database when a portal shows the same call to many people.
func kurzspeicher(next http.Handler) http.Handler {
	type eintrag struct {
		p   *puffer
		bis time.Time
	}
	var mu sync.Mutex
	ablage := map[string]eintrag{}
	vorn := fundingPfad + "/ausschreibungen/"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "GET" || !strings.HasPrefix(r.URL.Path, vorn) || r.Header.Get("If-None-Match") != "" {
			next.ServeHTTP(w, r)
			return
		}
		schluessel := fmt.Sprint(r.URL.RequestURI(), nimmtGzip(r))
		mu.Lock()
		e, da := ablage[schluessel]
		mu.Unlock()
		if !da || time.Now().After(e.bis) {
			p := &puffer{kopf: http.Header{}}
			next.ServeHTTP(p, r)
			e = eintrag{p, time.Now().Add(8 * time.Second)}
			if p.status == 200 {
				mu.Lock()
				ablage[schluessel] = e
				mu.Unlock()
			}
		}
		for k, v := range e.p.kopf {
			w.Header()[k] = v
		}
		w.WriteHeader(e.p.status)
		w.Write(e.p.inhalt.Bytes())
	})
}

// traege models a node behind a slow line.
func traege(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(350 * time.Millisecond)
		next.ServeHTTP(w, r)
	})
}
