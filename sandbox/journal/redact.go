package journal

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// authorization reads the Authorization headers, and the client that they claim.
func (p *printer) authorization(fields []string) (a Authorization, client string) {
	if len(fields) == 0 {
		return a, ""
	}
	a.Fields = len(fields)
	value := strings.Trim(fields[0], " \t")
	scheme, rest, found := strings.Cut(value, " ")
	if !found && !strings.EqualFold(scheme, "Bearer") && !strings.EqualFold(scheme, "Basic") {
		scheme, rest = "", value
	}
	a.Scheme = bounded(p.scrub(scheme), 20)
	rest = bareToken(rest)
	if strings.EqualFold(scheme, "Basic") {
		client, rest = clientAndSecret(rest)
	}
	if rest != "" {
		a.Print = p.of(rest)
	}
	return a, client
}

// bareToken strips what is put around a token by mistake, so that it is recognised as the issued one.
func bareToken(token string) string {
	token = strings.Trim(token, " \t\"'<>")
	if len(token) > len("bearer ") && strings.EqualFold(token[:len("bearer ")], "bearer ") {
		token = strings.Trim(token[len("bearer "):], " \t\"'<>")
	}
	return token
}

// clientAndSecret decodes Basic credentials (RFC 6749 §2.3.1).
func clientAndSecret(encoded string) (client, secret string) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", encoded
	}
	client, secret, found := strings.Cut(string(raw), ":")
	if !found {
		return "", string(raw)
	}
	return unescaped(client), unescaped(secret)
}

func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// query removes the credentials from a raw query and lists them. Names and harmless values stay.
func (p *printer) query(raw string) (string, []Exposure) {
	if raw == "" {
		return "", nil
	}
	raw = raw[:min(len(raw), maxFingerprinted)]
	var out strings.Builder
	var exposed []Exposure
	for parameter := range strings.FieldsFuncSeq(raw, func(c rune) bool { return c == '&' || c == ';' }) {
		if out.Len() > 0 {
			out.WriteByte('&')
		}
		name, value, found := strings.Cut(parameter, "=")
		out.WriteString(p.scrub(unescapedOnly(name)))
		if !found {
			continue
		}
		out.WriteByte('=')
		plain := unescaped(value)
		switch {
		case value == "":
		case isConfidential(unescaped(name)):
			print := p.of(bareToken(plain))
			if len(exposed) < maxExposed {
				exposed = append(exposed, Exposure{bounded(p.scrub(unescaped(name)), maxName), print})
			}
			out.WriteString(redactionMark(print))
		default:
			// What looks like a credential when decoded is shown decoded, without it.
			if clean := p.scrub(plain); clean != plain {
				out.WriteString(clean)
				break
			}
			out.WriteString(value)
		}
	}
	return bounded(out.String(), maxQuery), exposed
}

// unescapedOnly returns the raw form of a name, unless it hides something.
func unescapedOnly(name string) string {
	if plain := unescaped(name); plain != name && len(plain) >= secretLength {
		return plain
	}
	return name
}

// isConfidential reports whether a parameter of the name may hold a credential.
func isConfidential(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"secret", "token", "passw", "pwd", "assertion", "credential", "bearer", "jwt", "apikey", "api_key", "api-key", "authorization", "signature"} {
		if strings.Contains(name, word) {
			return name != "token_type"
		}
	}
	switch name {
	case "key", "pw", "pass", "auth", "code", "sig":
		return true
	}
	return false
}

func redactionMark(print string) string { return "***" + print }

// secretLength is the length from which a word of letters and digits counts as a credential. Secrets of the sandbox have 43 characters, tokens
// more; ids of fundings have 11.
const secretLength = 32

// scrub replaces each word that looks like a credential by a mark.
func (p *printer) scrub(text string) string {
	if len(text) < secretLength {
		return text
	}
	// The rest is beyond what any caller keeps, so that half a credential is never shown.
	text = text[:min(len(text), maxFingerprinted)]
	var out strings.Builder
	kept, start := 0, 0
	letters, digits := false, false
	end := func(at int) {
		if at-start >= secretLength && letters && digits {
			out.WriteString(text[kept:start])
			out.WriteString(redactionMark(p.of(text[start:at])))
			kept = at
		}
		start, letters, digits = at+1, false, false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			digits = true
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters = true
		case strings.IndexByte("-_.~+=%", c) >= 0:
		default:
			end(i)
		}
	}
	end(len(text))
	if kept == 0 {
		return text
	}
	return out.String() + text[kept:]
}

// printer makes fingerprints: a hash under a key that never leaves the process, so that guessed secrets cannot be compared with them.
type printer struct{ key [32]byte }

func newPrinter(random io.Reader) (*printer, error) {
	p := &printer{}
	if _, err := io.ReadFull(random, p.key[:]); err != nil {
		return nil, fmt.Errorf("make the key of the journal's fingerprints: %w", err)
	}
	return p, nil
}

// maxFingerprinted is the part of a value that is hashed; valid credentials are shorter.
const maxFingerprinted = 8 << 10

// of returns the fingerprint of a value.
func (p *printer) of(value string) string {
	value = value[:min(len(value), maxFingerprinted)]
	// A usual token fits into the array, which stays on the stack. The key has a fixed length, and only a part of the sum is shown.
	var fixed [1200]byte
	sum := sha256.Sum256(append(append(fixed[:0], p.key[:]...), value...))
	return hex.EncodeToString(sum[:6])
}
