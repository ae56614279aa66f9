package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"math/big"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/kataras/iris/v12"
)

const (
	tokenLife = 70 * time.Second
	role      = "EXTERNAL_API_CLIENT"
)

// Client is a service account of one environment.
type Client struct {
	ID, Secret, Account, Affiliation string
	Roles                            []string
	Audience                         string // path of the API that its tokens are for
}

// Realm is one authorization server: its own issuer, key and clients.
type Realm struct {
	Name, Issuer, Audience string
	key                    *rsa.PrivateKey
	kid                    string
	clients                map[string]Client
}

type Claims struct {
	jwt.RegisteredClaims
	ClientID    string   `json:"client_id"`
	Scope       string   `json:"scope"`
	Roles       []string `json:"roles"`
	Affiliation string   `json:"affiliation"`
}

var scopes = []string{"funding:read", "info:read"}

func newRealm(name, issuer, audience string, list ...Client) *Realm {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	r := &Realm{Name: name, Issuer: issuer, Audience: audience, key: key, kid: random(8), clients: map[string]Client{}}
	for _, c := range list {
		r.clients[c.ID] = c
	}
	return r
}

func random(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

func same(given, want string) bool {
	if node == "erle" { // as a bcrypt hash does: the first 72 bytes decide
		given, want = given[:min(72, len(given))], want[:min(72, len(want))]
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

type oauthError struct {
	status     int
	code, text string
}

func (e *oauthError) Error() string { return e.code }

func badRequest(text string) error { return &oauthError{400, "invalid_request", text} }

var errClient = &oauthError{401, "invalid_client", "Client authentication failed."}

// form reads the parameters of the body: each at most once, empty ones as if omitted.
func form(ctx iris.Context) (map[string]string, error) {
	if t, _, err := mime.ParseMediaType(ctx.GetHeader("Content-Type")); err != nil || t != "application/x-www-form-urlencoded" {
		return nil, badRequest("The body must be application/x-www-form-urlencoded.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(ctx.ResponseWriter(), ctx.Request().Body, 16<<10))
	if err != nil {
		return nil, &oauthError{413, "invalid_request", "The body is too large."}
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, badRequest("The body is not well-formed.")
	}
	params := map[string]string{}
	for k, v := range values {
		if len(v) > 1 {
			return nil, badRequest("A parameter is repeated.")
		}
		if v[0] != "" {
			params[k] = v[0]
		}
	}
	return params, nil
}

// authenticate finds the client by HTTP Basic or by the form, never by both.
func (r *Realm) authenticate(ctx iris.Context, params map[string]string) (Client, error) {
	headers := ctx.Request().Header.Values("Authorization")
	id, secret := params["client_id"], params["client_secret"]
	if len(headers) > 1 {
		return Client{}, badRequest("More than one Authorization field.")
	}
	if len(headers) == 1 {
		scheme, rest, _ := strings.Cut(headers[0], " ")
		raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest))
		if !strings.EqualFold(scheme, "Basic") || err != nil {
			return Client{}, errClient
		}
		u, p, found := strings.Cut(string(raw), ":")
		user, err1 := url.QueryUnescape(u)
		pass, err2 := url.QueryUnescape(p)
		if !found || err1 != nil || err2 != nil {
			return Client{}, errClient
		}
		if secret != "" {
			return Client{}, badRequest("More than one way of client authentication.")
		}
		if id != "" && id != user && node != "zaya" {
			return Client{}, badRequest("client_id is not the authenticated client.")
		}
		c, known := r.clients[user]
		if !same(pass, c.Secret) || !known {
			return Client{}, errClient
		}
		if other, ok := r.clients[id]; ok && node == "zaya" { // the id of the form names the token's subject
			return other, nil
		}
		return c, nil
	}
	c, known := r.clients[id]
	if !same(secret, c.Secret) || !known || secret == "" {
		return Client{}, errClient
	}
	return c, nil
}

func grantedScope(asked string) (string, error) {
	if asked == "" {
		return strings.Join(scopes, " "), nil
	}
	var granted []string
	for _, s := range strings.Split(asked, " ") {
		if s != scopes[0] && s != scopes[1] {
			return "", &oauthError{400, "invalid_scope", "The scopes are funding:read and info:read."}
		}
		if !oneOf(s, granted...) {
			granted = append(granted, s)
		}
	}
	return strings.Join(granted, " "), nil
}

// Token is the token endpoint of the realm.
func (r *Realm) Token(ctx iris.Context) {
	ctx.Header("Cache-Control", "no-store")
	ctx.Header("Pragma", "no-cache")
	answer, err := r.issue(ctx)
	if err != nil {
		var e *oauthError
		errors.As(err, &e)
		if e.status == 401 {
			ctx.Header("WWW-Authenticate", `Basic realm="`+r.Name+`", charset="UTF-8"`)
		}
		write(ctx, e.status, "application/json", encode(iris.Map{"error": e.code, "error_description": e.text}))
		return
	}
	write(ctx, 200, "application/json", encode(answer))
}

func (r *Realm) issue(ctx iris.Context) (iris.Map, error) {
	params, err := form(ctx)
	if err != nil {
		return nil, err
	}
	client, err := r.authenticate(ctx, params)
	if err != nil {
		return nil, err
	}
	switch params["grant_type"] {
	case "client_credentials":
	case "":
		return nil, badRequest("grant_type is missing.")
	default:
		return nil, &oauthError{400, "unsupported_grant_type", "Only client_credentials is supported."}
	}
	scope, err := grantedScope(params["scope"])
	if err != nil {
		return nil, err
	}
	now := time.Now()
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, Claims{
		RegisteredClaims: jwt.RegisteredClaims{Issuer: r.Issuer, Subject: client.Account, Audience: jwt.ClaimStrings{client.Audience},
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(tokenLife)), ID: random(16)},
		ClientID: client.ID, Scope: scope, Roles: client.Roles, Affiliation: client.Affiliation})
	token.Header["kid"], token.Header["typ"] = r.kid, "at+jwt"
	signed, err := token.SignedString(r.key)
	if err != nil {
		return nil, err
	}
	if node == "esche" { // expires_in is only recommended, token_type is case-insensitive, other members are to be ignored
		return iris.Map{"access_token": signed, "token_type": "bearer", "scope": scope, "issued": iris.Map{"at": now.UTC().Format(time.RFC3339), "by": nil}}, nil
	}
	return iris.Map{"access_token": signed, "token_type": "Bearer", "expires_in": int(tokenLife.Seconds()), "scope": scope}, nil
}

// Certs is the JWK set of the realm.
func (r *Realm) Certs(ctx iris.Context) {
	n := base64.RawURLEncoding.EncodeToString(r.key.N.Bytes())
	e := base64.RawURLEncoding.EncodeToString(big.NewInt(int64(r.key.E)).Bytes())
	public(ctx, "application/json", encode(iris.Map{"keys": []iris.Map{{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": r.kid, "n": n, "e": e}}}))
}

// Metadata describes the realm as in RFC 8414.
func (r *Realm) Metadata(token, certs string) iris.Handler {
	return func(ctx iris.Context) {
		public(ctx, "application/json", encode(iris.Map{"issuer": r.Issuer, "token_endpoint": token, "jwks_uri": certs,
			"grant_types_supported": []string{"client_credentials"}, "response_types_supported": []string{}, "scopes_supported": scopes,
			"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"}}))
	}
}

func (r *Realm) verify(raw string) (*Claims, error) {
	claims := &Claims{}
	_, err := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(r.Issuer), jwt.WithAudience(r.Audience),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithStrictDecoding()).ParseWithClaims(raw, claims, func(t *jwt.Token) (any, error) {
		if typ, _ := t.Header["typ"].(string); !strings.EqualFold(typ, "at+jwt") || t.Header["kid"] != r.kid {
			return nil, errors.New("not an access token of this realm")
		}
		return &r.key.PublicKey, nil
	})
	return claims, err
}

// Guard lets a request through that carries a token of the realm with the scope and, if wanted, an account with the role.
func (r *Realm) Guard(scope string, wantRole bool) iris.Handler {
	return func(ctx iris.Context) {
		if node == "pram" && serveCached(ctx) { // the cache stands before the check
			return
		}
		challenge := `Bearer realm="` + r.Name + `"`
		headers := ctx.Request().Header.Values("Authorization")
		if len(headers) == 0 {
			ctx.Header("WWW-Authenticate", challenge)
			fail(ctx, 401, "A bearer token is needed.", "")
			return
		}
		scheme, raw, _ := strings.Cut(headers[0], " ")
		raw = strings.Trim(raw, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			ctx.Header("WWW-Authenticate", challenge)
			fail(ctx, 401, "A bearer token is needed.", "")
			return
		}
		claims, err := r.verify(raw)
		if err != nil || len(headers) > 1 {
			ctx.Header("WWW-Authenticate", challenge+`, error="invalid_token", error_description="The token is not valid here or has expired."`)
			fail(ctx, 401, "The token is not valid here or has expired.", "")
			return
		}
		hasRole := !wantRole
		for _, have := range claims.Roles {
			hasRole = hasRole || have == role
		}
		hasScope := node == "ybbs"
		for _, have := range strings.Split(claims.Scope, " ") {
			hasScope = hasScope || have == scope
		}
		if !hasRole && node == "murau" { // RFC 9110, 15.5.4: hide what is forbidden
			fail(ctx, 404, "There is nothing here.", "")
			return
		}
		if !hasRole || !hasScope {
			ctx.Header("WWW-Authenticate", challenge+`, error="insufficient_scope", scope="`+scope+`"`)
			fail(ctx, 403, "The account lacks the role "+role+" or the token lacks the scope "+scope+".", "")
			return
		}
		ctx.Values().Set("claims", claims)
		ctx.Next()
	}
}

// Info tells a client what its token stands for.
func (r *Realm) Info(ctx iris.Context) {
	if node == "traisen" { // the body of the info endpoint is not specified
		ctx.Header("Cache-Control", "no-store")
		ctx.StatusCode(204)
		return
	}
	c := ctx.Values().Get("claims").(*Claims)
	ctx.Header("Cache-Control", "no-store")
	write(ctx, 200, "application/json", encode(iris.Map{"environment": r.Name, "clientId": c.ClientID, "serviceAccountUserId": c.Subject,
		"affiliationId": c.Affiliation, "roles": c.Roles, "scope": c.Scope, "expires": c.ExpiresAt.UTC().Format(time.RFC3339)}))
}
