package fault

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// credential splits the Authorization header of r at the first blank.
func credential(r *http.Request) (scheme, rest string) {
	scheme, rest, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	return scheme, strings.TrimSpace(rest)
}

// bearer is the token after the word Bearer, empty for other credentials.
func bearer(r *http.Request) string {
	if scheme, token := credential(r); strings.EqualFold(scheme, "Bearer") {
		return token
	}
	return ""
}

// authorized returns r with another Authorization header.
func authorized(r *http.Request, value string) *http.Request {
	other := r.Clone(r.Context())
	other.Header.Set("Authorization", value)
	return other
}

// jwt is a token taken apart; nothing in it was verified.
type jwt struct {
	// payload is header and payload as they stand in the token, signature what follows.
	payload, signature string
	claims             struct {
		ClientID string  `json:"client_id"`
		Expires  float64 `json:"exp"`
	}
}

// unverified takes the bearer token of r apart.
func unverified(r *http.Request) (token jwt, ok bool) {
	parts := strings.Split(bearer(r), ".")
	if len(parts) != 3 {
		return token, false
	}
	token.payload, token.signature = parts[0]+"."+parts[1], parts[2]
	decoded, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return token, false
	}
	return token, json.Unmarshal(decoded, &token.claims) == nil
}

// believe admits the client that the payload of a token names, unless the token has expired.
func (e Env) believe(r *http.Request, token jwt) *http.Request {
	if float64(e.Now().Unix()) >= token.claims.Expires {
		return r
	}
	return e.admitAs(r, token.claims.ClientID)
}

// parts are header and claims of a JWT, to be changed before it is signed anew.
type parts struct{ header, claims map[string]any }

// apart reads header and claims of a token; numbers keep their spelling.
func apart(token string) (p parts, ok bool) {
	segments := strings.Split(token, ".")
	if len(segments) != 3 {
		return p, false
	}
	for i, into := range []*map[string]any{&p.header, &p.claims} {
		raw, err := base64.RawURLEncoding.DecodeString(segments[i])
		if err != nil {
			return p, false
		}
		decoder := json.NewDecoder(strings.NewReader(string(raw)))
		decoder.UseNumber()
		if decoder.Decode(into) != nil {
			return p, false
		}
	}
	return p, true
}

// seconds is a numeric claim, 0 when there is none.
func (p parts) seconds(name string) int64 {
	n, _ := p.claims[name].(json.Number)
	seconds, _ := n.Int64()
	return seconds
}

// encoded is a JWT of header and claims with the signature given.
func (p parts) encoded(signature string) string {
	header, errHeader := json.Marshal(p.header)
	claims, errClaims := json.Marshal(p.claims)
	if errHeader != nil || errClaims != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(claims) + "." + signature
}

// sealed is a JWT of header and claims under HS256 with a key that is no secret.
func (p parts) sealed(key string) string {
	p.header["alg"] = "HS256"
	delete(p.header, "kid")
	input := strings.TrimSuffix(p.encoded(""), ".")
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(input))
	return input + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// reissued makes a Wrap in which every token is another one, and opens the API as the real one would: compose makes it of the
// parts of the real one, and may change the answer that it comes in.
func reissued(compose func(p parts, env Env, answer map[string]any) (string, error)) wrap {
	return func(next http.Handler, env Env) http.Handler {
		var real memory[string]
		issue := rewrite(when(succeeded, object(func(answer map[string]any) {
			token, _ := answer["access_token"].(string)
			p, ok := apart(token)
			if !ok {
				return
			}
			odd, err := compose(p, env, answer)
			if err != nil || odd == "" {
				return // opaque tokens have no parts
			}
			real.put(odd, token)
			answer["access_token"] = odd
		})), Token)
		accept := readmit(func(r *http.Request, _ Env) *http.Request {
			scheme, token := credential(r)
			if original, known := real.get(token); known {
				return authorized(r, scheme+" "+original)
			}
			return r
		}, protected()...)
		return issue(accept(next, env), env)
	}
}

// signed makes a compose of a change of the parts, signed with the node's key.
func signed(change func(p parts, env Env)) func(parts, Env, map[string]any) (string, error) {
	return func(p parts, env Env, _ map[string]any) (string, error) {
		change(p, env)
		return env.Sign(p.header, p.claims)
	}
}

// claim sets one claim.
func claim(name string, value any) wrap {
	return reissued(signed(func(p parts, _ Env) { p.claims[name] = value }))
}

// withoutClaim leaves one claim out.
func withoutClaim(name string) wrap {
	return reissued(signed(func(p parts, _ Env) { delete(p.claims, name) }))
}

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
func exchange(alter func(q tokenRequest, a *editableAnswer)) wrap {
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
