package control

import (
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/content"
)

// Access says who may use a control listener.
type Access struct {
	// Token is the secret of callers: a bearer token (RFC 6750), or the password of Basic credentials, for which browsers ask.
	Token string
	// Loopback says that only this machine reaches the listener. Then everyone may read, because reading shows no
	// secrets, and only changes need the token.
	Loopback bool
}

// guard refuses callers without the token, and requests of foreign web pages, because browsers let pages call any address. On loopback it also refuses
// host names other than those of loopback, because a foreign name server may resolve its names to loopback (DNS rebinding).
func (a Access) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch {
		case a.Loopback && !address.IsLoopback(address.Hostname(r.Host)):
			content.Forbidden("the control listener accepts only the names of loopback", "use 127.0.0.1, [::1] or localhost").Write(w, r)
		case isFromPage(r, isRead):
			content.Forbidden("the control listener answers programs, not web pages", "use rin, curl or another program").Write(w, r)
		case r.URL.Path == "/healthz", a.Loopback && isRead, a.permits(r):
			next.ServeHTTP(w, r)
		default:
			w.Header().Add("WWW-Authenticate", `Bearer realm="control listener of a sandbox"`)
			if isRead {
				w.Header().Add("WWW-Authenticate", `Basic realm="control listener of a sandbox: the token is the password"`)
			}
			content.Unauthorized("the request needs the token of this control listener",
				"rin finds it by itself; other programs read it from the file of rin sandbox --credentials, and send it as a bearer token").Write(w, r)
		}
	})
}

// isFromPage reports whether a web page sent the request. A person who follows a link, and the page of the listener itself, may read (Fetch Metadata).
func isFromPage(r *http.Request, isRead bool) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	isNavigation := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	switch {
	case r.Header.Get("Origin") != "":
		return true
	case site == "" || site == "none":
		return false
	}
	return !isRead || site != "same-origin" && !isNavigation
}

// permits reports whether a request has the token.
func (a Access) permits(r *http.Request) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		_, given, _ = r.BasicAuth()
	}
	return a.Token != "" && subtle.ConstantTimeCompare([]byte(strings.TrimSpace(given)), []byte(a.Token)) == 1
}
