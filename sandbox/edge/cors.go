// Package edge has what a node puts in front of its resources: CORS, the rate limit and the metrics.
//
// CORS lets the pages of other origins call a node (Fetch standard, "HTTP extensions"): it answers preflights, and allows the page to read every
// answer, errors and redirects included. Credentials in the sense of CORS, such as cookies, are not allowed: a node uses bearer tokens, which the page
// adds itself. Therefore a node may allow every origin with "*".
package edge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"
)

// anyOrigin lets the pages of every origin call.
const anyOrigin = "*"

// CORSPolicy lists the origins whose pages may call. The zero value admits none.
type CORSPolicy struct {
	any     bool
	origins []string
}

// ParseOrigins reads origins as browsers send them, such as "http://localhost:5173", or "*" alone for all of them. Origins are compared byte
// by byte, so ParseOrigins refuses every form that browsers never send.
func ParseOrigins(origins []string) (CORSPolicy, error) {
	if slices.Contains(origins, anyOrigin) {
		if len(origins) > 1 {
			return CORSPolicy{}, errors.New(`"*" allows every origin: use "*" alone, or list origins without it`)
		}
		return CORSPolicy{any: true}, nil
	}
	for _, origin := range origins {
		if err := checkOrigin(origin); err != nil {
			return CORSPolicy{}, err
		}
	}
	return CORSPolicy{origins: slices.Clone(origins)}, nil
}

// allows reports whether pages of the origin may call.
func (p CORSPolicy) allows(origin string) bool { return p.any || slices.Contains(p.origins, origin) }

// checkOrigin returns an error unless the origin is written as a browser serialises it (RFC 6454 §6.2).
func checkOrigin(origin string) error {
	if origin == "null" {
		return errors.New(`"null" is the origin of files and of every sandboxed frame: serve the page from a local address, or allow "*"`)
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" || u.Hostname() == "" || u.User != nil {
		return fmt.Errorf("%q is not an origin: want scheme, host and port alone, such as http://localhost:5173", origin)
	}
	if want := serialise(u); want != origin {
		return fmt.Errorf("%q is not an origin as browsers send it: did you mean %s?", origin, want)
	}
	if strings.IndexFunc(u.Hostname(), func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.ContainsRune("-._:", c))
	}) >= 0 {
		return fmt.Errorf("%q: want a full host name in ASCII, as browsers send it; only \"*\" stands for several origins", origin)
	}
	return nil
}

// serialise returns the origin of a URL as a browser writes it: in lower case, without the default port.
func serialise(u *url.URL) string {
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	if scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		port = ""
	}
	if address, err := netip.ParseAddr(host); err == nil && address.Is6() {
		host = "[" + address.String() + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return scheme + "://" + host
}

// The answer to a preflight. Every method is admitted: a page can read the node's 405, but not why a preflight failed.
const (
	allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
	allowedHeaders = "Authorization, Content-Type, If-None-Match"
	// maxAge is ten minutes, so that a page that is reloaded often does not send a preflight each time.
	maxAge = "600"
	// exposedHeaders exposes every header. Without credentials "*" is a wildcard.
	exposedHeaders = "*"
	// maxRequested limits the bytes of the page's header names that the answer to a preflight repeats.
	maxRequested = 2 << 10
)

// Handler applies the policy to the requests to next. It answers preflights itself: browsers send them, not pages, so rate limits and scenarios
// do not count them. It logs the origins that may not call, because the console of the browser does not say how to allow them.
func (p CORSPolicy) Handler(next http.Handler, log *slog.Logger) http.Handler {
	if p.any {
		return allowAll(next)
	}
	return p.allowListed(next, &refusedOrigins{log: log})
}

// allowAll admits every page. Its header is the same for all requests, so that caches may keep the answer.
func allowAll(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", anyOrigin)
		serveAllowed(next, w, r)
	})
}

// allowListed admits the pages of the listed origins.
func (p CORSPolicy) allowListed(next http.Handler, refused *refusedOrigins) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(p.origins) > 0 {
			w = &varyWriter{ResponseWriter: w}
		}
		switch origin := r.Header.Get("Origin"); {
		case p.allows(origin):
			w.Header().Set("Access-Control-Allow-Origin", origin)
			serveAllowed(next, w, r)
			return
		case isPreflight(r):
			refused.logOnce(r.Context(), origin)
		}
		next.ServeHTTP(w, r)
	})
}

// serveAllowed serves a request from a page that may call: it answers a preflight, and passes other requests to next.
func serveAllowed(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if isPreflight(r) {
		permitPreflight(w, r)
		return
	}
	w.Header().Set("Access-Control-Expose-Headers", exposedHeaders)
	next.ServeHTTP(w, r)
}

// isPreflight reports whether a request is a preflight (Fetch standard, "CORS-preflight request").
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" && r.Header.Get("Origin") != ""
}

// permitPreflight answers the preflight of a page that may call.
func permitPreflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", allowedMethods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders+requestedHeaders(r.Header.Values("Access-Control-Request-Headers")))
	h.Set("Access-Control-Max-Age", maxAge)
	h.Add("Vary", "Access-Control-Request-Headers")
	w.WriteHeader(http.StatusNoContent)
}

// requestedHeaders lists the valid header names that a page wants to send and that allowedHeaders lacks, each after a comma. They are allowed, because
// the node ignores unknown headers.
func requestedHeaders(fields []string) string {
	var b strings.Builder
	for _, field := range fields {
		for name := range strings.SplitSeq(field, ",") {
			name = strings.TrimSpace(name)
			if b.Len()+len(name) > maxRequested {
				return b.String()
			}
			if httpguts.ValidHeaderFieldName(name) && !strings.Contains(", "+strings.ToLower(allowedHeaders)+",", " "+strings.ToLower(name)+",") {
				b.WriteString(", " + name)
			}
		}
	}
	return b.String()
}

// maxLoggedOrigins limits the origins that are logged.
const maxLoggedOrigins = 16

// refusedOrigins logs each origin that may not call, but only once.
type refusedOrigins struct {
	log    *slog.Logger
	mu     sync.Mutex
	logged []string
}

func (f *refusedOrigins) logOnce(ctx context.Context, origin string) {
	f.mu.Lock()
	// No page has an origin below .invalid (RFC 6761 §6.4), but test suites send such origins on purpose.
	fresh := origin != "" && !strings.HasSuffix(origin, ".invalid") && len(origin) <= 256 && len(f.logged) < maxLoggedOrigins && !slices.Contains(f.logged, origin)
	if fresh {
		f.logged = append(f.logged, origin)
	}
	f.mu.Unlock()
	if fresh {
		f.log.WarnContext(ctx, "the browser blocked a request from a page of another origin: to permit it, allow the origin (rin sandbox --cors)", "origin", origin)
	}
}

// varyWriter adds Origin to Vary when the header is written. That is the last moment: before it, the handler sets its own Vary.
type varyWriter struct {
	http.ResponseWriter
	written bool
}

// WriteHeader implements http.ResponseWriter.
func (v *varyWriter) WriteHeader(status int) {
	if !v.written && status >= http.StatusOK {
		v.written = true
		v.addOrigin()
	}
	v.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (v *varyWriter) Write(b []byte) (int, error) {
	if !v.written {
		v.WriteHeader(http.StatusOK)
	}
	return v.ResponseWriter.Write(b)
}

func (v *varyWriter) addOrigin() {
	h := v.Header()
	all := strings.Join(h.Values("Vary"), ", ")
	for name := range strings.SplitSeq(all, ",") {
		if name = strings.TrimSpace(name); name == "*" || strings.EqualFold(name, "Origin") {
			return
		}
	}
	if all != "" {
		all += ", "
	}
	h.Set("Vary", all+"Origin")
}

// Unwrap lets http.ResponseController reach the connection.
func (v *varyWriter) Unwrap() http.ResponseWriter { return v.ResponseWriter }
