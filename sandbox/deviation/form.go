package deviation

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
)

// maxForm bounds what is read of a token request, in bytes; longer ones are left to the node.
const maxForm = 32 << 10

// tokenRequest is what deviations look at in a request to the token endpoint.
type tokenRequest struct {
	form url.Values
	raw  string
	// basic tells that an Authorization header came with it.
	basic bool
}

// readTokenRequest reads the form and leaves r as it was. ok is false for methods other than POST and for bodies that
// are no form.
func readTokenRequest(r *http.Request) (q tokenRequest, ok bool) {
	if r.Method != http.MethodPost {
		return q, false
	}
	body := r.Body
	raw, err := io.ReadAll(io.LimitReader(body, maxForm+1))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(raw), body), body}
	if err != nil || len(raw) > maxForm {
		return q, false
	}
	form, err := url.ParseQuery(string(raw))
	return tokenRequest{form: form, raw: string(raw), basic: r.Header.Get("Authorization") != ""}, err == nil
}

// unauthenticated holds for requests without any client authentication.
func (q tokenRequest) unauthenticated() bool {
	return !q.basic && q.form.Get("client_id") == "" && q.form.Get("client_secret") == ""
}

// withForm returns r with another body.
func withForm(r *http.Request, body string) *http.Request {
	other := r.Clone(r.Context())
	other.Body, other.ContentLength = io.NopCloser(bytes.NewReader([]byte(body))), int64(len(body))
	return other
}

// reform makes a Wrap that changes the forms of token requests before the node sees them.
func reform(alter func(q tokenRequest, env Env)) wrap {
	return readmit(func(r *http.Request, env Env) *http.Request {
		q, ok := readTokenRequest(r)
		if !ok {
			return r
		}
		alter(q, env)
		return withForm(r, q.form.Encode())
	}, Token)
}

// exchange makes a Wrap that changes the answers to token requests that are a form.
func exchange(alter func(q tokenRequest, a *Answer)) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		q, ok := readTokenRequest(r)
		a := capture(next, r)
		if ok {
			alter(q, a)
		}
		a.send(w, r)
	}, Token)
}

// granted makes a Wrap that edits the token answers to good requests.
func granted(edit func(answer map[string]any)) wrap {
	return rewrite(when(succeeded, object(edit)), Token)
}

// guess makes a Wrap in which a secret that is near enough counts as the right one.
func guess(near func(right, given string) bool) wrap {
	return reform(func(q tokenRequest, env Env) {
		client, known := env.Client(q.form.Get("client_id"))
		if given := q.form.Get("client_secret"); known && client.Secret != "" && given != "" && near(client.Secret, given) {
			q.form.Set("client_secret", client.Secret)
		}
	})
}

// identify makes a Wrap that gives token requests that fit the credentials of a client: the one they name, or the first.
func identify(fits func(q tokenRequest) bool) wrap {
	return reform(func(q tokenRequest, env Env) {
		client, known := env.Client(q.form.Get("client_id"))
		if !known && q.form.Get("client_id") == "" {
			client, _ = env.exposed()
		}
		if client.Secret != "" && fits(q) {
			q.form.Set("client_id", client.ID)
			q.form.Set("client_secret", client.Secret)
		}
	})
}
