package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"io"
	"math/big"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	rolleExtern    = "EXTERNAL_API_CLIENT"
	bereichLesen   = "ausschreibungen.lesen"
	bereichInfo    = "info.lesen"
	dauer          = 900 // lifetime of a token in seconds
	fehlversuche   = 100 // wrong secrets of one client in a minute
	hoechstlaenge  = 16 << 10
	formularInhalt = "application/x-www-form-urlencoded"
)

type klient struct {
	id, geheimnis string
	konto         string // service account user id
	rollen        []string
	zielgruppe    string // audience, when it is not this API
}

type schluessel struct {
	kid    string
	privat crypto.Signer
	verf   jwt.SigningMethod
}

type aussteller struct {
	pfad, tokenPfad, keyPfad string
	kennung                  string // issuer
	ziel                     string // audience of the API it guards
	klienten                 map[string]klient
	keys                     []schluessel    // the first one is published
	enc                      *rsa.PrivateKey // another published key, where there is one
	zaehler                  atomic.Int64
	mu                       sync.Mutex
	fehl                     map[string][]time.Time
}

func produktivKlienten() []klient {
	return []klient{
		{id: "a7f3c2e19b8d4f6c-portal", geheimnis: "kV9+tQ2/xZr7LmB4uWc8YdH1pJs6NfGe3oAiRw5Tq0M=", konto: "sa-5d1e77c0", rollen: []string{rolleExtern}},
		{id: "c04be6d7715a4e02-gast", geheimnis: "Zp3/8sVnK1+oXw6RbQy9TfLcD7mJuHg2EiAe5kWt4N0=", konto: "sa-90ab21f4"},
		{id: "e91f50a86c3b47dd-projekte", geheimnis: "Hm7+Yc4/eTq2VxR9nLzB1sWdK8pGfJu6oAiQ3w5Et0D=", konto: "sa-3c66ee18", rollen: []string{rolleExtern}, zielgruppe: "/projekte"},
		{id: "19d8b3f2a0c64e75-reserve", geheimnis: "Rt5/2xKvN8+bQm1WzYs7LcHdJ4pGfVu9oEiAe6nTw3B=", konto: "sa-f07a4412", rollen: []string{rolleExtern}},
	}
}

func stagingKlienten() []klient {
	return []klient{{id: "staging-6b2d90ce41f7", geheimnis: "Wq8/Lt3+ZnV6xRk1BmYs9HcJd5pGuFf2oEiAe7wTr4K=", konto: "sa-staging-1", rollen: []string{rolleExtern}}}
}

func neuerSchluessel() schluessel {
	roh := make([]byte, 8)
	rand.Read(roh)
	kid := base64.RawURLEncoding.EncodeToString(roh)
	if knoten == "ec" {
		k, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		return schluessel{kid, k, jwt.SigningMethodES256}
	}
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return schluessel{kid, k, jwt.SigningMethodRS256}
}

func neuerAussteller(pfad, tokenPfad, keyPfad, ziel string, kl []klient) *aussteller {
	a := &aussteller{pfad: pfad, tokenPfad: tokenPfad, keyPfad: keyPfad, kennung: ursprung + pfad, ziel: ziel,
		klienten: map[string]klient{}, fehl: map[string][]time.Time{}}
	for _, k := range kl {
		a.klienten[k.id] = k
	}
	a.keys = []schluessel{neuerSchluessel()}
	switch knoten {
	case "replica":
		a.keys = append(a.keys, neuerSchluessel())
	case "ec":
		a.enc, _ = rsa.GenerateKey(rand.Reader, 2048)
	}
	return a
}

func (a *aussteller) routen(mux *http.ServeMux) {
	mux.HandleFunc("POST "+a.tokenPfad, a.token)
	mux.HandleFunc("GET "+a.keyPfad, a.jwks)
	mux.HandleFunc("GET /.well-known/oauth-authorization-server"+a.pfad, a.metadaten)
	mux.HandleFunc("GET "+a.pfad+"/.well-known/openid-configuration", a.metadaten)
}

func (a *aussteller) metadaten(w http.ResponseWriter, r *http.Request) {
	schreibeJSON(w, 200, map[string]any{
		"issuer":                                a.kennung,
		"token_endpoint":                        ursprung + a.tokenPfad,
		"jwks_uri":                              ursprung + a.keyPfad,
		"grant_types_supported":                 []string{"client_credentials"},
		"response_types_supported":              []string{"none"},
		"scopes_supported":                      []string{bereichLesen, bereichInfo},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"},
	})
}

func (a *aussteller) jwks(w http.ResponseWriter, r *http.Request) {
	b64 := base64.RawURLEncoding.EncodeToString
	k := a.keys[0]
	eintrag := map[string]any{"kid": k.kid, "use": "sig", "alg": k.verf.Alg()}
	switch p := k.privat.Public().(type) {
	case *rsa.PublicKey:
		eintrag["kty"], eintrag["n"], eintrag["e"] = "RSA", b64(p.N.Bytes()), b64(big.NewInt(int64(p.E)).Bytes())
	case *ecdsa.PublicKey:
		x, y := make([]byte, 32), make([]byte, 32)
		eintrag["kty"], eintrag["crv"] = "EC", "P-256"
		eintrag["x"], eintrag["y"] = b64(p.X.FillBytes(x)), b64(p.Y.FillBytes(y))
	}
	alle := []any{eintrag}
	if knoten == "ec" { // a key for other purposes, as identity providers publish them
		alle = []any{map[string]any{"kid": "enc-1", "use": "enc", "alg": "RSA-OAEP", "kty": "RSA",
			"n": b64(a.enc.N.Bytes()), "e": "AQAB"}, eintrag}
	}
	w.Header().Set("Cache-Control", "public, max-age=300")
	schreibeJSON(w, 200, map[string]any{"keys": alle})
}

// ---- token endpoint -------------------------------------------------------

func tokenFehler(w http.ResponseWriter, status int, code, text string) {
	if status == 401 {
		w.Header().Set("WWW-Authenticate", `Basic realm="token", charset="UTF-8"`)
	}
	schreibeJSON(w, status, map[string]any{"error": code, "error_description": text})
}

// basisdaten reads id and secret from a Basic header; both candidates are
// returned: form-decoded, as RFC 6749 wants it, and as they came.
func basisdaten(kopf string) (paare [][2]string) {
	art, rest, _ := strings.Cut(kopf, " ")
	if !strings.EqualFold(art, "Basic") {
		return nil
	}
	roh, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest))
	if err != nil {
		return nil
	}
	id, geheim, ok := strings.Cut(string(roh), ":")
	if !ok {
		return nil
	}
	id2, e1 := url.QueryUnescape(id)
	geheim2, e2 := url.QueryUnescape(geheim)
	if e1 == nil && e2 == nil && knoten != "basic" {
		paare = append(paare, [2]string{id2, geheim2})
	}
	return append(paare, [2]string{id, geheim})
}

func (a *aussteller) stimmt(id, geheim string) (klient, bool) {
	k, da := a.klienten[id]
	x, y := sha256.Sum256([]byte(k.geheimnis)), sha256.Sum256([]byte(geheim))
	return k, subtle.ConstantTimeCompare(x[:], y[:]) == 1 && da && geheim != ""
}

// gesperrt counts failures and says whether the client has to wait.
func (a *aussteller) gesperrt(id string, neuerFehler bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	liste := slices.DeleteFunc(a.fehl[id], func(t time.Time) bool { return time.Since(t) > time.Minute })
	if neuerFehler && a.klienten[id].id != "" {
		liste = append(liste, time.Now())
	}
	a.fehl[id] = liste
	return len(liste) >= fehlversuche
}

func (a *aussteller) token(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	art, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || art != formularInhalt {
		tokenFehler(w, 400, "invalid_request", "The request body must be form-urlencoded.")
		return
	}
	roh, err := io.ReadAll(io.LimitReader(r.Body, hoechstlaenge+1))
	if err != nil || len(roh) > hoechstlaenge {
		tokenFehler(w, 400, "invalid_request", "The request body is too long.")
		return
	}
	werte, err := url.ParseQuery(string(roh))
	if err != nil {
		tokenFehler(w, 400, "invalid_request", "The request body is malformed.")
		return
	}
	p := map[string]string{}
	for name, liste := range werte {
		liste = slices.DeleteFunc(liste, func(s string) bool { return s == "" })
		if len(liste) > 1 {
			tokenFehler(w, 400, "invalid_request", "A parameter is repeated.")
			return
		}
		if len(liste) == 1 {
			p[name] = liste[0]
		}
	}

	// Client authentication: Basic or form, never both.
	koepfe := r.Header.Values("Authorization")
	var k klient
	ok := false
	id := p["client_id"]
	switch {
	case len(koepfe) > 1:
		tokenFehler(w, 400, "invalid_request", "More than one Authorization header.")
		return
	case len(koepfe) == 1:
		paare := basisdaten(koepfe[0])
		if p["client_secret"] != "" || (id != "" && len(paare) > 0 && paare[0][0] != id) {
			tokenFehler(w, 400, "invalid_request", "More than one way of client authentication.")
			return
		}
		for _, paar := range paare {
			id = paar[0]
			if k, ok = a.stimmt(paar[0], paar[1]); ok {
				break
			}
		}
	default:
		k, ok = a.stimmt(id, p["client_secret"])
	}
	if a.gesperrt(id, false) {
		w.Header().Set("Retry-After", "30")
		tokenFehler(w, 429, "temporarily_unavailable", "Too many failed attempts.")
		return
	}
	if !ok {
		a.gesperrt(id, true)
		tokenFehler(w, 401, "invalid_client", "Client authentication failed.")
		return
	}

	switch p["grant_type"] {
	case "":
		tokenFehler(w, 400, "invalid_request", "grant_type is missing.")
		return
	case "client_credentials":
	default:
		tokenFehler(w, 400, "unsupported_grant_type", "Only client_credentials is supported.")
		return
	}
	bereiche := []string{bereichLesen, bereichInfo}
	if p["scope"] != "" {
		gewollt := strings.Split(p["scope"], " ")
		for _, b := range gewollt {
			if !slices.Contains(bereiche, b) {
				tokenFehler(w, 400, "invalid_scope", "The scope is unknown.")
				return
			}
		}
		slices.Sort(gewollt)
		bereiche = slices.Compact(gewollt)
	}
	text, err := a.ausstellen(k, bereiche)
	if err != nil {
		tokenFehler(w, 500, "server_error", "The token could not be signed.")
		return
	}
	schreibeJSON(w, 200, map[string]any{"access_token": text, "token_type": "Bearer", "expires_in": dauer,
		"scope": strings.Join(bereiche, " ")})
}

func (a *aussteller) ausstellen(k klient, bereiche []string) (string, error) {
	n := a.zaehler.Add(1)
	jti := make([]byte, 16)
	rand.Read(jti)
	var ziel any = a.ziel
	if k.zielgruppe != "" {
		ziel = ursprung + k.zielgruppe
	} else if knoten == "ec" {
		ziel = []string{"account", a.ziel}
	}
	jetzt := time.Now().Unix()
	c := jwt.MapClaims{"iss": a.kennung, "sub": k.konto, "client_id": k.id, "aud": ziel, "iat": jetzt, "exp": jetzt + dauer,
		"jti": base64.RawURLEncoding.EncodeToString(jti), "scope": strings.Join(bereiche, " ")}
	if len(k.rollen) > 0 {
		c["roles"] = k.rollen
	}
	s := a.keys[int(n/4)%len(a.keys)]
	t := jwt.NewWithClaims(s.verf, c)
	t.Header["typ"] = "at+jwt"
	t.Header["kid"] = s.kid
	return t.SignedString(s.privat)
}

// ---- resource server side -------------------------------------------------

type abweisung struct {
	status          int
	challenge, text string
}

func ungueltig(text string) *abweisung {
	return &abweisung{401, `Bearer realm="forschung", error="invalid_token", error_description="` + text + `"`, "Das Token ist ungültig."}
}

// pruefe validates the bearer token of a request.
func (a *aussteller) pruefe(r *http.Request) (jwt.MapClaims, *abweisung) {
	koepfe := r.Header.Values("Authorization")
	if len(koepfe) == 0 {
		return nil, &abweisung{401, `Bearer realm="forschung"`, "Dieser Aufruf braucht ein Token."}
	}
	schlecht := &abweisung{400, `Bearer realm="forschung", error="invalid_request"`, "Die Anfrage ist fehlerhaft."}
	if len(koepfe) > 1 || r.URL.Query().Has("access_token") {
		return nil, schlecht
	}
	art, wert, _ := strings.Cut(koepfe[0], " ")
	if !strings.EqualFold(art, "Bearer") {
		return nil, &abweisung{401, `Bearer realm="forschung"`, "Dieser Aufruf braucht ein Token."}
	}
	wert = strings.TrimLeft(wert, " ")
	c := jwt.MapClaims{}
	verfahren := a.keys[0].verf.Alg()
	t, err := jwt.NewParser(jwt.WithValidMethods([]string{verfahren}), jwt.WithIssuer(a.kennung), jwt.WithAudience(a.ziel),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithStrictDecoding()).ParseWithClaims(wert, c, func(t *jwt.Token) (any, error) {
		for _, s := range a.keys {
			if s.kid == t.Header["kid"] {
				return s.privat.Public(), nil
			}
		}
		return nil, errors.New("unknown key")
	})
	if err != nil || !t.Valid || t.Header["typ"] != "at+jwt" {
		if errors.Is(err, jwt.ErrTokenExpired) {
			return nil, ungueltig("The access token expired")
		}
		return nil, ungueltig("The access token is not valid")
	}
	return c, nil
}

// darf says whether the claims allow reading calls.
func darf(c map[string]any) *abweisung {
	bereich, _ := c["scope"].(string)
	if !slices.Contains(strings.Fields(bereich), bereichLesen) {
		return &abweisung{403, `Bearer realm="forschung", error="insufficient_scope", scope="` + bereichLesen + `"`, "Der Bereich des Tokens reicht nicht."}
	}
	rollen, _ := c["roles"].([]any)
	if !slices.Contains(rollen, any(rolleExtern)) {
		return &abweisung{403, `Bearer realm="forschung", error="insufficient_scope"`, "Dem Dienstkonto fehlt die Rolle."}
	}
	return nil
}
