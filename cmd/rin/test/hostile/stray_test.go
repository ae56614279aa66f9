package hostile_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// strays are secrets that a node gives away unasked, in places where nobody expects them.
type strays struct {
	member, nested, header, named, location, refusal, document, item string // tokens
	key                                                              map[string]string
	published                                                        []map[string]string // private keys in the key set
	pem                                                              string
}

// newStrays draws secrets.
func newStrays() strays {
	GinkgoHelper()
	source := mathrand.NewChaCha8([32]byte{1}) // fixed, because one random value in a thousand does not look random
	draw := func(n int) string {
		b := make([]byte, n)
		_, _ = source.Read(b) // never fails
		return base64.RawURLEncoding.EncodeToString(b)
	}
	signed := func() string {
		return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","kid":"`+draw(6)+`"}`)) + "." +
			base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"`+draw(12)+`","iss":"https://node.example"}`)) + "." + draw(64)
	}
	rsa := func(id string) map[string]string {
		return map[string]string{"kty": "RSA", "kid": id, "n": "AQAB", "e": "AQAB", "d": draw(40), "p": draw(20), "q": draw(20), "dp": draw(20), "dq": draw(20), "qi": draw(20)}
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	der, err := x509.MarshalPKCS8PrivateKey(private)
	Expect(err).NotTo(HaveOccurred())
	return strays{
		member: signed(), nested: draw(32), header: signed(), named: draw(32), location: draw(32), refusal: signed(), document: signed(), item: signed(),
		key: rsa("public-1"),
		published: []map[string]string{
			rsa("of-the-set-1"),
			{"kty": "EC", "kid": "of-the-set-2", "crv": "P-256", "x": "AQAB", "y": "AQAB", "d": draw(32)},
			{"kty": "oct", "kid": "of-the-set-3", "k": draw(32)},
		},
		pem: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	}
}

// all lists the secrets. The PEM block is searched for by its two full lines.
func (s strays) all() []string {
	out := []string{s.member, s.nested, s.header, s.named, s.location, s.refusal, s.document, s.item}
	for _, key := range append(slices.Clone(s.published), s.key) {
		for _, name := range []string{"d", "p", "q", "dp", "dq", "qi", "k"} {
			if key[name] != "" {
				out = append(out, key[name])
			}
		}
	}
	return append(out, strings.Split(s.pem, "\n")[1:3]...)
}

// public returns texts that only resemble secrets; reports show them.
func public() map[string]string {
	return map[string]string{
		"uuid": "6f1c1c9e-8a51-4f6e-9d6b-0a3f4f1f2e11", "hash": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
		"etag": `W/"q7Zk2LmP9xR4vT8wB1nC6dF3gH5jK0sA2eY7uXo"`, "id": "XA-2026-000123-Digital-Humanities",
	}
}

// plant writes the secrets and the public texts into an answer, and returns the new status and body.
func (s strays) plant(path string, status int, h http.Header, body []byte) (int, []byte) {
	h.Set("X-Debug", "user=1; value="+s.header)
	h.Set("X-Auth-Token", s.named)
	h.Set("X-Public-Uuid", public()["uuid"])
	shown := public()
	if strings.HasSuffix(path, "/token") { // rin takes whatever has the form of a token in a token answer for one, and hides it everywhere
		delete(shown, "etag")
	} else {
		h.Set("ETag", shown["etag"])
	}
	var added map[string]any
	switch {
	case strings.HasSuffix(path, "/certs") && status < 300:
		return status, s.withKeys(body)
	case strings.HasSuffix(path, "/token") && status < 300:
		added = map[string]any{"token": s.member, "data": map[string]any{"session": []any{map[string]string{"value": s.nested}}}}
	case strings.HasSuffix(path, "/api-docs"):
		added = map[string]any{"x-sample": s.document, "x-key": s.pem}
	case status == http.StatusNotFound:
		h.Set("Location", "/nowhere?state=1&access_token="+url.QueryEscape(s.location)+"#"+s.location)
		return http.StatusFound, body
	case status >= 400:
		added = map[string]any{"debug": map[string]any{"cause": "bad token " + s.refusal, "signing": s.key, "pem": s.pem}}
	case strings.HasSuffix(path, "/fundings"):
		added = map[string]any{"x-note": s.item}
	}
	if added == nil {
		return status, body
	}
	for name, text := range shown {
		added["public-"+name] = text
	}
	text, err := json.Marshal(added)
	brace := strings.IndexByte(string(body), '{')
	if err != nil || brace < 0 || !json.Valid(body) || !strings.HasPrefix(strings.TrimLeft(string(body[brace+1:]), " \n"), `"`) {
		return status, body
	}
	return status, []byte(string(body[:brace+1]) + string(text[1:len(text)-1]) + "," + string(body[brace+1:]))
}

// withKeys adds the private keys to a key set.
func (s strays) withKeys(body []byte) []byte {
	var set struct {
		Keys []any `json:"keys"`
	}
	if json.Unmarshal(body, &set) != nil {
		return body
	}
	for _, key := range s.published {
		set.Keys = append(set.Keys, key)
	}
	text, err := json.Marshal(set)
	if err != nil {
		return body
	}
	return text
}
