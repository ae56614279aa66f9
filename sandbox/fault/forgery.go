package fault

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// forgeryDeviations accept tokens that nobody issued, or that are over (JWT-09 to JWT-11, BRR-09, BRR-10, BRR-14), and secrets that
// came by the wrong way (SEC-05, TER-01).
func forgeryDeviations() []Deviation {
	return []Deviation{
		{
			Name: "alg-none-accepted", Breaks: []string{"JWT-09"},
			Why:  "A token with alg none passes, because the library verifies with the algorithm that the token names.",
			Wrap: believing(func(p parts, _ Env) bool { return p.header["alg"] == "none" }),
		},
		{
			Name: "alg-none-forbidden-in-lower-case", Breaks: []string{"JWT-09"},
			Why: "alg none is on a list of what is forbidden, which is compared with case: None and NONE pass.",
			Wrap: believing(func(p parts, _ Env) bool {
				alg, _ := p.header["alg"].(string)
				return strings.EqualFold(alg, "none") && alg != "none"
			}),
		},
		{
			Name: "algorithm-from-header", Breaks: []string{"JWT-10"},
			Why:  "The public key is read from a PEM file, and the header decides what it is used for: HS256 takes the text for a secret.",
			Wrap: confused(func(pem, _ []byte) []byte { return pem }),
		},
		{
			Name: "algorithm-from-header-trimmed-key", Breaks: []string{"JWT-10"},
			Why:  "The same with a key from an environment variable, which has no newline at its end.",
			Wrap: confused(func(pem, _ []byte) []byte { return bytes.TrimSpace(pem) }),
		},
		{
			Name: "algorithm-from-header-jwk", Breaks: []string{"JWT-10"},
			Why:  "The same with the key as it stands in the key set.",
			Wrap: confused(func(_, jwk []byte) []byte { return jwk }),
		},
		{
			Name: "header-key-trusted", Breaks: []string{"JWT-11"},
			Why:  "The key that stands in the token's own header (jwk) verifies it.",
			Wrap: readmit(func(r *http.Request, env Env) *http.Request { return env.withEmbeddedKey(r) }, protected()...),
		},
		{
			Name: "header-key-set-trusted", Breaks: []string{"JWT-11"},
			Why: "The key set that the header names (jku) is asked, and when it cannot be reached the token is let through.",
			Wrap: believing(func(p parts, _ Env) bool {
				_, named := p.header["jku"]
				return named
			}),
		},
		{
			Name: "token-compared-without-case", Breaks: []string{"BRR-09"},
			Why:  "Verified tokens are remembered in a table that compares without case.",
			Wrap: recognising(strings.EqualFold),
		},
		{
			Name: "exp-not-checked", Breaks: []string{"BRR-10"},
			Why:  "The signature is verified and exp is not looked at.",
			Wrap: believing(func(p parts, env Env) bool { return p.seconds("exp") <= env.Now().Unix() }),
		},
		{
			Name: "exp-with-a-day-of-leeway", Breaks: []string{"BRR-10"},
			Why: "exp is checked with a day of leeway, once set for a server with a wrong clock.",
			Wrap: believing(func(p parts, env Env) bool {
				now := env.Now()
				exp := time.Unix(p.seconds("exp"), 0)
				return !exp.After(now) && exp.Add(24*time.Hour).After(now)
			}),
		},
		{
			Name: "query-token-accepted", Breaks: []string{"BRR-14"},
			Why: "A token in the query opens the API, for links that people click.",
			Wrap: readmit(func(r *http.Request, _ Env) *http.Request {
				if token := r.URL.Query().Get("access_token"); token != "" && anonymous(r) {
					return authorized(r, "Bearer "+token)
				}
				return r
			}, protected()...),
		},
		{
			Name: "secret-in-url-accepted", Breaks: []string{"SEC-05"},
			Why: "Query and body are merged before the parameters are read, as getParameter does in a servlet.",
			Wrap: readmit(func(r *http.Request, _ Env) *http.Request {
				q, ok := readTokenRequest(r)
				if !ok {
					return r
				}
				for name, values := range r.URL.Query() {
					q.form[name] = append(q.form[name], values...)
				}
				merged := withForm(r, q.form.Encode())
				address := *r.URL
				address.RawQuery = ""
				merged.URL = &address
				return merged
			}, Token),
		},
		{
			Name: "secret-compared-by-suffix", Breaks: []string{"TER-01"},
			Why: "Only the last eight characters of the secret count, since a prefix of the issuing system is cut off before it is compared.",
			Wrap: guess(func(right, given string) bool {
				return len(given) >= 8 && strings.HasSuffix(right, given[len(given)-8:])
			}),
		},
		{
			Name: "signature-cut-accepted", Breaks: []string{"JWT-09"},
			Why:  "A token without its signature passes, since there is nothing to verify; alg none itself is refused.",
			Wrap: unsealed(""),
		},
		{
			Name: "signature-of-zeros-accepted", Breaks: []string{"JWT-09"},
			Why:  "An ECDSA signature of zero bytes is valid for any content, as in Java 15 to 18 without patches (CVE-2022-21449).",
			Wrap: unsealed(base64.RawURLEncoding.EncodeToString(make([]byte, 64))),
		},
		{
			Name: "secret-remembered-by-client", Breaks: []string{"TER-01"},
			Why:  "Once a client has authenticated, a cache lets it pass by its id alone, whatever secret comes.",
			Wrap: remembering,
		},
	}
}

// believing makes a Wrap that admits the client that a token names when the token's parts fit, whatever its signature and its time.
func believing(fits func(p parts, env Env) bool, kinds ...Kind) wrap {
	if len(kinds) == 0 {
		kinds = protected()
	}
	return readmit(func(r *http.Request, env Env) *http.Request {
		if p, ok := apart(bearer(r)); ok && fits(p, env) {
			id, _ := p.claims["client_id"].(string)
			return env.admitAs(r, id)
		}
		return r
	}, kinds...)
}

// confused makes a Wrap that verifies HS256 with a form of the public key (RFC 8725 §2.1).
func confused(secret func(pem, jwk []byte) []byte) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			token := bearer(r)
			p, ok := apart(token)
			pem, jwk, known := publicKey(next, env, r)
			if ok && known && p.header["alg"] == "HS256" && signedBy(token, secret(pem, jwk)) {
				id, _ := p.claims["client_id"].(string)
				r = env.admitAs(r, id)
			}
			next.ServeHTTP(w, r)
		}, protected()...)(next, env)
	}
}

// publicKey reads the node's key where it is published.
func publicKey(next http.Handler, env Env, r *http.Request) (encoded, jwk []byte, ok bool) {
	ask := r.Clone(r.Context())
	ask.Method, ask.URL.Path, ask.URL.RawPath, ask.URL.RawQuery = http.MethodGet, env.Places.Certs(), "", ""
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	var key jose.JSONWebKey
	if json.Unmarshal(capture(next, ask).Body, &set) != nil || len(set.Keys) == 0 || key.UnmarshalJSON(set.Keys[0]) != nil {
		return nil, nil, false
	}
	der, err := x509.MarshalPKIXPublicKey(key.Key)
	if err != nil {
		return nil, nil, false
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), set.Keys[0], true
}

// signedBy verifies HS256.
func signedBy(token string, key []byte) bool {
	cut := strings.LastIndexByte(token, '.')
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(token[:max(cut, 0)]))
	given, err := base64.RawURLEncoding.DecodeString(token[cut+1:])
	return err == nil && hmac.Equal(given, mac.Sum(nil))
}

// withEmbeddedKey admits the client of a token that the key in its own header verifies.
func (e Env) withEmbeddedKey(r *http.Request) *http.Request {
	token := bearer(r)
	p, ok := apart(token)
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.ES256, jose.RS256, jose.EdDSA})
	if !ok || err != nil || signed.Signatures[0].Header.JSONWebKey == nil {
		return r
	}
	if _, err := signed.Verify(signed.Signatures[0].Header.JSONWebKey); err != nil {
		return r
	}
	id, _ := p.claims["client_id"].(string)
	return e.admitAs(r, id)
}

// unsealed makes a Wrap that believes tokens with that signature, whose algorithm is a real one.
func unsealed(signature string) wrap {
	return readmit(func(r *http.Request, env Env) *http.Request {
		p, ok := apart(bearer(r))
		alg, _ := p.header["alg"].(string)
		if !ok || strings.EqualFold(alg, "none") || !strings.HasSuffix(bearer(r), "."+signature) {
			return r
		}
		id, _ := p.claims["client_id"].(string)
		return env.admitAs(r, id)
	}, protected()...)
}

// remembering gives clients that got a token before the right secret in the place of any other.
func remembering(next http.Handler, env Env) http.Handler {
	var known memory[bool]
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		q, ok := readTokenRequest(r)
		client, registered := env.Client(q.form.Get("client_id"))
		if _, before := known.get(client.ID); ok && client.Secret != "" && before && q.form.Get("client_secret") != "" {
			q.form.Set("client_secret", client.Secret)
			r = withForm(r, q.form.Encode())
		}
		a := capture(next, r)
		if a.ok() && registered {
			known.put(client.ID, true)
		}
		a.send(w, r)
	}, Token)(next, env)
}

// isolationDeviations accept tokens of other issuers, environments and audiences (ISO).
func isolationDeviations() []Deviation {
	return []Deviation{
		{
			Name: "unknown-kid-not-verified", Breaks: []string{"ISO-01"},
			Why:  "The signature is not verified when the key set lacks the kid: the lookup yields nothing, and nothing is an error.",
			Wrap: believing(func(p parts, env Env) bool { return !env.ownKey(p) }),
		},
		{
			Name: "issuer-alone-checked", Breaks: []string{"ISO-01"},
			Why: "A kid that is not known yet is taken for a new key of the issuer, so that a copied iss is enough.",
			Wrap: believing(func(p parts, env Env) bool {
				return !env.ownKey(p) && env.forThisNode(p) && p.claims["iss"] != "https://conformance.invalid"
			}),
		},
		{
			Name: "unknown-issuer-passed-on", Breaks: []string{"ISO-01"},
			Why: "Tokens of issuers that are not known are left to a service behind the node, which does not look at them.",
			Wrap: believing(func(p parts, _ Env) bool {
				return p.claims["iss"] == "https://conformance.invalid"
			}),
		},
		{
			Name: "staging-token-accepted", Breaks: []string{"ISO-02"},
			Why: "Staging and production sign with the same key, and nobody compares iss.",
			Wrap: admitting(func(p parts, env Env) bool {
				iss, _ := p.claims["iss"].(string)
				return strings.HasSuffix(iss, env.Places.Elsewhere().Root)
			}),
		},
		{
			Name: "aud-ignored", Breaks: []string{"ISO-03"},
			Why:  "Signature and issuer are verified, and aud is not looked at: a token for any service of the operator opens this one.",
			Wrap: believing(func(p parts, env Env) bool { return env.ownKey(p) && !env.forThisNode(p) }),
		},
		{
			Name: "aud-ignored-for-details", Breaks: []string{"ISO-03"},
			Why:  "The route of a single funding has a filter of its own that does not look at aud.",
			Wrap: believing(func(p parts, env Env) bool { return env.ownKey(p) && !env.forThisNode(p) }, FundingDetail),
		},
	}
}

// ownKey tells whether a token names the key that the node signs with.
func (e Env) ownKey(p parts) bool {
	sample, err := e.Sign(nil, map[string]any{})
	own, ok := apart(sample)
	return err == nil && ok && p.header["kid"] == own.header["kid"]
}

// forThisNode tells whether the node's API is among the audiences of a token.
func (e Env) forThisNode(p parts) bool {
	audiences, _ := p.claims["aud"].([]any)
	if one, isText := p.claims["aud"].(string); isText {
		audiences = []any{one}
	}
	return slices.ContainsFunc(audiences, func(a any) bool {
		text, _ := a.(string)
		return strings.HasSuffix(text, e.Places.API()) && !strings.HasSuffix(text, e.Places.Elsewhere().API())
	})
}

// admitting makes a Wrap that admits the first client when the parts of a token fit.
func admitting(fits func(p parts, env Env) bool) wrap {
	return readmit(func(r *http.Request, env Env) *http.Request {
		if p, ok := apart(bearer(r)); ok && fits(p, env) {
			return env.admit(r)
		}
		return r
	}, protected()...)
}
