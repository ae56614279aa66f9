package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-fuego/fuego"
	"github.com/golang-jwt/jwt/v5"
)

const (
	tokenLife   = 72 * time.Second
	apiAudience = "urn:nordmark:ris:funding"
	apiScope    = "funding.read"
	apiRole     = "EXTERNAL_API_CLIENT"
)

// client is an entry of the identity provider.
type client struct {
	ID, ServiceAccount, Audience, Scope string
	SecretHash                          [32]byte
}

// account is an entry of the funding service's own table of service accounts.
type account struct {
	UserID, Affiliation string
	Roles               []string
}

// environment is one authorization server with the accounts that belong to it.
type environment struct {
	name, issuer string
	clients      map[string]client
	accounts     map[string]account
	throttle     *throttle
	keys         []signingKey
	started      time.Time

	mu     sync.Mutex
	issued map[string]issuedToken // only in use where tokens are handed out again
	grants map[string]time.Time   // positive answers of the account table, kept for 20 s
}

type signingKey struct {
	id  string
	key *rsa.PrivateKey
}

type issuedToken struct {
	token string
	exp   time.Time
}

type accessClaims struct {
	jwt.RegisteredClaims
	ClientID string `json:"client_id"`
	Scope    string `json:"scope"`
}

func hashSecret(secret string) [32]byte {
	if variant == "fuego-ulme" && len(secret) > 72 {
		secret = secret[:72]
	}
	return sha256.Sum256([]byte(secret))
}

func newEnvironment(name, issuer string) *environment {
	e := &environment{name: name, issuer: issuer, clients: map[string]client{}, accounts: map[string]account{},
		throttle: &throttle{failures: map[string][]time.Time{}}, started: time.Now(),
		issued: map[string]issuedToken{}, grants: map[string]time.Time{}}
	n := 1
	if variant == "fuego-tanne" && name == "production" {
		n = 4
	}
	for i := 0; i < n; i++ {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		e.keys = append(e.keys, signingKey{id: name[:4] + "-" + randomID(6), key: key})
	}
	return e
}

func (e *environment) add(id, secret, audience, userID, affiliation string, roles ...string) {
	scope := apiScope
	if audience != apiAudience {
		scope = "rooms.read"
	}
	e.clients[id] = client{ID: id, ServiceAccount: userID, Audience: audience, Scope: scope, SecretHash: hashSecret(secret)}
	e.accounts[userID] = account{UserID: userID, Affiliation: affiliation, Roles: roles}
}

func (e *environment) currentKey() signingKey {
	if variant == "fuego-tanne" {
		return e.keys[int(time.Since(e.started)/(20*time.Second))%len(e.keys)]
	}
	return e.keys[0]
}

func randomID(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// throttle slows down guessing: ten wrong secrets for one client id within a minute close it for 30 seconds.
type throttle struct {
	mu       sync.Mutex
	failures map[string][]time.Time
}

const (
	maxFailures = 10
	failWindow  = time.Minute
	lockTime    = 30 * time.Second
)

// lockedFor tells how long the client id is still closed.
func (t *throttle) lockedFor(id string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.failures[id]
	if len(f) < maxFailures {
		return 0
	}
	if wait := time.Until(f[len(f)-1].Add(lockTime)); wait > 0 {
		return wait
	}
	delete(t.failures, id)
	return 0
}

func (t *throttle) fail(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	var recent []time.Time
	for _, at := range t.failures[id] {
		if now.Sub(at) < failWindow {
			recent = append(recent, at)
		}
	}
	if len(t.failures) > 5000 {
		for other, f := range t.failures {
			if now.Sub(f[len(f)-1]) > failWindow {
				delete(t.failures, other)
			}
		}
	}
	t.failures[id] = append(recent, now)
}

// oauthError is the error answer of RFC 6749, section 5.2.
type oauthError struct {
	status int
	Code   string `json:"error"`
	Text   string `json:"error_description"`
}

func sendToken(w http.ResponseWriter, status int, body any) {
	b, _ := json.Marshal(body)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

// tokenEndpoint is the client credentials grant (RFC 6749, section 4.4).
func (e *environment) tokenEndpoint(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	fail := func(err oauthError) {
		if err.status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="nordmark `+e.name+`", charset="UTF-8"`)
		}
		sendToken(w, err.status, err)
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		fail(oauthError{400, "invalid_request", "the body must be application/x-www-form-urlencoded"})
		return
	}
	body, err := readAll(w, r, 16<<10)
	if err != nil {
		fail(oauthError{413, "invalid_request", "the body is too large"})
		return
	}
	form, err := url.ParseQuery(body)
	if err != nil {
		fail(oauthError{400, "invalid_request", "the body is not a valid form"})
		return
	}
	for _, name := range []string{"grant_type", "client_id", "client_secret", "scope"} {
		if len(form[name]) > 1 {
			fail(oauthError{400, "invalid_request", "the parameter " + name + " is repeated"})
			return
		}
	}
	cl, oerr := e.authenticateClient(r, form)
	if oerr != nil {
		if oerr.status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", oerr.Text)
			oerr.Text = "too many wrong secrets, try again later"
		}
		fail(*oerr)
		return
	}
	switch form.Get("grant_type") {
	case "client_credentials":
	case "":
		fail(oauthError{400, "invalid_request", "the parameter grant_type is missing"})
		return
	default:
		fail(oauthError{400, "unsupported_grant_type", "only client_credentials is supported"})
		return
	}
	for _, s := range strings.Fields(form.Get("scope")) {
		if s != cl.Scope {
			fail(oauthError{400, "invalid_scope", "the only scope of this client is " + cl.Scope})
			return
		}
	}
	token, life := e.issue(cl)
	sendToken(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer",
		"expires_in": int(life / time.Second), "scope": cl.Scope})
}

func (e *environment) authenticateClient(r *http.Request, form url.Values) (client, *oauthError) {
	invalid := &oauthError{401, "invalid_client", "client authentication failed"}
	id, secret := form.Get("client_id"), form.Get("client_secret")
	if len(r.Header["Authorization"]) > 1 {
		return client{}, &oauthError{400, "invalid_request", "more than one Authorization header"}
	}
	if header := r.Header.Get("Authorization"); header != "" {
		basicID, basicSecret, ok := parseBasic(header)
		if !ok {
			return client{}, invalid
		}
		if secret != "" {
			return client{}, &oauthError{400, "invalid_request", "more than one way of client authentication"}
		}
		if id != "" && id != basicID {
			return client{}, &oauthError{400, "invalid_request", "client_id differs from the authenticated client"}
		}
		id, secret = basicID, basicSecret
	}
	if id == "" || secret == "" {
		return client{}, invalid
	}
	if wait := e.throttle.lockedFor(id); wait > 0 {
		return client{}, &oauthError{429, "temporarily_unavailable", strconv.Itoa(int(wait/time.Second) + 1)}
	}
	cl, known := e.clients[id]
	given := hashSecret(secret)
	if subtle.ConstantTimeCompare(given[:], cl.SecretHash[:]) != 1 || !known {
		e.throttle.fail(id)
		return client{}, invalid
	}
	return cl, nil
}

// parseBasic reads HTTP Basic credentials, both parts form-encoded (RFC 6749, section 2.3.1).
func parseBasic(header string) (id, secret string, ok bool) {
	scheme, rest, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest))
	if err != nil {
		return "", "", false
	}
	id, secret, ok = strings.Cut(string(raw), ":")
	if !ok {
		return "", "", false
	}
	if id, err = url.QueryUnescape(id); err != nil {
		return "", "", false
	}
	if secret, err = url.QueryUnescape(secret); err != nil {
		return "", "", false
	}
	return id, secret, true
}

func (e *environment) issue(cl client) (string, time.Duration) {
	now := time.Now().Truncate(time.Second)
	if variant == "fuego-birke" {
		e.mu.Lock()
		defer e.mu.Unlock()
		if old, ok := e.issued[cl.ID]; ok && old.exp.Sub(now) > 30*time.Second {
			return old.token, old.exp.Sub(now)
		}
	}
	exp := now.Add(tokenLife)
	k := e.currentKey()
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, accessClaims{
		RegisteredClaims: jwt.RegisteredClaims{Issuer: e.issuer, Subject: cl.ServiceAccount, Audience: jwt.ClaimStrings{cl.Audience},
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(exp), ID: randomID(16)},
		ClientID: cl.ID, Scope: cl.Scope})
	t.Header["typ"] = "at+jwt"
	t.Header["kid"] = k.id
	signed, err := t.SignedString(k.key)
	if err != nil {
		panic(err)
	}
	if variant == "fuego-birke" {
		e.issued[cl.ID] = issuedToken{signed, exp}
	}
	return signed, tokenLife
}

// jwks publishes the public keys (RFC 7517).
func (e *environment) jwks(w http.ResponseWriter, r *http.Request) {
	var keys []map[string]string
	for _, k := range e.keys {
		keys = append(keys, map[string]string{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": k.id,
			"n": base64.RawURLEncoding.EncodeToString(k.key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(k.key.E)).Bytes())})
	}
	w.Header().Set("Cache-Control", "public, max-age=60")
	sendToken(w, http.StatusOK, map[string]any{"keys": keys})
}

// verify checks an access token as RFC 9068, section 4 demands.
func (e *environment) verify(token, audience string) (*accessClaims, error) {
	options := []jwt.ParserOption{jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(e.issuer),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithStrictDecoding()}
	if audience != "" {
		options = append(options, jwt.WithAudience(audience))
	}
	claims := &accessClaims{}
	_, err := jwt.NewParser(options...).ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		typ, _ := t.Header["typ"].(string)
		if typ = strings.ToLower(typ); typ != "at+jwt" && typ != "application/at+jwt" {
			return nil, errors.New("not an access token")
		}
		for _, k := range e.keys {
			if k.id == t.Header["kid"] {
				return &k.key.PublicKey, nil
			}
		}
		return nil, errors.New("unknown key")
	})
	return claims, err
}

// hasRole asks the account table; a positive answer is kept for 20 seconds.
func (e *environment) hasRole(a account) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := a.UserID
	if variant == "fuego-erle" {
		key = a.Affiliation
	}
	if until, ok := e.grants[key]; ok && time.Now().Before(until) {
		return true
	}
	for _, role := range a.Roles {
		if role == apiRole {
			e.grants[key] = time.Now().Add(20 * time.Second)
			return true
		}
	}
	return false
}

// protect lets only bearers of a good token of this environment pass (RFC 6750).
func (e *environment) protect(audience string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if variant == "fuego-weser" && !strings.Contains(strings.SplitN(r.RequestURI, "?", 2)[0], prefix+"/") {
				next.ServeHTTP(w, r) // pages of the portal
				return
			}
			realm := `Bearer realm="nordmark ` + e.name + `"`
			deny := func(status int, code, detail string) {
				challenge := realm
				if code != "" {
					challenge += `, error="` + code + `", error_description="` + detail + `"`
				}
				if code == "insufficient_scope" {
					challenge += `, scope="` + apiScope + `"`
				}
				w.Header().Set("WWW-Authenticate", challenge)
				sendProblem(w, r, fuego.HTTPError{Status: status, Title: http.StatusText(status), Detail: detail})
			}
			if len(r.Header["Authorization"]) > 1 {
				deny(400, "invalid_request", "more than one Authorization header")
				return
			}
			scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			if !strings.EqualFold(scheme, "Bearer") {
				deny(401, "", "an access token is needed")
				return
			}
			claims, err := e.verify(strings.Trim(token, " "), audience)
			if err != nil {
				deny(401, "invalid_token", "the access token is not valid")
				return
			}
			a, ok := e.accounts[claims.Subject]
			if !ok || !e.hasRole(a) {
				deny(403, "insufficient_scope", "the service account lacks the role "+apiRole)
				return
			}
			next.ServeHTTP(w, r.WithContext(withAccount(r.Context(), a, claims)))
		})
	}
}
