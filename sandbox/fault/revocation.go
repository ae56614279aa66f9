package fault

import (
	"net/http"
	"strings"
)

// revocable makes a wrap that adds a revocation endpoint beside each token endpoint (RFC 7009), names it in the metadata, and says in the document
// that revoked tokens are refused. revoke is told each token that a client revokes; tokens that are revoked are refused as the node refuses garbage.
func revocable(revoke func(token string), revoked func(token string) bool) wrap {
	endpoint := func(token string) string { return strings.TrimSuffix(token, "/token") + "/revoke" }
	serve := func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, e := range env.Places.Endpoints() {
				if r.Method == http.MethodPost && r.URL.Path == endpoint(e.Token) {
					r.Body = http.MaxBytesReader(w, r.Body, maxForm)
					revoke(r.PostFormValue("token"))
					w.Header().Set("Cache-Control", "no-store")
					w.WriteHeader(http.StatusOK)
					return
				}
			}
			if token := bearer(r); token != "" && revoked(token) {
				r = authorized(r, "Bearer revoked")
			}
			next.ServeHTTP(w, r)
		})
	}
	return both(serve, both(
		editMetadata(func(metadata map[string]any) {
			metadata["revocation_endpoint"] = endpoint(text(metadata["token_endpoint"]))
		}),
		editDocument(func(d apiDocument) {
			info := d.at("info")
			info["description"] = text(info["description"]) + " A client can revoke its tokens (RFC 7009). A revoked token is refused with 401."
		})))
}
