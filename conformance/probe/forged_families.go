package probe

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// forgedFamilies are tokens that were changed after they were issued, or made up. A verifier may refuse one forgery and accept a similar one.
func forgedFamilies() []row {
	oddCredentials := in(stageOddCredentials, stageAuthorized)
	afterKeys := in(stageRest, stageAuthorized, stageKeys).onlyIf(withKeys)
	return slices.Concat(
		forgedFamily(evidence.UnsignedTokens, oddCredentials, unsignedForgeries()...),
		forgedFamily(evidence.ChangedClaims, oddCredentials, changedForgeries()...),
		forgedFamily(evidence.PublicSecrets, oddCredentials, guessedForgeries()...),
		forgedFamily(evidence.PublicSecrets, afterKeys, publishedForgeries()...),
		forgedFamily(evidence.NamedKeys, oddCredentials, namedForgeries()...),
		forgedFamily(evidence.NamedKeys, afterKeys, otherKeyForgery()),
		forgedFamily(evidence.ForeignTokens, oddCredentials, foreignForgeries()...),
	)
}

// forgery is one kind of forged tokens: its case, its words, and the function that makes it.
type forgery struct {
	kind  evidence.Case
	words string
	forge func(f *forging) (string, error)
	// anyToken is true if the forgery is also made for opaque tokens, from a plausible JWT.
	anyToken bool
}

// forging is what a forged token is made of.
type forging struct {
	*run
	draw.Source
	good  string
	token tokenforge.Token // the good token; a plausible one if good tokens are opaque
	// reason says why this token cannot be forged in this way; nil if it can be.
	reason *unsent
}

// impossible keeps the reason why this token cannot be forged in this way.
func (f *forging) impossible(format string, a ...any) (string, error) {
	f.reason = notApplicable(format, a...)
	return "", nil
}

// forgedFamily makes the rows of a family of forged tokens.
func forgedFamily(family evidence.Family, plan timing, kinds ...forgery) []row {
	var out []row
	for _, k := range kinds {
		out = append(out, row{Label: evidence.ProbeTarget.With(k.kind), Words: k.words, Family: family, Plan: plan, Send: presentForgery(k)})
	}
	return out
}

func presentForgery(k forgery) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		forge := func(r *run, good string, parts tokenforge.Token) (string, *unsent, error) {
			f := &forging{run: r, Source: r.source(at, string(k.kind)), good: good, token: parts}
			token, err := k.forge(f)
			if token == good && f.reason == nil {
				f.reason = notApplicable("the token has no such forgery")
			}
			return token, f.reason, err
		}
		return presentCopy(drawnToken, forge, func(r *run) (tokenforge.Token, *unsent) {
			if !k.anyToken {
				return tokenforge.Token{}, notApplicable("the access token is not a JWT")
			}
			return r.plausible(), nil
		})(ctx, r, at)
	}
}

// object has members of a header or of claims; a nil value removes one.
type object = map[string]any

// unsignedForgeries are the good token without a signature, or with a wrong one (RFC 8725 §3.2).
func unsignedForgeries() []forgery {
	// withAlgorithm replaces the algorithm and the signature.
	withAlgorithm := func(kind evidence.Case, words string, algorithm func(f *forging) any, signature func(f *forging) string) forgery {
		return forgery{kind: kind, words: words, anyToken: true, forge: func(f *forging) (string, error) {
			return f.token.With(object{"alg": algorithm(f)}, nil).Compact(signature(f))
		}}
	}
	value := func(values ...any) func(*forging) any {
		return func(f *forging) any { return draw.One(f.Source, values...) }
	}
	noSignature := func(*forging) string { return "" }
	oldSignature := func(f *forging) string { // random for a plausible token
		if _, isJWT := tokenforge.Read(f.good); isJWT {
			return tokenforge.Signature(f.good)
		}
		return f.Text(draw.Base64, 86)
	}
	// withSignature replaces the signature only.
	withSignature := func(kind evidence.Case, words string, signature func(f *forging) []byte) forgery {
		return forgery{kind: kind, words: words, forge: func(f *forging) (string, error) {
			raw := signature(f)
			if f.reason != nil {
				return "", nil
			}
			return tokenforge.ReplaceSignature(f.good, raw), nil
		}}
	}
	return []forgery{
		withAlgorithm("none-mixed", "with a token rewritten to alg none in mixed case", value("nOne", "noNe", "nonE", "NOne", "nONE", "NonE", "nOnE", "NoNe", "NONe", "noNE"), noSignature),
		withAlgorithm("none-signed", "with a token rewritten to alg none under its old signature", value("none", "None", "NONE", "nOnE"), oldSignature),
		withAlgorithm("none-spaced", "with a token rewritten to alg none with a blank or a NUL", value(" none", "none ", "none\x00", "none\t", "none\n"), noSignature),
		withAlgorithm("alg-absent", "with a token without alg and signature", value(nil), noSignature),
		withAlgorithm("alg-absent-signed", "with a token without alg under its old signature", value(nil), oldSignature),
		withAlgorithm("alg-empty", "with a token with an empty alg and without signature", value("", " "), noSignature),
		withAlgorithm("alg-null", "with a token whose alg is not a text, without signature", value(json.RawMessage("null"), false, 0, []string{"none"}), noSignature),
		withAlgorithm("alg-made-up", "with a token with an unknown alg and without signature", value("plain", "NULL", "HS0", "noop", "RS0"), noSignature),
		withSignature("signature-other", "with the token under the signature of another token", func(f *forging) []byte {
			f.facts.mu.Lock()
			first := f.facts.first.Value
			f.facts.mu.Unlock()
			raw, err := base64.RawURLEncoding.DecodeString(tokenforge.Signature(first))
			other, isJWT := tokenforge.Read(first)
			if !isJWT || other.SameInput(f.token) || err != nil || len(raw) == 0 { // a signature fits every token with the same content
				f.reason = notApplicable("the run holds no token of the client with other content")
			}
			return raw
		}),
		withSignature("signature-byte", "with the token under a signature of one byte", func(f *forging) []byte { return []byte{byte(f.Below(256))} }),
		withSignature("signature-form", "with the token under a signature of zeros in another form", func(f *forging) []byte {
			// These are the pair (0, 0) in ASN.1, zeros of twice the length, and zeros of the length of HS256.
			return draw.One(f.Source, []byte{0x30, 6, 2, 1, 0, 2, 1, 0}, make([]byte, 2*tokenforge.SignatureSize(f.good)), make([]byte, 32))
		}),
	}
}

// changedForgeries are the good token with claims that grant more, under its old signature. A node that accepts one does not verify the payload
// that it reads.
func changedForgeries() []forgery {
	changed := func(kind evidence.Case, words string, claims func(f *forging) object) forgery {
		return forgery{kind: kind, words: words, forge: func(f *forging) (string, error) {
			return f.token.With(nil, claims(f)).Compact(tokenforge.Signature(f.good))
		}}
	}
	return []forgery{
		changed("claim-exp", "with the good token and a later exp", func(f *forging) object {
			exp, _ := numeric(f.token.Claims["exp"])
			return object{"exp": int64(exp) + int64(f.Between(1, 90))*3600}
		}),
		changed("claim-subject", "with the good token and another subject", func(f *forging) object { return object{"sub": f.UUID()} }),
		changed("claim-client", "with the good token and another client", func(f *forging) object {
			id := f.Like(f.Target.Credentials.ClientID)
			return object{"client_id": id, "azp": id}
		}),
		changed("claim-role", "with the good token and one more role", func(f *forging) object {
			role := draw.One(f.Source, "admin", "ADMIN", "manager", f.Word())
			return object{"roles": []string{role}, "realm_access": object{"roles": []string{role}}, "authorities": []string{"ROLE_" + strings.ToUpper(role)}}
		}),
		changed("claim-scope", "with the good token and one more scope", func(f *forging) object {
			scope, _ := f.token.Claims["scope"].(string)
			return object{"scope": strings.TrimSpace(scope + " " + draw.One(f.Source, "admin", "write", "all", f.Word()))}
		}),
		changed("claim-audience", "with the good token and one more audience", func(f *forging) object {
			audience := []any{"https://" + f.Host()}
			switch own := f.token.Claims["aud"].(type) {
			case []any:
				audience = append(audience, own...)
			case string:
				audience = append(audience, own)
			}
			return object{"aud": audience}
		}),
		changed("claim-added", "with the good token and one more claim", func(f *forging) object { return object{f.Word(): f.Text(draw.Digits, 6)} }),
	}
}

// hmacAlgorithm draws an HMAC algorithm, most often HS256. A node may refuse one of them and accept another.
func (f *forging) hmacAlgorithm() string {
	return draw.One(f.Source, "HS256", "HS256", "HS384", "HS512")
}

// guessedForgeries are signed by HMAC with keys that everybody can guess.
func guessedForgeries() []forgery {
	guessed := func(kind evidence.Case, words string, key func(f *forging) string) forgery {
		return forgery{kind: kind, words: words, anyToken: true, forge: func(f *forging) (string, error) {
			return f.token.HMAC(f.hmacAlgorithm(), []byte(key(f)))
		}}
	}
	return []forgery{
		guessed("hmac-empty", "with a token under HMAC and the empty key", func(*forging) string { return "" }),
		guessed("hmac-word", "with a token under HMAC and a well-known word", func(f *forging) string {
			return draw.One(f.Source, "secret", "your-256-bit-secret", "changeme", "password", "jwt-secret", "mysecretkey", "secretkey", "your_jwt_secret", "changeit", "test", "key", "default")
		}),
		guessed("hmac-kid", "with a token under HMAC and its kid as the key", func(f *forging) string {
			if f.token.KeyID() == "" {
				f.reason = notApplicable("the access token names no kid")
			}
			return f.token.KeyID()
		}),
		guessed("hmac-client", "with a token under HMAC and the client id as the key", func(f *forging) string { return f.Target.Credentials.ClientID }),
		guessed("hmac-issuer", "with a token under HMAC and its issuer as the key", func(f *forging) string { return f.token.Issuer() }),
		guessed("hmac-zeros", "with a token under HMAC and a key of zeros", func(f *forging) string {
			return strings.Repeat("\x00", draw.One(f.Source, 1, 16, 32, 64))
		}),
	}
}

// publishedForgeries are signed by HMAC with other forms of the published key (RFC 8725 §2.1), and with longer hashes.
func publishedForgeries() []forgery {
	published := func(kind evidence.Case, words string, form func(tokenforge.Published) ([]byte, error)) forgery {
		return forgery{kind: kind, words: words, forge: func(f *forging) (string, error) {
			token, reason, err := underPublicKey(f.hmacAlgorithm, form)(f.run, f.good, f.token)
			f.reason = reason
			return token, err
		}}
	}
	longer := forgery{kind: "hmac-pem-longer", words: "with a token under HS384 or HS512 and the public key in PEM", forge: func(f *forging) (string, error) {
		algorithm := func() string { return draw.One(f.Source, "HS384", "HS512") }
		token, reason, err := underPublicKey(algorithm, draw.One(f.Source, tokenforge.Published.PEM, trimmedPEM))(f.run, f.good, f.token)
		f.reason = reason
		return token, err
	}}
	return []forgery{
		longer,
		published("hmac-der", "with a token under HMAC and the public key in DER", tokenforge.Published.DER),
		published("hmac-der-text", "with a token under HMAC and the public key in Base64", func(p tokenforge.Published) ([]byte, error) {
			der, err := p.DER()
			return []byte(base64.StdEncoding.EncodeToString(der)), err
		}),
		published("hmac-number", "with a token under HMAC and the number of the public key", func(p tokenforge.Published) ([]byte, error) { return []byte(p.Number()), nil }),
		published("hmac-number-bytes", "with a token under HMAC and the number of the public key in bytes", func(p tokenforge.Published) ([]byte, error) {
			return base64.RawURLEncoding.DecodeString(p.Number())
		}),
		published("hmac-pkcs1", "with a token under HMAC and the public key in PKCS #1", func(p tokenforge.Published) ([]byte, error) {
			encoded, _ := p.PKCS1()
			return encoded, nil
		}),
		published("hmac-certificate", "with a token under HMAC and the published certificate", func(p tokenforge.Published) ([]byte, error) {
			return p.Certificate(), nil
		}),
	}
}

// signForgery signs the token with the run's own key, after replacing the given members of its header and claims. The header names that key unless it has a
// kid.
func (f *forging) signForgery(header, claims object) (string, error) {
	key, err := f.ownKey(f.token.Algorithm())
	if err != nil {
		return "", err
	}
	if _, given := header["kid"]; !given {
		header["kid"] = key.ID
	}
	return f.token.With(nil, claims).Signed(key, header, "")
}

// namedForgeries name a key in their header: one that everybody knows, or the run's own key.
func namedForgeries() []forgery {
	// known makes a forgery whose kid names a file or a row with known content, which is the key.
	known := func(kind evidence.Case, words string, kid func(f *forging) (kid, key string)) forgery {
		return forgery{kind: kind, words: words, anyToken: true, forge: func(f *forging) (string, error) {
			id, key := kid(f)
			return f.token.With(object{"kid": id}, nil).HMAC(f.hmacAlgorithm(), []byte(key))
		}}
	}
	withOwnKey := func(kind evidence.Case, words string, header func(f *forging, key tokenforge.Key) (object, error)) forgery {
		return forgery{kind: kind, words: words, forge: func(f *forging) (string, error) {
			key, err := f.ownKey(f.token.Algorithm())
			if err != nil {
				return "", err
			}
			h, err := header(f, key)
			if err != nil || f.reason != nil {
				return "", err
			}
			return f.signForgery(h, nil)
		}}
	}
	return []forgery{
		known("kid-device", "with a token whose kid is the path of an empty file", func(f *forging) (string, string) {
			return draw.One(f.Source, "/dev/null", strings.Repeat("../", f.Between(3, 9))+"dev/null", "file:///dev/null"), ""
		}),
		known("kid-file", "with a token whose kid is the path of a known file", func(f *forging) (string, string) {
			return strings.Repeat("../", f.Between(3, 9)) + "proc/sys/kernel/randomize_va_space", "2\n"
		}),
		known("kid-query", "with a token whose kid changes a query", func(f *forging) (string, string) {
			key := f.Word()
			return draw.One(f.Source, f.Word()+"' UNION SELECT '"+key+"'-- ", f.Word()+"' UNION SELECT '"+key+"' FROM dual-- ", f.Word()+`" UNION SELECT "`+key+`"-- `), key
		}),
		withOwnKey("kid-absent", "with a forged token without kid", func(*forging, tokenforge.Key) (object, error) { return object{"kid": nil}, nil }),
		withOwnKey("kid-odd", "with a forged token whose kid is empty or not a text", func(f *forging, _ tokenforge.Key) (object, error) {
			return object{"kid": draw.One(f.Source, any(json.RawMessage("null")), any(""), any(0), any([]string{}), any(true))}, nil
		}),
		withOwnKey("kid-address", "with a forged token whose kid is a URL", func(f *forging, _ tokenforge.Key) (object, error) {
			return object{"kid": "https://" + f.Host() + "/" + f.Word() + ".pem"}, nil
		}),
		withOwnKey("jku-borrowed", "with a forged token under the kid of the node's key and a key set named in the header (jku)", func(f *forging, _ tokenforge.Key) (object, error) {
			if f.token.KeyID() == "" {
				f.reason = notApplicable("the access token names no kid that could be borrowed")
			}
			return object{"kid": f.token.KeyID(), "jku": "https://" + f.Host() + draw.One(f.Source, "/jwks", "/.well-known/jwks.json", "/certs")}, nil
		}),
		withOwnKey("embedded-borrowed", "with a forged token under the kid of the node's key and its own key in the header (jwk)", func(f *forging, key tokenforge.Key) (object, error) {
			if f.token.KeyID() == "" {
				f.reason = notApplicable("the access token names no kid that could be borrowed")
			}
			public := maps.Clone(key.Public)
			public["kid"] = f.token.KeyID()
			return object{"kid": f.token.KeyID(), "jwk": public}, nil
		}),
		withOwnKey("certificate-url", "with a forged token and a certificate named in the header (x5u)", func(f *forging, _ tokenforge.Key) (object, error) {
			return object{"x5u": "https://" + f.Host() + "/" + f.Word() + draw.One(f.Source, ".pem", ".crt")}, nil
		}),
		withOwnKey("certificate", "with a forged token and its certificate in the header (x5c)", func(f *forging, key tokenforge.Key) (object, error) {
			der, err := key.Certificate(f.Host(), f.Clock(), int64(f.Between(1<<20, 1<<40)))
			return object{"x5c": []string{base64.StdEncoding.EncodeToString(der)}}, err
		}),
		{kind: "embedded-secret", words: "with a token under HMAC and its key in the header (jwk)", anyToken: true, forge: func(f *forging) (string, error) {
			key := f.Text(draw.Base64, 43)
			secret, err := base64.RawURLEncoding.DecodeString(key[:42] + "A")
			if err != nil {
				return "", err
			}
			return f.token.With(object{"jwk": object{"kty": "oct", "k": base64.RawURLEncoding.EncodeToString(secret)}}, nil).HMAC("HS256", secret)
		}},
	}
}

// otherKeyForgery is signed with the run's own key, under the kid of a published key that did not sign the good token.
func otherKeyForgery() forgery {
	return forgery{kind: "kid-other", words: "with a forged token under the kid of another published key", forge: func(f *forging) (string, error) {
		for _, key := range f.facts.issuerFacts().keys {
			if key.ID != "" && key.ID != f.token.KeyID() {
				return f.signForgery(object{"kid": key.ID}, nil)
			}
		}
		return f.impossible("no other key is published")
	}}
}

// foreignForgeries are signed with the run's own key, and have an unusual form or unusual claims. A node may accept one if such a form or claim makes it
// skip the check of the signature.
func foreignForgeries() []forgery {
	foreign := func(kind evidence.Case, words string, change func(f *forging) (header, claims object)) forgery {
		return forgery{kind: kind, words: words, anyToken: true, forge: func(f *forging) (string, error) { return f.signForgery(change(f)) }}
	}
	withClaims := func(kind evidence.Case, words string, claims func(f *forging) object) forgery {
		return foreign(kind, words, func(f *forging) (object, object) { return object{}, claims(f) })
	}
	withHeader := func(kind evidence.Case, words string, header func(f *forging) object) forgery {
		return foreign(kind, words, func(f *forging) (object, object) { return header(f), nil })
	}
	return []forgery{
		withHeader("form-critical", "with a forged token and an unknown critical header", func(f *forging) object {
			name := f.Word()
			return object{"crit": []string{name}, name: true}
		}),
		withHeader("form-type", "with a forged token of another type", func(f *forging) object {
			return object{"typ": draw.One(f.Source, "ID", "Refresh", "logout+jwt", "dpop+jwt", "secevent+jwt", "JOSE")}
		}),
		withHeader("form-without-type", "with a forged token without a type", func(*forging) object { return object{"typ": nil} }),
		{kind: "form-nested", words: "with a forged token in a forged token", anyToken: true, forge: func(f *forging) (string, error) {
			inner, err := f.signForgery(object{}, nil)
			if err != nil {
				return "", err
			}
			key, err := f.ownKey(f.token.Algorithm())
			if err != nil {
				return "", err
			}
			return key.Sign(object{"kid": key.ID, "typ": "JWT", "cty": draw.One(f.Source, "JWT", "jwt")}, []byte(inner))
		}},
		{kind: "form-encrypted", words: "with a token that is encrypted to nobody", anyToken: true, forge: func(f *forging) (string, error) {
			header, err := json.Marshal(object{"alg": draw.One(f.Source, "RSA-OAEP", "RSA-OAEP-256", "ECDH-ES+A256KW"), "enc": "A256GCM", "cty": "JWT", "kid": f.token.KeyID()})
			return base64.RawURLEncoding.EncodeToString(header) + "." + f.Text(draw.Base64, 342) + "." + f.Text(draw.Base64, 16) + "." + f.Text(draw.Base64, 400) + "." + f.Text(draw.Base64, 22), err
		}},
		{kind: "form-algorithm", words: "with a forged token under another kind of key", anyToken: true, forge: func(f *forging) (string, error) {
			others := slices.DeleteFunc([]string{"ES256", "ES384", "EdDSA"}, func(a string) bool { return a == f.token.Algorithm() })
			key, err := f.ownKey(draw.One(f.Source, others...))
			if err != nil {
				return "", err
			}
			return f.token.Signed(key, object{"kid": draw.One[any](f.Source, nil, key.ID)}, "")
		}},
		withClaims("claims-without-exp", "with a forged token without exp", func(*forging) object { return object{"exp": nil} }),
		withClaims("claims-exp-odd", "with a forged token whose exp is not a usable number", func(f *forging) object {
			return object{"exp": draw.One(f.Source, any("never"), any("4102444800"), any(json.RawMessage("null")), any(true), any(json.Number("1e15")))}
		}),
		withClaims("claims-without-issuer", "with a forged token without iss", func(*forging) object { return object{"iss": nil} }),
		withClaims("claims-issuer-odd", "with a forged token whose iss is empty or not a text", func(f *forging) object {
			return object{"iss": draw.One(f.Source, any(json.RawMessage("null")), any(""), any([]any{f.token.Claims["iss"]}), any(0))}
		}),
		withClaims("claims-without-audience", "with a forged token without aud", func(f *forging) object {
			return object{"aud": draw.One(f.Source, nil, any([]string{}), any(""), any("*"))}
		}),
		withClaims("claims-without-client", "with a forged token without subject and client", func(*forging) object { return object{"sub": nil, "client_id": nil, "azp": nil} }),
		withClaims("claims-administrator", "with a forged token of an administrator", func(f *forging) object {
			role := draw.One(f.Source, "admin", "ADMIN", "superuser")
			return object{"sub": role, "roles": []string{role}, "realm_access": object{"roles": []string{role}}, "scope": role}
		}),
		{kind: "claims-none", words: "with a forged token without claims", anyToken: true, forge: func(f *forging) (string, error) {
			key, err := f.ownKey(f.token.Algorithm())
			if err != nil {
				return "", err
			}
			return key.Sign(object{"kid": key.ID, "typ": draw.One(f.Source, "at+jwt", "JWT")}, []byte("{}"))
		}},
	}
}
