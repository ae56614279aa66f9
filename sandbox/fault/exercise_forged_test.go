package fault_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	. "github.com/onsi/gomega"
)

const certs = "/realms/ris/protocol/openid-connect/certs"

// publicationRequests lists requests for keys and metadata.
func publicationRequests() []probe {
	return []probe{get(certs), get("/.well-known/openid-configuration"), get("/.well-known/oauth-authorization-server")}
}

// forgedRequests lists requests with tokens that a good node refuses.
func forgedRequests(n node, good string) []probe {
	tokens := []string{}
	for _, alg := range []string{"none", "None"} {
		tokens = append(tokens, editToken(good, map[string]any{"alg": alg}, nil, func(string) []byte { return nil }))
	}
	encoded, jwk := publishedKey(n)
	for _, key := range [][]byte{encoded, []byte(strings.TrimSpace(string(encoded))), jwk} {
		tokens = append(tokens, editToken(good, map[string]any{"alg": "HS256"}, nil, func(input string) []byte {
			mac := hmac.New(sha256.New, key)
			mac.Write([]byte(input))
			return mac.Sum(nil)
		}))
	}
	junk := func(string) []byte { return make([]byte, 64) }
	input := good[:strings.LastIndexByte(good, '.')+1]
	tokens = append(tokens, input, input+strings.Repeat("A", 86))
	tokens = append(tokens, signWithOwnKey(good), swapCase(good),
		editToken(good, map[string]any{"jku": "https://conformance.invalid/jwks"}, nil, junk),
		editToken(good, map[string]any{"kid": "own"}, nil, junk),
		editToken(good, map[string]any{"kid": "own"}, map[string]any{"iss": "https://conformance.invalid"}, junk),
		token(n.answer(postTokenAt("/elsewhere/oauth/token", n.ElsewhereClient().ClientID, n.ElsewhereClient().Secret))),
		token(n.answer(postTokenAt("/oauth/token", n.Credentials()[2].ClientID, n.Credentials()[2].Secret))))
	var probes []probe
	for _, foreign := range tokens[len(tokens)-2:] {
		probes = append(probes, get(list+"?x=1").withAuth("Bearer "+foreign), get(api+"/funding/v3/export").withAuth("Bearer "+foreign))
	}
	none, noKey := func(string) []byte { return nil }, func(input string) []byte {
		mac := hmac.New(sha256.New, nil)
		mac.Write([]byte(input))
		return mac.Sum(nil)
	}
	signature, err := base64.RawURLEncoding.DecodeString(good[len(input):])
	Expect(err).NotTo(HaveOccurred())
	tokens = append(tokens,
		editToken(good, nil, map[string]any{"role": "admin"}, func(string) []byte { return signature }),
		editToken(good, map[string]any{"alg": "nOnE"}, nil, none), editToken(good, map[string]any{"alg": ""}, nil, none),
		editToken(good, map[string]any{"alg": "HS256"}, nil, noKey), editToken(good, map[string]any{"alg": "HS256", "kid": "../dev/null"}, nil, noKey),
		signWithOwnCertificate(good), editToken(good, nil, map[string]any{"iss": ""}, junk), merged("e30", map[string]any{"enc": "A256GCM"})+".a.b.c.d")
	expired, err := n.TokenAt(time.Date(2026, time.March, 2, 8, 0, 0, 0, time.UTC), "http://example.com", n.Credentials()[0].ClientID)
	Expect(err).NotTo(HaveOccurred())
	for _, t := range append(tokens, expired) {
		for _, target := range []string{info, list, list + "/XF-00000003"} {
			probes = append(probes, get(target).withAuth("Bearer "+t))
		}
	}
	client := n.Credentials()[0]
	probes = append(probes, get(list).withAuth("Bearer "+client.ClientID))
	half := len(client.Secret) / 2
	inURL := url.Values{"client_id": {client.ClientID}, "client_secret": {client.Secret}}.Encode()
	atURL := postToken("grant_type=client_credentials")
	atURL.target += "?" + inURL
	spare, form := n.Credentials()[3], "grant_type=client_credentials&client_id="
	probes = append(probes, postToken(form+spare.ClientID+"&client_secret="+url.QueryEscape(spare.Secret)+"%00x"),
		postToken(form+spare.ClientID+"&client_secret="+url.QueryEscape(spare.Secret)+"x"), postToken(form+spare.ClientID+"&client_secret=+"+url.QueryEscape(spare.Secret)),
		postToken(form+spare.ClientID+"&client_secret="+url.QueryEscape(spare.Secret)+"+"), postToken(form+spare.ClientID+"&client_secret=%25"),
		postToken(form+spare.ClientID+"&client_secret%5B%24ne%5D=x"), postToken("grant_type=client_credentials&client_assertion=x"),
		postToken("grant_type=client_credentials+password&client_id="+client.ClientID+"&client_secret="+client.Secret))
	for range 6 {
		probes = append(probes, postToken(form+spare.ClientID+"&client_secret=wrong"))
	}
	return append(probes, get(info+"?access_token="+good), atURL,
		postToken("grant_type=client_credentials&client_id="+client.ClientID+"&client_secret="+strings.Repeat("x", half)+client.Secret[half:]))
}

// postTokenAt returns a token request of a client to a token endpoint.
func postTokenAt(target, id, secret string) probe {
	p := postToken("grant_type=client_credentials&client_id=" + id + "&client_secret=" + secret)
	p.target = target
	return p
}

// editToken returns a token with other members in header and claims, and a new signature.
func editToken(token string, header, claims map[string]any, sign func(input string) []byte) string {
	parts := strings.Split(token, ".")
	input := merged(parts[0], header) + "." + merged(parts[1], claims)
	return input + "." + base64.RawURLEncoding.EncodeToString(sign(input))
}

func merged(segment string, members map[string]any) string {
	raw, err := base64.RawURLEncoding.DecodeString(segment)
	Expect(err).NotTo(HaveOccurred())
	var m map[string]any
	Expect(json.Unmarshal(raw, &m)).To(Succeed())
	for name, value := range members {
		m[name] = value
	}
	raw, err = json.Marshal(m)
	Expect(err).NotTo(HaveOccurred())
	return base64.RawURLEncoding.EncodeToString(raw)
}

// signWithOwnKey returns a token that is signed with the key in its header.
func signWithOwnKey(good string) string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key},
		(&jose.SignerOptions{EmbedJWK: true}).WithType("at+jwt"))
	Expect(err).NotTo(HaveOccurred())
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(good, ".")[1])
	Expect(err).NotTo(HaveOccurred())
	signed, err := signer.Sign(payload)
	Expect(err).NotTo(HaveOccurred())
	compact, err := signed.CompactSerialize()
	Expect(err).NotTo(HaveOccurred())
	return compact
}

// signWithOwnCertificate returns a token that is signed with the key of the certificate in its header.
func signWithOwnCertificate(good string) string {
	_, key, err := ed25519.GenerateKey(rand.Reader) // its certificates have one length
	Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	Expect(err).NotTo(HaveOccurred())
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key},
		(&jose.SignerOptions{}).WithType("at+jwt").WithHeader("x5c", []string{base64.StdEncoding.EncodeToString(der)}))
	Expect(err).NotTo(HaveOccurred())
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(good, ".")[1])
	Expect(err).NotTo(HaveOccurred())
	signed, err := signer.Sign(payload)
	Expect(err).NotTo(HaveOccurred())
	compact, err := signed.CompactSerialize()
	Expect(err).NotTo(HaveOccurred())
	return compact
}

// swapCase returns a token with one letter of its signature in the other case.
func swapCase(token string) string {
	at := strings.LastIndexByte(token, '.') + 1
	at += strings.IndexFunc(token[at:], func(c rune) bool { return c >= 'a' && c <= 'z' })
	return token[:at] + strings.ToUpper(token[at:at+1]) + token[at+1:]
}

func publishedKey(n node) (encoded, jwk []byte) {
	answer := n.answer(get(certs))
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal([]byte(answer[strings.LastIndex(answer, "\n{")+1:]), &set) != nil || len(set.Keys) == 0 {
		return nil, nil
	}
	var key jose.JSONWebKey
	if key.UnmarshalJSON(set.Keys[0]) != nil {
		return nil, nil // key types that go-jose does not know are skipped
	}
	der, err := x509.MarshalPKIXPublicKey(key.Key)
	Expect(err).NotTo(HaveOccurred())
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), set.Keys[0]
}
