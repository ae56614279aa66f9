package cors

import (
	"log/slog"
	"net/http"
	"strings"
)

// What a preflight is answered with. Every method is let through: a page can read the node's 405, and not why a preflight failed.
const (
	allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
	allowedHeaders = "Authorization, Content-Type, If-None-Match"
	// maxAge is ten minutes: a page that is reloaded all day need not ask each time.
	maxAge = "600"
	// exposed is every header. Without credentials "*" is a wildcard, and what a page may read never lags behind what is sent.
	exposed = "*"
	// maxRequested bounds the names that a preflight asks for and is given.
	maxRequested = 2 << 10
)

// Handler puts the policy before a node. A preflight ends here: the browser asks it, not the page, so no limit and no
// scenario counts it. Pages that may not call are told to the log, because their console doesn't say how to change that.
func (p Policy) Handler(next http.Handler, log *slog.Logger) http.Handler {
	if p.any {
		return open(next)
	}
	return p.listed(next, &refusals{log: log})
}

// open lets every page call. Its header is the same for all, asked or not: a cache may give the answer to anybody.
func open(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", anyOrigin)
		serve(next, w, r)
	})
}

// listed lets the pages of the listed origins call; none when none is listed, which costs next to nothing.
func (p Policy) listed(next http.Handler, refused *refusals) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(p.origins) > 0 {
			w = &variedWriter{ResponseWriter: w}
		}
		switch origin := r.Header.Get("Origin"); {
		case p.allows(origin):
			w.Header().Set("Access-Control-Allow-Origin", origin)
			serve(next, w, r)
			return
		case isPreflight(r):
			refused.tell(r.Context(), origin)
		}
		next.ServeHTTP(w, r)
	})
}

// serve answers a page that may call.
func serve(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if isPreflight(r) {
		permit(w, r)
		return
	}
	w.Header().Set("Access-Control-Expose-Headers", exposed)
	next.ServeHTTP(w, r)
}

// isPreflight tells whether a browser asks in advance (Fetch standard, "CORS-preflight request").
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" && r.Header.Get("Origin") != ""
}

// permit answers a preflight.
func permit(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", allowedMethods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders+requested(r.Header.Values("Access-Control-Request-Headers")))
	h.Set("Access-Control-Max-Age", maxAge)
	h.Add("Vary", "Access-Control-Request-Headers")
	w.WriteHeader(http.StatusNoContent)
}

// requested repeats the names of header fields that a page wants to send, because the node ignores what it does not know. What is no
// name is left out.
func requested(fields []string) string {
	var b strings.Builder
	for _, field := range fields {
		for name := range strings.SplitSeq(field, ",") {
			name = strings.TrimSpace(name)
			if b.Len()+len(name) > maxRequested {
				return b.String()
			}
			if isToken(name) && !strings.Contains(", "+strings.ToLower(allowedHeaders)+",", " "+strings.ToLower(name)+",") {
				b.WriteString(", " + name)
			}
		}
	}
	return b.String()
}

// isToken tells whether text is a token (RFC 9110 §5.6.2).
func isToken(text string) bool {
	return text != "" && strings.IndexFunc(text, func(c rune) bool {
		return !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	}) < 0
}
