package fault

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
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

// bearer returns the token after the word Bearer, and "" for other credentials.
func bearer(r *http.Request) string {
	if scheme, token := credential(r); strings.EqualFold(scheme, "Bearer") {
		return token
	}
	return ""
}

func withAuthorization(r *http.Request, value string) *http.Request {
	changed := r.Clone(r.Context())
	changed.Header.Set("Authorization", value)
	return changed
}

// jwt is the content of a token, which has not been verified.
type jwt struct {
	header, claims map[string]any // header is nil if it is not a JSON object
	// input is the signing input: header and payload as they are encoded in the token.
	input, signature string
}

// parseJWT reads a token whose payload is a JSON object.
func parseJWT(token string) (t jwt, ok bool) {
	segments := strings.Split(token, ".")
	if len(segments) != 3 {
		return t, false
	}
	t.input, t.signature = segments[0]+"."+segments[1], segments[2]
	t.header, t.claims = decodeSegment(segments[0]), decodeSegment(segments[1])
	return t, t.claims != nil
}

// decodeSegment returns the JSON object in a segment of a JWT, and nil for any other content.
func decodeSegment(segment string) (object map[string]any) {
	raw, err := base64.RawURLEncoding.DecodeString(segment)
	if err != nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&object) != nil {
		return nil
	}
	return object
}

// client returns the id of the client that the token names.
func (t jwt) client() string { return text(t.claims["client_id"]) }

// seconds returns a numeric claim.
func (t jwt) seconds(name string) float64 { return number(t.claims[name]) }

// number returns a value that is a JSON number, and 0 for any other.
func number(value any) float64 {
	switch n := value.(type) {
	case float64:
		return n
	case json.Number:
		f, _ := n.Float64()
		return f
	}
	return 0
}

// encode returns a JWT of header and claims with the signature.
func (t jwt) encode(signature string) string {
	header, errHeader := json.Marshal(t.header)
	claims, errClaims := json.Marshal(t.claims)
	if errHeader != nil || errClaims != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(claims) + "." + signature
}

// signHS256 returns a JWT of header and claims that is signed by HS256.
func (t jwt) signHS256(key string) string {
	t.header["alg"] = "HS256"
	delete(t.header, "kid")
	input := strings.TrimSuffix(t.encode(""), ".")
	return input + "." + base64.RawURLEncoding.EncodeToString(hs256(input, []byte(key)))
}

func hs256(input string, key []byte) []byte { return hmacOf("HS256", input, key) }

// hmacOf signs with HS256, HS384 or HS512 (RFC 7518 §3.2).
func hmacOf(algorithm, input string, key []byte) []byte {
	newHash := sha256.New
	switch algorithm {
	case "HS384":
		newHash = sha512.New384
	case "HS512":
		newHash = sha512.New
	}
	mac := hmac.New(newHash, key)
	mac.Write([]byte(input))
	return mac.Sum(nil)
}

// issuedToken is a token that the node issues, with the token answer that contains it. A deviation may change both.
type issuedToken struct {
	jwt
	body map[string]any
	env  Env
}

// replaceTokens makes a wrap that replaces each token that the node issues, and puts the original back when a client sends the replacement to the API.
// If replace returns "", the token stays.
// Like [intercept], it is not inlined.
//
//go:noinline
func replaceTokens(replace func(token string, body map[string]any, env Env) string) wrap {
	return func(next http.Handler, env Env) http.Handler {
		var originals memory[string]
		issue := editTokenAnswer(func(body map[string]any) {
			token := text(body["access_token"])
			if other := replace(token, body, env); other != "" {
				originals.put(other, token)
				body["access_token"] = other
			}
		})
		return both(issue, restoreTokens(&originals))(next, env)
	}
}

// restoreTokens makes a wrap that passes the original of each replaced token to the API.
func restoreTokens(originals *memory[string]) wrap {
	return replaceRequest(func(r *http.Request, _ Env) *http.Request {
		scheme, token := credential(r)
		if original, known := originals.get(token); known {
			return withAuthorization(r, scheme+" "+original)
		}
		return r
	}, Info, Document, List, Detail, API)
}

// rebuildTokens is [replaceTokens] for JWTs. Opaque tokens stay.
// Like [intercept], it is not inlined.
//
//go:noinline
func rebuildTokens(build func(t issuedToken) string) wrap {
	return replaceTokens(func(token string, body map[string]any, env Env) string {
		t, ok := parseJWT(token)
		if !ok {
			return ""
		}
		return build(issuedToken{t, body, env})
	})
}

// editTokens makes a wrap that changes header and claims of each JWT and signs the result with the node's key.
func editTokens(edit func(t issuedToken)) wrap {
	return rebuildTokens(func(t issuedToken) string {
		edit(t)
		token, err := t.env.Sign(t.header, t.claims)
		if err != nil {
			return ""
		}
		return token
	})
}

// setClaim makes a wrap that sets one claim of each token.
func setClaim(name string, value any) wrap {
	return editTokens(func(t issuedToken) { t.claims[name] = value })
}

// dropClaim makes a wrap that removes one claim of each token.
func dropClaim(name string) wrap {
	return editTokens(func(t issuedToken) { delete(t.claims, name) })
}

// setLifetime makes a wrap that issues tokens with a lifetime in seconds, which exp and expires_in state.
func setLifetime(seconds float64) wrap {
	// The original token, which the node checks, still has the old lifetime, so the wrap refuses expired tokens itself.
	expire := replaceRequest(func(r *http.Request, env Env) *http.Request {
		if t, ok := parseJWT(bearer(r)); ok && secondsSinceExpiry(t, env) >= 0 {
			return withAuthorization(r, "Bearer expired")
		}
		return r
	}, protectedKinds()...)
	return both(expire, editTokens(func(t issuedToken) {
		t.claims["exp"], t.body["expires_in"] = t.seconds("iat")+seconds, seconds
	}))
}

// maxForm is the number of bytes that deviations read of a token request. They pass longer requests to the node unchanged.
const maxForm = 32 << 10

// tokenRequest is the form of a token request.
type tokenRequest struct {
	url.Values
	// raw is the form as it was sent.
	raw string
	// basic is true if the request has an Authorization header.
	basic bool
}

// Set sets a parameter wherever the form has it, so that a form that repeats the parameter stays wrong.
func (q tokenRequest) Set(name, value string) {
	if !q.Has(name) {
		q.Values[name] = []string{value}
	}
	for i := range q.Values[name] {
		q.Values[name][i] = value
	}
}

// readTokenRequest reads the form of a POST and leaves r as it was.
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
	return tokenRequest{form, string(raw), r.Header.Get("Authorization") != ""}, err == nil
}

// lacksClient holds for requests without any client authentication.
func (q tokenRequest) lacksClient() bool {
	return !q.basic && q.Get("client_id") == "" && q.Get("client_secret") == ""
}

// withForm returns r with another body.
func withForm(r *http.Request, body string) *http.Request {
	changed := r.Clone(r.Context())
	changed.Body, changed.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return changed
}

// editForm makes a wrap that changes the forms of token requests before the node sees them.
func editForm(edit func(q tokenRequest, env Env)) wrap {
	return replaceRequest(func(r *http.Request, env Env) *http.Request {
		q, ok := readTokenRequest(r)
		if !ok {
			return r
		}
		edit(q, env)
		return withForm(r, q.Encode())
	}, Token)
}

// rewriteToken makes a wrap that changes the answers to token requests that fit.
// Like [intercept], it is not inlined.
//
//go:noinline
func rewriteToken(fits func(q tokenRequest, a *answer) bool, alter change) wrap {
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		q, ok := readTokenRequest(r)
		a := capture(next, r)
		a.form, a.env = q, env
		if ok && fits(q, a) {
			alter(a)
		}
		a.send(w, r)
	}, Token)
}

// editTokenAnswer makes a wrap that edits successful token answers.
func editTokenAnswer(change func(body map[string]any)) wrap {
	return rewriteSuccess(edit(change), Token)
}

// acceptSecret makes a wrap that accepts a secret that is similar to the right one, in a form and by HTTP Basic.
func acceptSecret(similar func(right, given string) bool) wrap {
	inForm := editForm(func(q tokenRequest, env Env) {
		client, known := env.Client(q.Get("client_id"))
		if given := q.Get("client_secret"); known && client.Secret != "" && given != "" && similar(client.Secret, given) {
			q.Set("client_secret", client.Secret)
		}
	})
	byBasic := replaceRequest(func(r *http.Request, env Env) *http.Request {
		id, given, _ := r.BasicAuth()
		id, errID := url.QueryUnescape(id)
		given, errSecret := url.QueryUnescape(given)
		client, known := env.Client(id)
		if errID != nil || errSecret != nil || !known || client.Secret == "" || given == "" || !similar(client.Secret, given) {
			return r
		}
		changed := r.Clone(r.Context())
		setBasic(changed, client)
		return changed
	}, Token)
	return both(inForm, byBasic)
}

// authenticate makes a wrap that adds credentials to token requests that fit: those of the named client, or of the first client if none is named.
func authenticate(fits func(q tokenRequest) bool) wrap {
	return authenticateIf(func(q tokenRequest, _ Env) bool { return fits(q) })
}

// authenticateIf is [authenticate] with a condition on the node.
func authenticateIf(fits func(q tokenRequest, env Env) bool) wrap {
	return editForm(func(q tokenRequest, env Env) {
		client, known := env.Client(q.Get("client_id"))
		if !known && q.Get("client_id") == "" {
			client, _ = env.clientWithSecret()
		}
		if client.Secret != "" && fits(q, env) {
			q.Set("client_id", client.ID)
			q.Set("client_secret", client.Secret)
		}
	})
}

// client returns the id of the client whose token request was answered, from HTTP Basic or the form.
func (a *answer) client() string {
	if id, _, basic := a.request.BasicAuth(); basic {
		if plain, err := url.QueryUnescape(id); err == nil {
			return plain
		}
	}
	return a.form.Get("client_id")
}
