package auth

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// ClaimedClient tells which client a token request says that it comes from, by HTTP Basic or in its form; it proves nothing. The
// request that it returns has its body whole, as far as the token endpoint reads it.
func ClaimedClient(r *http.Request) (string, *http.Request) {
	if scheme, encoded, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " "); strings.EqualFold(scheme, "Basic") {
		// What can't be decoded names nobody.
		pair, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
		id, _, _ := strings.Cut(string(pair), ":")
		id, _ = url.QueryUnescape(id)
		return id, r
	}
	if r.Body == nil {
		return "", r
	}
	read, _ := io.ReadAll(io.LimitReader(r.Body, maxFormBytes+1)) // the endpoint meets a fault again, and tells of it
	again := r.WithContext(r.Context())
	again.Body = rest{io.MultiReader(bytes.NewReader(read), r.Body), r.Body}
	form, _ := url.ParseQuery(string(read)) // as far as it is a form
	return form.Get("client_id"), again
}

// rest is a body of which a part was read ahead.
type rest struct {
	io.Reader
	io.Closer
}
