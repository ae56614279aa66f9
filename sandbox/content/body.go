// Package content sends bodies (RFC 9110). It adds an ETag, compresses if the client accepts gzip, and answers 304 if the client already has the
// representation. [Problem] is an error body (RFC 9457), and [Cache] keeps recently used values. The package also quotes words for the shell commands
// that the sandbox shows.
package content

import (
	"bytes"
	"compress/gzip"
	"container/list"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// minimalGzip is the size in bytes below which compressing costs more than it saves.
const minimalGzip = 1400

// Headers are the caching headers of an answer.
type Headers struct {
	// CacheControl is the value of Cache-Control (RFC 9111 §5.2).
	CacheControl string
	// Vary lists request fields, besides Accept-Encoding, that select the answer (RFC 9110 §12.5.5).
	Vary string
	// ETag is the entity tag, quotes included, if it does not follow from the content.
	ETag string
}

// ProtectedHeaders returns the headers of data that only the bearer of a token may see: shared caches do not keep such
// data (RFC 9111 §3.5).
func ProtectedHeaders() Headers {
	return Headers{CacheControl: "private, no-cache", Vary: "Authorization"}
}

// OpenHeaders returns the headers of public data: caches keep it, but revalidate it at each
// use.
func OpenHeaders() Headers { return Headers{CacheControl: "no-cache"} }

// Body is one encoded representation, immutable and safe for concurrent use.
type Body struct {
	mediaType string
	plain     []byte
	tag       string        // the entity tag without quotes
	length    []string      // the Content-Length header of the plain form
	zip       func() []byte // compresses at its first call
}

// NewBody makes a body of the media type from its bytes, which must not change afterwards.
func NewBody(mediaType string, plain []byte) *Body {
	return &Body{
		mediaType: mediaType,
		plain:     plain,
		tag:       fingerprint(plain),
		length:    []string{strconv.Itoa(len(plain))},
		zip:       sync.OnceValue(func() []byte { return compress(plain) }),
	}
}

func fingerprint(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// ETag returns the entity tag of a body in its plain form, quotes included (RFC 9110 §8.8.3).
func ETag(plain []byte) string { return `"` + fingerprint(plain) + `"` }

// Size estimates the bytes that the body occupies at most, with its compressed form.
func (b *Body) Size() int { return len(b.plain) + len(b.plain)/3 + 256 }

// Serve answers r with the body: 200, or 304 when If-None-Match has its tag (RFC 9110 §13.1.2).
func (b *Body) Serve(w http.ResponseWriter, r *http.Request, headers Headers) {
	zipped := len(b.plain) >= minimalGzip && AcceptsGzip(r.Header.Values("Accept-Encoding"))
	h := w.Header()
	if prepare(h, r, headers, b.tag, zipped) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", b.mediaType)
	body := b.plain
	if zipped {
		body = b.zip()
		h.Set("Content-Length", strconv.Itoa(len(body)))
	} else {
		h["Content-Length"] = b.length
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		// A failed write means that the caller is gone.
		_, _ = w.Write(body)
	}
}

// prepare sets the headers for validation, coding and caching, and reports whether the caller already has the representation.
func prepare(h http.Header, r *http.Request, headers Headers, tag string, zipped bool) (unchanged bool) {
	etag := `"` + tag + `"`
	if headers.ETag != "" {
		etag = headers.ETag
	}
	if zipped {
		if !strings.HasPrefix(etag, "W/") { // a strong tag names one coding (RFC 9110 §8.8.3.3)
			etag = strings.TrimSuffix(etag, `"`) + `-gzip"`
		}
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", etag)
	h.Set("Cache-Control", headers.CacheControl)
	h.Set("X-Content-Type-Options", "nosniff")
	vary := "Accept-Encoding"
	if headers.Vary != "" {
		vary += ", " + headers.Vary
	}
	h.Set("Vary", vary)
	if !matchesETag(r.Header.Values("If-None-Match"), etag) {
		return false
	}
	h.Del("Content-Encoding")
	return true
}

func compress(plain []byte) []byte {
	var out bytes.Buffer
	// Neither writing to a buffer nor a valid level can fail.
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	_, _ = z.Write(plain)
	_ = z.Close()
	return out.Bytes()
}

// GzipFile is a representation in a gzip file. The file is sent as it is, or unpacked while it is sent if the caller does not accept gzip. It is not
// kept in memory.
type GzipFile struct {
	mediaType string
	open      func() (fs.File, error)
	tag       func() (string, error)
}

// NewGzipFile makes a representation of the media type from a gzip file.
func NewGzipFile(mediaType string, files fs.FS, name string) *GzipFile {
	p := &GzipFile{mediaType: mediaType, open: func() (fs.File, error) { return files.Open(name) }}
	p.tag = sync.OnceValues(p.digest)
	return p
}

func (p *GzipFile) digest() (string, error) {
	file, err := p.open()
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:12]), nil
}

// Serve answers r with the file, as [Body.Serve] does. It returns an error only if nothing was sent.
func (p *GzipFile) Serve(w http.ResponseWriter, r *http.Request, headers Headers) error {
	tag, err := p.tag()
	if err != nil {
		return fmt.Errorf("read a gzip file: %w", err)
	}
	file, err := p.open()
	if err != nil {
		return fmt.Errorf("open a gzip file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("open a gzip file: %w", err)
	}
	zipped := AcceptsGzip(r.Header.Values("Accept-Encoding"))
	if prepare(w.Header(), r, headers, tag, zipped) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.Header().Set("Content-Type", p.mediaType)
	if zipped {
		w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	var content io.Reader = file
	if !zipped {
		content, err = gzip.NewReader(file)
	}
	if err == nil {
		_, err = io.Copy(w, content)
	}
	abortOn(err)
	return nil
}

// Stream answers r with a body that is written piece by piece, for answers too large to be kept. The tag is made from seed before the body exists, so
// equal seeds must mean equal bytes. Stream calls write once, or not at all for HEAD and 304; an error of write closes the connection, because the
// status line was already sent.
func Stream(w http.ResponseWriter, r *http.Request, mediaType string, headers Headers, seed []byte, write func(io.Writer) error) {
	zipped := AcceptsGzip(r.Header.Values("Accept-Encoding"))
	h := w.Header()
	if prepare(h, r, headers, fingerprint(seed), zipped) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", mediaType)
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	if !zipped {
		abortOn(write(w))
		return
	}
	// The error is always nil, because the level is valid.
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	abortOn(write(z))
	abortOn(z.Close())
}

// abortOn cuts the connection on an error: a body that ends early must not look complete (RFC 9112 §8).
func abortOn(err error) {
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// Sized is a value that a cache keeps. Size is an upper bound of its bytes, or of another unit of the cache's budget, and never changes.
type Sized interface{ Size() int }

// Cache keeps the most recently used values within a budget of bytes. It is safe for concurrent use.
type Cache[K comparable, V Sized] struct {
	mu      sync.Mutex
	budget  int
	used    int
	recent  *list.List
	entries map[K]*list.Element
}

// entry is a cached value with its key.
type entry[K comparable, V Sized] struct {
	key   K
	value V
}

// NewCache makes a cache that holds values of at most budget bytes together.
func NewCache[K comparable, V Sized](budget int) *Cache[K, V] {
	return &Cache[K, V]{budget: budget, recent: list.New(), entries: map[K]*list.Element{}}
}

// Get returns the cached value of key, or builds and caches it. build runs without the lock, so two callers may build the same value at once; a value
// must depend on its key only, so that either is right. A failed build is not cached.
func (c *Cache[K, V]) Get(key K, build func() (V, error)) (V, error) {
	c.mu.Lock()
	if element, ok := c.entries[key]; ok {
		c.recent.MoveToFront(element)
		value := element.Value.(entry[K, V]).value
		c.mu.Unlock()
		return value, nil
	}
	c.mu.Unlock()
	value, err := build()
	if err == nil {
		c.put(key, value)
	}
	return value, err
}

func (c *Cache[K, V]) put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[key]; ok || value.Size() > c.budget {
		return
	}
	c.entries[key] = c.recent.PushFront(entry[K, V]{key, value})
	c.used += value.Size()
	for c.used > c.budget {
		oldest := c.recent.Back()
		evicted := c.recent.Remove(oldest).(entry[K, V])
		delete(c.entries, evicted.key)
		c.used -= evicted.value.Size()
	}
}
