package page

import "net/http"

// policy is the Content-Security-Policy of all pages (CSP Level 3): nothing is loaded or asked but from the node itself, nothing inline
// runs, and no form leaves the page, because a form that is sent without its script would put its secret into a URL. Swagger UI's icons
// are data URLs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// protected sets what keeps a page to itself: its policy, no address of it in requests to others, and no window of others that holds it.
func protected(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}
