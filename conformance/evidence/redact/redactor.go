// Package redact replaces secrets in texts by markers, in whatever form an encoder left them.
package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"sync"
)

// Redactor replaces secrets by markers such as "[[client_secret:1f2e3d4c:plain]]": name, salted fingerprint, and the form in which the
// secret was found. A marker is safe inside JSON strings, URLs and headers. A redactor may be used by several goroutines at once.
//
// The forms are plain, percent (any bytes encoded, either case, '+' for a space), json (string escapes), html (character references),
// base64 (both alphabets, at any offset inside a longer value) and hex. Secrets of less than 8 bytes are found as whole words only, or
// the secret "secret" would match in client_secret.
type Redactor struct {
	salt     []byte
	patterns patterns

	mu      sync.RWMutex
	secrets []*secret
	byValue map[string]*secret
	search  *search // nil after a secret was added
	cookies int     // number of cookie values among the secrets
	matched int     // number of secrets that a pattern found in answers
	seed    maphash.Seed
	read    map[readBody]bool // bodies that were searched for secrets, because a node often sends the same body again
	clean   *cleanTexts       // texts without a secret; nil after a secret was added that one of the texts may contain
}

// readBody identifies a body that was searched for secrets in one way.
type readBody struct {
	content
	issuing, looseNames bool // see [Finder.Body]
}

func (r *Redactor) hasRead(key readBody) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.read[key]
}

func (r *Redactor) setRead(key readBody) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read[key] = true
}

type secret struct {
	name, value, fingerprint string
	low                      string   // the value in lower case
	needles                  []needle // what the value is found by
}

func newSecret(name, value, fingerprint string) *secret {
	s := &secret{name: markerName(name), value: value, fingerprint: fingerprint, low: strings.ToLower(value)}
	s.needles = newNeedles(s)
	return s
}

// ShortSecret is the length in bytes below which a secret is replaced as a whole word only.
const ShortSecret = 8

// New makes a redactor without secrets. The salt keeps fingerprints of different runs from being compared.
func New(salt []byte) *Redactor {
	return &Redactor{salt: slices.Clone(salt), patterns: newPatterns(), byValue: map[string]*secret{}, seed: maphash.MakeSeed(), read: map[readBody]bool{}}
}

// Secret adds a value to replace and returns its fingerprint: 8 hexadecimal digits. An empty value is ignored; a known value keeps its
// first name.
func (r *Redactor) Secret(name, value string) (fingerprint string) {
	if value == "" {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, known := r.byValue[value]; known {
		return s.fingerprint
	}
	value = strings.Clone(value) // it may be part of a long text, which the redactor must not keep
	mac := hmac.New(sha256.New, r.salt)
	mac.Write([]byte(value))
	s := newSecret(name, value, hex.EncodeToString(mac.Sum(nil)[:4]))
	r.byValue[value] = s
	r.secrets = append(r.secrets, s)
	r.search = nil
	r.forgetUnclean(s)
	return s.fingerprint
}

// Name returns the name that a secret was first added under, or "".
func (r *Redactor) Name(value string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if s := r.byValue[value]; s != nil {
		return s.name
	}
	return ""
}

// Value redacts all strings of a decoded JSON value, member names included.
func (r *Redactor) Value(v any) any {
	switch v := v.(type) {
	case string:
		return r.Text(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = r.Value(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[r.Text(k)] = r.Value(e)
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

// Bytes returns b with every known secret replaced, or b itself if there is none. It does not change b.
func (r *Redactor) Bytes(b []byte) []byte {
	text := r.contentOf(b)
	clean, search, texts := r.isClean(text)
	if clean {
		return b
	}
	found := hits(search, b, texts)
	if len(found) == 0 {
		r.setClean(search, texts, text)
		return b
	}
	s := string(b)
	if found = search.settle(s, found); len(found) == 0 {
		return b
	}
	return []byte(replace(s, found))
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
	return MarkerStart + s.name + ":" + s.fingerprint + ":" + form + "]]"
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

// maxCookies bounds the cookie values among the secrets. A node may set new ones with every answer.
const maxCookies = 200

// SetCookie adds the value of a Set-Cookie line (RFC 6265 §4.1.1) to the secrets; short values are settings, not sessions. It returns the
// line, without the value if there are too many.
func (r *Redactor) SetCookie(line string) string {
	pair, attributes, more := strings.Cut(line, ";")
	name, value, ok := strings.Cut(pair, "=")
	value = strings.Trim(strings.TrimSpace(value), `"`)
	if !ok || len(value) < 2*ShortSecret || r.learn("cookie", value, &r.cookies, maxCookies) {
		return line
	}
	line = name + "=[[cookie:too-many]]"
	if more {
		line += ";" + attributes
	}
	return line
}

// learn adds a secret that a node sent, counts it, and returns false if there are too many.
func (r *Redactor) learn(name, value string, count *int, most int) bool {
	r.mu.Lock()
	_, known := r.byValue[value]
	room := known || *count < most
	if room && !known {
		*count++
	}
	r.mu.Unlock()
	if room {
		r.Secret(name, value)
	}
	return room
}

// HeaderName redacts a header name. It ignores case, because HTTP libraries change the case of header names.
func (r *Redactor) HeaderName(name string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	low := strings.ToLower(name)
	for _, s := range r.secrets {
		if len(s.value) >= ShortSecret && strings.Contains(low, s.low) {
			return s.marker(FormPlain)
		}
	}
	return name
}

// maxHeld bounds the bytes that a stream holds back while it waits for the end of a line.
const maxHeld = 64 << 10

// Writer returns a writer that redacts a stream, such as the error output of a program. It passes on whole lines at once, and the rest at
// the end of the line or at Close; a secret may be split over several writes. Close does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser { return &stream{redactor: r, w: w} }

type stream struct {
	mu       sync.Mutex
	redactor *Redactor
	w        io.Writer
	held     []byte
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = append(s.held, p...)
	if err := s.flush(s.ready()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close passes on the rest.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush(len(s.held))
}

// ready returns how many of the held bytes the stream can write: those of the whole lines. It returns 0 if a secret can span lines, unless much more than
// [maxHeld] bytes are held. Then only the last bytes stay, because a secret can begin there.
func (s *stream) ready() int {
	search := s.redactor.current()
	n := 0
	if !search.lines {
		n = bytes.LastIndexByte(s.held, '\n') + 1
	}
	if bound := max(maxHeld, search.reach); len(s.held)-n > 2*bound { // twice the bound, so that not every write searches
		n = search.boundary(string(s.held), len(s.held)-bound)
	}
	return n
}

// boundary moves a cut before a secret that it would split.
func (s *search) boundary(text string, cut int) int {
	for _, h := range s.find(text) {
		if h.from < cut && cut < h.to {
			return h.from
		}
	}
	return cut
}

func (s *stream) flush(n int) error {
	if n == 0 {
		return nil
	}
	out := s.redactor.Bytes(s.held[:n])
	_, err := s.w.Write(out)
	s.held = append(s.held[:0], s.held[n:]...)
	if err != nil {
		return fmt.Errorf("write redacted stream: %w", err)
	}
	return nil
}

func spansLines(value string) bool { return strings.ContainsRune(value, '\n') }

// commonKeys returns HMAC keys from the examples of libraries and frameworks.
func commonKeys() []string {
	return []string{
		"secret", "secretkey", "secret-key", "mysecret", "my-secret", "jwt-secret", "jwtsecret", "changeit", "changeme", "password", "key", "test",
		"your-256-bit-secret", "your-secret-key", "shhhhh", "supersecret",
	}
}

// commonKey is the name that [Redactor.HMACKey] returns for a common key.
const commonKey = "a common word"

// HMACKey returns the name of the known secret that signs a token by HMAC, "a common word" for a common key, or "".
func (r *Redactor) HMACKey(token string) string {
	r.mu.RLock()
	secrets := r.secrets
	r.mu.RUnlock()
	for _, s := range secrets {
		if s.value != token && isSignedBy(token, s.value) {
			return s.name
		}
	}
	for _, word := range commonKeys() {
		if isSignedBy(token, word) {
			return commonKey
		}
	}
	return ""
}

// isSignedBy reports whether a key verifies a JWS with HS256, HS384 or HS512 (RFC 7518 §3.2), according to the length of its signature.
func isSignedBy(token, key string) bool {
	cut := strings.LastIndexByte(token, '.')
	if cut < 0 {
		return false
	}
	given, err := base64.RawURLEncoding.DecodeString(token[cut+1:])
	if err != nil {
		return false
	}
	newHash := map[int]func() hash.Hash{sha256.Size: sha256.New, sha512.Size384: sha512.New384, sha512.Size: sha512.New}[len(given)]
	if newHash == nil {
		return false
	}
	mac := hmac.New(newHash, []byte(key))
	mac.Write([]byte(token[:cut]))
	return hmac.Equal(given, mac.Sum(nil))
}
