package auth_test

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
)

const (
	knownID          = "known"
	clientWithSecret = "correct-horse-battery-staple"
)

// book implements auth.Clients. It has two clients with the service account "s": knownID, which can authenticate, and "c", which can only use tokens
// that a test made for it. When revoked is set, neither is registered.
type book struct{ revoked *atomic.Bool }

func (b book) Authenticate(id, secret string) (subject, audience string, ok bool) {
	return "s", "", id == knownID && secret == clientWithSecret
}

func (b book) Registered(id, subject string) bool {
	return (id == knownID || id == "c") && subject == "s" && (b.revoked == nil || !b.revoked.Load())
}

func places() address.Map { return address.Map{Prefix: "p", Realm: "r"} }

func newIssuer(tb testing.TB, format auth.Format) *auth.Issuer {
	tb.Helper()
	issuer, err := auth.NewIssuer(format, time.Minute, time.Now, rand.Reader, rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return issuer
}

func newTokenEndpoint(tb testing.TB) http.Handler {
	tb.Helper()
	return auth.NewServer(book{}, newIssuer(tb, auth.ES256), places(), slog.New(slog.DiscardHandler)).Token("")
}

// FuzzTokenRequest sends arbitrary token requests: only an answer with 200 has a token, and errors are well-formed.
func FuzzTokenRequest(f *testing.F) {
	const form = "application/x-www-form-urlencoded"
	good := "grant_type=client_credentials&client_id=" + knownID + "&client_secret=" + clientWithSecret
	f.Add(form, "", "", good)
	f.Add(form+"; charset=UTF-8", "", "", good+"&scope=%22&a=%FF")
	f.Add(form, "Basic a25vd246eA==", "", "grant_type=client_credentials")
	f.Add(form, "Basic %%", "client_secret=x", "grant_type=client_credentials&grant_type=x")
	f.Add("application/json", "Bearer x", "%zz", `{"grant_type":"client_credentials"}`)
	f.Add("multipart/form-data; boundary=x", "", "", "--x--")
	endpoint := newTokenEndpoint(f)
	descriptionPattern := regexp.MustCompile(`^[\x20-\x21\x23-\x5b\x5d-\x7e]+$`)
	f.Fuzz(func(t *testing.T, contentType, authorization, query, body string) {
		r := httptest.NewRequest(http.MethodPost, "/oauth/token", strings.NewReader(body))
		r.URL.RawQuery = query
		r.Header.Set("Content-Type", contentType)
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		w := httptest.NewRecorder()
		endpoint.ServeHTTP(w, r)
		var answer struct {
			AccessToken string `json:"access_token"`
			Error       string
			Description string `json:"error_description"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatalf("status %d with a body that is not JSON: %v", w.Code, err)
		}
		if (w.Code == http.StatusOK) != (answer.AccessToken != "") {
			t.Fatalf("status %d, token %q", w.Code, answer.AccessToken)
		}
		if w.Code >= 500 || w.Code != http.StatusOK && (answer.Error == "" || !descriptionPattern.MatchString(answer.Description)) {
			t.Fatalf("status %d, error %q, description %q", w.Code, answer.Error, answer.Description)
		}
		if w.Code == http.StatusUnauthorized && authorization != "" && w.Header().Get("WWW-Authenticate") == "" {
			t.Fatal("401 without a challenge although the Authorization header was used")
		}
	})
}

// FuzzAuthorization sends arbitrary Authorization headers, none with a token of the issuer: the guard refuses them all with a well-formed challenge.
func FuzzAuthorization(f *testing.F) {
	for _, seed := range []string{"", "Bearer", "Bearer  ", "Bearer a.b.c", "bearer x", "Token x", "a.b.c", "Bearer \xe4\xf6", "Bearer eyJhbGciOiJub25lIn0.e30.", "Basic \"\\"} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(3))
	}
	formats := auth.Formats()
	guards := map[auth.Format]http.Handler{}
	for _, format := range formats {
		verifier := auth.NewVerifier(newIssuer(f, format), book{}, nil, places(), time.Now, 8)
		guards[format] = auth.NewGuard(verifier, places()).Protect(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			panic("the guard let a request pass")
		}))
	}
	challengePattern := regexp.MustCompile(`^Bearer realm="r"(, error="(invalid_request|invalid_token)", error_description="[\x20-\x21\x23-\x5b\x5d-\x7e]+")?$`)
	f.Fuzz(func(t *testing.T, authorization string, format uint8) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", authorization)
		w := httptest.NewRecorder()
		guards[formats[int(format)%len(formats)]].ServeHTTP(w, r)
		if w.Code != http.StatusUnauthorized && w.Code != http.StatusBadRequest {
			t.Fatalf("status %d", w.Code)
		}
		if got := w.Header().Get("WWW-Authenticate"); !challengePattern.MatchString(got) {
			t.Fatalf("challenge %q", got)
		}
	})
}
