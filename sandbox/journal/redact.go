package journal

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// fingerprinter makes fingerprints: a hash under a key that never leaves the process, so that nobody can test guessed secrets against them.
type fingerprinter struct{ key [32]byte }

func newFingerprinter(random io.Reader) (*fingerprinter, error) {
	p := &fingerprinter{}
	if _, err := io.ReadFull(random, p.key[:]); err != nil {
		return nil, fmt.Errorf("make the key of the journal's fingerprints: %w", err)
	}
	return p, nil
}

// maxFingerprinted limits the bytes of a value that are hashed; valid credentials are shorter.
const maxFingerprinted = 8 << 10

// fingerprint returns the fingerprint of a value, in hexadecimal digits.
func (p *fingerprinter) fingerprint(value string) string {
	value = value[:min(len(value), maxFingerprinted)]
	// A token of typical length fits into the array, which stays on the stack. A plain hash is enough, without HMAC: the key has a fixed length, and
	// only a part of the sum is shown.
	var fixed [1200]byte
	sum := sha256.Sum256(append(append(fixed[:0], p.key[:]...), value...))
	return hex.EncodeToString(sum[:6])
}

// authorization describes the Authorization headers without their credentials, and returns the client id that Basic credentials claim.
func (p *fingerprinter) authorization(fields []string) (a Authorization, client string) {
	if len(fields) == 0 {
		return a, ""
	}
	a.Fields = len(fields)
	value := strings.Trim(fields[0], " \t")
	scheme, rest, found := strings.Cut(value, " ")
	if !found && !strings.EqualFold(scheme, "Bearer") && !strings.EqualFold(scheme, "Basic") {
		scheme, rest = "", value
	}
	a.Scheme = truncate(p.scrub(scheme), 20)
	rest = bareToken(rest)
	if strings.EqualFold(scheme, "Basic") {
		client, rest = clientAndSecret(rest)
	}
	if rest != "" {
		a.Print = p.fingerprint(rest)
	}
	return a, client
}

// bareToken strips what clients put around a token by mistake, so that its fingerprint is that of the issued token.
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
	return DecodePart(client), DecodePart(secret)
}

// DecodePart decodes a part of a query; it returns a malformed part as it is.
func DecodePart(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// scrubQuery removes the credentials from a raw query and lists them. Names and harmless values stay.
func (p *fingerprinter) scrubQuery(raw string) (string, []Exposure) {
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
		out.WriteString(p.scrub(decodeLongName(name)))
		if !found {
			continue
		}
		out.WriteByte('=')
		plain := DecodePart(value)
		switch {
		case value == "":
		case isConfidential(DecodePart(name)):
			print := p.fingerprint(bareToken(plain))
			if len(exposed) < maxExposed {
				exposed = append(exposed, Exposure{truncate(p.scrub(DecodePart(name)), maxName), print})
			}
			out.WriteString(redactionMark(print))
		default:
			// A value that contains a credential when decoded is shown decoded, without the credential.
			if clean := p.scrub(plain); clean != plain {
				out.WriteString(clean)
				break
			}
			out.WriteString(value)
		}
	}
	return truncate(out.String(), maxQuery), exposed
}

// fields returns the fingerprints of the header fields that may hold a credential, in the order of their names, but not of Authorization.
func (p *fingerprinter) fields(header http.Header) []Exposure {
	var names []string
	for name, values := range header {
		if mayHoldCredential(name) && len(values) > 0 && len(values[0]) >= shortestCredential {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil
	}
	slices.Sort(names)
	var found []Exposure
	for _, name := range names[:min(len(names), maxExposed)] {
		found = append(found, Exposure{truncate(p.scrub(name), maxName), p.fingerprint(bareToken(header[name][0]))})
	}
	return found
}

// mayHoldCredential reports whether a header field of this name may hold a credential; Authorization has an entry of its own.
func mayHoldCredential(name string) bool {
	switch {
	case name == "Authorization":
		return false
	case name == "Cookie", strings.HasPrefix(name, "X-"):
		return true
	}
	return isConfidential(name)
}

// shortestCredential is the smallest length of a header field's value that is compared with client secrets.
const shortestCredential = 12

// decodeLongName returns a name as it was sent, or decoded if it has escapes and is long enough to hide a credential.
func decodeLongName(name string) string {
	if plain := DecodePart(name); plain != name && len(plain) >= secretLength {
		return plain
	}
	return name
}

// isConfidential reports whether a parameter with this name may hold a credential.
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

// redactionMark returns the mark that replaces a credential with this fingerprint.
func redactionMark(fingerprint string) string { return "***" + fingerprint }

// secretLength is the smallest length of a word of letters and digits that counts as a credential. Secrets of the sandbox have 43 characters, and
// tokens have more; ids of fundings have 11.
const secretLength = 32

// scrub replaces each word that looks like a credential with a mark.
func (p *fingerprinter) scrub(text string) string {
	if len(text) < secretLength {
		return text
	}
	// This may cut a credential in two, so that its first part is not found. No caller shows that part: all keep far fewer bytes.
	text = text[:min(len(text), maxFingerprinted)]
	var out strings.Builder
	copied, start := 0, 0
	letters, digits := false, false
	endWord := func(at int) {
		if at-start >= secretLength && letters && digits {
			out.WriteString(text[copied:start])
			out.WriteString(redactionMark(p.fingerprint(text[start:at])))
			copied = at
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
			endWord(i)
		}
	}
	endWord(len(text))
	if copied == 0 {
		return text
	}
	return out.String() + text[copied:]
}
