package representation

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
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
}

// Guarded are the headers of data that only the bearer of a token may see: no shared cache keeps it (RFC 9111 §3.5).
func Guarded() Headers { return Headers{CacheControl: "private, no-cache", Vary: "Authorization"} }

// Open are the headers of data that anybody may see and that is asked for again each time.
func Open() Headers { return Headers{CacheControl: "no-cache"} }

// Body is one encoded representation, immutable and safe for concurrent use.
type Body struct {
	mediaType string
	plain     []byte
	tag       string
	length    []string
	zip       func() []byte
}

// New makes a body of the media type from its bytes, which must not change afterwards.
func New(mediaType string, plain []byte) *Body {
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

// Tag is the entity tag of a body in its plain form, quotes included (RFC 9110 §8.8.3).
func Tag(plain []byte) string { return `"` + fingerprint(plain) + `"` }

// Size is the number of bytes that the body may occupy, its compressed form included.
func (b *Body) Size() int { return len(b.plain) + len(b.plain)/3 + 256 }

// Serve answers r with the body: 200, or 304 when If-None-Match holds its tag (RFC 9110 §13.1.2).
func (b *Body) Serve(w http.ResponseWriter, r *http.Request, headers Headers) {
	zipped := len(b.plain) >= minimalGzip && AcceptsGzip(r.Header.Values("Accept-Encoding"))
	h := w.Header()
	if prepare(h, r, headers, b.tag, zipped) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", b.mediaType)
	bytes := b.plain
	if zipped {
		bytes = b.zip()
		h.Set("Content-Length", strconv.Itoa(len(bytes)))
	} else {
		h["Content-Length"] = b.length
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		// A failed write means that the caller is gone; nobody is left to tell.
		_, _ = w.Write(bytes)
	}
}

// prepare sets validator, coding and caching headers, and tells whether the caller has the representation already.
func prepare(h http.Header, r *http.Request, headers Headers, tag string, zipped bool) (unchanged bool) {
	etag := `"` + tag + `"`
	if zipped {
		etag = `"` + tag + `-gzip"`
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
	if !matches(r.Header.Values("If-None-Match"), etag) {
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
