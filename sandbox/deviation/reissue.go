package deviation

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

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
