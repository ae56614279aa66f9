package exchange

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
)

// Redactor replaces secrets by markers such as "[[client_secret:1f2e3d4c:plain]]": the name of the secret, its salted
// fingerprint, and the form it was found in. A marker is safe inside JSON strings, URLs and headers. It may be used by several
// goroutines at once.
//
// Found are the forms plain, percent (any part of the bytes encoded, either case, '+' for a blank), json (string escapes), html
// (character references), base64 (both alphabets, at any offset inside a longer value) and hex. Secrets of less than 8 bytes
// are found as whole words only, or a secret "secret" would eat the word client_secret.
type Redactor struct {
	salt []byte

	mu      sync.RWMutex
	secrets []*secret
	byValue map[string]*secret
	search  *search // nil when a secret was added since it was built
	learned int     // values of cookies among the secrets
}

type secret struct {
	name, value, fingerprint string
	low                      string // the value in lower case
}

// ShortSecret is the length in bytes below which a secret is replaced as a whole word only.
const ShortSecret = 8

// NewRedactor makes a redactor without secrets. The salt keeps fingerprints of different runs from being compared.
func NewRedactor(salt []byte) *Redactor {
	return &Redactor{salt: slices.Clone(salt), byValue: map[string]*secret{}}
}

// Secret adds a value that must never be seen, and returns its fingerprint: 8 hexadecimal digits. An empty value is ignored. A
// value that is known keeps its first name.
func (r *Redactor) Secret(name, value string) (fingerprint string) {
	if value == "" {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, known := r.byValue[value]; known {
		return s.fingerprint
	}
	mac := hmac.New(sha256.New, r.salt)
	mac.Write([]byte(value))
	s := &secret{markerName(name), value, hex.EncodeToString(mac.Sum(nil)[:4]), strings.ToLower(value)}
	r.byValue[value] = s
	r.secrets = append(r.secrets, s)
	r.search = nil
	return s.fingerprint
}

// Token adds an access token and returns what checks may know of it; its claims are redacted.
func (r *Redactor) Token(name, token string) TokenFacts {
	fingerprint := r.Secret(name, token)
	r.mu.RLock()
	if s := r.byValue[token]; s != nil {
		name = s.name
	}
	r.mu.RUnlock()
	facts := FactsOf(name, token, fingerprint)
	if facts.JWT != nil {
		facts.JWT.Header, _ = r.value(facts.JWT.Header).(map[string]any)
		facts.JWT.Claims, _ = r.value(facts.JWT.Claims).(map[string]any)
		facts.JWT.KnownKey = r.signer(token)
	}
	return facts
}

// value redacts the strings of a decoded JSON value, names included.
func (r *Redactor) value(v any) any {
	switch v := v.(type) {
	case string:
		return r.Text(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = r.value(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[r.Text(k)] = r.value(e)
		}
		return out
	}
	return v
}

// Text returns s with every known secret replaced.
func (r *Redactor) Text(s string) string {
	if hits := r.current().find(s); len(hits) > 0 {
		return replace(s, hits)
	}
	return s
}

// Bytes returns b with every known secret replaced; b itself is returned when there is none, and is never changed.
func (r *Redactor) Bytes(b []byte) []byte {
	s := string(b)
	if hits := r.current().find(s); len(hits) > 0 {
		return []byte(replace(s, hits))
	}
	return b
}

func (r *Redactor) current() *search {
	r.mu.RLock()
	s := r.search
	r.mu.RUnlock()
	if s != nil {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.search == nil {
		r.search = newSearch(r.secrets)
	}
	return r.search
}

func replace(s string, hits []hit) string {
	var b strings.Builder
	at := 0
	for _, h := range hits {
		b.WriteString(s[at:h.from])
		b.WriteString(h.secret.marker(h.form))
		at = h.to
	}
	b.WriteString(s[at:])
	return b.String()
}

func (s *secret) marker(form string) string {
	return "[[" + s.name + ":" + s.fingerprint + ":" + form + "]]"
}

// Marked lists the names of the markers in a redacted text, each once, in order.
func Marked(text string) []string {
	var names []string
	for _, m := range markerPattern().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

func markerName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, name)
}
